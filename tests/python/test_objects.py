"""Runs in an object store: the same runs, resumed, and never incomplete.

The store is fsspec's own in memory: what tidegate does with it is the same for
any other.
"""

import json

import pytest

import tidegate as laboratory
from tidegate.errors import TidegateError, UsageError
from tidegate.results.location import is_remote, location

upath = pytest.importorskip(
    "upath", reason="not installed: pip install distributed universal-pathlib"
)

QUICK = {"duration": "8s", "warmup": "2s"}
VARY = {"traffic.web.arrivals.poisson": ["20/s", "30/s"]}


@pytest.fixture
def store():
    """An empty store."""
    import fsspec

    memory = fsspec.filesystem("memory")
    yield "memory://laboratory"
    memory.rm("/laboratory", recursive=True)


def swept(overload, out, **more):
    return laboratory.sweep(overload, VARY, seeds=2, settings=QUICK, out=out, **more)


def content(folder) -> dict[str, bytes]:
    """Everything that is written, but what a run cost in time and the sums over that."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("manifest.json", "summary.json")
    }


def test_the_same_lies_there_as_in_a_folder(overload, store, tmp_path):
    far = swept(overload, f"{store}/a", keep_flows=True)
    near = swept(overload, tmp_path / "a", keep_flows=True)
    assert [row["result_hash"] for row in far.rows] == [row["result_hash"] for row in near.rows]
    there = upath.UPath(f"{store}/a")
    for name in ("table.csv", "sweep.parquet", "manifest.json", "summary.json"):
        assert (there / name).exists()
    runs = [path.parent for path in there.glob("runs/*/seed-*/manifest.json")]
    assert len(runs) == 4
    for run in runs:
        manifest = json.loads((run / "manifest.json").read_text())
        mine = tmp_path / "a" / "runs" / run.parent.name / run.name
        assert sorted(manifest["files"]) == sorted(
            path.name for path in mine.iterdir() if path.name != "manifest.json"
        )
        for name in ("flows.parquet", "ports.parquet", "events.parquet", "scenario.toml"):
            assert (run / name).read_bytes() == (mine / name).read_bytes()
    assert (there / "table.csv").read_bytes() == (tmp_path / "a" / "table.csv").read_bytes()
    assert far.flows.equals(near.flows)


def test_what_is_there_is_not_run_again_and_what_is_broken_is(overload, store):
    swept(overload, f"{store}/b")
    runs = sorted(upath.UPath(f"{store}/b").glob("runs/*/seed-*/summary.json"), key=str)
    times = {str(path): path.fs.info(path.path)["created"] for path in runs}
    # one is damaged, and of one the manifest, which comes last, was never written
    runs[0].write_bytes(b"{}")
    (runs[1].parent / "manifest.json").unlink()
    again = swept(overload, f"{store}/b")
    assert again.complete
    new = {str(path) for path in runs if path.fs.info(path.path)["created"] != times[str(path)]}
    assert new == {str(runs[0]), str(runs[1])}


def test_another_sweep_is_not_mixed_in(overload, store):
    swept(overload, f"{store}/c")
    with pytest.raises(TidegateError, match="mix"):
        laboratory.sweep(
            overload, VARY, seeds=2, settings=QUICK | {"duration": "9s"}, out=f"{store}/c"
        )


def test_a_comparison_is_read_again_from_there(overload, store):
    done = laboratory.compare(
        overload, gates=["none", "close-probe"], seeds=2, settings=QUICK, out=f"{store}/d"
    )
    again = laboratory.load(f"{store}/d")
    assert again.frame.equals(done.frame)
    assert again.flows.equals(done.flows)
    assert list(again.curves) == list(done.curves)


def test_a_paper_keeps_its_runs_there(store):
    from tidegate import papers
    from tidegate.papers import perform
    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.request import Request

    study = papers.load("lgc")
    values = []
    for _ in range(2):
        with CaseFolder(f"{store}/e", study) as folder:
            done = perform.judged(study, folder, Request(("exp1.avg_lag",), seeds=2))
            values.append((done.ran, [outcome.verdict for outcome in done.outcomes]))
    assert values[0][0] == 2
    assert values[1] == (0, values[0][1])


def test_a_url_of_this_machine_is_a_folder():
    assert str(location("file:///tmp/a")) == "/tmp/a"
    assert not is_remote(location("file:///tmp/a"))
    assert not is_remote(location("out/a"))


def test_a_store_that_nobody_knows_is_said(overload):
    with pytest.raises(UsageError, match="nowhere"):
        swept(overload, "nowhere://a")


def test_every_command_takes_a_url(tidegate, overload, shelf):
    """`check` and `sweep` of a scenario there, its shards merged there, and read from there."""
    upath.UPath(f"{shelf}/s.toml").write_text(overload)
    assert "can be run" in tidegate("check", f"{shelf}/s.toml").stdout
    assert "small overload" in tidegate("show", f"{shelf}/s.toml").stdout
    quick = ("--set", "duration=6s", "--set", "warmup=2s")
    axis = ("--vary", "traffic.web.arrivals.poisson=20/s,30/s", "--seeds", "1", "--no-plots")
    for shard in (1, 2):
        where = ("--shard", f"{shard}/2", "--out", f"{shelf}/part{shard}")
        done = tidegate("sweep", f"{shelf}/s.toml", *axis, *quick, *where)
        assert done.returncode == 0, done.stderr
    parts = [f"{shelf}/part{shard}" for shard in (1, 2)]
    for name in ("whole", "whole", "other"):  # the second time over the first
        done = tidegate("merge", *parts, "--out", f"{shelf}/{name}", "--no-plots")
        assert done.returncode == 0, done.stderr
        assert f"{shelf}/{name}" in done.stderr
    assert laboratory.load(f"{shelf}/whole").complete
    wrong = tidegate("merge", *parts, "--out", parts[0], "--no-plots")
    assert wrong.returncode == 2
    assert "both a shard and the folder" in wrong.stderr
    assert laboratory.load(parts[0]).rows
    assert tidegate("compare", f"{shelf}/whole", f"{shelf}/other").returncode == 0
    assert tidegate("report", f"{shelf}/whole", "--out", f"{shelf}/page.html").returncode == 0
    assert upath.UPath(f"{shelf}/page.html").read_text().startswith("<!doctype html>")


def test_a_run_is_saved_there_and_nothing_else_is_replaced(overload, store):
    done = laboratory.run(overload, settings=QUICK)
    done.save(f"{store}/one")
    done.save(f"{store}/one")
    again = laboratory.load(f"{store}/one")
    assert again.summary["result_hash"] == done.summary["result_hash"]
    assert again.flows.equals(done.flows)
    upath.UPath(f"{store}/mine/notes.txt").write_text("mine")
    with pytest.raises(TidegateError, match="Will not replace"):
        done.save(f"{store}/mine")
    assert upath.UPath(f"{store}/mine/notes.txt").read_text() == "mine"


def test_nothing_is_made_here_for_a_url_without_its_driver(tidegate, overload_file):
    """Each command that takes a place; `foo` is a scheme that nobody knows."""
    there = "foo://bucket/place"
    for words in (
        ("check", there),
        ("run", overload_file, "--out", there),
        ("compare", there, there),
        ("sweep", overload_file, "--out", there),
        ("merge", "a", "--out", there),
        ("study", "today", "--out", there),
        ("paper", "lgc", "--out", there),
        ("report", there),
        ("plot", there),
        ("flows", there),
        ("examples", there),
    ):
        done = tidegate(*words)
        assert done.returncode == 2, (words, done.stderr)
        assert "Could not use foo://bucket/place" in done.stderr
        assert "Traceback" not in done.stderr
    assert [path.name for path in overload_file.parent.iterdir()] == [overload_file.name]
