"""The main figure in the terminal."""

import io

import polars as pl
import pytest
from rich.console import Console

from tidegate.show.picture import Series
from tidegate.show.terminal import Plot, of_run

RUN = ("--set", "duration=4s", "--set", "warmup=1s")


def drawn(plot: Plot, width: int, **look: object) -> str:
    console = Console(file=io.StringIO(), width=width, **look)
    console.print(plot)
    return console.file.getvalue()


def line(name: str, x: list[float], y: list[float], place: int = 0) -> Series:
    return Series(place, name, x, y, y, y, interval=False)


RISE = Plot("delay [s]", "load [1/s]", (line("none", [0.0, 1.0, 2.0], [0.0, 1.0, 2.0]),))
TWO = Plot(
    "delay [s]",
    "load [1/s]",
    (line("none", [0.0, 9.0], [5.0, 5.0]), line("close-probe", [0.0, 9.0], [1.0, 1.0], 1)),
)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_plot_is_as_wide_as_the_terminal(width):
    text = drawn(RISE, width)
    assert max(map(len, text.splitlines())) <= width
    assert max(map(len, text.splitlines())) > width * 0.8


def test_it_has_what_it_draws_its_axis_and_a_line_that_rises():
    lines = drawn(RISE, 60).splitlines()
    assert lines[0] == "delay [s]"
    assert "load [1/s]" in lines[-2]
    rows = [line for line in lines if "|" in line and "-|-" not in line]
    marks = [(row, line.index("o")) for row, line in enumerate(rows) if "o" in line]
    # the point at (2, 2) stands above and right of that at (1, 1), and this so of (0, 0)
    assert len(marks) == 3
    assert [place for _, place in marks] == sorted((place for _, place in marks), reverse=True)


def test_lines_are_distinct_without_colours():
    text = drawn(TWO, 80)
    assert "\x1b" not in text
    assert "o none" in text
    assert "x close-probe" in text
    body = [line for line in text.splitlines() if "|" in line]
    upper = next(row for row, line in enumerate(body) if "o" in line)
    lower = next(row for row, line in enumerate(body) if "x" in line)
    assert upper < lower  # 5 lies above 1


def test_a_terminal_gets_colours():
    assert "\x1b[" in drawn(TWO, 80, force_terminal=True, color_system="truecolor")


def test_nothing_is_no_figure():
    assert "nothing to draw" in drawn(Plot("x", "y", (line("none", [], []),)), 80)


def test_a_comparison_is_bars_in_proportion(tidegate, overload_file):
    done = tidegate(
        "compare", overload_file, *RUN, "--gate", "none,close-probe", "--seeds", 2, "--terminal"
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    lines = done.stdout[done.stdout.rindex("completed [1/s]") :].splitlines()
    bars = {line.split()[0]: line for line in lines[1:3]}
    assert set(bars) == {"none", "close-probe"}
    frame = pl.read_parquet(overload_file.parent / "out/small-overload-compare/compare.parquet")
    gate = next(name for name in frame.columns if name.endswith("gate"))
    means = dict(frame.group_by(gate).agg(pl.col("completed_per_s").mean()).iter_rows())
    lengths = {name: line.count("█") for name, line in bars.items()}
    assert lengths["none"] / lengths["close-probe"] == pytest.approx(
        means["none"] / means["close-probe"], abs=0.05
    )
    again = tidegate("plot", "out/small-overload-compare", "--terminal")
    assert again.returncode == 0, again.stderr
    assert bars["none"].split()[:2] == again.stdout.splitlines()[1].split()[:2]


def test_a_sweep_is_lines_over_its_axis(tidegate, overload_file):
    vary = "traffic.web.arrivals.poisson=20/s,40/s,60/s"
    done = tidegate("sweep", overload_file, *RUN, "--vary", vary, "--seeds", 1, "--terminal")
    assert done.returncode == 0, done.stderr
    assert "traffic.web.arrivals.poisson" in done.stdout.splitlines()[-2]
    assert done.stdout.count("-|-") >= 3  # the axes of three plots


def test_a_run_is_ports_and_what_it_follows_over_time(tidegate, overload_file):
    follow = ("--set", 'series.classes=["web"]')
    done = tidegate("run", overload_file, *RUN, *follow, "--terminal")
    assert done.returncode == 0, done.stderr
    for title in ("utilisation [%]", "queue, mean of the interval [packets]", "delivered [Mbit/s]"):
        assert title in done.stdout
    assert "o bottleneck" in done.stdout
    assert "access" not in done.stdout
    console = Console(file=io.StringIO(), width=80)
    console.print(of_run(overload_file.parent / "out/small-overload-run"))
    assert "open flows" in console.file.getvalue()


def test_people_and_machines_at_once_are_refused(tidegate, overload_file):
    done = tidegate("run", overload_file, "--terminal", "--json")
    assert done.returncode == 2
    assert "--terminal draws for people" in done.stderr
