"""Labels of pictures: words with units, and none that runs into another."""

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import tidegate as laboratory
from tidegate.show import of_grid, pictures
from tidegate.show.measures import shown

LONG_NAME = "interactive-downloads-of-the-whole-school-and-of-all-its-neighbours"
AXIS = f"traffic.{LONG_NAME}.arrivals.poisson"
QUICK = {"duration": "4s", "warmup": "1s"}


@pytest.fixture(scope="module")
def swept(overload):
    """Loads that lie close together and far apart, of a class with a long name, and more lines
    than one picture carries."""
    gates = ["none", *(f"fixed-rate:{rate}" for rate in range(1, 8))]
    return laboratory.sweep(
        overload.replace("[traffic.web]", f"[traffic.{LONG_NAME}]"),
        {AXIS: ["20/s", "20.5/s", "21/s", "60/s"]},
        gates=gates,
        seeds=1,
        settings=QUICK,
        metrics=["fct_p50_s", "rtt_mean_s", "bottleneck.drops.queue_full"],
    )


@pytest.fixture(scope="module")
def figure(swept):
    (found,) = swept.figures().values()
    FigureCanvasAgg(found)
    found.draw_without_rendering()
    return found


def apart(texts):
    """Whether no two texts that are drawn lie over one another."""
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_labels_of_ticks_do_not_run_together(figure):
    for axes in figure.axes:
        assert apart(axes.get_xticklabels())
        words = [label.get_text() for label in axes.get_xticklabels()]
        assert {words[0], words[-1]} == {"20", "60"}


def test_names_of_axes_and_panels_do_not_run_together(figure):
    assert len(figure.axes) == 3
    assert apart([axes.xaxis.label for axes in figure.axes])
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    drawn = [text for text in figure.findobj(Text) if text.get_text() in titles]
    assert len(drawn) == 3
    assert apart(drawn)
    joined = figure.axes[0].get_xlabel().replace("\n", "")
    assert joined.replace(" ", "") == f"{AXIS}[1/s]"


def test_titles_are_words_with_a_unit(figure):
    titles = [" ".join(axes.get_title(loc="left").split()) for axes in figure.axes]
    assert titles == [
        "FCT of those served, from first SYN: p50 [s]",
        "RTT, mean [ms]",
        "bottleneck: drops: queue full",
    ]


def test_the_settings_that_are_not_drawn_are_named(swept):
    (picture,) = of_grid.over_axes(swept)
    drawn = set(picture.names)
    left = {f"fixed-rate:{rate}" for rate in range(1, 8)} - drawn
    assert len(drawn) == 7
    assert f"7 of 8 settings drawn, without {left.pop()}" in picture.title


def test_loads_by_factors_have_plain_labels(overload):
    """Eight loads, each twice the one before, lie on a logarithmic axis."""
    loads = [f"{2**power}/s" for power in range(8)]
    done = laboratory.sweep(
        overload, {"traffic.web.arrivals.poisson": loads}, seeds=1, settings=QUICK
    )
    (found,) = done.figures().values()
    axes = found.axes[0]
    assert axes.get_xscale() == "log"
    FigureCanvasAgg(found)
    found.draw_without_rendering()
    words = [label.get_text() for label in axes.get_xticklabels()]
    assert words == ["1", "2", "4", "8", "16", "32", "64", "128"]
    assert apart(axes.get_xticklabels())


def test_a_title_is_broken_after_blanks_and_dots():
    found = pictures._wrapped("traffic.web.arrivals.poisson [1/s]", 2.0, 9)
    assert found.splitlines() == ["traffic.web.arrivals.", "poisson [1/s]"]


def test_a_completion_time_under_a_millisecond_is_no_nought():
    assert shown(0.000_412) == "0.000412"
    assert shown({"mean": 0.000_412, "low": 0.000_402, "high": 0.000_422}) == "0.000412 ± 0.000010"
