"""A sweep: its grid, its table, what is kept of it, and what it refuses."""

import csv
import io
import json
import signal
from pathlib import Path

import polars as pl
import pytest

import tidegate
from test_cli import PATIENCE_S, start, wait_for
from tidegate.grid import axes as grid
from tidegate.grid.plan import Point, Subject
from tidegate.results.breakdown import DATAGRAMS, PAGES, VIEWERS
from tidegate.results.statistics import metric_names, metrics

RATES = "port.bottleneck.gate.alpha_min"
QUICK = {"duration": "4s", "warmup": "1s"}
AXES = {RATES: [5, 10], "traffic.web.arrivals.poisson": ["20/s", "60/s"]}
ARGUMENTS = (
    *("--set", "duration=4s", "--set", "warmup=1s", "--seeds", "2"),
    *("--vary", f"{RATES}=5,10", "--vary", "traffic.web.arrivals.poisson=20/s:60/s:40/s"),
)


def same_for_ever(folder: Path) -> dict[str, bytes]:
    """What must not depend on how a sweep came about."""
    return {name: (folder / name).read_bytes() for name in ("table.csv", "sweep.parquet")}


def runs(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("runs/*/seed-*/manifest.json"))


# The grid


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("k=1,2,5", ["1", "2", "5"]),
        ("k=50/s, 100/s", ["50/s", "100/s"]),
        ("k=20ms:100ms:40ms", ["20ms", "60ms", "100ms"]),
        ("k=10:30:10/s", ["10/s", "20/s", "30/s"]),
        # In binary 0.1 + 2 * 0.1 is not 0.3.
        ("k=0.1:0.5:0.1", ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        ("k=100:50:-25", ["100", "75", "50"]),
        # The step leads to the end, and a value may follow.
        ("k=1:9:4,20", ["1", "5", "9", "20"]),
        ("k=1e2:3e2:100", ["100", "200", "300"]),
        ('k={ law = "none" },{ law = "gss-ga", beta = 1 }', None),
    ],
)
def test_values_of_an_axis(text, values):
    axis = grid.given(text)
    assert axis.key == "k"
    assert list(axis.values) == (values or ['{ law = "none" }', '{ law = "gss-ga", beta = 1 }'])


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["50/s", "100/s"], ([50.0, 100.0], "/s")),
        # Different units are brought to the first one.
        (["500ms", "1s", "2s"], ([500.0, 1000.0, 2000.0], "ms")),
        (["1Mbit", "500kbit"], ([1.0, 0.5], "Mbit")),
        (["64KiB", "1MiB"], ([64.0, 1024.0], "KiB")),
        (["1kB", "10B"], ([1.0, 0.01], "kB")),
        (["5ms", "1min"], None),
        (["0.1", "5"], ([0.1, 5.0], "")),
        (["none", "5"], None),
        (["5packets", "5ms"], None),
    ],
)
def test_values_are_numbers_of_one_unit_or_none(values, found):
    assert grid.numbers(values) == found


def test_shards_are_all_runs_once_and_differ_by_one_at_most():
    points = tuple(Point({"k": str(number)}, "", {}) for number in range(6))
    whole = Subject(
        "sweep", "x", 0.0, 1.0, ("web",), (), None, {"k": ()}, points, tuple(range(1, 8))
    )
    for count in (1, 2, 3, 4, 5, 43):
        parts = [
            Subject(**{**vars(whole), "shard": (number, count)}).jobs
            for number in range(1, count + 1)
        ]
        assert sorted(job for part in parts for job in part) == sorted(whole.jobs)
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    # 6 points in 3 shards: without turning, every seed would give a shard the same 2 points.
    first = Subject(**{**vars(whole), "shard": (1, 3)}).jobs
    assert {point for point, _ in first} == set(range(6))


IF_ASKED = (".drops.policed", ".drops.expired")  # losses counted where a port has the key


def test_metric_names_are_those_that_runs_have(overload):
    text = overload + overload[overload.index("[traffic.web]") :].replace("web", "more")
    result = tidegate.run(text, settings=QUICK)
    scenario = result.outcome.scenario
    names = metric_names(scenario.classes, [name for name, _ in scenario.ports])
    # a sweep may give any class or port any key: what those have is named for every one
    beside = (*DATAGRAMS, *VIEWERS, *PAGES)
    names = [name for name in names if not name.endswith(IF_ASKED)]
    ours = [name for name in names if name.rpartition(".")[2] not in beside]
    assert ours == list(metrics(result.summary))
    assert {name for name in names if name not in ours} == {
        f"{each}.{name}" for each in ("web", "more") for name in beside
    }


def test_metric_names_are_those_of_runs_of_datagrams_too(overload):
    voice = {"udp": {"rate": "100kbit", "packet": "200B"}}
    result = tidegate.run(overload, settings={**QUICK, "traffic.web.transport": voice})
    scenario = result.outcome.scenario
    names = metric_names(scenario.classes, [name for name, _ in scenario.ports])
    ours = [each for each in names if each not in VIEWERS + PAGES and not each.endswith(IF_ASKED)]
    assert ours == list(metrics(result.summary))


# The results


@pytest.fixture(scope="module")
def whole(tmp_path_factory, overload):
    """An undisturbed sweep of 2 x 2 settings and 2 seeds."""
    out = tmp_path_factory.mktemp("whole") / "sweep"
    return tidegate.sweep(overload, AXES, seeds=2, settings=QUICK, workers=2, out=out, plots=False)


def test_rows_are_what_single_runs_give(whole, overload):
    assert len(whole.rows) == 8
    for row in whole.rows:
        own = {key: row["settings"][key] for key in AXES}
        single = tidegate.run(overload, seed=row["seed"], settings={**QUICK, **own}).summary
        assert {key for key in row if key != "settings"} == single.keys()
        for key in single.keys() - {"cpu_s"}:
            assert row[key] == single[key], key


def test_table_has_mean_and_interval_of_each_setting(whole):
    assert [row["settings"] for row in whole.averages] == [
        {RATES: alpha, "traffic.web.arrivals.poisson": rate}
        for alpha in ("5", "10")
        for rate in ("20/s", "60/s")
    ]
    for average in whole.averages:
        seeds = [row for row in whole.rows if row["settings"] == average["settings"]]
        first, second = (row["all"]["completed_per_s"] for row in seeds)
        value = average["completed_per_s"]
        assert value["mean"] == pytest.approx((first + second) / 2)
        # Student's t of 0.975 with one degree of freedom is 12.706; s / sqrt(2) = |a - b| / 2.
        assert value["high"] - value["mean"] == pytest.approx(
            12.706 * abs(first - second) / 2, 1e-3
        )


@pytest.mark.pictures
@pytest.mark.slow
def test_files_of_a_sweep(whole, overload):
    # all runs are there: the files of the whole are written anew, pictures included
    tidegate.sweep(overload, AXES, seeds=2, settings=QUICK, out=whole.folder)
    folder = whole.folder
    assert {path.name for path in folder.iterdir()} == {
        *("manifest.json", "summary.json", "table.csv", "sweep.parquet", "runs"),
        *("table.tex", "differences.csv"),
        *(f"over-{key}.{form}" for key in AXES for form in ("png", "svg")),
    }
    lines = list(csv.DictReader(io.StringIO((folder / "table.csv").read_text("utf-8"))))
    fct = [line for line in lines if line["metric"] == "fct_mean_s"]
    assert [line["mean"] for line in fct] == [
        str(row["fct_mean_s"]["mean"]) for row in whole.averages
    ]
    assert {line["seeds"] for line in lines} == {"2"}
    frame = pl.read_parquet(folder / "sweep.parquet")
    assert frame["seed"].to_list() == [1, 2] * 4
    assert frame["bottleneck.departed"].to_list() == [
        next(port["departed"] for port in row["ports"] if port["name"] == "bottleneck")
        for row in whole.rows
    ]
    assert "cpu_s" not in frame.columns
    # No Parquet of single runs unless it is asked for: it is most of what a run writes.
    assert len(runs(folder)) == 8
    assert not list(folder.glob("runs/**/*.parquet"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["complete"] is True
    assert manifest["code_hash"]


def test_one_worker_gives_what_two_give(whole, overload, tmp_path):
    tidegate.sweep(overload, AXES, seeds=2, settings=QUICK, workers=1, out=tmp_path / "one")
    assert same_for_ever(tmp_path / "one") == same_for_ever(whole.folder)
    assert tidegate.sweep(overload, AXES, seeds=2, settings=QUICK).averages == whole.averages


def test_axes_in_the_file_are_those_of_the_command_line(whole, overload, tidegate, tmp_path):
    text = f'{overload}\n[sweep]\nseeds = 2\n"{RATES}" = [5, 10]\n'
    text += 'traffic.web.arrivals.poisson = ["20/s", "60/s"]\n'
    (tmp_path / "grid.toml").write_text(text, encoding="utf-8")
    quick = ("--set", "duration=4s", "--set", "warmup=1s")
    done = tidegate("sweep", "grid.toml", *quick, "--json", "--out", "s")
    assert done.returncode == 0, done.stderr
    assert same_for_ever(tmp_path / "s") == same_for_ever(whole.folder)
    answer = json.loads(done.stdout)
    assert set(answer) == {"rows", "table"}
    assert answer["table"] == whole.averages
    assert answer["rows"][0]["settings"] == {RATES: "5", "traffic.web.arrivals.poisson": "20/s"}
    # Axes of the command line stand instead of those in the file; its seeds stay.
    other = ("--vary", "topology.dumbbell.bottleneck.delay=5ms", "--json", "--out", "o")
    (row,) = json.loads(tidegate("sweep", "grid.toml", *quick, *other).stdout)["table"]
    assert row["settings"] == {"topology.dumbbell.bottleneck.delay": "5ms"}


def test_gates_are_an_axis_and_many_settings_have_a_line_each(tidegate, overload_file):
    quick = ("--set", "duration=4s", "--set", "warmup=1s", "--seeds", "2")
    gates = (
        "--gate",
        "none,fixed-rate:20",
        "--vary",
        "traffic.web.arrivals.poisson=20/s,40/s,60/s",
    )
    done = tidegate("sweep", overload_file, *quick, *gates, "--out", "s")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    told = [line[:2] for line in lines if line[:1] in (["none"], ["fixed-rate:20"])]
    # below them, by how much the second gate differs from the first at each load
    order, rates = ("none", "fixed-rate:20", "fixed-rate:20"), ("20/s", "40/s", "60/s")
    assert told == [[gate, rate] for gate in order for rate in rates]
    assert max(map(len, done.stdout.splitlines())) <= 120
    chosen = tidegate("sweep", overload_file, *quick, *gates, "--out", "s", "--metrics", "jain")
    assert "jain" in chosen.stdout
    assert "completed" not in chosen.stdout
    assert "6 of 12" not in chosen.stderr
    assert "12 of 12 runs are there already" in chosen.stderr
    table = (overload_file.parent / "s" / "table.csv").read_text("utf-8").splitlines()
    assert len(table) == 1 + 6


CANNOT_BE_SWEPT = [
    ([], "No axis to sweep"),
    (["--vary", "duration"], "KEY=a,b,c"),
    (["--vary", "duration="], "has no values"),
    (["--vary", "duratoin=5s"], "duratoin"),
    (["--vary", "duration=6s,5furlongs"], "furlongs"),
    (["--vary", "duration=5s:9s"], "lo:hi:step"),
    (["--vary", "duration=5s:9s:0s"], "no values"),
    (["--vary", "duration=9s:5s:1s"], "no values"),
    (["--vary", "duration=5s:9ms:1s"], "one unit"),
    (["--vary", "duration=1:9:0.00001s"], "more than 10000"),
    (["--vary", "duration=5s,5s"], "more than once"),
    (["--vary", "duration=7s", "--vary", "duration=6s"], "two axes duration"),
    (
        ["--gate", "none,close-probe", "--vary", "port.bottleneck.gate.beta=0.2"],
        "the setting none",
    ),
    (["--gate", "none", "--port", "attic"], "attic"),
    (["--gate", ""], "No gate is named"),
    (["--vary", "duration=7s", "--shard", "3/2"], "--shard 3/2"),
    (["--vary", "duration=7s", "--metrics", "fct_maen_s"], "fct_mean_s"),
    (["--vary", "duration=5s", "--set", "sweep.seeds=0"], "sweep.seeds"),
]


@pytest.mark.parametrize(("arguments", "says"), CANNOT_BE_SWEPT)
def test_what_cannot_be_swept_is_said_and_leaves_nothing(tidegate, overload_file, arguments, says):
    done = tidegate("sweep", overload_file, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.name for path in overload_file.parent.iterdir()] == ["small.toml"]


def test_a_wrong_axis_in_the_file_is_shown_in_its_line(tidegate, overload_file):
    lines = overload_file.read_text(encoding="utf-8").count("\n")
    with overload_file.open("a", encoding="utf-8") as file:
        file.write('[sweep]\n"port.bottleneck.gate.alpha_mn" = [1, 2]\n')
    done = tidegate("sweep", overload_file)
    assert done.returncode == 2
    assert f"small.toml:{lines + 2}" in done.stderr
    assert "did you mean `alpha_min`" in done.stderr


@pytest.mark.parametrize("axes", [{"duration": "5s"}, {"duration": []}, {}])
def test_wrong_axes_in_python(overload, axes):
    with pytest.raises(tidegate.TidegateError):
        tidegate.sweep(overload, axes)


class Refuser:
    """A law of a user's own: admits so many a second."""

    def __init__(self, rate):
        self.rate = rate

    def start(self, now_s, knobs):
        knobs.allowance = self.rate
        return now_s + 1.0

    def update(self, now_s, view, counts, knobs):
        knobs.allowance = self.rate
        return now_s + 1.0


def test_laws_in_python_are_swept_and_not_mixed_up(overload, tmp_path):
    own = [{"law": "python", "name": "mine", "limiter": "counter"}]

    def swept(rate):
        laws = {"mine": Refuser(rate)}
        return tidegate.sweep(
            overload, gates=own, seeds=2, settings=QUICK, laws=laws, out=tmp_path / "s"
        )

    assert swept(10).averages == swept(10).averages
    with pytest.raises(tidegate.TidegateError, match="laws in Python"):
        swept(20)


# Interrupting and resuming


@pytest.fixture
def command(tmp_path, overload_file):
    """The arguments of a sweep that takes seconds, and its table when undisturbed."""
    slow = ("--set", "duration=60s", "--set", "warmup=1s", "--seeds", "6", "--workers", "2")
    vary = ("--vary", f"{RATES}=5,10", "--vary", "traffic.web.arrivals.poisson=60/s,200/s")
    return ("sweep", overload_file, *slow, *vary)


@pytest.mark.slow
def test_a_sweep_that_is_killed_twice_ends_with_the_same_table(tidegate, command, tmp_path):
    whole = tidegate(*command, "--out", "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    folder, kept = tmp_path / "killed", 0
    for least in (3, 9):
        run = start(tmp_path, *command, "--out", "killed")
        wait_for(lambda least=least: len(runs(folder)) >= least)
        run.send_signal(signal.SIGKILL)
        run.communicate(timeout=PATIENCE_S)
        assert run.returncode == -signal.SIGKILL
        assert kept < len(runs(folder)) < 24
        kept = len(runs(folder))
        assert not (folder / "table.csv").exists()
        assert json.loads((folder / "manifest.json").read_text("utf-8"))["complete"] is False
    # As a machine leaves it that lost its power: a file that is there and empty.
    (runs(folder)[0] / "summary.json").write_bytes(b"")
    (runs(folder)[0].parent / ".seed-1.xyz.partial").mkdir()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/seed-*/summary.json")}
    done = tidegate(*command, "--out", "killed", "--json")
    assert done.returncode == 0, done.stderr
    assert f"{kept - 1} of 24 runs are there already; {25 - kept} to go." in done.stderr
    again = [path for path, time in before.items() if path.stat().st_mtime_ns != time]
    assert len(again) == 1
    assert same_for_ever(folder) == same_for_ever(tmp_path / "whole")
    assert json.loads(done.stdout)["table"] == json.loads(whole.stdout)["table"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        path.name for path in (tmp_path / "whole").iterdir()
    )
    assert not list(folder.glob("runs/*/.*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_sweep_that_is_stopped_says_what_is_kept(command, tmp_path, number):
    run = start(tmp_path, *command, "--out", "s")
    wait_for(lambda: len(runs(tmp_path / "s")) >= 2)
    run.send_signal(number)
    out, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert f"{len(runs(tmp_path / 's'))} of 24 runs are saved in s" in err
    assert "Traceback" not in err
    assert out == ""


def test_a_sweep_that_is_stopped_before_its_first_run_leaves_nothing(tmp_path, overload_file):
    vary = "traffic.web.arrivals.poisson=1/s,2/s"
    run = start(
        tmp_path, "sweep", overload_file, "--vary", vary, "--set", "duration=2000000s", "--out", "s"
    )
    wait_for((tmp_path / "s" / "manifest.json").exists)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 130
    assert "nothing was written" in err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_more_seeds_run_only_what_is_missing(overload, tmp_path):
    axes = {RATES: [5, 10]}
    tidegate.sweep(overload, axes, seeds=1, settings=QUICK, out=tmp_path / "s")
    first = {path: (path / "manifest.json").stat().st_mtime_ns for path in runs(tmp_path / "s")}
    tidegate.sweep(overload, axes, seeds=3, settings=QUICK, out=tmp_path / "s")
    assert len(runs(tmp_path / "s")) == 6
    for path, time in first.items():
        assert (path / "manifest.json").stat().st_mtime_ns == time
    tidegate.sweep(overload, axes, seeds=3, settings=QUICK, out=tmp_path / "w")
    assert same_for_ever(tmp_path / "s") == same_for_ever(tmp_path / "w")


def test_flows_are_kept_when_asked_for(overload, tmp_path):
    axes = {RATES: [5]}
    tidegate.sweep(overload, axes, seeds=2, settings=QUICK, out=tmp_path / "s")
    # Runs without them count as missing now.
    done = tidegate.sweep(
        overload, axes, seeds=2, settings=QUICK, out=tmp_path / "s", keep_flows=True
    )
    for row, folder in zip(done.rows, runs(tmp_path / "s"), strict=True):
        flows = pl.read_parquet(folder / "flows.parquet")
        assert flows["closed_s"].is_between(1.0, 4.0).sum() == row["all"]["completed"]
        assert (folder / "ports.parquet").exists()
        assert (folder / "events.parquet").exists()


# Refused


@pytest.fixture
def made(overload, tmp_path):
    """A finished sweep, and how to call it again with something else."""

    def call(**other):
        given = {"axes": {RATES: [5, 10]}, "seeds": 1, "settings": QUICK, "out": tmp_path / "s"}
        return tidegate.sweep(overload, **{**given, **other})

    call()
    return call


def test_another_scenario_is_not_mixed_in(made):
    with pytest.raises(tidegate.TidegateError, match=r"(?s)mix.*scenario.*duration") as caught:
        made(settings={**QUICK, "duration": "5s"})
    assert "`mix`" in caught.value.remedy
    mixed = made(settings={**QUICK, "duration": "5s"}, mix=True)
    assert {row["duration_s"] for row in mixed.rows} == {4.0}


def test_other_axes_are_not_mixed_in(made, tmp_path):
    with pytest.raises(tidegate.TidegateError, match=r"alpha_min: there 5, 10; here 5, 20"):
        made(axes={RATES: [5, 20]})
    with pytest.raises(tidegate.TidegateError, match=r"axis traffic\.web\.size: there none"):
        made(axes={"traffic.web.size": ["5kB"]})
    times = {path: path.stat().st_mtime_ns for path in runs(tmp_path / "s")}
    mixed = made(axes={RATES: [5, 20]}, mix=True)
    assert [row["settings"][RATES] for row in mixed.rows] == ["5", "20"]
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())


def test_other_code_is_not_mixed_in(made, monkeypatch, tmp_path):
    monkeypatch.setattr("tidegate.results.provenance.code_hash", lambda: "f" * 40)
    with pytest.raises(
        tidegate.TidegateError, match=r"code: there 2 runs by tidegate .*ffffffffff"
    ):
        made()
    made(mix=True)
    # What was mixed stays mixed: without the word it is refused again, from either side.
    made(seeds=2, mix=True)
    with pytest.raises(tidegate.TidegateError, match="there 2 runs"):
        made(seeds=2)
    monkeypatch.undo()
    with pytest.raises(tidegate.TidegateError, match=r"there 2 runs by .*ffffffffff"):
        made(seeds=2)


def test_another_content_of_a_file_is_not_mixed_in(overload, tmp_path):
    text = overload.replace(
        '{ pareto = { mean = "10kB", shape = 1.5 } }', '{ empirical = { file = "f.cdf" } }'
    )
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    call = {"axes": {RATES: [5]}, "seeds": 1, "settings": QUICK, "out": tmp_path / "s"}
    (tmp_path / "f.cdf").write_text("100 0.5\n1000 1\n", encoding="utf-8")
    tidegate.sweep(tmp_path / "a.toml", **call)
    (tmp_path / "f.cdf").write_text("100 0.5\n2000 1\n", encoding="utf-8")
    with pytest.raises(tidegate.TidegateError, match=r"file f\.cdf"):
        tidegate.sweep(tmp_path / "a.toml", **call)


def test_a_folder_of_something_else_is_left_alone(overload, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(tidegate.TidegateError, match=r"thesis\.tex"):
        tidegate.sweep(overload, {RATES: [5]}, seeds=1, settings=QUICK, out=tmp_path)
    tidegate.run(overload, settings=QUICK).save(tmp_path / "run")
    with pytest.raises(tidegate.TidegateError, match="something other than a sweep"):
        tidegate.sweep(overload, {RATES: [5]}, seeds=1, settings=QUICK, out=tmp_path / "run")
    assert (tmp_path / "run" / "flows.parquet").exists()


def test_two_sweeps_do_not_share_a_folder(command, tmp_path, tidegate):
    longer = ["duration=100000s" if each == "duration=60s" else each for each in command]
    run = start(tmp_path, *longer, "--out", "s")
    wait_for((tmp_path / "s" / "manifest.json").exists)
    second = tidegate(*command, "--out", "s")
    assert second.returncode == 1
    assert "Another command is using s" in second.stderr
    assert (tmp_path / "s" / "manifest.json").exists()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE_S)


@pytest.fixture
def shards(overload, tmp_path):
    """Three shards of the sweep of `whole`, each in its folder."""
    folders = []
    for number in (1, 2, 3):
        out = tmp_path / f"part-{number}"
        tidegate.sweep(overload, AXES, seeds=2, settings=QUICK, out=out, shard=f"{number}/3")
        folders.append(out)
    return folders


def test_shards_merge_into_the_whole(whole, shards, overload, tidegate, tmp_path):
    assert [len(runs(folder)) for folder in shards] == [3, 3, 2]
    assert not (shards[0] / "table.csv").exists()
    done = tidegate("merge", *shards, "--out", "merged", "--json")
    assert done.returncode == 0, done.stderr
    assert "Basis: 2 seeds" in done.stderr
    assert json.loads(done.stdout)["table"] == whole.averages
    assert same_for_ever(tmp_path / "merged") == same_for_ever(whole.folder)
    # What was merged is a sweep like any other.
    (tmp_path / "small.toml").write_text(overload, encoding="utf-8")
    again = tidegate("sweep", "small.toml", *ARGUMENTS, "--out", "merged")
    assert "8 of 8 runs are there already" in again.stderr


def test_a_merge_replaces_nothing_but_a_merge_of_the_same_sweep(
    shards, overload, tidegate, tmp_path
):
    import tidegate as package

    for _ in range(2):
        assert tidegate("merge", *shards, "--out", "m").returncode == 0
    package.sweep(overload, {RATES: [7]}, seeds=1, settings=QUICK, out=tmp_path / "other")
    package.compare(overload, gates=["none"], seeds=1, settings=QUICK, out=tmp_path / "compared")
    for name in ("other", "compared"):
        before = runs(tmp_path / name)
        refused = tidegate("merge", *shards, "--out", name)
        assert refused.returncode == 1
        assert f"Will not replace {name}" in refused.stderr
        assert runs(tmp_path / name) == before


def test_gaps_and_overlaps_are_named(shards, tidegate, tmp_path):
    gap = tidegate("merge", shards[0], shards[2], "--out", "m")
    assert gap.returncode == 2
    assert "3 of 8 runs are missing" in gap.stderr
    assert gap.stderr.count(" seed ") == 3
    assert not (tmp_path / "m").exists()
    twice = tidegate("merge", *shards, shards[1], "--out", "m")
    assert twice.returncode == 2
    assert "3 runs are both in part-2 and in part-2" in twice.stderr
    partial = tidegate("merge", shards[0], shards[2], "--out", "m", "--partial")
    assert partial.returncode == 0
    assert "3 runs are missing" in partial.stderr
    assert json.loads((tmp_path / "m" / "manifest.json").read_text("utf-8"))["complete"] is False


def test_parts_of_different_sweeps_are_not_merged(
    shards, overload, tidegate, tmp_path, monkeypatch
):
    import tidegate as package

    def part(name, axes=AXES, settings=QUICK, seeds=2):
        package.sweep(
            overload, axes, seeds=seeds, settings=settings, out=tmp_path / name, shard="3/3"
        )
        return tidegate("merge", *shards[:2], name, "--out", "m")

    other = part("axes", axes={**AXES, RATES: [5, 20]})
    assert (other.returncode, "there 5, 20; here 5, 10" in other.stderr) == (2, True)
    other = part("scenario", settings={**QUICK, "duration": "5s"})
    assert (other.returncode, "scenario" in other.stderr) == (2, True)
    other = part("seeds", seeds=3)
    assert (other.returncode, "seeds: there 1, 2, 3; here 1, 2" in other.stderr) == (2, True)
    monkeypatch.setattr("tidegate.results.provenance.code_hash", lambda: "f" * 40)
    other = part("code")
    assert (other.returncode, "different code" in other.stderr) == (2, True)
    assert "ffffffffff" in other.stderr
    assert not (tmp_path / "m").exists()
    assert tidegate("merge", *shards[:2], "code", "--out", "m", "--mix").returncode == 0
    assert tidegate("merge", *shards[:2], tmp_path, "--out", "m").returncode == 1


def test_a_shard_goes_into_its_own_folder(tidegate, overload_file):
    done = tidegate("sweep", overload_file, *ARGUMENTS, "--shard", "2/4")
    assert done.returncode == 0, done.stderr
    assert "tidegate merge" in done.stderr
    assert len(runs(overload_file.parent / "out" / "small-overload-sweep-2-of-4")) == 2


def test_the_runs_of_a_sweep_are_not_replaced_by_a_single_run(overload, tmp_path):
    """What took long is removed by its owner only, never by a command that reuses the name."""
    tidegate.sweep(overload, {RATES: [5, 10]}, seeds=1, settings=QUICK, out=tmp_path / "s")
    kept = sorted(path for path in (tmp_path / "s").rglob("*") if path.is_file())
    with pytest.raises(tidegate.TidegateError, match="something other than a comparison"):
        tidegate.compare(overload, gates=["none"], seeds=1, settings=QUICK, out=tmp_path / "s")
    assert sorted(path for path in (tmp_path / "s").rglob("*") if path.is_file()) == kept
