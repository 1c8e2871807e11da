"""The style of all pictures: colours that are distinct to everyone, labels at the lines."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

# Okabe and Ito's palette, without its yellow, which is too light on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
GREY = "#666666"
LINES = ("-", "--", "-.", ":")
LEADER: dict[str, Any] = {"arrowstyle": "-", "lw": 0.6, "shrinkB": 0, "relpos": (0, 0.5)}

FONT = 9.0
"""Size of letters, in points."""

RULES: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "figure.constrained_layout.use": True,
    "figure.titlesize": 11,
    "font.family": "DejaVu Sans",
    "font.size": FONT,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "pdf.fonttype": 42,  # TrueType, as publishers ask for
    "svg.fonttype": "none",
    "svg.hashsalt": "tidegate",
}


def points(size: float) -> float:
    """Return a size of letters, where those of the picture are not 9 points as in `RULES`."""
    import matplotlib as mpl

    return size * (float(mpl.rcParams["font.size"]) / FONT)


def colour(number: int) -> str:
    """Return the colour of the control with this index."""
    return PALETTE[number % len(PALETTE)]


def line(number: int) -> str:
    """Return a line style: beyond the palette, and for grey print, it distinguishes controls."""
    return LINES[number % len(LINES)]


def broken(text: str, width: int, after: str) -> str:
    """Return a text in lines of this width where it can be broken: after one of these signs."""
    lines = [""]
    for piece in re.findall(f"[^{after}]*[{after}]*", text):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def spread(heights: Sequence[float], least: float) -> list[float]:
    """Return positions near the heights, `least` apart, in the same order.

    Labels at the ends of lines must not cover each other: they are pushed up
    from the lowest, then shifted so that they stay centred on where they were.
    """
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    moved = list(heights)
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + least)
    shift = sum(moved) / len(moved) - sum(heights) / len(heights) if heights else 0.0
    lowest = min(moved, default=0.0)
    shift = min(shift, max(lowest, 0.0))
    return [height - shift for height in moved]


def end_labels(
    axes: Axes,
    labels: Sequence[str],
    heights: Sequence[float],
    colours: Sequence[str],
    *,
    pointed: bool = True,
) -> None:
    """Write labels at the right of the axes, each at the height of its line and pointing there."""
    low, high = axes.get_ylim()
    positions = spread(heights, (high - low) * 0.115)
    for text, height, position, hue in zip(labels, heights, positions, colours, strict=True):
        axes.annotate(
            text,
            xy=(1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(1.03, position),
            textcoords=("axes fraction", "data"),
            color=hue,
            va="center",
            ha="left",
            fontsize=points(8.5),
            arrowprops={**LEADER, "color": hue} if pointed else None,
            annotation_clip=False,
        )
