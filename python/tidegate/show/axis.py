"""A metric over a swept axis: a line per setting of the other axes, with its interval."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise, product
from math import ceil
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from tidegate.grid.axes import named, numbers, titled
from tidegate.show.style import GREY, colour, end_labels, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from tidegate.grid.grid_result import GridResult

    Value = Mapping[str, float | None] | None

LINES = 7
"""Lines that one picture can carry with a label each."""
TICKS = 6
"""Up to so many values each get their tick."""
MARKERS = "osD^vPX"
PANELS = (
    ("completed [1/s]", "completed_per_s", 1.0),
    ("served to the end [% of offered]", "completed_share", 100.0),
    ("FCT of those served, mean [s]", "fct_mean_s", 1.0),
    ("wait for admission, p95 of those admitted [s]", "wait_p95_s", 1.0),
    ("goodput of those served, mean [kbit/s]", "goodput_mean_bps", 1e-3),
    ("data packets sent again [%]", "retransmitted_share", 100.0),
)


@dataclass(frozen=True)
class Picture:
    """One picture: an axis, what is fixed in it, and its lines."""

    key: str
    fixed: dict[str, str]
    lines: tuple[dict[str, str], ...]
    """For each line the values on the other axes."""
    of: int
    """Lines that there are; some are left out if there are more than fit."""


def planned(sweep: GridResult) -> list[Picture]:
    """Return the pictures of a sweep: those of each axis of several numbers."""
    axes = sweep.subject.axes
    chosen = [key for key, values in axes.items() if len(values) > 1 and numbers(values)]
    return [picture for key in chosen for picture in _of_axis(key, axes)]


def file_name(picture: Picture) -> str:
    """Return its name without ending: the axis, and what is fixed."""
    parts = [f"over-{picture.key}", *([named(picture.fixed)] if picture.fixed else [])]
    return re.sub(r"[^A-Za-z0-9._=+-]+", "-", " ".join(parts)).strip("-.")[:120]


def _of_axis(key: str, axes: Mapping[str, Sequence[str]]) -> Iterator[Picture]:
    """Yield one picture; or several, each with the lines of one other axis, the rest fixed."""
    others = {other: values for other, values in axes.items() if other != key and len(values) > 1}
    whole = _points(others)
    if len(whole) <= LINES or len(others) == 1:
        yield Picture(key, {}, _thinned(whole), len(whole))
        return
    # The lines are the axis with the most values that still fit.
    fitting = [other for other, values in others.items() if len(values) <= LINES]
    along = max(fitting or others, key=lambda other: len(others[other]))
    lines = _points({along: others[along]})
    for fixed in _points({other: others[other] for other in others if other != along}):
        yield Picture(key, fixed, _thinned(lines), len(lines))


def _points(axes: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _thinned(lines: Sequence[dict[str, str]]) -> tuple[dict[str, str], ...]:
    """Return at most LINES of them, first and last included."""
    if len(lines) <= LINES:
        return tuple(lines)
    last = len(lines) - 1
    return tuple(lines[round(place * last / (LINES - 1))] for place in range(LINES))


def draw(sweep: GridResult, picture: Picture) -> Figure:
    """Return one figure: a panel per metric."""
    drawn = panels(sweep)
    columns = min(len(drawn), 3)
    rows = ceil(len(drawn) / columns)
    figure = Figure(figsize=(0.4 + 4.5 * columns, 0.9 + 2.9 * rows))
    grid = figure.subplots(rows, columns, squeeze=False)
    values = sweep.subject.axes[picture.key]
    places, unit = numbers(values) or ([], "")
    alone = {key: each[0] for key, each in sweep.subject.axes.items() if len(each) == 1}
    found = {_key(row["settings"]): row for row in sweep.averages}
    for axes, (title, metric, scale) in zip(grid.flat, drawn, strict=False):
        axes.set_title(title, fontsize=9)
        _scaled(axes, places, unit, picture.key)
        ends = []
        for number, says in enumerate(picture.lines):
            line_of = [
                (place, found.get(_key(alone | says | picture.fixed | {picture.key: value})))
                for place, value in sorted(zip(places, values, strict=True))
            ]
            points = [(place, row.get(metric)) for place, row in line_of if row]
            ends.append(_line(axes, number, points, scale))
        _labelled(axes, picture, ends)
    for axes in list(grid.flat)[len(drawn) :]:
        axes.remove()
    figure.suptitle(_title(sweep, picture), x=0.01, ha="left")
    return figure


def _key(says: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(says.items()))


def panels(sweep: GridResult) -> list[tuple[str, str, float]]:
    """Return the metrics to draw, with title and scale: those chosen, or the usual ones."""
    known = {metric: (title, metric, scale) for title, metric, scale in PANELS}
    chosen = sweep.metrics or tuple(known)
    return [known.get(metric, (metric, metric, 1.0)) for metric in chosen]


def _title(sweep: GridResult, picture: Picture) -> str:
    seeds = len(sweep.subject.seeds)
    note = f"mean and 95 % interval over {seeds} seeds" if seeds > 1 else "one seed"
    fixed = f", {named(picture.fixed)}" if picture.fixed else ""
    left_out = len(picture.lines) < picture.of
    some = f"; {len(picture.lines)} of {picture.of} settings drawn" if left_out else ""
    return f"{sweep.subject.name}{fixed}: {note}{some}"


def _scaled(axes: Axes, places: Sequence[float], unit: str, name: str) -> None:
    """Set up the horizontal axis: logarithmic where the values grow by factors."""
    axes.set_xlabel(titled(name, unit) if unit else name)
    if _by_factors(places):
        axes.set_xscale("log")
        axes.minorticks_off()
    if len(places) <= TICKS:
        axes.set_xticks(sorted(places), [f"{place:g}" for place in sorted(places)])


def _by_factors(places: Sequence[float]) -> bool:
    """Tell whether the places crowd at the left unless their ratios are drawn."""
    low, *others = sorted(places)
    if len(others) < 2 or low <= 0:
        return False
    steps = [right - left for left, right in pairwise([low, *others])]
    ratios = [right / left for left, right in pairwise([low, *others])]
    uneven = max(steps) / min(steps)
    return uneven > 1.5 and (others[-1] / low >= 20 or uneven > max(ratios) / min(ratios))


def _line(
    axes: Axes, number: int, points: Sequence[tuple[float, Any]], scale: float
) -> float | None:
    """Draw one line with its interval, where the metric is defined; return where it ends."""
    hue = colour(number)
    known = [(x, value) for x, value in points if value and value["mean"] is not None]
    if not known:
        return None
    xs = [x for x, _ in known]
    means, lows, highs = (
        [scale * (value["mean"] if value[name] is None else value[name]) for _, value in known]
        for name in ("mean", "low", "high")
    )
    axes.fill_between(xs, lows, highs, color=hue, alpha=0.18, linewidth=0)
    marker = MARKERS[number % len(MARKERS)]
    axes.plot(
        xs, means, color=hue, linestyle=line(number), marker=marker, markersize=4, linewidth=1.5
    )
    return float(means[-1])


def _labelled(axes: Axes, picture: Picture, ends: Sequence[float | None]) -> None:
    """Let the vertical axis start at zero, and write the name of each line at its end."""
    high = axes.get_ylim()[1]
    # No metric is negative, though its interval over few seeds may be.
    axes.set_ylim(0.0, high if high > 0 else 1.0)
    there = [(number, end) for number, end in enumerate(ends) if end is not None]
    if not there:
        axes.text(0.5, 0.5, "undefined", transform=axes.transAxes, ha="center", color=GREY)
    elif len(picture.lines) > 1:
        names = [named(picture.lines[number]) for number, _ in there]
        hues = [colour(number) for number, _ in there]
        end_labels(axes, names, [end for _, end in there], hues)
