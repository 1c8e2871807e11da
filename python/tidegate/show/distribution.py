"""How long sessions take, as a share of all that were offered.

A distribution over the finished flows alone makes a link look good that turns
nearly everybody away. Here each curve ends at the share that was served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from tidegate.show.style import colour, end_labels, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate.grid.grid_result import GridResult
    from tidegate.results.curves import Curves
    from tidegate.results.statistics import Floats


def draw(comparison: GridResult) -> Figure:
    """Return the figure: left of all offered sessions, right of those served."""
    figure = Figure(figsize=(11.5, 4.6))
    offered, served = figure.subplots(1, 2)
    for number, runs in enumerate(comparison.curves.values()):
        look = {"color": colour(number), "linestyle": line(number)}
        offered.plot(runs[0].fct_grid_s, _mean(runs, "offered_share"), **look)
        served.plot(runs[0].fct_grid_s, _mean(runs, "served_share"), **look)
    low, high = _span(comparison)
    for axes in (offered, served):
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(FuncFormatter(_between if high < 100 * low else _nothing))
        axes.set_xlabel("time from the first SYN to the last acknowledgement [s]")
    offered.set_title("Share of all offered sessions finished within a time")
    served.set_title("The same, of the sessions served only")
    _name_ends(offered, comparison)
    _name_halves(served, comparison)
    figure.suptitle(f"{comparison.subject.name}: flow completion time (FCT)", x=0.01, ha="left")
    return figure


def _between(value: float, _: object) -> str:
    """Label 0.2, 0.5, 2, 5 ...: all of 0.2 to 0.9 would lie upon each other."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def _nothing(_value: float, _: object) -> str:
    return ""


def _mean(runs: list[Curves], name: str) -> Floats:
    """Return one curve's mean over the seeds."""
    return np.asarray(np.mean([getattr(run, name) for run in runs], axis=0), dtype=np.float64)


def _span(comparison: GridResult) -> tuple[float, float]:
    """Return the times between which the curves rise."""
    lows, highs = [], []
    for runs in comparison.curves.values():
        for run in runs:
            risen = run.fct_grid_s[run.served_share > 0]
            full = run.fct_grid_s[run.served_share >= run.served_share[-1]]
            if risen.size:
                lows.append(float(risen[0]))
                highs.append(float(full[0]))
    return (min(lows) / 1.3, max(highs) * 1.1) if lows else (0.01, 1.0)


def _name_ends(axes: Axes, comparison: GridResult) -> None:
    """Name each curve where it ends, with the share that was served."""
    ends = [float(_mean(runs, "offered_share")[-1]) for runs in comparison.curves.values()]
    pairs = zip(comparison.curves, ends, strict=True)
    labels = [f"{label}: {end:.1%} served" for label, end in pairs]
    end_labels(axes, labels, ends, [colour(number) for number in range(len(ends))])


def _name_halves(axes: Axes, comparison: GridResult) -> None:
    """Name each curve with the time that half of the served sessions took at most."""
    crossings = []
    for number, (label, runs) in enumerate(comparison.curves.items()):
        share = _mean(runs, "served_share")
        if share[-1] >= 0.5:
            place = int(np.searchsorted(share, 0.5))
            crossings.append((float(runs[0].fct_grid_s[place]), number, label))
    for rank, (half, number, label) in enumerate(sorted(crossings)):
        height = 0.5 - 0.09 * (rank - (len(crossings) - 1) / 2)
        axes.plot([half], [0.5], "o", color=colour(number), markersize=5, zorder=5)
        axes.annotate(
            f"{label}: half within {half:.3g} s",
            xy=(half, 0.5),
            xycoords="data",
            xytext=(1.03, height),
            textcoords=("axes fraction", "data"),
            color=colour(number),
            va="center",
            ha="left",
            fontsize=8.5,
            annotation_clip=False,
        )
