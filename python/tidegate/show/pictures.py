"""Pictures as PNG and SVG; matplotlib is loaded with this module."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea
from matplotlib.ticker import FuncFormatter

from tidegate.show import of_grid, of_runs
from tidegate.show.measures import shown
from tidegate.show.style import GREY, RULES, end_labels, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.picture import Panel, Picture, Series

    Drawn = tuple[str, str, list[Picture]]

DPI = 150
LOOK = {**RULES, "axes.titley": 1.0, "text.parse_math": False}
"""A title of fixed height: otherwise every drawing measures all ticks for each title."""
MARKERS = "osD^vPX"
TICKS = 6
"""Up to so many values each get their tick."""


def pictures(done: GridResult) -> dict[str, bytes]:
    """Return every picture of a comparison or a sweep, as file name and content."""
    if done.subject.command == "compare":
        return _files(_compared(done))
    return _files((each.key, each.title, [each]) for each in of_grid.over_axes(done))


def of_run(folder: Path, title: str) -> dict[str, bytes]:
    """Return the pictures of the series that a run has, as file name and content."""
    return _files(_followed(folder, title))


def _compared(done: GridResult) -> Iterator[Drawn]:
    name, seeds, labels = done.subject.name, len(done.subject.seeds), list(done.curves)
    fct = of_grid.distribution(done.curves)
    yield "fct-distribution", f"{name}: flow completion time (FCT)", [fct]
    mean = f", mean of {seeds} seeds" if seeds > 1 else ""
    title = f"{name}: sessions admitted and completed{mean}"
    yield "rates-over-time", title, [of_grid.rates(done)]
    sides = of_grid.sides(done.averages, labels, of_grid.MEASURES, seeds)
    parts = [replace(of_grid.fates(done.averages, labels), columns=3, size=sides.size), sides]
    yield "controls-side-by-side", f"{name}: {of_grid.interval(seeds)}", parts


def _followed(folder: Path, title: str) -> Iterator[Drawn]:
    for picture in of_runs.followed({"": [folder]}):
        by = picture.split[-1]
        if picture.split == (by,):
            yield picture.key, title, [replace(picture, by=by, split=())]
            continue
        busy = picture.table.filter(pl.col("queue_bytes").sum().over("port") > 0)
        for port in busy["port"].unique().sort().to_list():
            table = busy.filter(pl.col("port") == port)
            drawn = replace(picture, table=table, by=by, split=())
            yield f"{picture.key}-{port}", f"{title}: {port}", [drawn]


def _files(drawn: Iterator[Drawn]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with mpl.rc_context(cast("Any", LOOK)):
        for name, title, parts in drawn:
            found |= _contents(name, figure(parts, title))
    return found


def _contents(name: str, figure: Figure) -> dict[str, bytes]:
    """Render a figure as PNG and SVG, as file name and content.

    The layout takes as long as the drawing, and `savefig` computes it twice for
    each format: here it is computed once.
    """
    figure.set_dpi(DPI)
    raster, vector = io.BytesIO(), io.BytesIO()
    agg: Any = FigureCanvasAgg(figure)
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")
    agg.print_png(raster, pil_kwargs={"compress_level": 4})
    svg: Any = FigureCanvasSVG(figure)
    svg.print_svg(vector, metadata={"Date": None})  # the same data give the same file
    return {f"{name}.png": raster.getvalue(), f"{name}.svg": vector.getvalue()}


def figure(parts: Sequence[Picture], title: str) -> Figure:
    """Return one figure with the panels of pictures, row by row."""
    panels = [(picture, panel) for picture in parts for panel in picture.panels()]
    picture = parts[0]
    columns, (width, height) = picture.columns, picture.size
    rows = ceil(len(panels) / columns)
    figure = Figure(figsize=(0.4 + width * columns, 0.9 + height * rows))
    below = picture.mark in ("interval", "stack")
    share: dict[str, Any] = {"sharex": columns == 1, "sharey": below or bool(picture.split)}
    grid = figure.subplots(rows, columns, squeeze=False, **share)
    for axes, (each, panel) in zip(grid.flat, panels, strict=False):
        axes.set_title(panel.title, fontsize=None if picture.labels and not below else 9)
        DRAWN[each.mark](axes, each, panel)
    for axes in list(grid.flat)[len(panels) :]:
        axes.remove()
    for axes in [] if below else grid[-1] if columns == 1 else grid.flat[: len(panels)]:
        axes.set_xlabel(next(iter(picture.x.values())))
    if picture.split:
        figure.supylabel(next(iter(picture.y.values())), fontsize=9)
    handles, names = grid[0, 0].get_legend_handles_labels()
    if len(names) > 1 and not picture.labels:
        figure.legend(handles, names, loc="outside right upper", frameon=False)
    figure.suptitle(title, x=0.01, ha="left")
    return figure


def _lines(axes: Axes, picture: Picture, panel: Panel) -> None:
    """Draw one line for each series, its interval behind it."""
    known = [each for each in panel.series if each.x]
    few = "time_s" not in picture.x and all(len(each.x) < 100 for each in known)
    for each in known:
        hue = picture.hues[each.place % len(picture.hues)]
        if (each.low, each.high) != (each.y, each.y):
            axes.fill_between(each.x, each.low, each.high, color=hue, alpha=0.18, linewidth=0)
        look: dict[str, Any] = {"linewidth": 1.8 if picture.log else 1.3, "label": each.name}
        if few:
            marker = MARKERS[each.place % len(MARKERS)]
            look |= {"marker": marker, "markersize": 4, "linewidth": 1.5}
        axes.plot(each.x, each.y, color=hue, linestyle=_stroke(picture, each), **look)
    if not known:
        axes.text(0.5, 0.5, "undefined", transform=axes.transAxes, ha="center", color=GREY)
    _ranges(axes, picture, known, few=few)
    _labels(axes, picture, panel)


def _stroke(picture: Picture, each: Series) -> str:
    return "-" if picture.by == "event" else line(each.place)


def _ranges(axes: Axes, picture: Picture, known: Sequence[Series], *, few: bool) -> None:
    """Set up both axes; no quantity is negative, though its interval over few seeds may be."""
    high = picture.top or axes.get_ylim()[1]
    percent = "x" in picture.log and "share" in next(iter(picture.y.values()))
    axes.set_ylim(0.0, 102.0 if percent else high if high > 0 else 1.0)
    places = sorted({x for each in known for x in each.x})
    if "x" in picture.log or (few and _by_factors(places)):
        axes.set_xscale("log")
        if few:
            axes.minorticks_off()
        else:
            wide = places[-1] >= 100 * places[0]
            axes.set_xlim(places[0], places[-1])
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(FuncFormatter(lambda *at: "" if wide else _minor(*at)))
    if few and places and len(places) <= TICKS:
        axes.set_xticks(places, [f"{place:g}" for place in places])
    if picture.warmup_s > 0:
        axes.axvspan(0, picture.warmup_s, color="#f2f2f2", zorder=0, linewidth=0)
        if axes.get_subplotspec().is_first_row():  # type: ignore[union-attr]
            look: dict[str, Any] = {"color": GREY, "ha": "center", "va": "top", "fontsize": 8}
            axes.text(picture.warmup_s / 2, high * 0.97, "warm-up", **look)
    if picture.top:
        axes.set_xlim(0, places[-1] + places[0])


def _minor(value: float, _: object) -> str:
    """Label 0.2, 0.5, 2, 5 ...: all of 0.2 to 0.9 would overlap."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def _by_factors(places: Sequence[float]) -> bool:
    """Tell whether the places crowd at the left unless their ratios are drawn."""
    if len(places) < 3 or places[0] <= 0:
        return False
    steps = [right - left for left, right in pairwise(places)]
    ratios = [right / left for left, right in pairwise(places)]
    uneven = max(steps) / min(steps)
    return uneven > 1.5 and (places[-1] / places[0] >= 20 or uneven > max(ratios) / min(ratios))


def _labels(axes: Axes, picture: Picture, panel: Panel) -> None:
    """Write the labels of a panel; of points at one height, the leftmost stands highest."""
    names = {name: place for place, name in enumerate(picture.names)}
    labels = sorted(panel.labels, key=lambda label: -(label.x or 0.0))
    hues = [picture.hues[names[label.series] % len(picture.hues)] for label in labels]
    for label, hue in zip(labels, hues, strict=True):
        if label.x is not None:
            axes.plot([label.x], [label.y], "o", color=hue, markersize=5, zorder=5)
    high = axes.get_ylim()[1]
    pointed = all(label.x is None for label in labels)
    heights = [min(label.y, high) for label in labels]
    end_labels(axes, [label.text for label in labels], heights, hues, pointed=pointed)


def _controls(axes: Axes, names: Sequence[str]) -> None:
    axes.tick_params(axis="y", length=0)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _intervals(axes: Axes, picture: Picture, panel: Panel) -> None:
    """Draw the mean of each control as a point with its value, and the interval as a bar."""
    axes.grid(visible=False, axis="y")
    _controls(axes, picture.names)
    ends = [0.0]
    for each in panel.series:
        place = each.place
        if not each.y:
            axes.text(0.02, place, "none", va="center", transform=axes.get_yaxis_transform())
            continue
        mean, low, high = each.y[0], each.low[0], each.high[0]
        hue = picture.hues[place % len(picture.hues)]
        axes.plot([0, mean], [place, place], color=hue, linewidth=1, alpha=0.5)
        axes.plot([low, high], [place, place], color=hue, linewidth=4, alpha=0.4)
        axes.plot([mean], [place], "o", color=hue, markersize=6)
        ends.append(max(mean, high))
        axes.annotate(
            shown(each.value),
            xy=(ends[-1], place),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    # room to the right of the longest line for its value
    right = (max(ends) or 1.0) * 1.55
    axes.set_xlim(0, right)
    if "[%]" in panel.title:
        axes.set_xticks([tick for tick in axes.get_xticks() if tick <= 100.0])
        axes.set_xlim(0, right)


def _stack(axes: Axes, picture: Picture, panel: Panel) -> None:
    """Draw a bar for each control, as long as all that was offered."""
    axes.grid(visible=False)
    _controls(axes, picture.table["control"].unique(maintain_order=True).to_list())
    axes.set_title("")
    axes.set_xlim(0, 100)
    axes.set_xlabel(panel.title, fontsize=8.5)
    left = [0.0] * len(panel.series[0].y)
    for each, hue in zip(panel.series, picture.hues, strict=False):
        axes.barh(range(len(left)), each.y, left=left, height=0.62, color=hue)
        for place, part in enumerate(each.y):
            if part >= 8:
                middle = (left[place] + part / 2, place)
                axes.annotate(f"{part:.0f}", middle, ha="center", va="center", fontsize=8.5)
            left[place] += part
    look = {"fontsize": 8.5, "weight": "bold"}
    words: list[Artist] = [
        TextArea(each.name, textprops={"color": hue, **look})
        for each, hue in zip(panel.series, picture.hues, strict=False)
    ]
    above: dict[str, Any] = {"bbox_to_anchor": (0.0, 1.0), "bbox_transform": axes.transAxes}
    box = HPacker(children=words, pad=0, sep=8)
    axes.add_artist(
        AnchoredOffsetbox("lower left", child=box, frameon=False, borderpad=0.3, **above)
    )


DRAWN = {"line": _lines, "interval": _intervals, "stack": _stack}
