"""Tables for a terminal: what was served stands before how well it was served."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import floor, log10
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidegate.grid.axes import named, shortened
from tidegate.grid.grid_result import warnings_of

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from rich.console import (
        Console,
        ConsoleOptions,
        JustifyMethod,
        RenderableType,
        RenderResult,
    )

    from tidegate.grid.diff import Diff
    from tidegate.grid.grid_result import GridResult
    from tidegate.grid.plan import Subject

    Value = Mapping[str, float | None] | float | None

COLUMNS = 5
"""Cells side by side in one table, where the line has room; more go into a table below."""
HEADING = "bold"
LABEL = 16
"""Letters of a label that stay together, if it can be broken at all."""


@dataclass(frozen=True)
class Row:
    """One measure: its title with unit, its name in the metrics, and its scale to that unit."""

    title: str
    metric: str
    scale: float = 1.0


@dataclass(frozen=True)
class Block:
    """Measures under one heading.

    `heading` names a share that stands beside the title in every column, with
    the word for it: whoever reads these rows reads whom they are about.
    """

    title: str
    rows: tuple[Row, ...]
    heading: tuple[str, str] | None = None


def _percentiles(prefix: str, mean: str | None = None) -> tuple[Row, ...]:
    first = (Row("mean [s]", mean),) if mean else ()
    return (*first, *(Row(f"p{each} [s]", f"{prefix}_p{each}_s") for each in (50, 95, 99)))


SERVED = ("completed_share", "served")
FLOW_BLOCKS = (
    Block(
        "Sessions",
        (
            Row("offered [1/s]", "offered_per_s"),
            Row("admitted [1/s]", "admitted_per_s"),
            Row("completed [1/s]", "completed_per_s"),
            Row("never admitted [% of offered]", "never_admitted_share", 100),
            Row("admitted, unfinished [%]", "unfinished_share", 100),
            Row("served to the end [%]", "completed_share", 100),
            Row("open at once, mean", "open_mean"),
        ),
    ),
    Block("Wait for admission", _percentiles("wait"), ("admitted_share", "admitted")),
    Block("FCT of those served, from first SYN", _percentiles("fct", "fct_mean_s"), SERVED),
    Block(
        "FCT of those served, from admission",
        _percentiles("fct_admitted", "fct_admitted_mean_s"),
        SERVED,
    ),
    Block(
        "Transfers of those served",
        (
            Row("goodput, mean [kbit/s]", "goodput_mean_bps", 1e-3),
            Row("size, mean [kB]", "size_mean_bytes", 1e-3),
            Row("up to 10 kB [%]", "share_le_10kB", 100),
        ),
        SERVED,
    ),
)


def _link(port: str | None) -> Block:
    rows = [Row("data packets sent again [%]", "retransmitted_share", 100)]
    if port is not None:
        rows.insert(0, Row("SYNs refused by the gate [%]", f"{port}.syn_refused_share", 100))
        rows.append(Row("utilisation [%]", f"{port}.utilisation", 100))
    return Block(f"Link {port}" if port else "Network", tuple(rows))


BY_CLASS = (
    Row("offered [1/s]", "offered_per_s"),
    Row("completed [1/s]", "completed_per_s"),
    Row("never admitted [% of offered]", "never_admitted_share", 100),
    Row("FCT of those served, mean [s]", "fct_mean_s"),
    Row("FCT of those served, p95 [s]", "fct_p95_s"),
    Row("goodput, mean [kbit/s]", "goodput_mean_bps", 1e-3),
    Row("size, mean [kB]", "size_mean_bytes", 1e-3),
    Row("delivered, in all of the run [MB]", "delivered_bytes", 1e-6),
)
UDP = (
    Row("packets lost [%]", "lost_share", 100),
    Row("delay, least [ms]", "delay_min_s", 1e3),
    *(Row(f"delay, p{each} [ms]", f"delay_p{each}_s", 1e3) for each in (50, 95, 99)),
    Row("jitter (RFC 3550) [ms]", "jitter_s", 1e3),
)
VIDEO = (
    Row("start-up delay, mean [s]", "startup_mean_s"),
    Row("start-up delay, p95 [s]", "startup_p95_s"),
    Row("playback never began [%]", "never_started_share", 100),
    Row("viewers with a stall [%]", "stalled_viewers_share", 100),
    Row("stalls of a viewer, mean", "stalls_mean"),
    Row("time in stalls [%]", "stalled_share", 100),
    Row("rate of the video, mean [kbit/s]", "video_rate_mean_bps", 1e-3),
    Row("switches of a viewer, mean", "switches_mean"),
)


def _known(columns: Sequence[Mapping[str, Any]], metric: str) -> bool:
    return any(centre(column.get(metric)) is not None for column in columns)


def _by_class(names: Sequence[str], columns: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return how each class fared, in the measures that it has: endless flows have no times."""
    return [
        Block(
            f"Class {name}",
            tuple(row for row in _of(f"{name}.", BY_CLASS) if _known(columns, row.metric)),
            (f"{name}.completed_share", "served"),
        )
        for name in names
    ]


def _of(prefix: str, rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(replace(row, metric=prefix + row.metric) for row in rows)


SIZES = {
    "to_10kB": "up to 10 kB",
    "to_100kB": "10 to 100 kB",
    "to_1MB": "100 kB to 1 MB",
    "above_1MB": "above 1 MB",
}


def _by_size(columns: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return the completion times of the sizes that any flow has."""
    return [
        Block(
            f"FCT of those served, {words}",
            _percentiles(f"{size}.fct", f"{size}.fct_mean_s"),
            (f"{size}.completed_share", "served"),
        )
        for size, words in SIZES.items()
        if any(centre(column.get(f"{size}.completed")) for column in columns)
    ]


def _of_kinds(classes: Sequence[str], columns: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return what only classes of UDP, or of video, have."""
    return [
        Block(f"{kind} {name}".strip(), _of(prefix, rows))
        for kind, rows, sign in (("UDP", UDP, "sent_packets"), ("Video", VIDEO, "viewers"))
        for name, prefix in (
            {name: f"{name}." for name in classes} if len(classes) > 1 else {"": ""}
        ).items()
        if any(centre(column.get(f"{prefix}{sign}")) for column in columns)
    ]


def shown(value: Value, scale: float = 1.0) -> str:
    """Return `mean ± half width`, with two digits of the half width; or a bare number."""
    if value is None:
        return "-"
    if not isinstance(value, float | int):
        mean, low, high = (value[name] for name in ("mean", "low", "high"))
        if mean is None or low is None or high is None:
            return shown(mean, scale)
        half = (high - low) / 2 * scale
        same = half <= 1e-9 * abs(mean * scale)
        digits = _decimals(mean * scale, 3) if same else _decimals(half, 2)
        return f"{mean * scale:,.{digits}f} ± {half:,.{digits}f}"
    return f"{value * scale:,.{_decimals(value * scale, 3)}f}"


def _decimals(value: float, significant: int) -> int:
    """Return how many decimals show so many significant digits, three at most."""
    if value == 0 or abs(value) < 1e-9:
        return 0
    return min(max(significant - 1 - floor(log10(abs(value))), 0), 3)


@dataclass(frozen=True)
class Column:
    """What stands in one column, top down. What is no number has the style `HEADING`."""

    head: str
    cells: tuple[Text, ...]

    @property
    def least(self) -> int:
        """How wide it has to be: no number and no word of the head is broken."""
        figures = (len(cell.plain) for cell in self.cells if cell.style != HEADING)
        return max([1, *map(len, self.head.split()), *figures])

    @property
    def best(self) -> int:
        """How wide it is with nothing broken, long heads apart."""
        heads = min(max(map(len, self.head.splitlines()), default=0), LABEL)
        return max([self.least, heads, *(len(cell.plain) for cell in self.cells)])


@dataclass(frozen=True)
class Sheets:
    """Columns beside those that say what a line is about, in as many tables as it takes.

    How many fit side by side is seen when they are printed: a terminal may be narrow.
    """

    title: str
    about: tuple[Column, ...]
    columns: tuple[Column, ...]
    most: int = 100
    right: bool = False
    """Whether what a line is about stands at the right of its column, as numbers do."""

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Make the tables for this width."""
        left = self.columns
        about = [column.best for column in self.about]
        while left:
            most = range(min(len(left), self.most), 0, -1)
            beside = next((n for n in most if _taken(about, left[:n]) <= options.max_width), 0)
            now, left = left[: beside or 1], left[beside or 1 :]
            spare = options.max_width - _taken(about, now)
            if spare < 0:  # the narrowest of lines: words that say what it is about are broken
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
    """Return widths: what is to spare goes to the narrowest that have use for it."""
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


def broken(label: str, width: int = LABEL) -> str:
    """Return a label in lines of this width where it can be broken: after `:`, `,` and spaces."""
    lines = [""]
    for piece in re.findall(r"[^:, ]*[:, ]*", label):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _about(blocks: Sequence[Block]) -> Column:
    """Return what the lines are about, a blank line between two blocks."""
    cells: list[Text] = []
    for block in blocks:
        cells += [Text("")] if cells else []
        cells += [Text(block.title, style=HEADING), *(Text(f"  {row.title}") for row in block.rows)]
    return Column("", tuple(cells))


def _figures(label: str, column: Mapping[str, Any], blocks: Sequence[Block]) -> Column:
    """Return what stands beside."""
    cells: list[Text] = []
    for block in blocks:
        cells += [Text("")] if cells else []
        cells += [Text(_heading(block, column), style=HEADING)]
        cells += [_cell(row, column.get(row.metric)) for row in block.rows]
    return Column(broken(label), tuple(cells))


def _cell(row: Row, value: Value) -> Text:
    """Return a cell; many sessions that never got in are not to be overlooked."""
    return Text(shown(value, row.scale), style="bold red" if alarming(row, value) else "")


def alarming(row: Row, value: Value) -> bool:
    """Tell whether a share of sessions never admitted must be noticed."""
    mean = centre(value)
    return row.metric.endswith("never_admitted_share") and mean is not None and mean >= 0.05


def centre(value: Value) -> float | None:
    """Return the mean of a value, which may be a bare number."""
    return value if value is None or isinstance(value, float | int) else value["mean"]


def _heading(block: Block, column: Mapping[str, Any]) -> str:
    if block.heading is None:
        return ""
    metric, word = block.heading
    value = _admitted(column) if metric == "admitted_share" else column.get(metric)
    mean = centre(value)
    return "-" if mean is None else f"{_percent(mean)} {word}"


def _admitted(column: Mapping[str, Any]) -> float | None:
    """Return the share of the offered sessions that were admitted by the end."""
    mean = centre(column.get("never_admitted_share"))
    return None if mean is None else 1.0 - mean


def _percent(value: float) -> str:
    """Return a share in per cent; one just short of everything never reads 100 %."""
    if 0.999 <= value < 1.0:
        return "99.9 %"
    return f"{value * 100:.{1 if value < 0.999 else 0}f} %"


def blocks_of(
    port: str | None, classes: Sequence[str], columns: Sequence[Mapping[str, Any]]
) -> list[Block]:
    """Return the measures that the tables of controls or settings show, block by block.

    Those of sizes, of UDP and of video only where one of the columns has any.
    """
    by_class = _by_class(classes, columns) if len(classes) > 1 else []
    parts = [*_by_size(columns), *_of_kinds(classes, columns)]
    return [*FLOW_BLOCKS, _link(port), *by_class, *parts]


def measures(
    subject: Subject, rows: Sequence[Mapping[str, Any]], chosen: Sequence[str] = ()
) -> list[Row]:
    """Return the chosen measures, or all that any row has, each with a title that stands alone."""
    every = {
        row.metric: replace(row, title=f"{block.title}: {row.title}")
        for block in blocks_of(subject.port, subject.classes, rows)
        for row in block.rows
        if _known(rows, row.metric)
    }
    telling = {row.metric: row for row in _telling(subject.port)}
    if not chosen:
        return list(every.values())
    known = every | telling
    return [known.get(name) or Row(_in_words(name), name) for name in chosen]


def _in_words(metric: str) -> str:
    """Return the title of a metric that no table has: its name in words, with its unit."""
    words, _, unit = metric.replace(".", ": ").replace("_", " ").rpartition(" ")
    units = {"s": "s", "bps": "bit/s", "bytes": "B", "packets": "packets", "share": "fraction"}
    return f"{words} [{units[unit]}]" if words and unit in units else f"{words} {unit}".strip()


def metrics_of(
    port: str | None, classes: Sequence[str], columns: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the names of the metrics that the tables of controls or settings show."""
    return [row.metric for block in blocks_of(port, classes, columns) for row in block.rows]


def _title(name: str, seeds: int, window: tuple[float, float]) -> str:
    means = "mean ± 95 % interval over" if seeds > 1 else "from"
    return (
        f"{name}: {means} {seeds} seed{'s' if seeds > 1 else ''}, {window[0]:g} to {window[1]:g} s"
    )


def _side_by_side(
    title: str,
    labels: Sequence[str],
    columns: Sequence[Mapping[str, Any]],
    blocks: Sequence[Block],
) -> RenderableType:
    beside = [
        _figures(label, column, blocks) for label, column in zip(labels, columns, strict=True)
    ]
    return Sheets(title, (_about(blocks),), tuple(beside), COLUMNS)


def of_comparison(comparison: GridResult) -> RenderableType:
    """Return controls as columns, measures as rows: mean ± 95 % interval over the seeds."""
    subject = comparison.subject
    title = _title(subject.name, len(subject.seeds), (subject.warmup_s, subject.duration_s))
    blocks = blocks_of(subject.port, subject.classes, comparison.averages)
    labels = [named(row["settings"]) for row in comparison.averages]
    table = _side_by_side(title, labels, comparison.averages, blocks)
    if len(subject.seeds) < 2 or len(comparison.averages) < 2:
        return Group(table, *_warnings(comparison.warnings))
    first, *others = comparison.curves
    title = f"More than {first}, on the same flows"
    more = _differences(comparison, others, comparison.differences, title)
    return Group(table, more, *_warnings(comparison.warnings))


def _warnings(warnings: Sequence[str]) -> list[RenderableType]:
    """Return the warnings as they stand below the numbers."""
    return [Text(f"Warning: {each}.", style="bold red") for each in warnings]


def _differences(
    done: GridResult, labels: Sequence[str], found: Sequence[Mapping[str, Any]], title: str
) -> Sheets:
    """Return by how much columns differ from another: mean and interval of the differences."""
    rows = compared(done)
    columns = [
        Column(broken(label), tuple(Text(shown(each.get(row.metric), row.scale)) for row in rows))
        for label, each in zip(labels, found, strict=True)
    ]
    about = Column("", tuple(Text(row.title) for row in rows))
    heading = f"{title}: mean ± 95 % interval of the differences"
    return Sheets(heading, (about,), tuple(columns), COLUMNS)


def compared(done: GridResult) -> list[Row]:
    """Return the measures whose differences are shown: the most telling, and those of video."""
    subject = done.subject
    rows = [row for row in _telling(subject.port) if "never" not in row.metric]
    shown = ("startup_mean_s", "stalled_share", "video_rate_mean_bps")
    for block in _of_kinds(subject.classes, done.averages):
        name = block.title.removeprefix("Video").strip()
        rows += [
            Row(f"{name}: {row.title}" if name else row.title, row.metric, row.scale)
            for row in block.rows
            if row.metric.endswith(shown)
        ]
    return rows


def of_folders(both: Diff) -> RenderableType:
    """Return the settings of two folders side by side, and what the second has more."""
    done, (first, second) = both.done, both.names
    subject = done.subject
    title = _title(
        f"{first} and {second}", len(subject.seeds), (subject.warmup_s, subject.duration_s)
    )
    labels = [named(row["settings"]) for row in done.averages]
    blocks = blocks_of(subject.port, subject.classes, done.averages)
    parts = [_side_by_side(title, labels, done.averages, blocks)]
    if both.differences:
        flows = "on the same flows" if both.same_flows else "seed by seed, on other flows"
        names = [named(found["settings"]) or "difference" for found in both.differences]
        title = f"{second} more than {first}, {flows}"
        parts.append(_differences(done, names, both.differences, title))
    return Group(*parts, *_warnings(done.warnings))


def of_sweep(sweep: GridResult) -> RenderableType:
    """Return settings as columns where they are few, else a line per setting.

    A line shows the chosen metrics, or the most telling ones; where they do
    not fit side by side, more tables follow.
    """
    subject = sweep.subject
    title = _title(subject.name, len(subject.seeds), (subject.warmup_s, subject.duration_s))
    if not sweep.metrics and len(sweep.averages) <= COLUMNS:
        labels = [named(row["settings"]) for row in sweep.averages]
        blocks = blocks_of(subject.port, subject.classes, sweep.averages)
        table = _side_by_side(title, labels, sweep.averages, blocks)
        return Group(table, *_warnings(sweep.warnings))
    rows = _telling(subject.port)
    if sweep.metrics:
        rows = tuple(measures(subject, sweep.averages, sweep.metrics))
    short = shortened(list(subject.axes))
    says = [
        Column(short[key], tuple(Text(row["settings"][key]) for row in sweep.averages))
        for key in subject.axes
    ]
    found = [
        Column(row.title, tuple(_cell(row, each.get(row.metric)) for each in sweep.averages))
        for row in rows
    ]
    sheets = Sheets(title, tuple(says), tuple(found), right=True)
    return Group(sheets, *_warnings(sweep.warnings))


def _telling(port: str | None) -> tuple[Row, ...]:
    """Return what a line per setting shows: what was served before how well."""
    utilised = (Row("utilisation [%]", f"{port}.utilisation", 100),) if port else ()
    return (
        Row("completed [1/s]", "completed_per_s"),
        Row("never admitted [%]", "never_admitted_share", 100),
        Row("served [%]", "completed_share", 100),
        Row("FCT of those served, mean [s]", "fct_mean_s"),
        Row("data sent again [%]", "retransmitted_share", 100),
        *utilised,
    )


def of_run(summary: Mapping[str, Any], access: Container[str] = ()) -> RenderableType:
    """Return classes as columns, then the ports, those of access links left out."""
    classes = summary["classes"]
    columns = [*classes, summary["all"]] if len(classes) > 1 else list(classes)
    labels = [each["name"] for each in classes] + (["all"] if len(classes) > 1 else [])
    title = (
        f"{summary['scenario']}, seed {summary['seed']}, "
        f"{summary['warmup_s']:g} to {summary['duration_s']:g} s"
    )
    blocks = [*FLOW_BLOCKS, _link(None), *_of_kinds(labels[:1], columns)]
    flows = _side_by_side(title, labels, columns, blocks)
    sizes = _sizes(summary.get("sizes", {}))
    ports = _ports([port for port in summary["ports"] if port["name"] not in access])
    return Group(flows, *sizes, ports, *_warnings(warnings_of(summary)))


def _sizes(found: Mapping[str, Mapping[str, Any]]) -> list[Sheets]:
    """Return a line for each bin of sizes that a run has flows of."""
    there = {size: each for size, each in found.items() if each["completed"]}
    if not there:
        return []
    names = Column("", tuple(Text(SIZES[size]) for size in there))
    rows = (
        Row("served [%]", "completed_share", 100),
        Row("completed", "completed"),
        *_percentiles("fct", "fct_mean_s"),
    )
    columns = [
        Column(
            row.title, tuple(Text(shown(each[row.metric], row.scale)) for each in there.values())
        )
        for row in rows
    ]
    return [Sheets("FCT of those served, by size", (names,), tuple(columns))]


PORTS = (
    Row("utilisation [%]", "utilisation", 100),
    Row("queue, mean [packets]", "queue_mean_packets"),
    Row("SYNs", "syn_arrived"),
    Row("refused", "syn_refused"),
    Row("data packets", "data_arrived"),
    Row("dropped", "data_dropped"),
)


def of_port(row: Row, port: Mapping[str, Any]) -> str:
    """Return a cell of the table of ports; counts are written out."""
    value = port[row.metric]
    return f"{value:,}" if isinstance(value, int) else shown(value, row.scale)


def _ports(ports: Sequence[Mapping[str, Any]]) -> Sheets:
    columns = [
        Column(row.title, tuple(Text(of_port(row, port)) for port in ports)) for row in PORTS
    ]
    names = Column("", tuple(Text(port["name"]) for port in ports))
    return Sheets("Ports", (names,), tuple(columns))
