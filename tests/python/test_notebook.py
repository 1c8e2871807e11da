"""What a notebook shows of each thing, and `load` of each folder that a command writes."""

from pathlib import Path

import polars as pl
import pytest

import tidegate as laboratory
from tidegate.errors import UsageError
from tidegate.show import progress

CAPTURE = Path(__file__).parents[2] / "scenarios/captures/narrow-link.pcap"
CLAIM = "exp1.avg_lag"
QUICK = {"duration": "6s", "warmup": "1s"}
AXIS = {"traffic.web.arrivals.poisson": ["10/s", "20/s"]}


@pytest.fixture(scope="module")
def out(tmp_path_factory, overload):
    """A folder `out` with a run, a comparison and a sweep."""
    folder = tmp_path_factory.mktemp("notebook") / "out"
    laboratory.run(overload, settings=QUICK).save(folder / "one")
    short = {"seeds": 1, "settings": QUICK, "plots": False}
    laboratory.compare(overload, gates=["none"], out=folder / "compared", **short)
    laboratory.sweep(overload, AXIS, out=folder / "swept", keep_flows=True, **short)
    return folder


def test_load_reads_each_folder_that_out_holds(out):
    kinds = {"one": laboratory.Result, "compared": laboratory.Comparison, "swept": laboratory.Sweep}
    for name, kind in kinds.items():
        assert type(laboratory.load(out / name)) is kind
    runs = [path.parent for path in out.glob("*/runs/*/seed-*/manifest.json")]
    assert len(runs) == 3
    for folder in runs:
        assert type(laboratory.load(folder)) is laboratory.Result


def test_load_of_the_folder_above_names_what_it_holds(out):
    with pytest.raises(UsageError, match=r"Name one of those in it: .*compared, .*one, .*swept"):
        laboratory.load(out)


@pytest.mark.slow
def test_load_reads_a_paper(tidegate, tmp_path):
    """The claim is of one case."""
    done = tidegate("paper", "lgc", "--only", CLAIM, "--seeds", "5")
    assert done.returncode == 0, done.stderr
    paper = laboratory.load(tmp_path / "out/paper-lgc")
    assert repr(paper).startswith("<Study of 'lgc': 1 cases, 5 runs, 1 claims;")
    assert [claim["id"] for claim in paper.claims] == [f"lgc.{CLAIM}"]
    assert paper.frame.height == 5
    assert paper.frame["seed"].to_list() == [1, 2, 3, 4, 5]
    one = paper.run(paper.cases[0], 2)
    assert type(one) is laboratory.Result
    assert one.summary["seed"] == 2
    assert paper.report.startswith("# ")
    assert f"lgc.{CLAIM}" in paper._repr_html_()
    with pytest.raises(UsageError, match="no run of case nosuch"):
        paper.run("nosuch")


@pytest.mark.slow
def test_load_reads_a_study(tidegate, tmp_path):
    pattern = "satellite/greedy/cubic:drop-tail"
    done = tidegate("study", "today", "--seeds", "1", "--only", pattern)
    assert done.returncode == 0, done.stderr
    study = laboratory.load(tmp_path / "out/study-today")
    assert study.cases == [pattern]
    assert study.frame["case"].to_list() == [pattern]
    assert study.claims == []
    assert "<table" in study._repr_html_()


def test_what_a_cell_shows_is_short(out):
    """A cell prints the last value: a line of it, or a table; never all runs."""
    for name in ("one", "compared", "swept"):
        shown = repr(laboratory.load(out / name))
        assert "\n" not in shown
        assert len(shown) < 300
        assert laboratory.load(out / name)._repr_html_().startswith("<pre")
    table = laboratory.load(out / "one").table
    assert "small overload" in repr(table)
    assert "<rich" not in repr(table)


def test_a_capture_in_a_cell_is_a_line_and_a_table():
    found = laboratory.flows(CAPTURE)
    assert repr(found).startswith("<Flows of 'narrow-link.pcap': 110 connections in")
    assert "connections with data" in repr(found.table)
    assert found._repr_html_().startswith("<pre")


def test_dir_has_the_public_names_and_no_other():
    names = {name for name in dir(laboratory) if not name.startswith("__")}
    assert names == {name for name in laboratory.__all__ if not name.startswith("__")}
    for name in names:
        assert getattr(laboratory, name) is not None


def test_figures_are_of_matplotlib_and_no_file_is_written(out):
    from matplotlib.figure import Figure

    before = sorted(out.rglob("*"))
    for name in ("compared", "swept"):
        figures = laboratory.load(out / name).figures()
        assert figures
        assert all(isinstance(figure, Figure) for figure in figures.values())
    assert sorted(out.rglob("*")) == before


def test_frames_of_pandas_have_the_rows_of_polars(out):
    pytest.importorskip("pandas", reason="not installed: pip install pandas pyarrow")
    pytest.importorskip("pyarrow", reason="not installed: pip install pandas pyarrow")
    one, swept = laboratory.load(out / "one"), laboratory.load(out / "swept")
    assert len(one.to_pandas()) == one.flows.height
    assert len(one.to_pandas("ports")) == one.ports.height
    assert pl.from_pandas(swept.to_pandas()).shape == swept.frame.shape


def test_a_notebook_has_a_bar_and_a_script_has_none(overload, monkeypatch):
    """The bar is drawn where rich finds a notebook, and nowhere else."""
    asked = []
    bar = progress.bar

    def watched(console, *words, shown=None, **more):
        asked.append(shown)
        return bar(console, *words, shown=False, **more)

    monkeypatch.setattr(progress, "bar", watched)
    for notebook in (True, False):
        monkeypatch.setattr("rich.console._is_jupyter", lambda found=notebook: found)
        laboratory.compare(overload, gates=["none"], seeds=1, settings=QUICK)
    assert asked == [True, False]
