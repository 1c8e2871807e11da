"""Pictures are described once: the numbers, titles and intervals that every renderer draws."""

import pytest

import tidegate
from tidegate.results.statistics import metric_names
from tidegate.show import of_grid
from tidegate.show.measures import measures, shown

QUICK = {"duration": "8s", "warmup": "2s"}
RATES = ["20/s", "40/s", "60/s"]


@pytest.fixture(scope="module")
def comparison(overload):
    return tidegate.compare(overload, gates=["none", "close-probe"], seeds=2, settings=QUICK)


@pytest.fixture(scope="module")
def sweep(overload):
    axes = {"traffic.web.arrivals.poisson": RATES, "port.bottleneck.gate.beta": [0.3, 0.6]}
    return tidegate.sweep(overload, axes, seeds=2, settings=QUICK)


def test_a_comparison_has_the_means_and_intervals_of_its_table(comparison):
    labels = list(comparison.curves)
    picture = of_grid.sides(comparison.averages, labels, of_grid.MEASURES, 2)
    for row, panel in zip(of_grid.MEASURES, picture.panels(), strict=True):
        assert panel.title == row.title
        for average, series in zip(comparison.averages, panel.series, strict=True):
            value = average[row.metric]
            drawn = (series.y[0], series.low[0], series.high[0])
            right = [value[name] * row.scale for name in ("mean", "low", "high")]
            assert drawn == pytest.approx(right)


# The curve has its points 0.6 % apart: what is read from it differs in the third digit.
def test_a_distribution_names_the_medians_of_the_table(comparison):
    [picture] = of_grid.distributions(comparison)
    said = [label.text for label in picture.labels if "half within" in label.text]
    assert said == [
        f"{label}: half within {average['fct_p50_s']['mean']:.3g} s"
        for label, average in zip(comparison.curves, comparison.averages, strict=True)
    ]


def test_matplotlib_writes_each_value_with_its_interval(comparison):
    from tidegate.show.pictures import figure

    labels = list(comparison.curves)
    drawn = figure([of_grid.sides(comparison.averages, labels, of_grid.MEASURES, 2)], "")
    for row, axes in zip(of_grid.MEASURES, drawn.axes, strict=True):
        texts = [text.get_text() for text in axes.texts]
        assert texts == [shown(each[row.metric], row.scale) for each in comparison.averages]


def test_a_sweep_has_a_picture_over_each_axis_and_a_line_for_each_other_setting(sweep):
    over_rate, over_beta = of_grid.over_axes(sweep)
    assert over_rate.names == ["beta=0.3", "beta=0.6"]
    assert over_rate.x == {"place": "traffic.web.arrivals.poisson [1/s]"}
    assert over_beta.names == [f"poisson={rate}" for rate in RATES]
    found = {tuple(row["settings"].values()): row["completed_per_s"] for row in sweep.averages}
    for line in over_rate.panels()[0].series:
        right = [found[rate, line.name.removeprefix("beta=")] for rate in RATES]
        assert line.x == [20.0, 40.0, 60.0]
        assert line.y == pytest.approx([each["mean"] for each in right])
        assert line.high == pytest.approx([each["high"] for each in right])


def test_runs_of_different_durations_keep_their_own_times(overload):
    """The times of a distribution end at the duration, which a comparison may vary."""
    axis = {"duration": ["5s", "9s"]}
    done = tidegate.compare(overload, vary=axis, seeds=1, settings={"warmup": "2s"})
    panel = of_grid.distributions(done)[0].panels()[0]
    for series, (curves,) in zip(panel.series, done.curves.values(), strict=True):
        assert set(series.x) <= set(curves.fct_grid_s)
        assert series.y[-1] == pytest.approx(100 * curves.offered_share[-1])


def test_a_run_without_flows_has_no_picture_of_them(tmp_path):
    from tidegate.show import of_runs

    assert of_runs.classes({}, {}, 5.0, "") is None
    assert of_runs.single({}, "") is None
    assert list(of_runs.followed({"none": [tmp_path]})) == []


def test_every_metric_has_a_title_in_words(sweep):
    names = metric_names(sweep.subject.classes, sweep.subject.ports)
    titles = [row.title for row in measures(sweep.subject, sweep.averages, names)]
    assert len(titles) == len(names)
    assert not [title for title in titles if "_" in title]
    sweep.metrics = ("fct_p50_s",)
    (panel,) = next(of_grid.over_axes(sweep)).panels()
    assert panel.title == "FCT of those served, from first SYN: p50 [s]"
