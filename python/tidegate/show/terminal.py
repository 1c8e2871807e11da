"""The main figure of results in a terminal: bars of controls, lines over an axis or over time.

Where nobody's terminal is, as in a pipe, the same is plain text without colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import plotille
import polars as pl
from rich.bar import Bar
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidegate.show.style import colour
from tidegate.show.tables import compared, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from tidegate.grid.grid_result import GridResult

MARKS = "ox+*#@%"
"""What tells lines apart where there are no colours."""
LINES = 7
"""Lines of one plot."""
HIGH = 12
"""Lines of text that a plot takes, without its frame."""
LABEL = 10
"""Letters of the numbers beside a plot."""
MARGIN = LABEL + 4
"""What stands beside a plot."""
WIDEST = 140


@dataclass(frozen=True)
class Line:
    """Points joined, from left to right."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]


@dataclass(frozen=True)
class Plot:
    """Lines over one axis, as wide as the terminal."""

    title: str
    below: str
    lines: tuple[Line, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it for this width."""
        coloured = console.is_terminal and not console.no_color
        figure = plotille.Figure()
        figure.width = max(min(options.max_width, WIDEST) - MARGIN - 1, 20)
        figure.height = HIGH
        figure.with_colors = coloured
        figure.color_mode = "rgb"
        figure.x_label, figure.y_label = "", ""
        figure.register_label_formatter(float, _number)
        drawn = [line for line in self.lines if line.xs][:LINES]
        if not drawn:
            yield Text(f"{self.title}: nothing to draw", style="bold")
            return
        _bounded(figure, drawn)
        for place, line in enumerate(drawn):
            hue = _rgb(colour(place)) if coloured else None
            figure.plot(line.xs, line.ys, lc=hue)
            # a mark here and there, also where a line has hundreds of points
            step = max(len(line.xs) // 12, 1)
            mark = MARKS[place % len(MARKS)]
            figure.scatter(line.xs[::step], line.ys[::step], lc=hue, marker=mark)
        yield Text(self.title, style="bold")
        # blanks for empty cells of Braille: not every font has them as wide as the others
        text = figure.show().replace("\u2800", " ").replace("> ()", ">").replace("()", "  ")
        yield Text.from_ansi("\n".join(line.rstrip() for line in text.splitlines()), no_wrap=True)
        yield Text(f"{self.below:>{min(options.max_width, WIDEST) - 1}}")
        if len(drawn) > 1:
            yield self._legend(drawn, coloured=coloured)
        yield Text("")

    def _legend(self, drawn: Sequence[Line], *, coloured: bool) -> Text:
        legend = Text(" " * MARGIN)
        for place, line in enumerate(drawn):
            style = colour(place) if coloured else ""
            legend.append(f"{MARKS[place % len(MARKS)]} {line.name}   ", style=style)
        left_out = sum(1 for line in self.lines if line.xs) - len(drawn)
        if left_out:
            legend.append(f"and {left_out} more that are not drawn")
        return legend


def _bounded(figure: plotille.Figure, drawn: Sequence[Line]) -> None:
    """Let the vertical axis begin at zero: no quantity here is below it."""
    xs = [x for line in drawn for x in line.xs]
    left, right = min(xs), max(xs)
    if right > left:
        # what lies on the very edge would not be drawn
        figure.set_x_limits(left, right + (right - left) / (2 * figure.width))
    else:
        figure.set_x_limits(left - 1.0, right + 1.0)
    most = max(y for line in drawn for y in line.ys)
    figure.set_y_limits(0.0, most * 1.05 if most > 0 else 1.0)


def _number(value: float, chars: int, delta: float, left: bool = False) -> str:  # noqa: ARG001
    """Return the number beside a tick, in so many letters."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text:<{chars}}" if left else f"{text:>{chars}}"


def _rgb(hue: str) -> tuple[int, int, int]:
    red, green, blue = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def of_grid(done: GridResult) -> RenderableType:
    """Return the main figure of a comparison or of a sweep."""
    return of_comparison(done) if done.subject.command == "compare" else of_sweep(done)


def of_comparison(done: GridResult) -> RenderableType:
    """Return the most telling measures, a bar for each control."""
    parts: list[RenderableType] = []
    labels = list(done.curves)
    for row in compared(done):
        values = [average.get(row.metric) for average in done.averages]
        means = [value["mean"] if value else None for value in values]
        most = max((mean for mean in means if mean is not None), default=0.0)
        table = Table.grid(padding=(0, 1))
        table.add_column(justify="left", no_wrap=True, max_width=28)
        table.add_column(ratio=1)
        table.add_column(justify="right", no_wrap=True)
        for place, (label, value, mean) in enumerate(zip(labels, values, means, strict=True)):
            bar = Bar(most or 1.0, 0.0, max(mean or 0.0, 0.0), color=colour(place))
            table.add_row(Text(label), bar, Text(shown(value, row.scale)))
        table.expand = True
        parts += [Text(row.title, style="bold"), table, Text("")]
    return Group(*parts)


def of_sweep(done: GridResult) -> RenderableType:
    """Return the first metrics over each axis of numbers, a line per setting of the others."""
    from tidegate.grid.axes import named, numbers
    from tidegate.show import axis

    found = {tuple(sorted(row["settings"].items())): row for row in done.averages}
    alone = {key: each[0] for key, each in done.subject.axes.items() if len(each) == 1}
    parts: list[RenderableType] = []
    for picture in axis.planned(done):
        values = done.subject.axes[picture.key]
        places, unit = numbers(values) or ([], "")
        pairs = sorted(zip(places, values, strict=True))
        below = f"{picture.key} [{unit}]" if unit else picture.key
        for title, metric, scale in axis.panels(done)[:3]:
            lines = []
            for says in picture.lines:
                settings = alone | says | picture.fixed
                rows = [
                    (place, found.get(tuple(sorted((settings | {picture.key: value}).items()))))
                    for place, value in pairs
                ]
                points = _known([(place, row.get(metric)) for place, row in rows if row], scale)
                lines.append(Line(named(says), *points))
            fixed = f" ({named(picture.fixed)})" if picture.fixed else ""
            parts.append(Plot(f"{title}{fixed}", below, tuple(lines)))
    return Group(*parts) if parts else Text("No axis of numbers: there is nothing to draw over.")


def _known(points: Sequence[tuple[float, Any]], scale: float) -> tuple[list[float], list[float]]:
    known = [
        (x, value["mean"] * scale) for x, value in points if value and value["mean"] is not None
    ]
    return [x for x, _ in known], [y for _, y in known]


PORTS = {
    "utilisation": ("utilisation [%]", 100.0),
    "queue_mean_packets": ("queue, mean of the interval [packets]", 1.0),
}
"""What is drawn of ports over time."""


def of_run(folder: Path, access: Sequence[str] = ()) -> RenderableType:
    """Return ports over time, access links left out, and what the scenario follows."""
    from tidegate.show.page import series

    ports = pl.read_parquet(folder / "ports.parquet", glob=False).with_columns(
        pl.col("port").cast(pl.String)
    )
    ports = ports.filter(~pl.col("port").is_in(list(access)))
    busy = ports.group_by("port", maintain_order=True).agg(pl.col("arrived_packets").sum())
    names = busy.filter(pl.col("arrived_packets") > 0)["port"].to_list()
    mine = ports.filter(pl.col("port").is_in(names))
    parts: list[RenderableType] = [
        _over_time(mine, "port", name, title, scale) for name, (title, scale) in PORTS.items()
    ]
    followed = (
        (series.flows(folder), "flow", series.FLOW),
        (series.classes(folder), "class", series.CLASS),
    )
    for table, key, fields in followed:
        parts += _followed(table, key, fields)
    return Group(*parts)


def _followed(table: pl.DataFrame, key: str, fields: Mapping[str, str]) -> list[Plot]:
    if table.is_empty():
        return []
    there = {name: title for name, title in fields.items() if table[name].count()}
    return [_over_time(table, key, name, title, 1.0) for name, title in there.items()]


def _over_time(table: pl.DataFrame, key: str, name: str, title: str, scale: float) -> Plot:
    lines = []
    for each in table[key].unique(maintain_order=True).to_list():
        one = table.filter((pl.col(key) == each) & pl.col(name).is_not_null())
        values = (one[name].cast(pl.Float64) * scale).to_list()
        lines.append(Line(str(each), one["time_s"].to_list(), values))
    return Plot(title, "time [s]", tuple(lines))
