"""The main figure in a terminal: bars of controls, lines over an axis or over time.

Output that is not to a terminal has no colours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import plotille
import polars as pl
from rich.bar import Bar
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidegate.show.measures import compared, shown
from tidegate.show.style import colour

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.picture import Picture, Series

MARKS = "ox+*#@%"
"""Marks that distinguish lines, also without colours."""
LINES = 7
"""Lines of one plot."""
HIGH = 12
"""Height of a plot in lines of text, without its frame."""
LABEL = 10
"""Width of the numbers at the left of a plot."""
MARGIN = LABEL + 4
"""Width of everything at the left of a plot."""
WIDEST = 140


@dataclass(frozen=True)
class Plot:
    """Lines over one axis, as wide as the terminal."""

    title: str
    below: str
    lines: tuple[Series, ...]

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
        drawn = [line for line in self.lines if line.x][:LINES]
        if not drawn:
            yield Text(f"{self.title}: nothing to draw", style="bold")
            return
        _bounded(figure, drawn)
        for index, line in enumerate(drawn):
            hue = _rgb(colour(index)) if coloured else None
            figure.plot(line.x, line.y, lc=hue)
            # about a dozen marks, however many points a line has
            step = max(len(line.x) // 12, 1)
            mark = MARKS[index % len(MARKS)]
            figure.scatter(line.x[::step], line.y[::step], lc=hue, marker=mark)
        yield Text(self.title, style="bold")
        # spaces for empty Braille cells, which some fonts draw in another width
        text = figure.show().replace("\u2800", " ").replace("> ()", ">").replace("()", "  ")
        yield Text.from_ansi("\n".join(line.rstrip() for line in text.splitlines()), no_wrap=True)
        yield Text(f"{self.below:>{min(options.max_width, WIDEST) - 1}}")
        if len(drawn) > 1:
            yield self._legend(drawn, coloured=coloured)
        yield Text("")

    def _legend(self, drawn: Sequence[Series], *, coloured: bool) -> Text:
        legend = Text(" " * MARGIN)
        for index, line in enumerate(drawn):
            style = colour(index) if coloured else ""
            legend.append(f"{MARKS[index % len(MARKS)]} {line.name}   ", style=style)
        left_out = sum(1 for line in self.lines if line.x) - len(drawn)
        if left_out:
            legend.append(f"and {left_out} more, not drawn")
        return legend


def _bounded(figure: plotille.Figure, drawn: Sequence[Series]) -> None:
    """Set the limits of both axes; no quantity here is negative."""
    xs = [x for line in drawn for x in line.x]
    left, right = min(xs), max(xs)
    if right > left:
        # a point on the edge would not be drawn
        figure.set_x_limits(left, right + (right - left) / (2 * figure.width))
    else:
        figure.set_x_limits(left - 1.0, right + 1.0)
    most = max(y for line in drawn for y in line.y)
    figure.set_y_limits(0.0, most * 1.05 if most > 0 else 1.0)


def _number(value: float, chars: int, delta: float, left: bool = False) -> str:  # noqa: ARG001
    """Return the number at a tick, in this number of characters."""
    text = f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
    return f"{text:<{chars}}" if left else f"{text:>{chars}}"


def _rgb(hue: str) -> tuple[int, int, int]:
    red, green, blue = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def of_grid(done: GridResult) -> RenderableType:
    """Return the main figure of a comparison, bars, or of a sweep, lines over its axes."""
    from tidegate.show import of_grid as grid

    if done.subject.command == "compare":
        seeds = len(done.subject.seeds)
        return _bars(grid.sides(done.averages, list(done.curves), compared(done), seeds))
    parts = [
        replace(plot, title=f"{plot.title} ({picture.fixed})" if picture.fixed else plot.title)
        for picture in grid.over_axes(done)
        for plot in _plots(picture)[:3]
    ]
    return Group(*parts) if parts else Text("No axis of numbers: there is nothing to draw over.")


def of_run(folder: Path) -> RenderableType:
    """Return ports over time, access links left out, and what the scenario follows."""
    from tidegate.show import of_runs

    ports = of_runs.ports({"": [folder]})
    parts = []
    if ports is not None:
        busy = ports.table.filter(pl.col("throughput_mbps").sum().over("port") > 0)
        shown = {field: ports.y[field] for field in ("utilisation", "queue_mean_packets")}
        parts += _plots(replace(ports, table=busy, by="port", split=(), y=shown))
    for each in of_runs.followed({"": [folder]}):
        if each.split != ("port", "class"):
            parts += _plots(replace(each, by=each.split[0], split=()))
    return Group(*parts)


def _plots(picture: Picture) -> list[Plot]:
    (below,) = picture.x.values()
    return [Plot(panel.title, below, tuple(panel.series)) for panel in picture.panels()]


def _bars(picture: Picture) -> RenderableType:
    """Return a bar for each control, measure by measure."""
    parts: list[RenderableType] = []
    for panel in picture.panels():
        most = max((mean for each in panel.series for mean in each.y), default=0.0)
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(justify="left", no_wrap=True, max_width=28)
        table.add_column(ratio=1)
        table.add_column(justify="right", no_wrap=True)
        for each in panel.series:
            length = max(each.y[0], 0.0) if each.y else 0.0
            bar = Bar(most or 1.0, 0.0, length, color=colour(each.number))
            table.add_row(Text(each.name), bar, Text(shown(each.value)))
        parts += [Text(panel.title, style="bold"), table, Text("")]
    return Group(*parts)
