"""The measures that tables and pictures show: their titles, units and order, and their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log10
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.grid_result import GridResult
    from tidegate.grid.plan import Subject

    Value = Mapping[str, float | None] | float | None


@dataclass(frozen=True)
class Row:
    """One measure: its title with unit, its name in the metrics, and its scale to that unit."""

    title: str
    metric: str
    scale: float = 1.0


@dataclass(frozen=True)
class Block:
    """Measures under one heading.

    `heading` is a share that every column shows in the line of the title, with
    its word, so that the rows are read together with the share they cover.
    """

    title: str
    rows: tuple[Row, ...]
    heading: tuple[str, str] | None = None


def percentiles(prefix: str, mean: str | None = None) -> tuple[Row, ...]:
    """Return the rows of a mean and of percentiles."""
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
            Row("completed [% of offered]", "completed_share", 100),
            Row("open at once, mean", "open_mean"),
        ),
    ),
    Block("Wait for admission", percentiles("wait"), ("admitted_share", "admitted")),
    Block("FCT of those served, from first SYN", percentiles("fct", "fct_mean_s"), SERVED),
    Block(
        "FCT of those served, from admission",
        percentiles("fct_opened", "fct_opened_mean_s"),
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


LONG = Block(
    "Throughput and fairness",
    (
        Row("delivered [Mbit/s]", "throughput_bps", 1e-6),
        Row("long flows", "long_flows"),
        Row("rate of a long flow, least [Mbit/s]", "flow_rate_min_bps", 1e-6),
        Row("rate of a long flow, mean [Mbit/s]", "flow_rate_mean_bps", 1e-6),
        Row("rate of a long flow, most [Mbit/s]", "flow_rate_max_bps", 1e-6),
        Row("Jain's index of their rates", "flow_rate_jain"),
    ),
)
"""What flows that last are about; a long flow is open for a tenth of the window at least."""
RTT = (
    Row("RTT, least [ms]", "rtt_min_s", 1e3),
    Row("RTT, mean [ms]", "rtt_mean_s", 1e3),
    Row("RTT, p95 [ms]", "rtt_p95_s", 1e3),
)


NETWORK = Block("Network", (Row("data packets sent again [%]", "retransmitted_share", 100),))
"""What is counted at the senders of all flows, and so of no link alone."""


def link(port: str) -> Block:
    """Return the measures of a link."""
    rows = (
        Row("SYNs refused by the gate [%]", f"{port}.syn_refused_share", 100),
        Row("offered load [% of capacity]", f"{port}.offered_load", 100),
        Row("utilisation [%]", f"{port}.utilisation", 100),
        Row("queue, mean [packets]", f"{port}.queue_mean_packets"),
        *(Row(f"queue, p{n} [packets]", f"{port}.queue_p{n}_packets") for n in (95, 99)),
        Row("queue delay, mean [ms]", f"{port}.queue_delay_mean_s", 1e3),
        *(Row(f"queue delay, p{n} [ms]", f"{port}.queue_delay_p{n}_s", 1e3) for n in (95, 99)),
    )
    return Block(f"Link {port}", rows)


USED = 0.05
"""From this utilisation on a port has a queue worth showing."""


def others(port: str | None, columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the other ports that are no access links, those with results."""
    end = ".utilisation"
    found = {
        metric.removesuffix(end): None
        for column in columns
        for metric in column
        if metric.endswith(end) and not metric.startswith("access.")
    }
    return [name for name in found if name != port]


def _other_ports(port: str | None, columns: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return how full the other ports are: a control at one port does not empty another.

    Those that are used have a block each, with the delay of their queue.
    """
    names = others(port, columns)
    used = [
        name
        for name in names
        if any((centre(each.get(f"{name}.utilisation")) or 0.0) >= USED for each in columns)
    ]
    rest = [Row(f"{each} [%]", f"{each}.utilisation", 100.0) for each in names if each not in used]
    parts = [Block(f"Port {name}", _of(f"{name}.", OTHER)) for name in used]
    return [*parts, *([Block("Utilisation of other ports", tuple(rest))] if rest else [])]


OTHER = (
    Row("utilisation [%]", "utilisation", 100),
    Row("queue delay, p95 [ms]", "queue_delay_p95_s", 1e3),
    Row("data packets dropped", "data_dropped"),
)


BY_CLASS = (
    Row("offered [1/s]", "offered_per_s"),
    Row("completed [1/s]", "completed_per_s"),
    Row("never admitted [% of offered]", "never_admitted_share", 100),
    Row("FCT of those served, mean [s]", "fct_mean_s"),
    Row("FCT of those served, p95 [s]", "fct_p95_s"),
    Row("goodput, mean [kbit/s]", "goodput_mean_bps", 1e-3),
    Row("size, mean [kB]", "size_mean_bytes", 1e-3),
    Row("delivered, in all of the run [MB]", "delivered_bytes", 1e-6),
    Row("data packets sent again [%]", "retransmitted_share", 100),
    *LONG.rows,
    *RTT,
)
UDP = (
    Row("packets lost [%]", "lost_share", 100),
    Row("delay, least [ms]", "delay_min_s", 1e3),
    *(Row(f"delay, p{each} [ms]", f"delay_p{each}_s", 1e3) for each in (50, 95, 99)),
    Row("jitter (RFC 3550) [ms]", "jitter_s", 1e3),
    Row("as a call: mean opinion score (G.107)", "call_mos"),
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

PAGES = (
    Row("loaded [%]", "pages_loaded_share", 100),
    Row("given up [%]", "pages_given_up_share", 100),
    *percentiles("page_load", "page_load_mean_s"),
    Row("time of an object, mean [s]", "object_time_mean_s"),
    Row("time of an object, p95 [s]", "object_time_p95_s"),
    Row("connections for a page, mean", "page_connections_mean"),
    Row("responsiveness under load [RPM]", "rpm"),
)
KINDS = (
    ("UDP", UDP, "sent_packets"),
    ("Video", VIDEO, "viewers"),
    ("Page load time", PAGES, "pages"),
)
"""What only some classes have: title, measures, and the metric that tells whether there is any."""


def known(columns: Sequence[Mapping[str, Any]], metric: str) -> bool:
    """Tell whether any column has a metric."""
    return any(centre(column.get(metric)) is not None for column in columns)


def _tells(columns: Sequence[Mapping[str, Any]], metric: str) -> bool:
    """Tell whether any column has a metric; of sessions a rate above zero."""
    if metric.rpartition(".")[2] in SESSIONS:
        return any(centre(column.get(metric)) for column in columns)
    return known(columns, metric)


def _by_class(names: Sequence[str], columns: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return how each class fared, in the measures that it has: endless flows have no times."""
    return [
        Block(
            f"Class {name}",
            tuple(row for row in _of(f"{name}.", BY_CLASS) if _tells(columns, row.metric)),
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
            percentiles(f"{size}.fct", f"{size}.fct_mean_s"),
            (f"{size}.completed_share", "served"),
        )
        for size, words in SIZES.items()
        if any(centre(column.get(f"{size}.completed")) for column in columns)
    ]


def kinds(classes: Sequence[str], columns: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return what only classes of UDP, of video or of pages have; of UDP files are no calls."""

    def there(row: Row) -> bool:
        return row.metric.rpartition(".")[2] != "call_mos" or known(columns, row.metric)

    return [
        Block(f"{kind} {name}".strip(), tuple(filter(there, _of(prefix, rows))))
        for kind, rows, sign in KINDS
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
        most = _most(mean * scale)
        digits = _decimals(mean * scale, 3, most) if same else _decimals(half, 2, most)
        return f"{mean * scale:,.{digits}f} ± {half:,.{digits}f}"
    return f"{value * scale:,.{_decimals(value * scale, 3, _most(value * scale))}f}"


def _most(value: float) -> int:
    """Return how many decimals a value has at most: an FCT under a millisecond needs more."""
    return 3 if abs(value) >= 0.01 else 6


def _decimals(value: float, significant: int, most: int) -> int:
    """Return the decimals for a number of significant digits."""
    if value == 0 or abs(value) < 1e-9:
        return 0
    return min(max(significant - 1 - floor(log10(abs(value))), 0), most)


def flows_in_words(same: bool) -> str:
    """Return whether settings are compared on the same flows, which decides on pairs of runs."""
    return "on the same flows" if same else "not on the same flows (unpaired)"


def alarming(row: Row, value: Value) -> bool:
    """Tell whether a share of sessions never admitted must be noticed."""
    mean = centre(value)
    return row.metric.endswith("never_admitted_share") and mean is not None and mean >= 0.05


def centre(value: Value) -> float | None:
    """Return the mean of a value, which may be a bare number."""
    return value if value is None or isinstance(value, float | int) else value["mean"]


def blocks_of(
    port: str | None, classes: Sequence[str], columns: Sequence[Mapping[str, Any]]
) -> list[Block]:
    """Return the measures that the tables of controls or settings show, block by block.

    Those of sizes, of UDP, of video and of pages only where one of the columns has any.
    """
    by_class = _by_class(classes, columns) if len(classes) > 1 else []
    parts = [*_by_size(columns), *kinds(classes, columns)]
    ports = [_told(link(port), columns), *_other_ports(port, columns)] if port else []
    return [*flow_blocks(columns), NETWORK, *ports, *by_class, *parts]


def _told(block: Block, columns: Sequence[Mapping[str, Any]]) -> Block:
    """Leave the offered load out where none is known.

    Flows without end offer what the link carries, and older runs do not say.
    """
    rows = (row for row in block.rows if "offered" not in row.metric or known(columns, row.metric))
    return replace(block, rows=tuple(rows))


def endless(columns: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether no flow has an end, so that none can complete; connections of pages have one."""
    counts = [(centre(row.get("endless")), centre(row.get("flows"))) for row in columns]
    unending = bool(counts) and all(without and without == every for without, every in counts)
    return unending and not has_pages(columns)


SESSIONS = ("offered_per_s", "admitted_per_s", "completed_per_s")


def lasting(columns: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether flows are to be shown by what they get: none has an end, or none began or ended.

    Of users who were there before, and stayed, no share is served.
    """
    counts = [centre(row.get(name)) for row in columns for name in SESSIONS]
    return endless(columns) or (bool(counts) and all(count == 0 for count in counts))


def has_pages(columns: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether any class has users who load pages."""
    return any(
        metric.rpartition(".")[2] == "pages" and centre(column[metric]) is not None
        for column in columns
        for metric in column
    )


def flow_blocks(columns: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return the measures of all flows: of sessions where flows end, of rates where they last.

    Blocks that no column has are left out: where every session is a connection of a page, or none
    completed, none has a completion time.
    """
    ending = () if lasting(columns) else FLOW_BLOCKS
    there = [block for block in ending if any(known(columns, row.metric) for row in block.rows)]
    rows = tuple(row for row in (*LONG.rows, *RTT) if known(columns, row.metric))
    long = any(centre(column.get("long_flows")) for column in columns)
    return [*there, *([replace(LONG, rows=rows)] if long else [])]


def measures(
    subject: Subject, rows: Sequence[Mapping[str, Any]], chosen: Sequence[str] = ()
) -> list[Row]:
    """Return the chosen measures, or all that any row has, each with a title that stands alone."""
    every = {
        row.metric: _alone(block, row)
        for block in blocks_of(subject.port, subject.classes, rows)
        for row in block.rows
        if known(rows, row.metric)
    }
    if not chosen:
        return list(every.values())
    named = every | {row.metric: row for row in telling(subject.port, rows)}
    return [named.get(name) or Row(_in_words(name), name) for name in chosen]


def _alone(block: Block, row: Row) -> Row:
    """Return a measure with a title that says without its block what it is about."""
    if block.title == LONG.title and "their" not in row.title:
        return row
    return replace(row, title=f"{block.title}: {row.title}")


def _in_words(metric: str) -> str:
    """Return the title of a metric that no table has: its name in words, with its unit."""
    words, _, unit = metric.replace(".", ": ").replace("_", " ").rpartition(" ")
    units = {"s": "s", "bps": "bit/s", "bytes": "B", "packets": "packets", "share": "fraction"}
    return f"{words} [{units[unit]}]" if words and unit in units else f"{words} {unit}".strip()


def telling(port: str | None, columns: Sequence[Mapping[str, Any]] = ()) -> tuple[Row, ...]:
    """Return the main measures: the shares served before the times, or what endless flows get."""
    utilised = (Row("utilisation [%]", f"{port}.utilisation", 100),) if port else ()
    if columns and lasting(columns):
        delays = (
            Row("queue delay, mean [ms]", f"{port}.queue_delay_mean_s", 1e3),
            Row("queue delay, p95 [ms]", f"{port}.queue_delay_p95_s", 1e3),
        )
        return (
            Row("delivered [Mbit/s]", "throughput_bps", 1e-6),
            Row("rate of a long flow, least [Mbit/s]", "flow_rate_min_bps", 1e-6),
            Row("Jain's index of the rates", "flow_rate_jain"),
            *(row for row in RTT if row.metric == "rtt_mean_s" and known(columns, row.metric)),
            *(delays if port else ()),
            Row("data sent again [%]", "retransmitted_share", 100),
            *utilised,
        )
    return (
        Row("completed [1/s]", "completed_per_s"),
        Row("never admitted [%]", "never_admitted_share", 100),
        Row("served [%]", "completed_share", 100),
        Row("FCT of those served, mean [s]", "fct_mean_s"),
        Row("data sent again [%]", "retransmitted_share", 100),
        *utilised,
    )


USERS = {
    "startup_mean_s": "start-up delay, mean [s]",
    "stalled_share": "time in stalls [%]",
    "video_rate_mean_bps": "rate of the video, mean [kbit/s]",
    "pages_loaded_share": "pages loaded [%]",
    "page_load_mean_s": "page load time, mean [s]",
    "page_load_p50_s": "page load time, p50 [s]",
    "page_load_p95_s": "page load time, p95 [s]",
}
"""The main measures of what users of video and pages see, each with a title that stands alone."""


def of_users(classes: Sequence[str], columns: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the main measures of viewers and of pages, where any column has them."""
    rows = [row for block in kinds(classes, columns) for row in block.rows]
    found = []
    for row in rows:
        name, _, metric = row.metric.rpartition(".")
        if metric in USERS:
            title = f"{name}: {USERS[metric]}" if name else USERS[metric]
            found.append(replace(row, title=title))
    return found


def compared(done: GridResult) -> list[Row]:
    """Return the measures whose differences are shown: those chosen, or the main ones."""
    subject = done.subject
    if done.metrics:
        return measures(subject, done.averages, done.metrics)
    rows = [row for row in telling(subject.port, done.averages) if "never" not in row.metric]
    if has_pages(done.averages):
        rows = [row for row in rows if known(done.averages, row.metric)]
    return rows + of_users(subject.classes, done.averages)
