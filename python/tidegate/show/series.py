"""Pictures of single flows and classes over time, of one run that follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from tidegate.show.page import series
from tidegate.show.style import RULES, colour, line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes


def figures(folder: Path, title: str) -> dict[str, Figure]:
    """Return the pictures of the series that are in the folder of a run, by name."""
    found = {}
    with mpl.rc_context(cast("Any", RULES)):
        flows, classes = series.flows(folder), series.classes(folder)
        if flows.height:
            found["flow-series"] = _panels(flows, ["flow"], series.FLOW, title)
        if classes.height:
            found["class-series"] = _panels(classes, ["class"], series.CLASS, title)
            queues = series.queues(folder)
            busy = queues.group_by("port").agg(pl.col("queue_bytes").sum())
            ports = busy.filter(pl.col("queue_bytes") > 0)["port"].sort().to_list()
            for port in ports:
                mine = queues.filter(pl.col("port") == port)
                name = f"queue-series-{port}"
                found[name] = _panels(mine, ["class"], series.QUEUE, f"{title}: {port}")
    return found


def _panels(
    table: pl.DataFrame, keys: Sequence[str], fields: Mapping[str, str], title: str
) -> Figure:
    """Return a panel for each field that has numbers, a line in it for each flow or class."""
    there = {name: text for name, text in fields.items() if table[name].count()}
    figure = Figure(figsize=(9.5, 0.8 + 1.7 * len(there)))
    panels = figure.subplots(len(there), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, text) in zip(panels, there.items(), strict=True):
        _lines(axes, table, keys[0], name)
        axes.set_title(text)
        axes.set_ylim(bottom=0)
    panels[-1].set_xlabel("time [s]")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    figure.suptitle(title, x=0.01, ha="left")
    return figure


def _lines(axes: Axes, table: pl.DataFrame, key: str, name: str) -> None:
    for place, each in enumerate(table[key].unique(maintain_order=True)):
        mine = table.filter(pl.col(key) == each)
        look: dict[str, Any] = {"color": colour(place), "linestyle": line(place), "linewidth": 1.2}
        axes.plot(mine["time_s"], mine[name], label=each, **look)
