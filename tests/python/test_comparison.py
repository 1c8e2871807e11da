"""A comparison is a grid: what its columns are, and that it goes on where it was broken off."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tidegate
from test_cli import PATIENCE_S, start, wait_for
from tidegate.results.store import folder_name

QUICK = {"duration": "4s", "warmup": "1s"}
VARIANTS = """
[variant."a b".topology.dumbbell.bottleneck]
rate = "1Mbit"
[variant.a-b.topology.dumbbell.bottleneck]
rate = "2Mbit"
[variant."A-B".topology.dumbbell.bottleneck]
rate = "3Mbit"
[variant."прилив".topology.dumbbell.bottleneck]
rate = "4Mbit"
[variant."отлив".topology.dumbbell.bottleneck]
rate = "5Mbit"
[variant."..".topology.dumbbell.bottleneck]
rate = "6Mbit"
"""


def kept(folder: Path) -> dict[Path, int]:
    """The finished runs of a folder, with the time at which each was written."""
    found = folder.glob("runs/*/seed-*/manifest.json")
    return {path.parent: path.stat().st_mtime_ns for path in found}


def test_variants_of_any_name_have_a_folder_each(overload, tmp_path):
    text = overload + VARIANTS
    done = tidegate.compare(text, seeds=1, settings=QUICK, out=tmp_path / "c")
    assert len(kept(tmp_path / "c")) == 6
    # each folder holds the run of its own variant: the capacities are 1 to 6 Mbit/s
    for row in done.rows:
        single = [
            path
            for path in kept(tmp_path / "c")
            if json.loads((path / "manifest.json").read_text("utf-8"))["settings"]
            == row["settings"]
        ]
        assert len(single) == 1
        summary = json.loads((single[0] / "summary.json").read_text("utf-8"))
        assert summary["result_hash"] == row["result_hash"]


def test_plain_names_are_folders_and_no_two_names_share_one():
    assert folder_name("close-probe") == "close-probe"
    names = ["a b", "a-b", "A-B", "a_b", "", "..", " ", "прилив", "отлив", "-", "a" * 200]
    names += [folder_name(name) for name in names]
    folders = [folder_name(name).lower() for name in names]
    assert len(set(folders)) == len(set(names))
    assert not any(name in ("", ".", "..") or "/" in name for name in folders)


SLOW = ("--set", "duration=60s", "--set", "warmup=1s", "--seeds", "4", "--workers", "2")
COMMAND = ("compare", "small.toml", "--gate", "none,close-probe", *SLOW)


@pytest.mark.slow
@pytest.mark.pictures
def test_a_comparison_that_is_broken_off_runs_only_what_is_missing(
    tidegate, overload_file, tmp_path
):
    whole = tidegate(*COMMAND, "--out", "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    run = start(tmp_path, *COMMAND, "--out", "c")
    try:
        wait_for(lambda: len(kept(tmp_path / "c")) >= 3)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=PATIENCE_S)
    finally:
        run.kill()
    first = kept(tmp_path / "c")
    assert 3 <= len(first) < 8
    assert f"{len(first)} of 8 runs are saved in c" in err
    done = tidegate(*COMMAND, "--out", "c", "--json")
    assert done.returncode == 0, done.stderr
    assert f"{len(first)} of 8 runs are there already; {8 - len(first)} to go." in done.stderr
    again = kept(tmp_path / "c")
    assert len(again) == 8
    assert {path: again[path] for path in first} == first
    assert json.loads(done.stdout)["table"] == json.loads(whole.stdout)["table"]
    # pictures are made of kept runs as of fresh ones
    for path in (tmp_path / "whole").glob("*.png"):
        assert (tmp_path / "c" / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_default_folder_is_gone_on_with_or_numbered(tidegate, overload_file):
    quick = ("--set", "duration=4s", "--set", "warmup=1s", "--seeds", "1")
    out = overload_file.parent / "out"
    assert tidegate("compare", overload_file, "--gate", "none", *quick).returncode == 0
    first = kept(out / "small-overload-compare")
    again = tidegate("compare", overload_file, "--gate", "none", *quick)
    assert "1 of 1 runs are there already; 0 to go." in again.stderr
    other = tidegate("compare", overload_file, "--gate", "none,gss-ga", *quick)
    assert "axis gate: there none; here none, gss-ga" in other.stderr
    assert "out/small-overload-compare-2" in other.stderr
    assert kept(out / "small-overload-compare") == first
    named = tidegate(
        "compare",
        overload_file,
        "--gate",
        "gss-ga",
        *quick,
        "--out",
        out / "small-overload-compare",
    )
    assert named.returncode == 2
    assert "Will not mix" in named.stderr


def test_two_comparisons_at_once_go_into_two_folders(tidegate, overload_file):
    out = overload_file.parent / "out"
    long = ("--vary", "duration=2000000s,1999999s", "--seeds", 1)
    long += ("--set", "traffic.web.arrivals.poisson=1/s")  # a run of weeks has to fit into memory
    run = start(overload_file.parent, "compare", overload_file, *long)
    try:
        wait_for((out / "small-overload-compare" / "manifest.json").exists)
        second = tidegate(
            "compare", overload_file, "--gate", "none", "--seeds", 1, "--set", "duration=6s"
        )
    finally:
        run.kill()
        run.communicate()
    assert second.returncode == 0, second.stderr
    assert "Another command is using out/small-overload-compare" in second.stderr
    assert len(kept(out / "small-overload-compare-2")) == 1


def test_queues_are_compared_and_with_gates_every_pair(overload):
    port = '[port.bottleneck]\nqueue = { law = "red", min_th = 3, max_th = 9 }\n'
    text = overload.replace("[port.bottleneck]\n", port)
    queues = ["drop-tail", "red", "red:max_th=30"]
    both = tidegate.compare(text, gates=["none", "gss-ga"], queues=queues, seeds=1, settings=QUICK)
    assert [row["settings"] for row in both.rows] == [
        {"gate": gate, "queue": queue} for gate in ("none", "gss-ga") for queue in queues
    ]
    assert list(both.curves) == [
        *("drop-tail", "red", "red:max_th=30"),
        *("gss-ga drop-tail", "gss-ga red", "gss-ga red:max_th=30"),
    ]
    by_hand = {"port.bottleneck.gate": {"law": "none"}}
    # of the same law the keys of the document are kept
    kept_keys = {"law": "red", "min_th": 3, "max_th": 30}
    single = tidegate.run(text, settings={**QUICK, **by_hand, "port.bottleneck.queue": kept_keys})
    assert both.rows[2]["result_hash"] == single.summary["result_hash"]
    alone = tidegate.compare(text, queues=queues, seeds=1, settings={**QUICK, **by_hand})
    assert [row["result_hash"] for row in alone.rows] == [
        row["result_hash"] for row in both.rows[:3]
    ]
    assert alone.rows[0]["result_hash"] != alone.rows[1]["result_hash"]


def test_queues_on_the_command_line(tidegate, overload_file):
    quick = ("--set", "duration=4s", "--set", "warmup=1s", "--seeds", "1", "--json")
    laws = ("--gate", "none,gss-ga", "--queue", "drop-tail,red:min_th=3:max_th=9")
    done = tidegate("compare", overload_file, *laws, *quick)
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["table"]
    assert [row["settings"]["queue"] for row in table] == ["drop-tail", "red:min_th=3:max_th=9"] * 2
    swept = tidegate(
        "sweep", overload_file, *laws, "--vary", "traffic.web.arrivals.poisson=20/s,40/s", *quick
    )
    assert len(json.loads(swept.stdout)["table"]) == 8
    wrong = tidegate("compare", overload_file, "--queue", "red:5")
    assert wrong.returncode == 2
    assert "Could not understand the queue red:5" in wrong.stderr


# What a killed process leaves, and what is damaged


def test_what_a_killed_run_left_is_removed_by_the_next(overload_file, tidegate):
    folder = overload_file.parent
    long = ("--set", "duration=2000000s", "--set", "traffic.web.arrivals.poisson=1/s")
    run = start(folder, "run", overload_file, *long, "--out", "r")
    wait_for(lambda: list(folder.glob(".r.*.partial")))
    other = tidegate("run", overload_file, "--out", "r")  # at work: left alone
    assert other.returncode == 0, other.stderr
    assert len(list(folder.glob(".r.*.partial"))) == 1
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert len(list(folder.glob(".r.*.partial"))) == 1
    assert tidegate("run", overload_file, "--out", "r").returncode == 0
    assert not list(folder.glob(".r.*"))


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", "flows.parquet"])
def test_a_damaged_run_is_done_again_and_named(tidegate, overload_file, name):
    quick = ("--set", "duration=4s", "--set", "warmup=1s", "--seeds", "2", "--out", "c", "--json")
    first = tidegate("compare", overload_file, "--gate", "none", *quick)
    path = overload_file.parent / "c" / "runs" / "none" / "seed-1" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    again = tidegate("compare", overload_file, "--gate", "none", *quick)
    assert again.returncode == 0, again.stderr
    assert f"Damaged, its run is repeated: c/runs/none/seed-1/{name}" in again.stderr
    assert "1 of 2 runs are there already; 1 to go." in again.stderr
    assert json.loads(again.stdout)["table"] == json.loads(first.stdout)["table"]


def test_a_damaged_manifest_of_the_whole_is_written_anew(tidegate, overload_file):
    quick = ("--set", "duration=4s", "--set", "warmup=1s", "--seeds", "2", "--out", "c")
    tidegate("compare", overload_file, "--gate", "none", *quick)
    manifest = overload_file.parent / "c" / "manifest.json"
    manifest.write_bytes(b"")
    again = tidegate("compare", overload_file, "--gate", "none", *quick)
    assert again.returncode == 0, again.stderr
    assert "2 of 2 runs are there already" in again.stderr
    assert json.loads(manifest.read_text("utf-8"))["complete"] is True


def test_a_comparison_leaves_other_peoples_files_alone(overload, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(tidegate.TidegateError, match=r"thesis\.tex"):
        tidegate.compare(overload, gates=["none"], seeds=1, settings=QUICK, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_digest_of_the_code_covers_what_is_kept_of_a_run(tmp_path):
    """A changed `run_output.py` saves other columns: its runs are runs of other code."""
    from shutil import copytree, ignore_patterns

    source = Path(tidegate.__file__).parent
    ask = "from tidegate.results.provenance import code_hash; print(code_hash())"

    def digest(name: str) -> str:
        package = copytree(
            source, tmp_path / name / "tidegate", ignore=ignore_patterns("__pycache__")
        )
        if name != "as it is":
            path = package / "results" / f"{name}.py"
            path.write_text(path.read_text("utf-8") + "\n# changed\n", encoding="utf-8")
        command = [sys.executable, "-c", ask]
        run = subprocess.run(
            command, cwd=package.parent, capture_output=True, text=True, check=True
        )
        return run.stdout

    names = ("as it is", "run_output", "statistics", "simulate", "run_files")
    digests = {digest(name) for name in names}
    assert len(digests) == 5


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ("2s,3s", "0 to 2 s or 0 to 3 s"),
        ("2s,3s,4s,5s", "times that differ by setting"),
        ("3s", "0 to 3 s"),
    ],
)
def test_a_heading_names_the_time_that_the_runs_have(tidegate, tmp_path, times, said):
    """The file has 60 s, of which no run has anything."""
    file = tmp_path / "short.toml"
    file.write_text(
        'name = "short"\nduration = "60s"\n[topology.dumbbell]\npairs = 1\n'
        'access = { rate = "1Gbit", delay = "1ms" }\n'
        'bottleneck = { rate = "1Mbit", delay = "10ms" }\n'
        '[traffic.web]\narrivals = { poisson = "5/s" }\nsize = "5kB"\n'
    )
    out = tmp_path / "out"
    words = ("sweep", str(file), "--vary", f"duration={times}", "--seeds", "1", "--out", str(out))
    done = tidegate(*words)
    assert done.returncode == 0, done.stderr
    assert f"short: from 1 seed, {said}" in done.stdout
    assert tidegate("report", str(out)).returncode == 0
    assert f"Means are over {said}." in (out / "report.html").read_text().replace("&nbsp;", " ")
