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
            Row("served to the end [%]", "completed_share", 100),
            Row("open at once, mean", "open_mean"),
        ),
    ),
    Block("Wait for admission", percentiles("wait"), ("admitted_share", "admitted")),
    Block("FCT of those served, from first SYN", percentiles("fct", "fct_mean_s"), SERVED),
    Block(
        "FCT of those served, from admission",
        percentiles("fct_admitted", "fct_admitted_mean_s"),
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


def network(port: str | None) -> Block:
    """Return the measures of a link, or of the whole network."""
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
            percentiles(f"{size}.fct", f"{size}.fct_mean_s"),
            (f"{size}.completed_share", "served"),
        )
        for size, words in SIZES.items()
        if any(centre(column.get(f"{size}.completed")) for column in columns)
    ]


def kinds(classes: Sequence[str], columns: Sequence[Mapping[str, Any]]) -> list[Block]:
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

    Those of sizes, of UDP and of video only where one of the columns has any.
    """
    by_class = _by_class(classes, columns) if len(classes) > 1 else []
    parts = [*_by_size(columns), *kinds(classes, columns)]
    return [*FLOW_BLOCKS, network(port), *by_class, *parts]


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
    if not chosen:
        return list(every.values())
    known = every | {row.metric: row for row in telling(subject.port)}
    return [known.get(name) or Row(_in_words(name), name) for name in chosen]


def _in_words(metric: str) -> str:
    """Return the title of a metric that no table has: its name in words, with its unit."""
    words, _, unit = metric.replace(".", ": ").replace("_", " ").rpartition(" ")
    units = {"s": "s", "bps": "bit/s", "bytes": "B", "packets": "packets", "share": "fraction"}
    return f"{words} [{units[unit]}]" if words and unit in units else f"{words} {unit}".strip()


def telling(port: str | None) -> tuple[Row, ...]:
    """Return the main measures: the shares served before the times."""
    utilised = (Row("utilisation [%]", f"{port}.utilisation", 100),) if port else ()
    return (
        Row("completed [1/s]", "completed_per_s"),
        Row("never admitted [%]", "never_admitted_share", 100),
        Row("served [%]", "completed_share", 100),
        Row("FCT of those served, mean [s]", "fct_mean_s"),
        Row("data sent again [%]", "retransmitted_share", 100),
        *utilised,
    )


def compared(done: GridResult) -> list[Row]:
    """Return the measures whose differences are shown: the main ones, and those of video."""
    subject = done.subject
    rows = [row for row in telling(subject.port) if "never" not in row.metric]
    wanted = ("startup_mean_s", "stalled_share", "video_rate_mean_bps")
    for block in kinds(subject.classes, done.averages):
        name = block.title.removeprefix("Video").strip()
        rows += [
            Row(f"{name}: {row.title}" if name else row.title, row.metric, row.scale)
            for row in block.rows
            if row.metric.endswith(wanted)
        ]
    return rows
