"""Tables for a terminal: what was served stands before how well it was served."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from rich.console import RenderableType

    from tidegate.comparison import Comparison
    from tidegate.sweeping import Sweep

    Value = Mapping[str, float | None] | float | None

COLUMNS = 5
"""Cells side by side in one table; more go into a table below."""
WIDTH, CELL = 120, 12
"""Letters of a line where each setting has one, and of a mean with its interval."""


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


def _by_class(names: Sequence[str]) -> list[Block]:
    rows = (
        Row("completed [1/s]", "completed_per_s"),
        Row("never admitted [% of offered]", "never_admitted_share", 100),
        Row("FCT of those served, mean [s]", "fct_mean_s"),
    )
    return [
        Block(
            f"Class {name}",
            tuple(Row(row.title, f"{name}.{row.metric}", row.scale) for row in rows),
            (f"{name}.completed_share", "served"),
        )
        for name in names
    ]


def shown(value: Value, scale: float = 1.0) -> str:
    """Return `mean ± half width`, with two digits of the half width; or a bare number."""
    if value is None:
        return "-"
    if not isinstance(value, float | int):
        centre, low, high = (value[name] for name in ("mean", "low", "high"))
        if centre is None:
            return "-"
        if low is None or high is None:
            return shown(centre, scale)
        half = (high - low) / 2 * scale
        same = half <= 1e-9 * abs(centre * scale)
        digits = _decimals(centre * scale, 3) if same else _decimals(half, 2)
        return f"{centre * scale:,.{digits}f} ± {half:,.{digits}f}"
    return f"{value * scale:,.{_decimals(value * scale, 3)}f}"


def _decimals(value: float, significant: int) -> int:
    """Return how many decimals show so many significant digits, three at most."""
    if value == 0 or abs(value) < 1e-9:
        return 0
    return min(max(significant - 1 - floor(log10(abs(value))), 0), 3)


def _sheet(title: str) -> Table:
    name = Text(title, style="bold")
    return Table(title=name, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)


def _table(title: str, labels: Sequence[str]) -> Table:
    table = _sheet(title)
    table.add_column("", no_wrap=True)
    for label in labels:
        table.add_column(Text(label), justify="right", overflow="fold")
    return table


def _fill(table: Table, blocks: Sequence[Block], columns: Sequence[Mapping[str, Any]]) -> None:
    for number, block in enumerate(blocks):
        if number:
            table.add_row("")
        heading = [Text(_heading(block, column), style="bold") for column in columns]
        table.add_row(Text(block.title, style="bold"), *heading)
        for row in block.rows:
            cells = [_cell(row, column.get(row.metric)) for column in columns]
            table.add_row(Text(f"  {row.title}"), *cells)


def _cell(row: Row, value: Value) -> Text:
    """Return a cell; many sessions that never got in are not to be overlooked."""
    centre = _centre(value)
    alarm = row.metric.endswith("never_admitted_share") and centre is not None and centre >= 0.05
    return Text(shown(value, row.scale), style="bold red" if alarm else "")


def _centre(value: Value) -> float | None:
    return value if value is None or isinstance(value, float | int) else value["mean"]


def _heading(block: Block, column: Mapping[str, Any]) -> str:
    if block.heading is None:
        return ""
    metric, word = block.heading
    value = _admitted(column) if metric == "admitted_share" else column.get(metric)
    centre = _centre(value)
    return "-" if centre is None else f"{_percent(centre)} {word}"


def _admitted(column: Mapping[str, Any]) -> float | None:
    """Return the share of the offered sessions that were admitted by the end."""
    centre = _centre(column.get("never_admitted_share"))
    return None if centre is None else 1.0 - centre


def _percent(value: float) -> str:
    """Return a share in per cent; one just short of everything never reads 100 %."""
    if 0.999 <= value < 1.0:
        return "99.9 %"
    return f"{value * 100:.{1 if value < 0.999 else 0}f} %"


def _blocks(port: str | None, classes: Sequence[str]) -> list[Block]:
    return [*FLOW_BLOCKS, _link(port), *(_by_class(classes) if len(classes) > 1 else [])]


def metrics_of(port: str | None, classes: Sequence[str]) -> list[str]:
    """Return the names of the metrics that the tables of controls or settings show."""
    return [row.metric for block in _blocks(port, classes) for row in block.rows]


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
    tables = []
    for first in range(0, len(labels), COLUMNS):
        table = _table(title, labels[first : first + COLUMNS])
        _fill(table, blocks, columns[first : first + COLUMNS])
        tables.append(table)
    return Group(*tables)


def of_comparison(comparison: Comparison) -> RenderableType:
    """Return controls as columns, measures as rows: mean ± 95 % interval over the seeds."""
    plan = comparison.plan
    title = _title(plan.base.name, len(plan.seeds), (plan.base.warmup_s, plan.base.duration_s))
    blocks = _blocks(plan.port, plan.base.classes)
    return _side_by_side(title, list(comparison.curves), comparison.averages, blocks)


def of_sweep(sweep: Sweep) -> RenderableType:
    """Return settings as columns where they are few, else a line per setting.

    A line shows the chosen metrics, or the most telling ones; where they do
    not fit side by side, more tables follow.
    """
    from tidegate.sweeping.axes import named, shortened

    subject = sweep.subject
    title = _title(subject.name, len(subject.seeds), (subject.warmup_s, subject.duration_s))
    if not sweep.metrics and len(sweep.averages) <= COLUMNS:
        labels = [named(row["settings"]) for row in sweep.averages]
        blocks = _blocks(subject.port, subject.classes)
        return _side_by_side(title, labels, sweep.averages, blocks)
    telling = {row.metric: row for row in _telling(subject.port)}
    rows = [telling.get(name, Row(name, name)) for name in sweep.metrics or telling]
    short = shortened(list(subject.axes))
    taken = sum(3 + max(len(short[key]), *map(len, values)) for key, values in subject.axes.items())
    beside = max((WIDTH - taken) // (CELL + 3), 2)
    tables = []
    for first in range(0, len(rows), beside):
        some = rows[first : first + beside]
        table = _sheet(title)
        for key in subject.axes:
            table.add_column(Text(short[key]), justify="right", overflow="fold")
        for row in some:
            table.add_column(Text(row.title), justify="right", min_width=CELL)
        for average in sweep.averages:
            says = [Text(value) for value in average["settings"].values()]
            table.add_row(*says, *(_cell(row, average.get(row.metric)) for row in some))
        tables.append(table)
    return Group(*tables)


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
    flows = _table(title, labels)
    _fill(flows, [*FLOW_BLOCKS, _link(None)], columns)
    return Group(flows, _ports([port for port in summary["ports"] if port["name"] not in access]))


def _ports(ports: Sequence[Mapping[str, Any]]) -> Table:
    table = _table("Ports", [])
    heads: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "utilisation [%]": lambda port: shown(port["utilisation"], 100),
        "queue, mean [packets]": lambda port: shown(port["queue_mean_packets"]),
        "SYNs": lambda port: f"{port['syn_arrived']:,}",
        "refused": lambda port: f"{port['syn_refused']:,}",
        "data packets": lambda port: f"{port['data_arrived']:,}",
        "dropped": lambda port: f"{port['data_dropped']:,}",
    }
    for head in heads:
        table.add_column(Text(head), justify="right")
    for port in ports:
        table.add_row(Text(port["name"]), *(write(port) for write in heads.values()))
    return table
