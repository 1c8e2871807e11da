"""The controls side by side: one panel per measure, one line per control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea

from tidegate.show.style import colour
from tidegate.show.tables import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate.grid.grid_result import GridResult

# What became of the offered sessions: name, metric, colour of its part of the bar.
FATES = (
    ("served", "completed_share", "#009E73"),
    ("admitted, unfinished", "unfinished_share", "#E69F00"),
    ("never admitted", "never_admitted_share", "#999999"),
)
MEASURES = (
    ("completed [1/s]", "completed_per_s", 1.0),
    ("FCT of those served, mean [s]", "fct_mean_s", 1.0),
    ("wait for admission, p95 of those admitted [s]", "wait_p95_s", 1.0),
    ("goodput of those served, mean [kbit/s]", "goodput_mean_bps", 1e-3),
    ("data packets sent again [%]", "retransmitted_share", 100.0),
)


def draw(comparison: GridResult) -> Figure:
    """Return the figure: means as points with their value, intervals as bars."""
    labels = list(comparison.curves)
    figure = Figure(figsize=(11.0, 1.4 + 2 * (0.75 + 0.34 * len(labels))))
    panels = figure.subplots(2, 3, sharey=True)
    _fates(panels[0, 0], comparison.averages)
    for axes, (title, metric, scale) in zip(panels.flat[1:], MEASURES, strict=True):
        _panel(axes, title, [row.get(metric) for row in comparison.averages], scale)
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
    seeds = len(comparison.subject.seeds)
    note = f"mean and 95 % interval over {seeds} seeds" if seeds > 1 else "one seed"
    figure.suptitle(f"{comparison.subject.name}: {note}", x=0.01, ha="left")
    return figure


def _fates(axes: Axes, averages: list[dict[str, Any]]) -> None:
    """Draw one bar a control, as long as all that was offered."""
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of offered sessions", fontsize=8.5)
    for place, row in enumerate(averages):
        left = 0.0
        for _, metric, hue in FATES:
            part = (row[metric]["mean"] or 0.0) * 100
            axes.barh(place, part, left=left, height=0.62, color=hue)
            if part >= 8:
                middle = (left + part / 2, place)
                axes.annotate(f"{part:.0f}", middle, ha="center", va="center", fontsize=8.5)
            left += part
    names = HPacker(
        children=[
            TextArea(name, textprops={"color": hue, "fontsize": 8.5, "weight": "bold"})
            for name, _, hue in FATES
        ],
        pad=0,
        sep=8,
    )
    above = AnchoredOffsetbox(
        "lower left",
        child=names,
        frameon=False,
        borderpad=0.3,
        bbox_to_anchor=(0.0, 1.0),
        bbox_transform=axes.transAxes,
    )
    axes.add_artist(above)


def _panel(axes: Axes, title: str, values: list[Any], scale: float) -> None:
    axes.set_title(title, fontsize=9)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    ends = [0.0]
    for place, value in enumerate(values):
        if value is None or value["mean"] is None:
            axes.text(0.02, place, "none", va="center", transform=axes.get_yaxis_transform())
            continue
        centre = value["mean"] * scale
        low = centre if value["low"] is None else value["low"] * scale
        high = centre if value["high"] is None else value["high"] * scale
        axes.plot([0, centre], [place, place], color=colour(place), linewidth=1, alpha=0.5)
        axes.plot([low, high], [place, place], color=colour(place), linewidth=4, alpha=0.4)
        axes.plot([centre], [place], "o", color=colour(place), markersize=6)
        ends.append(max(centre, high))
        axes.annotate(
            shown(value, scale),
            xy=(max(centre, high), place),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    # Room to the right of the longest line for its value.
    axes.set_xlim(0, (max(ends) or 1.0) * 1.55)
    if scale == 100.0:
        axes.set_xticks([tick for tick in axes.get_xticks() if tick <= 100.0])
        axes.set_xlim(0, (max(ends) or 1.0) * 1.55)
