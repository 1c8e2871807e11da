"""The charts of a page, as Vega-Lite: zoom, hover with numbers and units, controls on and off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.show.picture import Picture

Spec: TypeAlias = "dict[str, Any]"
Columns: TypeAlias = "dict[str, Any]"
"""A table for the page: columns of numbers; a column of words has each word once, and indices."""

DASHES = ([1, 0], [6, 3], [8, 3, 2, 3], [2, 3])
"""Line styles: beyond the palette, and for grey print, they distinguish controls."""
CONFIG: Spec = {
    "font": "system-ui, DejaVu Sans, sans-serif",
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
    "axisX": {"gridColor": "#e6e9ee", "labelOverlap": True, "labelSeparation": 8},
    "title": {"anchor": "start", "fontSize": 12, "fontWeight": "normal", "offset": 8},
    "axisY": {"gridColor": "#e6e9ee"},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 260},
    "view": {"stroke": None},
}
WHEEL = "wheel![event.ctrlKey]"
"""Events that zoom; the wheel without a key scrolls the page."""
ZOOM: Spec = {"name": "zoom", "select": {"type": "interval", "zoom": WHEEL}, "bind": "scales"}
ZOOM_ACROSS: Spec = {**ZOOM, "select": {**ZOOM["select"], "encodings": ["x"]}}
TITLE: Spec = {"text": {"expr": "titles[field]"}}
"""The title of a chart: what it shows, with its unit."""
HIDDEN: Spec = {"name": "hidden", "value": []}
SHOWN: Spec = {"filter": "indexof(hidden, datum.control) < 0"}
POINTED = {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"}
NEAREST: Spec = {
    "mark": {"type": "point", "size": 60, "filled": True},
    "params": [{"name": "near", "select": POINTED}],
    "encoding": {
        "opacity": {"condition": {"param": "near", "empty": False, "value": 1}, "value": 0}
    },
}
"""The point of a line that is nearest to the pointer."""


@dataclass(frozen=True)
class Chart:
    """One chart: what it shows, from which table of the page, and whether controls switch it."""

    title: str
    note: str
    spec: Spec
    needs: str
    switched: bool = True


def packed(rows: pl.DataFrame) -> Columns:
    """Return a table as columns for the page; numbers have five significant digits."""
    found: Columns = {}
    for column in rows:
        if column.dtype.is_numeric():
            values = column.cast(pl.Float64).to_list()
            found[column.name] = [
                None if value is None or not math.isfinite(value) else float(f"{value:.5g}")
                for value in values
            ]
            continue
        words = column.cast(pl.String).to_list()
        indices = {word: index for index, word in enumerate(dict.fromkeys(words))}
        found[column.name] = {"words": list(indices), "at": [indices[word] for word in words]}
    return found


def fields(titles: Mapping[str, str], first: str = "") -> list[Spec]:
    """Return the field that is shown, chosen from a menu if there are several, and the titles."""
    named = {"name": "titles", "value": dict(titles)}
    if len(titles) == 1:
        return [named, {"name": "field", "value": next(iter(titles))}]
    return [named, menu("field", "show", titles, first)]


def menu(name: str, label: str, options: Mapping[str, str], first: str = "") -> Spec:
    """Return a menu of values, shown by their titles."""
    values = list(options)
    bound = {"input": "select", "options": values, "labels": list(options.values())}
    value = first if first in options else values[0]
    return {"name": name, "value": value, "bind": {**bound, "name": f"{label} "}}


def values(*, interval: bool = False) -> list[Spec]:
    """Return how `value`, and the ends of its interval, come from the field that is shown."""
    found: list[Spec] = [{"calculate": "datum[field]", "as": "value"}]
    if not interval:
        return found
    found.append({"filter": "isValid(datum.value)"})
    for end in ("low", "high"):
        known = f"datum[field + ' {end}']"
        found.append({"calculate": f"isValid({known}) ? {known} : datum.value", "as": end})
    return found


def spec(needs: str, height: int, **more: object) -> Spec:
    """Return the frame of a chart of one table, as wide as the page."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "config": CONFIG,
        "data": {"name": needs},
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        **more,
    }


def number(field: str, title: str | None = None, **scale: object) -> Spec:
    """Return the encoding of a column of numbers."""
    return {"field": field, "type": "quantitative", "title": title, "scale": scale}


def tip(field: str, title: str, form: str = ".4~g", kind: str = "quantitative") -> Spec:
    """Return one line of what is shown on hover."""
    shown = {"format": form} if kind == "quantitative" else {}
    return {"field": field, "title": title, "type": kind, **shown}


def hue(field: str, names: Sequence[str], hues: Sequence[str], **legend: object) -> Spec:
    """Return colours in the order of names, with a legend where there are several."""
    return {
        "field": field,
        "type": "nominal",
        "sort": list(names),
        "scale": {
            "domain": list(names),
            "range": [hues[index % len(hues)] for index in range(len(names))],
        },
        "legend": {"orient": "top", "title": None, **legend} if len(names) > 1 else None,
    }


def of(picture: Picture, needs: str) -> Chart:
    """Return the chart of a picture; menus choose the column and the part that are shown."""
    params = [HIDDEN, *fields(picture.y, picture.first)]
    transform = [SHOWN]
    for key in picture.split:
        # `class` is no name in expressions
        name = "which" if key == "class" else key
        options = {each: each for each in picture.table[key].unique(maintain_order=True)}
        params.append(menu(name, key, options))
        transform.append({"filter": f"datum['{key}'] === {name}"})
    if len(picture.x) > 1:
        params.insert(1, menu("across", "across", picture.x))
        transform.append({"calculate": "datum[across]", "as": "place"})
    transform += values(interval=picture.mark == "interval")
    if "y" in picture.log:
        transform.append({"filter": "datum.value > 0"})
    height, drawn = DRAWN[picture.mark](picture)
    transform += drawn.pop("transform", [])
    params += drawn.pop("params", [])
    # for those who do not see it
    drawn["description"] = picture.title
    found = spec(needs, height, title=TITLE, params=params, transform=transform, **drawn)
    return Chart(picture.title, picture.note, found, needs)


def _tips(picture: Picture) -> list[Spec]:
    """Return what is shown where one points at a picture."""
    found = [tip("control", "control", kind="nominal")]
    if len(picture.x) == 1 and not picture.tips:
        found += [tip(field, title) for field, title in picture.x.items()]
    for field, title in picture.tips.items():
        dtype = picture.table[field].dtype
        whole = dtype.is_integer() or field.endswith("bytes")
        kind = "quantitative" if dtype.is_numeric() else "nominal"
        found.append(tip(field, title, ",.0f" if whole else ".4~g", kind))
    if picture.mark == "line":
        found.append(tip("value", "value"))
    return found + [tip(key, key, kind="nominal") for key in picture.split]


def _lines(picture: Picture) -> tuple[int, Spec]:
    ((field, title),) = picture.x.items()
    log: Spec = {"type": "log"}
    stroke = {"symbolType": "stroke", "symbolStrokeWidth": 2, "columns": 4}
    colour = hue(picture.by, picture.names, picture.hues, **stroke)
    dashes = [DASHES[index % len(DASHES)] for index in range(len(picture.names))]
    line: Spec = {"type": "line", "strokeWidth": 1.8}
    if picture.tips:
        line["point"] = {"size": 40}
    return 310, {
        "encoding": {
            "x": number(field, title, **(log if "x" in picture.log else {})),
            "y": number("value", **(log if "y" in picture.log else {})),
            "color": colour,
            "strokeDash": {**colour, "scale": {**colour["scale"], "range": dashes}},
            "tooltip": _tips(picture),
        },
        "layer": [{"mark": line, "params": [ZOOM]}, NEAREST],
    }


def _points(picture: Picture) -> tuple[int, Spec]:
    return 340, {
        "params": [ZOOM],
        "mark": {"type": "point", "filled": True, "size": 18, "opacity": 0.55},
        "encoding": {
            "x": number("place"),
            "y": number("value", type="symlog", constant=0.1),
            "color": hue(picture.by, picture.names, picture.hues, columns=4),
            "tooltip": _tips(picture),
        },
    }


def _side(names: Sequence[str]) -> Spec:
    axis = {"labelLimit": 220}
    return {"field": "control", "type": "nominal", "sort": list(names), "title": None, "axis": axis}


def _intervals(picture: Picture) -> tuple[int, Spec]:
    ends = {"value": "mean", "low": "from", "high": "to"}
    shared = {
        "y": _side(picture.names),
        "color": {**hue(picture.by, picture.names, picture.hues), "legend": None},
        "tooltip": [*_tips(picture), *(tip(field, title) for field, title in ends.items())],
    }
    bar = {"mark": {"type": "rule", "strokeWidth": 6, "opacity": 0.4}}
    mean = {"mark": {"type": "point", "filled": True, "size": 110, "opacity": 1}}
    zero = {"mark": {"type": "rule", "color": "#1c2430"}, "encoding": {"x": {"datum": 0}}}
    span = {"x": number("low"), "x2": {"field": "high"}}
    return 60 + 34 * len(picture.names), {
        "layer": [
            zero,
            {**bar, "encoding": {**shared, **span}},
            {**mean, "params": [ZOOM_ACROSS], "encoding": {**shared, "x": number("value")}},
        ]
    }


def _stack(picture: Picture) -> tuple[int, Spec]:
    controls = picture.table["control"].unique(maintain_order=True).to_list()
    order = f"indexof({picture.names!r}, datum.{picture.by})"
    return 60 + 30 * len(controls), {
        "transform": [{"calculate": order, "as": "order"}],
        "mark": {"type": "bar"},
        "encoding": {
            "y": _side(controls),
            "x": {**number("value", domain=[0, 100]), "stack": "zero"},
            "order": {"field": "order", "type": "quantitative"},
            "color": hue(picture.by, picture.names, picture.hues, columns=2),
            "tooltip": [
                *_tips(picture),
                tip(picture.by, picture.by, kind="nominal"),
                tip("value", "share [%]"),
            ],
        },
    }


DRAWN = {"line": _lines, "point": _points, "interval": _intervals, "stack": _stack}
