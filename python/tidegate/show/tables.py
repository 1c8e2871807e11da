"""Tables for a terminal: the shares served stand before the times of those served."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from tidegate.grid.axes import named, shortened
from tidegate.grid.grid_result import warnings_of
from tidegate.results.statistics import metrics
from tidegate.show import people
from tidegate.show.measures import (
    NETWORK,
    SIZES,
    Block,
    Row,
    alarming,
    blocks_of,
    centre,
    compared,
    flow_blocks,
    flows_in_words,
    kinds,
    known,
    measures,
    of_users,
    percentiles,
    shown,
    telling,
)
from tidegate.show.style import broken

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from rich.console import ConsoleOptions, JustifyMethod, RenderableType, RenderResult

    from tidegate.grid.diff import Diff
    from tidegate.grid.grid_result import GridResult
    from tidegate.show.measures import Value

COLUMNS = 5
"""Columns in one table, where the line has room; more go into a table below."""
HEADING = "bold"
LABEL = 16
"""Letters of a label that stay together, if it can be broken at all."""
PORTS = (
    Row("offered [% of capacity]", "offered_load", 100),
    Row("utilisation [%]", "utilisation", 100),
    Row("queue, mean [packets]", "queue_mean_packets"),
    Row("queue delay, p95 [ms]", "queue_delay_p95_s", 1e3),
    Row("SYNs", "syn_arrived"),
    Row("refused", "syn_refused"),
    Row("data packets", "data_arrived"),
    Row("dropped", "data_dropped"),
)


class Shown(Group):
    """A table for a terminal; it prints as text, and is HTML in a notebook."""

    def __repr__(self) -> str:
        """Return the table as text, 120 columns wide."""
        console = Console(width=120, file=io.StringIO(), record=True, color_system=None)
        console.print(self)
        return console.export_text().rstrip()

    def _repr_html_(self) -> str:
        console = Console(width=120, file=io.StringIO(), record=True)
        console.print(self)
        look = "line-height:1.2; font-family:DejaVu Sans Mono,monospace; white-space:pre"
        form = f'<pre style="{look}">{{code}}</pre>'
        return console.export_html(inline_styles=True, code_format=form)


@dataclass(frozen=True)
class Column:
    """One column, from the top. Text that is not a number has the style `HEADING`."""

    head: str
    cells: tuple[Text, ...]

    @property
    def least(self) -> int:
        """The least width: no number and no word of the head is broken."""
        figures = (len(cell.plain) for cell in self.cells if cell.style != HEADING)
        return max([1, *map(len, self.head.split()), *figures])

    @property
    def best(self) -> int:
        """The width at which nothing but long heads is broken."""
        heads = min(max(map(len, self.head.splitlines()), default=0), LABEL)
        return max([self.least, heads, *(len(cell.plain) for cell in self.cells)])


@dataclass(frozen=True)
class Sheets:
    """Columns after those that name the lines, in as many tables as the width needs.

    How many fit is decided when they are printed: a terminal may be narrow.
    """

    title: str
    about: tuple[Column, ...]
    columns: tuple[Column, ...]
    most: int = 100
    right: bool = False
    """Whether the names of lines are aligned at the right, as numbers are."""

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Make the tables for this width."""
        left = self.columns
        about = [column.best for column in self.about]
        while left:
            most = range(min(len(left), self.most), 0, -1)
            fit = next((n for n in most if _taken(about, left[:n]) <= options.max_width), 1)
            now, left = left[:fit], left[fit:]
            spare = options.max_width - _taken(about, now)
            if spare < 0:  # too narrow for one column: break the names of lines
                about[0] = max(about[0] + spare, 1)
            yield self._table(now, about, spare)

    def _table(self, columns: Sequence[Column], about: Sequence[int], spare: int) -> Table:
        name = Text(self.title, style=HEADING)
        table = Table(title=name, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for column, width in zip(self.about, about, strict=True):
            justify: JustifyMethod = "right" if self.right else "left"
            table.add_column(Text(column.head), justify=justify, width=width)
        for column, width in zip(columns, _widths(columns, spare), strict=True):
            table.add_column(Text(column.head), justify="right", width=width)
        for line in zip(*(each.cells for each in (*self.about, *columns)), strict=True):
            table.add_row(*line)
        return table


def _widths(columns: Sequence[Column], spare: int) -> list[int]:
    """Return widths: spare room goes to the narrowest columns that need it."""
    widths = [column.least for column in columns]
    for _ in range(spare):
        short = [at for at, column in enumerate(columns) if widths[at] < column.best]
        if not short:
            break
        widths[min(short, key=widths.__getitem__)] += 1
    return widths


def _taken(about: Sequence[int], columns: Sequence[Column]) -> int:
    """Return the width of a table: three letters between two columns, one at either end."""
    widths = [*about, *(column.least for column in columns)]
    return sum(widths) + 3 * (len(widths) - 1) + 2


def _head(label: str) -> str:
    """Return the head of a column, in lines."""
    return broken(label, LABEL, ":, ")


def _blocks(blocks: Sequence[Block], column: Mapping[str, Any] | None = None) -> tuple[Text, ...]:
    """Return the cells of blocks, an empty line between two: the titles, or one column."""
    cells: list[Text] = []
    for block in blocks:
        cells += [Text("")] if cells else []
        cells.append(Text(_heading(block, column) if column else block.title, style=HEADING))
        for row in block.rows:
            cells.append(_cell(row, column.get(row.metric)) if column else Text(f"  {row.title}"))
    return tuple(cells)


def _cell(row: Row, value: Value) -> Text:
    """Return a cell; a large share of sessions never admitted stands out."""
    return Text(shown(value, row.scale), style="bold red" if alarming(row, value) else "")


def _heading(block: Block, column: Mapping[str, Any]) -> str:
    if block.heading is None:
        return ""
    metric, word = block.heading
    admitted = metric == "admitted_share"
    mean = centre(column.get("never_admitted_share" if admitted else metric))
    return "-" if mean is None else f"{_percent(1.0 - mean if admitted else mean)} {word}"


def _percent(value: float) -> str:
    """Return a share in per cent; one just below everything never reads 100 %."""
    if 0.999 <= value < 1.0:
        return "99.9 %"
    return f"{value * 100:.{1 if value < 0.999 else 0}f} %"


def _listed(
    title: str, names: Iterable[str], rows: Sequence[Row], items: Sequence[Mapping[str, Any]]
) -> Sheets:
    """Return a table with a line for each item and a column for each measure."""
    columns = [Column(row.title, tuple(Text(of_port(row, each)) for each in items)) for row in rows]
    return Sheets(title, (Column("", tuple(map(Text, names))),), tuple(columns))


def of_port(row: Row, port: Mapping[str, Any]) -> str:
    """Return a cell of the table of ports; counts are written out."""
    value = port.get(row.metric)
    return f"{value:,}" if isinstance(value, int) else shown(value, row.scale)


def _title(name: str, done: GridResult) -> str:
    seeds = len(done.subject.seeds)
    means = f"mean ± 95 % interval over {seeds} seeds" if seeds > 1 else "from 1 seed"
    return f"{name}: {means}, {done.period}"


def _side_by_side(
    title: str,
    labels: Sequence[str],
    columns: Sequence[Mapping[str, Any]],
    blocks: Sequence[Block],
) -> Sheets:
    every = [
        Column(_head(label), _blocks(blocks, column))
        for label, column in zip(labels, columns, strict=True)
    ]
    return Sheets(title, (Column("", _blocks(blocks)),), tuple(every), COLUMNS)


ALL = "This is what people feel. All measures: the same command with --all."


def _users(done: GridResult) -> Sequence[str]:
    """Return the classes whose users a first screen is about; none: it shows all measures."""
    if done.metrics:
        return ()
    return people.first(_guests(done), done.subject.classes, done.averages)


def _guests(done: GridResult) -> Sequence[str]:
    """Return the classes of `[guests]`."""
    return next((row["people"] for row in done.rows if row.get("people")), ())


def _settings(done: GridResult, name: str, *, every: bool = True) -> Sheets:
    """Return settings as columns, measures as rows; those that people feel, or every one."""
    labels = [named(row["settings"]) for row in done.averages]
    if (users := _users(done)) and not every:
        ways: Mapping[str, str] = next((row["ways"] for row in done.rows if row.get("ways")), {})
        ports = [port for port in done.subject.ports if not port.startswith("access.")]
        blocks = people.felt(done.subject.classes, users, done.averages, _guests(done))
        blocks += people.links(ways, ports)
        return _side_by_side(_title(name, done), labels, done.averages, blocks)
    if done.metrics:
        asked = Block("", tuple(measures(done.subject, done.averages, done.metrics)))
        return _side_by_side(_title(name, done), labels, done.averages, [asked])
    blocks = blocks_of(done.subject.port, done.subject.classes, done.averages)
    return _side_by_side(_title(name, done), labels, done.averages, blocks)


def _warnings(warnings: Sequence[str]) -> list[RenderableType]:
    """Return the warnings as they stand below the numbers."""
    return [Text(f"Warning: {each}.", style="bold red") for each in warnings]


def _differences(
    done: GridResult, labels: Sequence[str], found: Sequence[Mapping[str, Any]], title: str
) -> Sheets:
    """Return by how much columns differ from another: mean and interval of the differences."""
    rows = compared(done)
    columns = [
        Column(_head(label), tuple(Text(shown(each.get(row.metric), row.scale)) for row in rows))
        for label, each in zip(labels, found, strict=True)
    ]
    about = Column("", tuple(Text(row.title) for row in rows))
    heading = f"{title}: mean ± 95 % interval"
    return Sheets(heading, (about,), tuple(columns), COLUMNS)


def of_comparison(done: GridResult, *, every: bool = True) -> Shown:
    """Return controls as columns, and by how much they differ from the first.

    Without `every` a scenario with guests, or several classes of users, has what people feel alone.
    """
    parts: list[RenderableType] = [_settings(done, done.subject.name, every=every)]
    if _users(done) and not every:
        return Shown(*parts, Text(ALL), *_warnings(done.warnings))
    if len(done.subject.seeds) > 1 and len(done.averages) > 1:
        first, *others = done.curves
        title = f"Difference from {first}, {flows_in_words(done.same_flows)}"
        parts.append(_differences(done, others, done.differences, title))
    return Shown(*parts, *_warnings(done.warnings))


def of_folders(both: Diff) -> Shown:
    """Return the settings of two folders side by side, and how the second differs."""
    done, (first, second) = both.done, both.names
    parts = [_settings(done, f"{first} and {second}")]
    if both.differences:
        names = [named(found["settings"]) or "difference" for found in both.differences]
        title = f"{second} minus {first}, {flows_in_words(both.same_flows)}"
        parts.append(_differences(done, names, both.differences, title))
    return Shown(*parts, *_warnings(done.warnings))


def _lines(done: GridResult) -> list[Row]:
    """Return the measures that a line for each setting has."""
    subject, averages = done.subject, done.averages
    if done.metrics:
        return measures(subject, averages, done.metrics)
    if named := _users(done):
        return people.main(subject.classes, named, averages, _guests(done))
    users = of_users(subject.classes, averages)
    rows = telling(subject.port, averages)
    return [*(row for row in rows if not users or known(averages, row.metric)), *users]


def of_sweep(done: GridResult, *, every: bool = True) -> Shown:
    """Return settings as columns where they are few, else a line per setting.

    A line shows the chosen metrics, or the main ones; where they do not fit
    side by side, more tables follow. Without `every` a scenario with guests, or several classes
    of users, has what people feel alone.
    """
    subject, chosen, averages = done.subject, done.metrics, done.averages
    if _users(done) and not every and len(averages) <= COLUMNS:
        return of_comparison(done, every=False)
    if not chosen and len(averages) <= COLUMNS:
        parts = [_settings(done, subject.name), *_contrasts(done)]
        return Shown(*parts, *_warnings(done.warnings))
    rows = _lines(done)
    short = shortened(list(subject.axes))
    names = [
        Column(short[key], tuple(Text(row["settings"][key]) for row in averages))
        for key in subject.axes
    ]
    columns = [
        Column(row.title, tuple(_cell(row, each.get(row.metric)) for each in averages))
        for row in rows
    ]
    title = _title(subject.name, done)
    sheets = Sheets(title, tuple(names), tuple(columns), right=True)
    return Shown(sheets, *_contrasts(done), *_warnings(done.warnings))


def _contrasts(done: GridResult) -> list[Sheets]:
    """Return by how much the settings of a sweep differ from the first value of one axis.

    A line per setting; nothing where the settings differ in more than one axis, or one seed tells
    nothing of intervals.
    """
    axis, found = done.axis, done.contrasts
    if axis is None or len(done.subject.seeds) < 2 or not found:
        return []
    short, rows = shortened(list(done.subject.axes)), compared(done)
    names = [
        Column(short[key], tuple(Text(each.settings[key]) for each in found))
        for key in done.subject.axes
    ]
    columns = [
        Column(
            row.title, tuple(Text(shown(each.metrics.get(row.metric), row.scale)) for each in found)
        )
        for row in rows
    ]
    first = named({axis: done.subject.axes[axis][0]})
    same = flows_in_words(all(each.paired for each in found))
    title = f"Difference from {first}, all else the same, {same}: mean ± 95 % interval"
    return [Sheets(title, tuple(names), tuple(columns), right=True)]


def _of_people(
    summary: Mapping[str, Any], users: Sequence[str], title: str, ports: Sequence[str]
) -> Shown:
    """Return what the users of one run felt, and how full the link was."""
    found = metrics(summary)
    names = [each["name"] for each in summary["classes"]]
    blocks = people.felt(names, users, [found], summary.get("people", ()))
    blocks += people.links(summary.get("ways", {}), ports)
    sheet = _side_by_side(title, ["this run"], [found], blocks)
    return Shown(sheet, Text(ALL), *_warnings(warnings_of(summary)))


def of_run(summary: Mapping[str, Any], access: Container[str] = (), *, every: bool = True) -> Shown:
    """Return classes as columns, then the ports, those of access links left out.

    Without `every` a scenario with guests, or several classes of users, has what people feel alone.
    """
    classes = summary["classes"]
    columns = [*classes, summary["all"]] if len(classes) > 1 else list(classes)
    labels = [each["name"] for each in classes] + (["all"] if len(classes) > 1 else [])
    title = (
        f"{summary['scenario']}, seed {summary['seed']}, "
        f"{summary['warmup_s']:g} to {summary['duration_s']:g} s"
    )
    ports = [port for port in summary["ports"] if port["name"] not in access]
    users = people.first(summary.get("people") or (), labels[: len(classes)], [metrics(summary)])
    if users and not every:
        return _of_people(summary, users, title, [port["name"] for port in ports])
    blocks = [*flow_blocks(columns), NETWORK, *kinds(labels[:1], columns)]
    parts = [_side_by_side(title, labels, columns, blocks)]
    sizes = {name: each for name, each in summary.get("sizes", {}).items() if each["completed"]}
    if sizes:
        served = Row("served [%]", "completed_share", 100)
        rows = (served, Row("completed", "completed"), *percentiles("fct", "fct_mean_s"))
        names, title = (SIZES[size] for size in sizes), "FCT of those served, by size"
        parts.append(_listed(title, names, rows, list(sizes.values())))
    parts.append(_listed("Ports", (port["name"] for port in ports), PORTS, ports))
    return Shown(*parts, *_warnings(warnings_of(summary)))
