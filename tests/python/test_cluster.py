"""Runs on a cluster: the same bits as on one machine, whatever dies meanwhile.

The clusters here are small and on this machine, made of real processes.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

distributed = pytest.importorskip(
    "distributed", reason="not installed: pip install distributed universal-pathlib"
)

pytestmark = pytest.mark.cluster

QUICK = ("--set", "duration=8s", "--set", "warmup=2s")
VARY = "traffic.web.arrivals.poisson=20/s,30/s,40/s"


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as local:
        yield local


def hashes(done) -> dict:
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    return {(*row["settings"].values(), row["seed"]): row["result_hash"] for row in rows}


@pytest.fixture
def alone(tidegate, overload_file) -> dict:
    """What one machine comes to."""
    return hashes(tidegate("sweep", overload_file, "--vary", VARY, "--seeds", 2, *QUICK, "--json"))


def test_the_bits_are_those_of_one_machine(tidegate, overload_file, cluster, alone):
    command = ("sweep", overload_file, "--vary", VARY, "--seeds", 2, *QUICK, "--out", "c")
    done = tidegate(*command, "--dask", cluster.scheduler_address, "--json")
    assert hashes(done) == alone
    # what is there is not asked for again: this time nobody has to be reached
    again = tidegate(*command, "--dask", "tcp://127.0.0.1:1", "--json")
    assert hashes(again) == alone


PAPER = ("paper", "lgc", "--only", "exp1.avg_lag")


def of_paper(folder: Path) -> dict:
    """What a paper came to: its claims, and the bits of every run."""
    runs = {
        str(path.relative_to(folder)): json.loads(path.read_text())["result_hash"]
        for path in folder.glob("runs/*/*/summary.json")
    }
    return {"runs": runs, "claims": json.loads((folder / "claims.json").read_text())}


def test_a_paper_comes_to_the_same(tidegate, cluster, tmp_path):
    command = (*PAPER, "--seeds", 5)
    for name, more in (("near", ()), ("far", ("--dask", cluster.scheduler_address))):
        done = tidegate(*command, "--out", name, *more)
        assert done.returncode == 0, done.stderr
    assert len(of_paper(tmp_path / "near")["runs"]) == 5
    assert of_paper(tmp_path / "far") == of_paper(tmp_path / "near")
    # what is there is not asked for again: this time nobody has to be reached
    again = tidegate(*command, "--out", "far", "--dask", "tcp://127.0.0.1:1")
    assert "none of them new" in again.stderr


def test_files_that_scenarios_name_are_sent_once(cluster, tmp_path):
    """Ten runs of recorded flows: the scheduler is given the recording as one task, not ten."""
    import tidegate as package

    root = Path(__file__).parents[2]
    with distributed.Client(cluster, set_as_default=False) as client:
        heard = []
        client.run_on_scheduler(_listen)
        done = package.compare(
            root / "scenarios" / "captured-traffic.toml",
            vary="duration=10s,11s",
            settings={"warmup": "2s"},
            seeds=5,
            dask=cluster.scheduler_address,
        )
        heard = client.run_on_scheduler(_heard)
    assert len(done.rows) == 10
    held = [key for key in heard if key.startswith("tidegate-files-")]
    assert len(held) == 1


def _listen(dask_scheduler) -> None:
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Listener(SchedulerPlugin):
        name = "listener"

        def __init__(self) -> None:
            self.keys: list[str] = []

        def transition(self, key, start, finish, *args, **kwargs) -> None:
            if finish == "processing":
                self.keys.append(str(key))

    dask_scheduler.add_plugin(Listener())


def _heard(dask_scheduler) -> list[str]:
    return dask_scheduler.plugins["listener"].keys


def test_recorded_flows_and_laws_of_ones_own_travel_to_the_workers(tidegate, cluster, tmp_path):
    root = Path(__file__).parents[2]
    law = root / "examples" / "own_law.py"
    command = (
        *("compare", root / "scenarios" / "captured-traffic.toml", "--seeds", 1),
        *("--gate", "none,python:Aimd", "--law", f"{law}:Aimd", "--json"),
    )
    far = tidegate(*command, "--out", "far", "--dask", cluster.scheduler_address)
    assert hashes(far) == hashes(tidegate(*command, "--out", "near"))


def test_laws_that_see_packets_travel_to_the_workers(tidegate, cluster, tmp_path):
    """A class out of a file travels with its source, like an object."""
    root = Path(__file__).parents[2]
    command = (
        *("compare", root / "scenarios" / "downloads.toml", "--seeds", 1, "--json"),
        *("--queue", "codel,python:CoDel", "--law", root / "examples" / "own_queue_law.py:CoDel"),
        *("--set", 'traffic.pages.transport={ python = { name = "Reno", profile = "linux" } }'),
        *("--law", root / "examples" / "own_control.py:Reno"),
        *("--set", "duration=4s", "--set", "warmup=1s"),
    )
    far = tidegate(*command, "--out", "far", "--dask", cluster.scheduler_address)
    assert hashes(far) == hashes(tidegate(*command, "--out", "near"))


def start(folder: Path, *command: object) -> subprocess.Popen:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    arguments = [sys.executable, "-m", *map(str, command)]
    return subprocess.Popen(arguments, cwd=folder, **pipes)


def wait_for(found) -> None:
    deadline = time.monotonic() + 120
    while not found():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_worker_that_is_killed_costs_nothing_but_time(overload_file, cluster, tmp_path, alone):
    command = ("sweep", overload_file, "--vary", VARY, "--seeds", 2, *QUICK, "--out", "k")
    with distributed.Client(cluster, set_as_default=False) as client:
        workers = client.run(os.getpid)
        run = start(tmp_path, "tidegate", *command, "--dask", cluster.scheduler_address, "--json")
        wait_for(lambda: list(tmp_path.glob("k/runs/*/*/manifest.json")))
        os.kill(next(iter(workers.values())), signal.SIGKILL)
        out, err = run.communicate(timeout=240)
    assert run.returncode == 0, err
    rows = json.loads(out)["rows"]
    found = {(*row["settings"].values(), row["seed"]): row["result_hash"] for row in rows}
    assert found == alone


def test_a_worker_that_is_killed_costs_a_paper_nothing_but_time(tidegate, cluster, tmp_path):
    command = (*PAPER, "--seeds", 40)
    with distributed.Client(cluster, set_as_default=False) as client:
        workers = client.run(os.getpid)
        run = start(
            tmp_path, "tidegate", *command, "--out", "k", "--dask", cluster.scheduler_address
        )
        wait_for(lambda: list(tmp_path.glob("k/runs/*/*/manifest.json")))
        os.kill(next(iter(workers.values())), signal.SIGKILL)
        _, err = run.communicate(timeout=240)
    assert run.returncode == 0, err
    assert tidegate(*command, "--out", "alone").returncode == 0
    assert of_paper(tmp_path / "k") == of_paper(tmp_path / "alone")


@contextmanager
def own_cluster(folder: Path):
    """A scheduler and a worker that a test may kill: the scheduler's process, and its address."""
    scheduler = start(
        folder, "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard",
        "--scheduler-file", "scheduler.json",
    )  # fmt: skip
    worker = None
    try:
        wait_for((folder / "scheduler.json").exists)
        wait_for(lambda: (folder / "scheduler.json").read_text().strip().endswith("}"))
        address = json.loads((folder / "scheduler.json").read_text())["address"]
        worker = start(
            folder, "distributed.cli.dask_worker", address, "--nthreads", 1, "--no-nanny",
            "--no-dashboard",
        )  # fmt: skip
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
        yield scheduler, address
    finally:
        for process in filter(None, (scheduler, worker)):
            process.kill()
            process.communicate()


def test_what_came_back_outlives_the_scheduler(tidegate, overload_file, tmp_path, alone):
    with own_cluster(tmp_path) as (scheduler, address):
        # runs that take their time: one of them is under way when the scheduler dies
        slow = ("--vary", "duration=8s,4000s", "--seeds", 1, "--out", "d")
        run = start(tmp_path, "tidegate", "sweep", overload_file, *slow, "--dask", address)
        wait_for(lambda: list(tmp_path.glob("d/runs/*/*/manifest.json")))
        scheduler.kill()
        _, err = run.communicate(timeout=240)
        assert run.returncode == 1
        assert "Lost the scheduler" in err
        assert re.search(r"1 of 2 runs are saved in d", err)
        assert "Traceback" not in err
    command = ("sweep", overload_file, "--vary", VARY, "--seeds", 2, *QUICK, "--out", "s")
    assert hashes(tidegate(*command, "--json")) == alone


def test_a_paper_goes_on_without_the_scheduler_that_it_began_with(tidegate, tmp_path):
    command = (*PAPER, "--seeds", 40)
    with own_cluster(tmp_path) as (scheduler, address):
        run = start(tmp_path, "tidegate", *command, "--out", "d", "--dask", address)
        wait_for(lambda: list(tmp_path.glob("d/runs/*/*/manifest.json")))
        scheduler.kill()
        _, err = run.communicate(timeout=240)
    kept = len(list(tmp_path.glob("d/runs/*/*/manifest.json")))
    assert run.returncode == 1, err
    assert "Lost the scheduler" in err
    assert f"{kept} runs are saved in d" in err
    assert "Traceback" not in err
    assert 0 < kept < 40
    resumed = tidegate(*command, "--out", "d")
    assert f"40 runs, {40 - kept} of them new" in resumed.stderr
    assert tidegate(*command, "--out", "alone").returncode == 0
    assert of_paper(tmp_path / "d") == of_paper(tmp_path / "alone")


def _pretend(other: str) -> None:
    import tidegate.grid.cluster as module

    module.code_hash = lambda: other
    from tidegate.results import provenance

    provenance.code_hash.__wrapped__.__code__ = (lambda: "other").__code__
    provenance.code_hash.cache_clear()


def test_a_worker_of_another_version_is_refused(tidegate, overload_file):
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ) as other,
        distributed.Client(other, set_as_default=False) as client,
    ):
        client.run(_pretend, "other")
        done = tidegate(
            *("compare", overload_file, "--gate", "none", "--seeds", 1, *QUICK),
            *("--dask", other.scheduler_address),
        )
        paper = tidegate(*PAPER, "--seeds", 1, "--out", "p", "--dask", other.scheduler_address)
    for refused in (done, paper):
        assert refused.returncode == 2
        assert "has another tidegate (code other" in refused.stderr
    assert not (overload_file.parent / "p").exists()
    assert not (overload_file.parent / "out" / "small-overload-compare").exists()


@pytest.mark.parametrize(
    ("address", "code", "says"),
    [("local:none", 2, "local:N"), ("tcp://127.0.0.1:1", 1, "Could not reach a scheduler")],
)
def test_a_cluster_that_is_not_there_is_said(
    tidegate, overload_file, monkeypatch, address, code, says
):
    monkeypatch.setattr("tidegate.grid.cluster.CONNECT_S", 1.0)
    done = tidegate(
        *("compare", overload_file, "--gate", "none", "--seeds", 1, *QUICK, "--dask", address)
    )
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_processes_of_this_machine_are_a_cluster_too(tidegate, overload_file, alone):
    command = ("sweep", overload_file, "--vary", VARY, "--seeds", 2, *QUICK, "--out", "l")
    assert hashes(tidegate(*command, "--dask", "local:2", "--json")) == alone
