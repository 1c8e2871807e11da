"""The charts of a page, as Vega-Lite: zoom, hover with numbers and units, controls on and off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tidegate.show.page import frames
from tidegate.show.style import PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Spec: TypeAlias = "dict[str, Any]"

DASHES = ([1, 0], [6, 3], [8, 3, 2, 3], [2, 3])
"""Line styles: beyond the palette, and for grey print, they tell controls apart."""
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
"""What zooms; the wheel alone belongs to the page."""
ZOOM: Spec = {"name": "zoom", "select": {"type": "interval", "zoom": WHEEL}, "bind": "scales"}
ZOOM_ACROSS: Spec = {**ZOOM, "select": {**ZOOM["select"], "encodings": ["x"]}}
TITLE: Spec = {"text": {"expr": "titles[field]"}}
"""The title of a chart whose field a menu chooses: what it shows, with its unit."""


@dataclass(frozen=True)
class Chart:
    """One chart: what it shows, from which tables of the page, and whether controls switch it."""

    title: str
    note: str
    spec: Spec
    needs: tuple[str, ...]
    switched: bool = True


def titles(options: Mapping[str, str]) -> Spec:
    """Return the titles of fields, for `TITLE`."""
    return {"name": "titles", "value": dict(options)}


def chosen(name: str, label: str, options: Mapping[str, str], first: str | None = None) -> Spec:
    """Return a menu of fields, shown by their titles."""
    fields = list(options)
    bound = {"input": "select", "options": fields, "labels": list(options.values())}
    return {
        "name": name,
        "value": first if first in fields else fields[0],
        "bind": {**bound, "name": f"{label} "},
    }


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


def _colour(labels: Sequence[str]) -> Spec:
    hues = [PALETTE[place % len(PALETTE)] for place in range(len(labels))]
    legend = None if len(labels) < 2 else {"orient": "top", "title": None, "columns": 4}
    return {
        "field": "control",
        "type": "nominal",
        "sort": list(labels),
        "scale": {"domain": list(labels), "range": hues},
        "legend": legend,
    }


def _named(axis: Spec) -> Spec:
    return {**axis, "axis": {"labelLimit": 220}}


def _unnamed(labels: Sequence[str]) -> Spec:
    return {**_colour(labels), "legend": None}


def _lines(labels: Sequence[str]) -> dict[str, Spec]:
    """Return what tells lines apart, by colour and without, with strokes in the legend."""
    both = {"color": _colour(labels), "strokeDash": _dash(labels)}
    for each in both.values():
        if each["legend"] is not None:
            each["legend"] = {**each["legend"], "symbolType": "stroke", "symbolStrokeWidth": 2}
    return both


def _dash(labels: Sequence[str]) -> Spec:
    dashes = [DASHES[place % len(DASHES)] for place in range(len(labels))]
    scale = {"domain": list(labels), "range": dashes}
    return {**_colour(labels), "scale": scale}


def tip(field: str, title: str, form: str = ".4~g", kind: str = "quantitative") -> Spec:
    """Return one line of what is shown on hover."""
    return {"field": field, "title": title, "type": kind} | (
        {"format": form} if kind == "quantitative" else {}
    )


HIDDEN: Spec = {"name": "hidden", "value": []}
SHOWN: Spec = {"filter": "indexof(hidden, datum.control) < 0"}
CONTROL = tip("control", "control", kind="nominal")


def over_time(
    needs: str, labels: Sequence[str], menus: Sequence[Spec], part: Mapping[str, str]
) -> Spec:
    """Return lines over time of a field that a menu chooses."""
    rows = [{"filter": f"datum['{field}'] === {menu}"} for field, menu in part.items()]
    encoding = {
        "x": {"field": "time_s", "type": "quantitative", "title": "time [s]"},
        "y": {"field": "value", "type": "quantitative", "title": None},
        **_lines(labels),
        "tooltip": [
            CONTROL,
            tip("time_s", "time [s]"),
            tip("value", "value"),
            *(tip(field, field, kind="nominal") for field in part),
        ],
    }
    line = {"type": "line", "strokeWidth": 1.6, "interpolate": "linear"}
    return spec(
        needs,
        300,
        title=TITLE,
        params=[HIDDEN, *menus],
        transform=[SHOWN, *rows, {"calculate": "datum[field]", "as": "value"}],
        encoding=encoding,
        layer=[
            {"mark": line, "params": [ZOOM]},
            {
                "mark": {"type": "point", "size": 60, "filled": True},
                "params": [
                    {
                        "name": "near",
                        "select": {
                            "type": "point",
                            "on": "pointerover",
                            "nearest": True,
                            "clear": "pointerout",
                        },
                    }
                ],
                "encoding": {
                    "opacity": {
                        "condition": {"param": "near", "empty": False, "value": 1},
                        "value": 0,
                    }
                },
            },
        ],
    )


def ports(needs: str, labels: Sequence[str], names: Sequence[str], seed: int) -> Chart:
    """Return the ports over time."""
    fields = {field: title for field, (title, _) in frames.PORT.items()}
    menus = [
        titles(fields),
        chosen("field", "show", fields),
        chosen("port", "port", {name: name for name in names}),
    ]
    drawn = over_time(needs, labels, menus, {"port": "port"})
    note = f"Seed {seed}."
    return Chart("Ports over time", note, drawn, (needs,))


def classes(needs: str, labels: Sequence[str], names: Sequence[str], seed: int) -> Chart:
    """Return the classes over time."""
    menus = [
        titles(frames.CLASS),
        chosen("field", "show", frames.CLASS, "completed_per_s"),
        chosen("which", "class", {name: name for name in names}),
    ]
    drawn = over_time(needs, labels, menus, {"class": "which"})
    note = f"Seed {seed}. Goodput and FCT are those of the flows that ended in each interval."
    return Chart("Classes over time", note, drawn, (needs,))


def sides(needs: str, labels: Sequence[str], metrics: Mapping[str, str], seeds: int) -> Chart:
    """Return one metric of all controls, with its interval."""
    axis: Spec = {"field": "control", "type": "nominal", "sort": list(labels), "title": None}
    drawn = spec(
        needs,
        60 + 34 * len(labels),
        title=TITLE,
        params=[HIDDEN, titles(metrics), chosen("field", "show", metrics, "completed_per_s")],
        transform=[SHOWN, {"filter": "datum.metric === field"}],
        encoding={
            "y": _named(axis),
            "color": _unnamed(labels),
            "tooltip": [CONTROL, tip("mean", "mean"), tip("low", "from"), tip("high", "to")],
        },
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 6, "opacity": 0.4},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative", "title": None},
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "params": [ZOOM_ACROSS],
                "encoding": {
                    "x": {"field": "mean", "type": "quantitative", "scale": {"zero": True}}
                },
            },
        ],
    )
    note = f"Mean and 95 % interval over {seeds} seeds." if seeds > 1 else "One seed."
    return Chart("Side by side", note, drawn, (needs,))


def fates(needs: str, labels: Sequence[str]) -> Chart:
    """Return what became of the offered sessions."""
    names = ["served", "admitted, unfinished", "never admitted"]
    hues = ["#009E73", "#E69F00", "#999999"]
    axis: Spec = {"field": "control", "type": "nominal", "sort": list(labels), "title": None}
    drawn = spec(
        needs,
        60 + 30 * len(labels),
        params=[HIDDEN],
        transform=[SHOWN],
        mark={"type": "bar"},
        encoding={
            "y": _named(axis),
            "x": {
                "field": "share",
                "type": "quantitative",
                "stack": "zero",
                "title": "% of offered sessions",
                "scale": {"domain": [0, 100]},
            },
            "order": {"field": "order", "type": "quantitative"},
            "color": {
                "field": "fate",
                "type": "nominal",
                "scale": {"domain": names, "range": hues},
                "legend": {"orient": "top", "title": None, "columns": 2},
            },
            "tooltip": [CONTROL, tip("fate", "fate", kind="nominal"), tip("share", "share [%]")],
        },
    )
    return Chart("What became of the sessions", "Of all that were offered.", drawn, (needs,))


def distribution(needs: str, labels: Sequence[str]) -> Chart:
    """Return how long sessions took."""
    fields = {
        "of all offered": "share of all offered sessions [%]",
        "of those served": "share of those served [%]",
    }
    title = "time from the first SYN to the end [s]"
    log = {"type": "log"}
    drawn = spec(
        needs,
        320,
        title=TITLE,
        params=[HIDDEN, titles(fields), chosen("field", "show", fields), ZOOM],
        transform=[SHOWN, {"calculate": "datum[field]", "as": "value"}],
        mark={"type": "line", "strokeWidth": 2},
        encoding={
            "x": {"field": "fct_s", "type": "quantitative", "scale": log, "title": title},
            "y": {"field": "value", "type": "quantitative", "title": None},
            **_lines(labels),
            "tooltip": [CONTROL, tip("fct_s", "within [s]"), tip("value", "share [%]")],
        },
    )
    note = "Mean over the seeds. Of all offered, a curve ends at the share that was served at all."
    return Chart("How long sessions take (FCT)", note, drawn, (needs,))


def sizes(needs: str, labels: Sequence[str]) -> Chart:
    """Return completion times by size of the flow."""
    fields = {
        "fct_p50_s": "FCT, median [s]",
        "fct_mean_s": "FCT, mean [s]",
        "fct_p95_s": "FCT, p95 [s]",
        "goodput_mean_kbps": "goodput, mean [kbit/s]",
        "flows": "flows that ended",
    }
    log = {"type": "log"}
    drawn = spec(
        needs,
        320,
        title=TITLE,
        params=[HIDDEN, titles(fields), chosen("field", "show", fields), ZOOM],
        transform=[
            SHOWN,
            {"calculate": "datum[field]", "as": "value"},
            {"calculate": "sqrt(datum.from_bytes * datum.to_bytes)", "as": "middle"},
            {"filter": "datum.value > 0"},
        ],
        mark={"type": "line", "point": {"size": 40}, "strokeWidth": 1.8},
        encoding={
            "x": {"field": "middle", "type": "quantitative", "scale": log, "title": "size [B]"},
            "y": {"field": "value", "type": "quantitative", "scale": log, "title": None},
            **_lines(labels),
            "tooltip": [
                CONTROL,
                tip("from_bytes", "size from [B]", ",.0f"),
                tip("to_bytes", "size to [B]", ",.0f"),
                tip("flows", "flows of all seeds", ",.0f"),
                tip("value", "value"),
            ],
        },
    )
    note = "Flows that ended after the warm-up, all seeds together, four classes of size a decade."
    return Chart("By size of the flow", note, drawn, (needs,))


def single(needs: str, labels: Sequence[str], seed: int) -> Chart:
    """Return single flows as points."""
    across = {
        "start_s": "start [s]",
        "size_bytes": "size [B]",
        "wait_s": "wait for admission [s]",
    }
    up = {"fct_s": "FCT [s]", "goodput_kbps": "goodput [kbit/s]", "wait_s": "wait [s]"}
    drawn = spec(
        needs,
        340,
        params=[
            HIDDEN,
            chosen("across", "across", across),
            chosen("field", "up", up),
            titles(up),
            ZOOM,
        ],
        title=TITLE,
        transform=[
            SHOWN,
            {"calculate": "datum[field]", "as": "value"},
            {"calculate": "datum[across]", "as": "place"},
        ],
        mark={"type": "point", "filled": True, "size": 18, "opacity": 0.55},
        encoding={
            "x": {"field": "place", "type": "quantitative", "title": None},
            "y": {
                "field": "value",
                "type": "quantitative",
                "scale": {"type": "symlog", "constant": 0.1},
                "title": None,
            },
            "color": _colour(labels),
            "tooltip": [
                CONTROL,
                tip("class", "class", kind="nominal"),
                tip("start_s", "start [s]"),
                tip("size_bytes", "size [B]", ",.0f"),
                tip("fct_s", "FCT [s]"),
                tip("wait_s", "wait for admission [s]"),
                tip("goodput_kbps", "goodput [kbit/s]"),
                tip("syn_tries", "opening packets sent"),
                tip("again", "data packets sent again"),
                tip("timeouts", "timeouts"),
            ],
        },
    )
    note = f"Seed {seed}, at most {frames.FLOWS:,} flows of each, evenly out of all that ended."
    return Chart("Single flows", note, drawn, (needs,))


def differences(needs: str, labels: Sequence[str], metrics: Mapping[str, str]) -> Chart:
    """Return by how much each control differs from the first, on the same flows."""
    axis: Spec = {"field": "control", "type": "nominal", "sort": list(labels[1:]), "title": None}
    zero = {"mark": {"type": "rule", "color": "#1c2430"}, "encoding": {"x": {"datum": 0}}}
    drawn = spec(
        needs,
        60 + 34 * (len(labels) - 1),
        title=TITLE,
        params=[HIDDEN, titles(metrics), chosen("field", "show", metrics, "completed_per_s")],
        transform=[SHOWN, {"filter": "datum.metric === field"}],
        layer=[
            zero,
            {
                "mark": {"type": "rule", "strokeWidth": 6, "opacity": 0.4},
                "encoding": {
                    "y": _named(axis),
                    "x": {"field": "low", "type": "quantitative", "title": None},
                    "x2": {"field": "high"},
                    "color": _unnamed(labels),
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "params": [ZOOM_ACROSS],
                "encoding": {
                    "y": axis,
                    "x": {"field": "mean", "type": "quantitative"},
                    "color": _unnamed(labels),
                    "tooltip": [
                        CONTROL,
                        tip("mean", f"more than {labels[0]}"),
                        tip("low", "from"),
                        tip("high", "to"),
                    ],
                },
            },
        ],
    )
    note = (
        f"What each has more than {labels[0]}, seed by seed: mean and 95 % interval of the"
        " differences. An interval that does not touch zero is a difference that these seeds show."
    )
    return Chart("Paired differences", note, drawn, (needs,))
