"""The flows of a packet capture, as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from tidegate.show.tables import Shown

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from tidegate.scenario.recorded import Recorded

QUANTILES = (0.1, 0.5, 0.9, 0.99, 1.0)
DIRECTIONS = ("upload", "download")


def of_flows(found: Recorded, rows: int) -> Shown:
    """Return totals, sizes, the first flows, and why others were left out."""
    parts: list[RenderableType] = [_totals(found)]
    if found.frame.height:
        parts.append(_first(found.frame, rows))
    if found.skipped:
        parts.append(_skipped(found))
    if found.broken is not None:
        parts.append(Text(f"The file is not whole: {found.broken}.", style="bold red"))
    return Shown(*parts)


def _table(title: str, left: tuple[str, ...] = (), right: tuple[str, ...] = ()) -> Table:
    name = Text(title, style="bold")
    table = Table(title=name, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in left:
        table.add_column(head, no_wrap=not head)
    for head in right:
        table.add_column(head, justify="right")
    return table


def _totals(found: Recorded) -> Table:
    """Return a column per direction and one for all."""
    import polars as pl

    title = f"{found.path.name}: {found.packets:,} packets in {found.span_s:,.3f} s"
    table = _table(title, ("",), (*DIRECTIONS, "all"))
    kinds = [found.frame.filter(pl.col("direction") == name) for name in DIRECTIONS]
    kinds.append(found.frame)
    sizes = [kind["size_bytes"] for kind in kinds]
    seconds = found.span_s
    lines: list[tuple[str, list[Any]]] = [
        ("connections with data", [f"{kind.height:,}" for kind in kinds]),
        ("  whose end is in the capture", [f"{kind['closed'].sum():,}" for kind in kinds]),
        ("bytes", [f"{size.sum():,}" for size in sizes]),
        ("  the other way", [f"{kind['other_bytes'].sum():,}" for kind in kinds]),
        ("  mean rate [Mbit/s]", [_rate(size, seconds) for size in sizes]),
        ("size, mean [B]", [_mean(size) for size in sizes]),
    ]
    for quantile in QUANTILES:
        name = "largest" if quantile == 1.0 else f"p{quantile * 100:g}"
        lines.append((f"  {name} [B]", [_quantile(size, quantile) for size in sizes]))
    for name, cells in lines:
        table.add_row(name, *cells)
    return table


def _rate(sizes: pl.Series, seconds: float) -> str:
    return f"{int(sizes.sum()) * 8 / seconds / 1e6:,.3f}" if seconds > 0 else "-"


def _mean(sizes: pl.Series) -> str:
    return f"{int(sizes.sum()) / len(sizes):,.0f}" if len(sizes) else "-"


def _quantile(sizes: pl.Series, quantile: float) -> str:
    # a size that occurs: the p50 of two flows is one of them
    value = sizes.quantile(quantile, interpolation="lower")
    return "-" if value is None else f"{value:,.0f}"


def _first(frame: pl.DataFrame, rows: int) -> Table:
    rows = min(rows, frame.height)
    table = _table(f"First {rows:,} of {frame.height:,} flows", (), ("start [s]", "size [B]"))
    words = ("direction", "client", "server")
    for name in (*words, "transport", "closed"):
        table.add_column(name)
    for row in frame.head(rows).iter_rows(named=True):
        numbers = (f"{row['start_s']:.6f}", f"{row['size_bytes']:,}")
        closed = "yes" if row["closed"] else "no"
        table.add_row(*numbers, *(row[name] for name in (*words, "transport")), closed)
    return table


def _skipped(found: Recorded) -> Table:
    """Return what is in no flow, with its share of the bytes of all packets."""
    table = _table("Left out", ("",), ("count", "% of the bytes"))
    for reason, count in found.skipped.items():
        share = found.skipped_bytes[reason] / found.wire_bytes if found.wire_bytes else 0.0
        table.add_row(Text(reason), f"{count:,}", f"{100 * share:.3g}")
    return table
