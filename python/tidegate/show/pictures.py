"""Pictures as PNG, SVG and PDF; matplotlib is loaded with this module."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from itertools import chain, pairwise
from math import ceil, log10
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea
from matplotlib.ticker import FuncFormatter

from tidegate.errors import UsageError
from tidegate.results.folder import RUNS
from tidegate.show import of_grid, over_time
from tidegate.show.look import Look
from tidegate.show.measures import endless, shown
from tidegate.show.style import GREY, broken, end_labels, line, points

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.picture import Panel, Picture, Series

    Drawn = tuple[str, str, list[Picture]]

DPI = 150
PLAIN = Look()
MARKERS = "osD^vPX"
DISTRIBUTIONS = {
    "fct": ("fct-distribution", "flow completion time (FCT)"),
    "pages": ("page-load-distribution", "page load time"),
}
"""File and title of each distribution of times, by the key of its picture."""
LETTER = 0.6
"""Mean width of a letter, in parts of the size of its font."""
SHARE = 0.85
"""How much of the width of a panel its title may take: beside it stand the names of lines."""
TICK_POINTS = 9.0
"""Size of the font of the labels of ticks."""
TICKS = 6
"""Up to this number, every value gets a tick."""


def pictures(done: GridResult, look: Look = PLAIN) -> dict[str, bytes]:
    """Return every picture of a comparison or a sweep, as file name and content."""
    return _files(chain(_over_time(done, look), _drawn(done, look)), look)


def figures(done: GridResult, look: Look = PLAIN) -> dict[str, Figure]:
    """Return every picture of a comparison or a sweep as a figure of matplotlib, by its name."""
    return _figures(chain(_over_time(done, look), _drawn(done, look)), look)


def side_by_side(done: GridResult) -> bytes:
    """Return the main picture of a comparison or a sweep as PNG; empty: nothing can be drawn."""
    drawn = list(_drawn(done, PLAIN))
    if not drawn:
        return b""
    _, title, parts = drawn[-1]
    with mpl.rc_context(cast("Any", PLAIN.rules())):
        last = figure(parts, title)
    content = io.BytesIO()
    FigureCanvasAgg(last)
    last.savefig(content, format="png", dpi=80)
    return content.getvalue()


def _drawn(done: GridResult, look: Look) -> Iterator[Drawn]:
    if done.subject.command == "compare":
        yield from _compared(look.chosen(done))
    else:
        swept = look.only(list(of_grid.over_axes(done)))
        yield from ((each.key, each.title, [each]) for each in swept)


def of_series(folder: Path, summary: Mapping[str, Any], look: Look = PLAIN) -> dict[str, bytes]:
    """Return the pictures of the series that a run has, as file name and content."""
    return _files(over_time.followed(folder, _named(summary)), look)


def of_run(folder: Path, summary: Mapping[str, Any], look: Look = PLAIN) -> dict[str, bytes]:
    """Return all pictures of a run, as file name and content."""
    return _files(_of_run(folder, summary), look)


def figures_of_run(
    folder: Path, summary: Mapping[str, Any], look: Look = PLAIN
) -> dict[str, Figure]:
    """Return all pictures of a run as figures of matplotlib, by their names."""
    return _figures(_of_run(folder, summary), look)


def _of_run(folder: Path, summary: Mapping[str, Any]) -> Iterator[Drawn]:
    window = (summary["warmup_s"], summary["duration_s"])
    yield from over_time.drawn({"": [folder]}, _named(summary), window)
    yield from over_time.followed(folder, _named(summary))


def _named(summary: Mapping[str, Any]) -> str:
    return f"{summary['scenario']}, seed {summary['seed']}"


def _over_time(done: GridResult, look: Look) -> Iterator[Drawn]:
    """Yield the pictures over time of a comparison in a folder, unless metrics were chosen."""
    subject = done.subject
    if done.folder is None or done.metrics or subject.command != "compare":
        return
    runs = {point.label: done.folder / RUNS / point.folder for point in subject.points}
    folders = {
        label: [each for seed in subject.seeds if (each := runs[label] / f"seed-{seed}").exists()]
        for label in look.chosen(done).curves
    }
    window = (subject.warmup_s, subject.duration_s)
    yield from over_time.drawn(folders, subject.name, window)


def _compared(done: GridResult) -> Iterator[Drawn]:
    name, seeds, labels = done.subject.name, len(done.subject.seeds), list(done.curves)
    ending = not endless(done.averages)
    sides = of_grid.sides(done.averages, labels, of_grid.shown_measures(done), seeds)
    parts = [sides]
    if ending:
        for picture in of_grid.distributions(done):
            file, what = DISTRIBUTIONS[picture.key]
            yield file, f"{name}: {what}", [picture]
        mean = f", mean of {seeds} seeds" if seeds > 1 else ""
        title = f"{name}: sessions admitted and completed{mean}"
        yield "rates-over-time", title, [of_grid.rates(done)]
        parts = [replace(of_grid.fates(done.averages, labels), columns=3, size=sides.size), sides]
    yield "controls-side-by-side", f"{name}: {of_grid.interval(seeds)}", parts


def _figures(drawn: Iterator[Drawn], look: Look) -> dict[str, Figure]:
    with mpl.rc_context(cast("Any", look.rules())):
        return {name: figure(parts, title, look) for name, title, parts in look.wanted(drawn)}


def _files(drawn: Iterator[Drawn], look: Look) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with mpl.rc_context(cast("Any", look.rules())):
        for name, title, parts in look.wanted(drawn):
            found |= _contents(name, figure(parts, title, look), look.formats)
    return found


def _contents(name: str, figure: Figure, formats: Sequence[str]) -> dict[str, bytes]:
    """Render a figure in these formats, as file name and content: the same data, the same bytes.

    The layout takes as long as the drawing, and `savefig` computes it twice for
    each format: here it is computed once.
    """
    figure.set_dpi(DPI)
    agg: Any = FigureCanvasAgg(figure)
    _arrange(name, figure)
    found = {}
    for each in formats:
        figure.set_dpi(DPI)  # each canvas sets its own
        content = io.BytesIO()
        if each == "png":
            agg.print_png(content, pil_kwargs={"compress_level": 4})
        elif each == "svg":
            svg: Any = FigureCanvasSVG(figure)
            svg.print_svg(content, metadata={"Date": None})
        else:
            pdf: Any = FigureCanvasPdf(figure)
            pdf.print_pdf(content, metadata={"CreationDate": None})
        found[f"{name}.{each}"] = content.getvalue()
    return found


def _arrange(name: str, figure: Figure) -> None:
    """Compute the places of all parts, once for all formats."""
    layout = figure.get_layout_engine()
    if layout is None:
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "constrained_layout not applied")
        try:
            layout.execute(figure)
        except UserWarning:
            width, height = figure.get_size_inches()
            raise UsageError(
                f"The picture {name} does not fit into {width:.1f} x {height:.1f} inches.",
                "Give it more room, choose fewer lines (--line) or panels (--metrics), or only"
                " pictures that fit (--picture).",
            ) from None
    figure.set_layout_engine("none")


def figure(parts: Sequence[Picture], title: str, look: Look = PLAIN) -> Figure:
    """Return one figure with the panels of pictures, row by row."""
    parts = [look.coloured(picture) for picture in parts]
    panels = [(picture, panel) for picture in parts for panel in picture.panels()]
    picture = parts[0]
    columns, (width, height) = picture.columns, picture.size
    rows = ceil(len(panels) / columns)
    size = look.size or (0.4 + width * columns, 0.9 + height * rows)
    figure = Figure(figsize=size)
    width = look.size[0] / columns if look.size else width
    below = picture.mark in ("interval", "stack")
    share: dict[str, Any] = {"sharex": columns == 1, "sharey": below or bool(picture.split)}
    grid = figure.subplots(rows, columns, squeeze=False, **share)
    for axes, (each, panel) in zip(grid.flat, panels, strict=False):
        if each.mark != "stack":  # which has its title below
            small = below or not picture.labels
            shown = _wrapped(panel.title, width, points(9 if small else 10))
            axes.set_title(shown, fontsize=points(9) if small else None)
        DRAWN[each.mark](axes, each, panel)
    for axes in list(grid.flat)[len(panels) :]:
        axes.remove()
    for axes in [] if below else grid[-1] if columns == 1 else grid.flat[: len(panels)]:
        axes.set_xlabel(_wrapped(next(iter(picture.x.values())), width, points(9)))
    if picture.split:
        figure.supylabel(next(iter(picture.y.values())), fontsize=points(9))
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
        hue = picture.hues[each.number % len(picture.hues)]
        if (each.low, each.high) != (each.y, each.y):
            axes.fill_between(each.x, each.low, each.high, color=hue, alpha=0.18, linewidth=0)
        look: dict[str, Any] = {"linewidth": 1.8 if picture.log else 1.3, "label": each.name}
        if few:
            marker = MARKERS[each.number % len(MARKERS)]
            look |= {"marker": marker, "markersize": 4, "linewidth": 1.5}
        axes.plot(each.x, each.y, color=hue, linestyle=_stroke(picture, each), **look)
    if not known:
        axes.text(0.5, 0.5, "undefined", transform=axes.transAxes, ha="center", color=GREY)
    _ranges(axes, picture, known, few=few)
    _labels(axes, picture, panel)


def _stroke(picture: Picture, each: Series) -> str:
    return "-" if picture.by == "event" else line(each.number)


def _ranges(axes: Axes, picture: Picture, known: Sequence[Series], *, few: bool) -> None:
    """Set up both axes; no quantity is negative, though its interval over few seeds may be."""
    high = picture.top or axes.get_ylim()[1]
    percent = "x" in picture.log and "share" in next(iter(picture.y.values()))
    if "y" in picture.log and any(y > 0 for each in known for y in each.y):
        axes.set_yscale("log")
        _decades(axes.yaxis, *axes.get_ylim())
    else:
        axes.set_ylim(0.0, 102.0 if percent else high if high > 0 else 1.0)
    positions = sorted({x for each in known for x in each.x})
    factors = few and "x" not in picture.log and _by_factors(positions)
    if factors:
        axes.set_xscale("log")
        axes.minorticks_off()
    elif "x" in picture.log:
        axes.set_xscale("log")
        if not few:
            axes.set_xlim(positions[0], positions[-1])
        _decades(axes.xaxis, positions[0], positions[-1])
    if few and positions and "x" not in picture.log and (factors or len(positions) <= TICKS):
        ticks = _apart(axes, positions)
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    if picture.warmup_s > 0:
        axes.axvspan(0, picture.warmup_s, color="#f2f2f2", zorder=0, linewidth=0)
        if axes.get_subplotspec().is_first_row():  # type: ignore[union-attr]
            look: dict[str, Any] = {
                "color": GREY,
                "ha": "center",
                "va": "top",
                "fontsize": points(8),
            }
            axes.text(picture.warmup_s / 2, high * 0.97, "warm-up", **look)
    if picture.top:
        axes.set_xlim(0, positions[-1] + positions[0])


def _apart(axes: Axes, positions: Sequence[float]) -> list[float]:
    """Return the first, the last, and of the others those whose labels stand clear of others."""
    first, *inner, last = positions if len(positions) > 1 else [*positions, *positions]
    along = log10 if axes.get_xscale() == "log" else float
    figure = axes.get_figure(root=True)
    assert figure is not None
    across = axes.get_position().width * figure.get_figwidth() * 72.0 * 0.9  # points
    whole = (along(last) - along(first)) or 1.0

    def clear(one: float, other: float) -> bool:
        letters = (len(f"{one:g}") + len(f"{other:g}")) / 2 + 1
        apart = (along(other) - along(one)) / whole * across
        return apart >= letters * LETTER * TICK_POINTS

    kept = [first]
    for each in inner:
        if clear(kept[-1], each) and clear(each, last):
            kept.append(each)
    return [*kept, *([last] if last > first else [])]


def _wrapped(text: str, inches: float, points: float) -> str:
    """Return a text in lines that are no wider than a panel, broken after blanks and dots."""
    letters = max(int(inches * 72.0 * SHARE / (points * LETTER)), 16)
    return broken(text, letters, " .")


def _decades(axis: Axis, low: float, high: float) -> None:
    """Label the decades of a logarithmic axis, and 2 and 5 between them where they are few."""
    wide = high >= 100 * low

    def minor(value: float, _: object) -> str:
        # all of 0.2 to 0.9 would overlap
        return f"{value:,.10g}" if not wide and f"{value:e}"[0] in "25" else ""

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(FuncFormatter(minor))


def _by_factors(positions: Sequence[float]) -> bool:
    """Return whether a linear axis would crowd the positions at the left."""
    if len(positions) < 3 or positions[0] <= 0:
        return False
    steps = [right - left for left, right in pairwise(positions)]
    ratios = [right / left for left, right in pairwise(positions)]
    uneven = max(steps) / min(steps)
    return uneven > 1.5 and (
        positions[-1] / positions[0] >= 20 or uneven > max(ratios) / min(ratios)
    )


def _labels(axes: Axes, picture: Picture, panel: Panel) -> None:
    """Write the labels of a panel; of points at one height, the leftmost stands highest."""
    names = {name: index for index, name in enumerate(picture.names)}
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
        index = each.number
        if not each.y:
            axes.text(0.02, index, "none", va="center", transform=axes.get_yaxis_transform())
            continue
        mean, low, high = each.y[0], each.low[0], each.high[0]
        hue = picture.hues[index % len(picture.hues)]
        axes.plot([0, mean], [index, index], color=hue, linewidth=1, alpha=0.5)
        axes.plot([low, high], [index, index], color=hue, linewidth=4, alpha=0.4)
        axes.plot([mean], [index], "o", color=hue, markersize=6)
        ends.append(max(mean, high))
        axes.annotate(
            shown(each.value),
            xy=(ends[-1], index),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=points(8.5),
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
    axes.set_xlim(0, 100)
    axes.set_xlabel(panel.title, fontsize=points(8.5))
    left = [0.0] * len(panel.series[0].y)
    for each, hue in zip(panel.series, picture.hues, strict=False):
        axes.barh(range(len(left)), each.y, left=left, height=0.62, color=hue)
        for index, part in enumerate(each.y):
            if part >= 8:
                middle = (left[index] + part / 2, index)
                axes.annotate(f"{part:.0f}", middle, ha="center", va="center", fontsize=points(8.5))
            left[index] += part
    look = {"fontsize": points(8.5), "weight": "bold"}
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
