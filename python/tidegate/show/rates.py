"""Admissions and completions over time: one panel per control, all on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate.grid.grid_result import GridResult
    from tidegate.results.curves import Curves
    from tidegate.results.statistics import Floats

ADMITTED, COMPLETED = PALETTE[4], PALETTE[1]


def draw(comparison: GridResult) -> Figure:
    """Return the figure: admitted and completed per second, mean over the seeds."""
    cells = comparison.curves
    figure = Figure(figsize=(9.5, 1.0 + 1.75 * len(cells)))
    panels = figure.subplots(len(cells), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    top = max(_top(runs) for runs in cells.values())
    for axes, (label, runs) in zip(panels, cells.items(), strict=True):
        _panel(axes, label, runs, top)
        axes.axvspan(0, comparison.subject.warmup_s, color="#f2f2f2", zorder=0, linewidth=0)
    warmup = comparison.subject.warmup_s
    if warmup > 0:
        look = {"color": GREY, "ha": "center", "va": "top", "fontsize": 8}
        panels[0].text(warmup / 2, top * 0.97, "warm-up", **look)
    panels[-1].set_xlabel("time [s]")
    figure.supylabel("sessions per second", fontsize=9)
    seeds = len(next(iter(cells.values())))
    note = f", mean of {seeds} seeds" if seeds > 1 else ""
    figure.suptitle(
        f"{comparison.subject.name}: sessions admitted and completed{note}", x=0.01, ha="left"
    )
    return figure


def _top(runs: list[Curves]) -> float:
    """Return an upper end of the scale that a few extreme bins do not stretch."""
    both = [_mean(runs, name) for name in ("admitted", "completed")]
    return max(float(np.percentile(each, 98)) for each in both) * 1.25 + 1.0


def _mean(runs: list[Curves], name: str) -> Floats:
    """Return one curve's mean over the seeds."""
    return np.asarray(np.mean([getattr(run, name) for run in runs], axis=0), dtype=np.float64)


def _panel(axes: Axes, label: str, runs: list[Curves], top: float) -> None:
    times = runs[0].times_s
    width = float(times[0])
    centres = times - width / 2
    means = {name: _mean(runs, name) for name in ("offered", "admitted", "completed")}
    between = (means["admitted"], means["completed"])
    axes.fill_between(centres, *between, color=ADMITTED, alpha=0.18, linewidth=0)
    axes.plot(centres, means["admitted"], color=ADMITTED, linewidth=1.3)
    axes.plot(centres, means["completed"], color=COMPLETED, linewidth=1.3)
    axes.set_xlim(0, float(times[-1]))
    axes.set_ylim(0, top)
    offered = float(np.mean(means["offered"]))
    axes.set_title(f"{label}   (offered: {offered:,.0f}/s)")
    late = slice(len(times) // 2, None)
    for name, hue, side in (("admitted", ADMITTED, 1), ("completed", COMPLETED, -1)):
        level = float(np.mean(means[name][late]))
        axes.annotate(
            f"{name} {level:,.0f}/s",
            xy=(1.0, min(level, top)),
            xycoords=("axes fraction", "data"),
            xytext=(6, 7 * side),
            textcoords="offset points",
            color=hue,
            va="center",
            fontsize=8.5,
            annotation_clip=False,
        )
