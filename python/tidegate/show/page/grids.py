"""A sweep on a page: a heat map and lines over any two of its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tidegate.grid.axes import numbers
from tidegate.show.page import charts
from tidegate.show.page.charts import Chart, chosen, tip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.tables import Row

BANDS: list[charts.Spec] = [
    {
        "mark": {"type": "area", "opacity": 0.16},
        "encoding": {
            "y": {"field": "low", "type": "quantitative", "title": None},
            "y2": {"field": "high"},
        },
    },
    {
        "mark": {"type": "line", "point": {"size": 45}, "strokeWidth": 1.8},
        "params": [charts.ZOOM],
        "encoding": {"y": {"field": "mean", "type": "quantitative", "scale": {"zero": True}}},
    },
]
"""Lines with their intervals behind them."""


def table(sweep: GridResult, metrics: Mapping[str, Row]) -> pl.DataFrame:
    """Return a line per setting and metric: places on the axes, mean and interval."""
    axes = sweep.subject.axes
    lines: list[dict[str, Any]] = []
    for row in sweep.averages:
        places = {
            f"axis{number}": values.index(row["settings"][key])
            for number, (key, values) in enumerate(axes.items())
        }
        for metric, each in metrics.items():
            value = row.get(metric)
            if value is None or value["mean"] is None:
                continue
            known = {
                name: None if value[name] is None else value[name] * each.scale
                for name in ("mean", "low", "high")
            }
            lines.append({**places, "metric": metric, **known})
    return pl.DataFrame(lines, infer_schema_length=None)


def drawn(sweep: GridResult, needs: str, metrics: Mapping[str, Row]) -> list[Chart]:
    """Return the charts of a sweep."""
    axes = {f"axis{number}": key for number, key in enumerate(sweep.subject.axes)}
    # an axis of numbers is what one draws over
    axes = dict(sorted(axes.items(), key=lambda each: numbers(sweep.subject.axes[each[1]]) is None))
    titles = {metric: row.title for metric, row in metrics.items()}
    found = [_lines(needs, sweep, axes, titles)]
    if len(axes) > 1:
        found.append(_heat(needs, sweep, axes, titles))
    return found


def _names(sweep: GridResult) -> dict[str, Sequence[str]]:
    return {f"axis{n}": list(each) for n, each in enumerate(sweep.subject.axes.values())}


def _scales(sweep: GridResult) -> dict[str, list[float]]:
    """Return where the values of each axis lie: as numbers, or one after the other."""
    found = {}
    for number, values in enumerate(sweep.subject.axes.values()):
        known = numbers(values)
        found[f"axis{number}"] = known[0] if known else [float(p) for p in range(len(values))]
    return found


def _words(sweep: GridResult) -> dict[str, bool]:
    """Tell which axes are of words."""
    every = enumerate(sweep.subject.axes.values())
    return {f"axis{number}": numbers(values) is None for number, values in every}


def _second(axes: Mapping[str, str]) -> dict[str, str]:
    """Return the axes in another order: the second one first."""
    keys = list(axes)
    return {key: axes[key] for key in [*keys[1:2], *keys[:1], *keys[2:]]}


def _lines(
    needs: str, sweep: GridResult, axes: Mapping[str, str], titles: Mapping[str, str]
) -> Chart:
    constants = [
        {"name": "names", "value": _names(sweep)},
        {"name": "at", "value": _scales(sweep)},
        {"name": "words", "value": _words(sweep)},
    ]
    menus = [chosen("field", "show", titles, "completed_per_s"), chosen("across", "across", axes)]
    if len(axes) > 1:
        menus.append(chosen("by", "a line for each", _second(axes)))
    else:
        menus.append({"name": "by", "value": next(iter(axes))})
    of_line = "by === across ? 'all' : names[by][datum[by]]"
    x = {
        "field": "x",
        "type": "quantitative",
        "title": None,
        "scale": {"zero": False},
        "axis": {"labelExpr": "words[across] ? names[across][datum.value] || '' : datum.label"},
    }
    spec = charts.spec(
        needs,
        340,
        title=charts.TITLE,
        params=[*constants, charts.titles(titles), *menus],
        transform=[
            {"filter": "datum.metric === field"},
            {"calculate": "at[across][datum[across]]", "as": "x"},
            {"calculate": of_line, "as": "line"},
            {"calculate": "names[across][datum[across]]", "as": "value"},
            {
                "aggregate": [
                    {"op": "mean", "field": each, "as": each} for each in ("mean", "low", "high")
                ],
                "groupby": ["x", "line", "value"],
            },
        ],
        encoding={
            "x": x,
            "color": {
                "field": "line",
                "type": "nominal",
                "legend": {"orient": "top", "title": None, "symbolOpacity": 1},
            },
            "tooltip": [
                tip("value", "at", kind="nominal"),
                tip("line", "line", kind="nominal"),
                tip("mean", "mean"),
                tip("low", "from"),
                tip("high", "to"),
            ],
        },
        layer=BANDS,
    )
    note = "Mean and 95 % interval over the seeds; averaged over the axes that are not chosen."
    return Chart("Over an axis", note, spec, (needs,), switched=False)


def _heat(
    needs: str, sweep: GridResult, axes: Mapping[str, str], titles: Mapping[str, str]
) -> Chart:
    def ordinal(field: str, menu: str) -> dict[str, Any]:
        label = f"names[{menu}][datum.value]"
        return {
            "field": field,
            "type": "ordinal",
            "title": None,
            "axis": {"labelExpr": label, "labelAngle": 0},
        }

    constants = [{"name": "names", "value": _names(sweep)}]
    menus = [
        chosen("field", "show", titles, "completed_per_s"),
        chosen("across", "across", axes),
        chosen("up", "up", _second(axes)),
    ]
    spec = charts.spec(
        needs,
        360,
        title=charts.TITLE,
        params=[*constants, charts.titles(titles), *menus],
        transform=[
            {"filter": "datum.metric === field"},
            {"calculate": "datum[across]", "as": "x"},
            {"calculate": "datum[up]", "as": "y"},
            {"calculate": "names[across][datum[across]]", "as": "xname"},
            {"calculate": "names[up][datum[up]]", "as": "yname"},
            {
                "aggregate": [
                    {"op": "mean", "field": "mean", "as": "mean"},
                    {"op": "count", "as": "settings"},
                ],
                "groupby": ["x", "y", "xname", "yname"],
            },
        ],
        mark={"type": "rect"},
        encoding={
            "x": ordinal("x", "across"),
            "y": ordinal("y", "up") | {"sort": "descending"},
            "color": {
                "field": "mean",
                "type": "quantitative",
                "scale": {"scheme": "viridis"},
                "legend": {"title": None},
            },
            "tooltip": [
                tip("xname", "across", kind="nominal"),
                tip("yname", "up", kind="nominal"),
                tip("mean", "mean"),
                tip("settings", "settings averaged", "d"),
            ],
        },
    )
    note = "Each field is the mean over the seeds, and over the axes that are not chosen."
    return Chart("Over two axes", note, spec, (needs,), switched=False)
