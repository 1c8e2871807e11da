"""A sweep on a page: lines over an axis, and a heat map over any two of its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.grid.axes import numbers
from tidegate.show.page.charts import (
    TITLE,
    ZOOM,
    Chart,
    Spec,
    fields,
    menu,
    number,
    spec,
    tip,
    values,
)
from tidegate.show.picture import frame, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.measures import Row


def table(sweep: GridResult, measures: Sequence[Row]) -> pl.DataFrame:
    """Return a line per setting: its value on each axis, and mean and interval of each measure."""
    axes = sweep.subject.axes.items()
    return frame(
        [
            {f"axis{n}": each.index(row["settings"][key]) for n, (key, each) in enumerate(axes)}
            | scaled(row, measures)
            for row in sweep.averages
        ]
    )


def drawn(sweep: GridResult, needs: str, measures: Sequence[Row]) -> list[Chart]:
    """Return the charts of a sweep."""
    axes = {f"axis{index}": key for index, key in enumerate(sweep.subject.axes)}
    # an axis of numbers is what one draws over
    axes = dict(sorted(axes.items(), key=lambda each: numbers(sweep.subject.axes[each[1]]) is None))
    shown = fields({row.metric: row.title for row in measures}, "completed_per_s")
    found = [_lines(needs, sweep, axes, shown)]
    if len(axes) > 1:
        found.append(_heat(needs, sweep, axes, shown))
    return found


def _constants(sweep: GridResult) -> list[Spec]:
    """Return for each axis the names of its values, their positions, and whether they are words."""
    names, at, words = {}, {}, {}
    for index, each in enumerate(sweep.subject.axes.values()):
        known, axis = numbers(each), f"axis{index}"
        names[axis], words[axis] = list(each), known is None
        at[axis] = known[0] if known else [float(p) for p in range(len(each))]
    every = {"names": names, "at": at, "words": words}
    return [{"name": name, "value": value} for name, value in every.items()]


def _second(axes: Mapping[str, str]) -> dict[str, str]:
    """Return the axes in another order: the second one first."""
    keys = list(axes)
    return {key: axes[key] for key in [*keys[1:2], *keys[:1], *keys[2:]]}


def _averaged(ends: Sequence[str], by: Sequence[str]) -> Spec:
    means = [{"op": "mean", "field": each, "as": each} for each in ends]
    return {"aggregate": [*means, {"op": "count", "as": "settings"}], "groupby": list(by)}


def _calculated(**fields: str) -> list[Spec]:
    return [{"calculate": how, "as": name} for name, how in fields.items()]


def _lines(needs: str, sweep: GridResult, axes: Mapping[str, str], shown: Sequence[Spec]) -> Chart:
    menus = [menu("across", "across", axes)]
    if len(axes) > 1:
        menus.append(menu("by", "a line for each", _second(axes)))
    else:
        menus.append({"name": "by", "value": next(iter(axes))})
    label = "words[across] ? names[across][datum.value] || '' : datum.label"
    legend = {"orient": "top", "title": None, "symbolOpacity": 1}
    area: Spec = {"mark": {"type": "area", "opacity": 0.16}}
    line: Spec = {"mark": {"type": "line", "point": {"size": 45}, "strokeWidth": 1.8}}
    drawn = spec(
        needs,
        340,
        title=TITLE,
        params=[*_constants(sweep), *shown, *menus],
        transform=[
            *values(interval=True),
            *_calculated(
                x="at[across][datum[across]]",
                line="by === across ? 'all' : names[by][datum[by]]",
                place="names[across][datum[across]]",
            ),
            _averaged(("value", "low", "high"), ("x", "line", "place")),
        ],
        encoding={
            "x": number("x", zero=False) | {"axis": {"labelExpr": label}},
            "color": {"field": "line", "type": "nominal", "legend": legend},
            "tooltip": [
                tip("place", "at", kind="nominal"),
                tip("line", "line", kind="nominal"),
                tip("value", "mean"),
                tip("low", "from"),
                tip("high", "to"),
            ],
        },
        layer=[
            {**area, "encoding": {"y": number("low"), "y2": {"field": "high"}}},
            {**line, "params": [ZOOM], "encoding": {"y": number("value", zero=True)}},
        ],
    )
    note = "Mean and 95 % interval over the seeds; averaged over the axes that are not chosen."
    return Chart("Over an axis", note, drawn, needs, switched=False)


def _heat(needs: str, sweep: GridResult, axes: Mapping[str, str], shown: Sequence[Spec]) -> Chart:
    def ordinal(field: str, chosen: str, **more: str) -> Spec:
        axis = {"labelExpr": f"names[{chosen}][datum.value]", "labelAngle": 0}
        return {"field": field, "type": "ordinal", "title": None, "axis": axis, **more}

    menus = [menu("across", "across", axes), menu("up", "up", _second(axes))]
    names = {"xname": "names[across][datum[across]]", "yname": "names[up][datum[up]]"}
    drawn = spec(
        needs,
        360,
        title=TITLE,
        params=[*_constants(sweep), *shown, *menus],
        transform=[
            *values(interval=True),
            *_calculated(x="datum[across]", y="datum[up]", **names),
            _averaged(("value",), ("x", "y", *names)),
        ],
        mark={"type": "rect"},
        encoding={
            "x": ordinal("x", "across"),
            "y": ordinal("y", "up", sort="descending"),
            "color": number("value", scheme="viridis") | {"legend": {"title": None}},
            "tooltip": [
                tip("xname", "across", kind="nominal"),
                tip("yname", "up", kind="nominal"),
                tip("value", "mean"),
                tip("settings", "settings averaged", "d"),
            ],
        },
    )
    note = "Each field is the mean over the seeds, and over the axes that are not chosen."
    return Chart("Over two axes", note, drawn, needs, switched=False)
