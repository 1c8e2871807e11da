"""Pieces of the pictures of this paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from tidegate.results.record import Record

ADMITTED, COMPLETED = PALETTE[4], PALETTE[1]
COLOURS = {"none": GREY, "optimal": PALETTE[2], "gssga": PALETTE[4], "cp": PALETTE[1]}
SHOWN = {"none": "no control", "optimal": "optimal (brute force)", "gssga": "GSS+GA", "cp": "CP"}


def panels(
    rows: int,
    columns: int,
    *,
    width: float,
    height: float,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with its panels in one list."""
    figure = Figure(figsize=(width, height))
    return figure, list(
        figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey).flat
    )


def bars(axes: Axes, groups: Sequence[str], series: Mapping[str, Sequence[np.ndarray]]) -> None:
    """Draw a group of bars each, with the standard deviation over the seeds and the value."""
    width = 0.84 / len(series)
    axes.set_axisbelow(True)
    for place, (name, values) in enumerate(series.items()):
        xs = np.arange(len(groups)) + (place - (len(series) - 1) / 2) * width
        means = np.array([float(np.mean(each)) for each in values])
        spread = [float(np.std(each, ddof=1)) if len(each) > 1 else 0.0 for each in values]
        axes.bar(
            xs,
            means,
            width * 0.94,
            yerr=spread,
            color=COLOURS[name],
            label=SHOWN[name],
            error_kw={"lw": 0.8},
        )
        for x, mean, error in zip(xs, means, spread, strict=True):
            text = f"{mean / 1000:.1f}k" if mean >= 1000 else f"{mean:.3g}"
            axes.annotate(
                text, (x, mean + error), (0, 2), textcoords="offset points", ha="center", fontsize=7
            )
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)
    above(axes, len(series))


def beside(axes: Axes, labels: Sequence[str], values: Sequence[np.ndarray], title: str) -> None:
    """Draw one horizontal bar for each label, with its value."""
    means = [float(np.mean(each)) for each in values]
    spread = [float(np.std(each, ddof=1)) if len(each) > 1 else 0.0 for each in values]
    hues = [COLOURS["none"] if "no control" in label else COLOURS["cp"] for label in labels]
    axes.barh(range(len(labels)), means, 0.7, xerr=spread, color=hues, error_kw={"lw": 0.8})
    for place, (mean, error) in enumerate(zip(means, spread, strict=True)):
        axes.annotate(
            f"{mean:.3g}",
            (mean + error, place),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_axisbelow(True)
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.1)
    axes.set_xlabel(title)


def timeline(axes: Axes, record: Record, title: str) -> None:
    """Draw admissions and completions of one run, in bins of two seconds: the longer epoch."""
    rates = record.rates()
    bins = rates["time_s"].size // 2
    times = rates["time_s"][: 2 * bins].reshape(bins, 2)[:, 0]
    lines = {
        name: rates[name][: 2 * bins].reshape(bins, 2).mean(axis=1)
        for name in ("admitted", "completed")
    }
    for (name, values), hue in zip(lines.items(), (ADMITTED, COMPLETED), strict=True):
        axes.plot(times, values, color=hue, lw=1.1, label=name)
    top = max(float(np.percentile(each, 98)) for each in lines.values())
    axes.set_xlim(0, float(rates["time_s"][-1]))
    axes.set_ylim(0, 1.25 * top + 1.0)
    axes.set_title(title, fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)


def above(axes: Axes, columns: int) -> None:
    """Put the legend above the panel, in one row at its right: titles are at its left."""
    axes.legend(
        frameon=False,
        fontsize=8,
        ncols=columns,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.02),
        borderaxespad=0.0,
        handlelength=1.4,
        columnspacing=1.0,
    )
