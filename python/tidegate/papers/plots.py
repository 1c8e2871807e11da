"""What the pictures of all papers are made of: panels, curves, bars, and the paper's points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from tidegate.papers.report_text import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from tidegate.papers.runs import Floats

CROSS: dict[str, Any] = {"color": "black", "ms": 8, "mew": 2, "zorder": 4}
"""How a number of the paper is marked."""


def panels(
    columns: int,
    width: float,
    height: float,
    rows: int = 1,
    *,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row."""
    figure = Figure(figsize=(width, height))
    grid = figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey)
    return figure, list(grid.flat)


def statistics(values: Sequence[Floats], ddof: int = 1) -> tuple[Floats, Floats]:
    """Return means and standard deviations over the seeds; of one seed the deviation is 0."""
    spread = [float(np.std(each, ddof=ddof)) if len(each) > ddof else 0.0 for each in values]
    return np.array([float(np.mean(each)) for each in values]), np.array(spread)


def curve(
    axes: Axes,
    xs: Iterable[float],
    values: Sequence[Floats],
    hue: str,
    label: str,
    style: str = "-",
    ddof: int = 1,
) -> None:
    """Draw the mean over the seeds, in a band of one standard deviation."""
    means, spread = statistics(values, ddof)
    xs = list(xs)
    axes.fill_between(xs, means - spread, means + spread, color=hue, alpha=0.15, lw=0)
    axes.plot(xs, means, style, marker="o", ms=3.2, color=hue, lw=1.5, label=label)


def bars(
    axes: Axes,
    groups: Sequence[str],
    series: Sequence[tuple[str, str, Sequence[Floats]]],
    paper: Sequence[Sequence[float | None]] = (),
    *,
    values: bool = True,
) -> None:
    """Draw groups of bars; a series is its label, its colour and its values for each group.

    A bar has the standard deviation over the seeds, and its value. `paper` has
    for each series what the paper prints, drawn as dashes.
    """
    width = 0.84 / len(series)
    axes.set_axisbelow(True)
    for place, (label, hue, found) in enumerate(series):
        xs = np.arange(len(groups)) + (place - (len(series) - 1) / 2) * width
        means, spread = statistics(found)
        look: dict[str, Any] = {"color": hue, "label": label, "error_kw": {"lw": 0.8}}
        axes.bar(xs, means, width * 0.94, yerr=spread, **look)
        if paper:
            dash: dict[str, Any] = CROSS | {"ms": 15, "mew": 2.2}
            printed = np.array(paper[place], dtype=float)
            axes.plot(xs, printed, "_", label="" if place else "paper", **dash)
        for x, mean, error in zip(xs, means, spread, strict=True) if values else ():
            text = f"{mean / 1000:.1f}k" if mean >= 1000 else f"{mean:.3g}"
            axes.annotate(
                text, (x, mean + error), (0, 2), textcoords="offset points", ha="center", fontsize=7
            )
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)


def horizontal_bars(
    axes: Axes,
    labels: Sequence[str],
    values: Sequence[Floats],
    hues: Sequence[str],
    ddof: int = 1,
) -> None:
    """Draw one bar for each label, from the top down, with its value."""
    means, spread = statistics(values, ddof)
    axes.set_axisbelow(True)
    axes.barh(range(len(labels)), means, 0.7, xerr=spread, color=hues, error_kw={"lw": 0.8})
    for place, (mean, error) in enumerate(zip(means, spread, strict=True)):
        at = (mean + error, place)
        look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}
        axes.annotate(number(mean), at, (3, 0), **look)
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.15)


def ticks(axes: Axes, values: Sequence[float]) -> None:
    """Name these values at the x axis, and no other."""
    axes.set_xticks(values, [f"{each:g}" for each in values])
    axes.minorticks_off()


def legend(axes: Axes, fontsize: float = 8, **place: str | int | tuple[float, float]) -> None:
    """Draw the legend without a frame; `place` are loc, ncols and bbox_to_anchor."""
    look: dict[str, Any] = {"frameon": False, "fontsize": fontsize, **place}
    axes.legend(**look)


def legend_above(axes: Axes, height: float = 1.02) -> None:
    """Draw the legend above the panel, in one row at its right: titles are at its left.

    Where the row is as wide as the panel it has to stand above the title too.
    """
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    look: dict[str, Any] = {"borderaxespad": 0.0, "handlelength": 1.6, "columnspacing": 1.0}
    look |= {"frameon": False, "fontsize": 8, "loc": "lower right", "ncols": len(once)}
    axes.legend(once.values(), once.keys(), bbox_to_anchor=(1.0, height), **look)
