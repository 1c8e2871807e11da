"""The data of a page: what its charts show, reduced to what an eye can see."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from tidegate.results.curves import Curves

Columns: TypeAlias = "dict[str, Any]"
"""A table for the page: columns of numbers, and words with their numbers."""

INSTANTS = 200
"""Points of a line over time: the rest would not be seen."""
STEPS = 160
"""Points of a distribution."""
FLOWS = 1500
"""Single flows of a column that are drawn as points."""
PORT = {
    "utilisation": ("utilisation [%]", 100.0),
    "queue_mean_packets": ("queue, mean [packets]", 1.0),
    "queue_packets": ("queue, at the end of the interval [packets]", 1.0),
    "throughput_mbps": ("sent [Mbit/s]", 1.0),
    "data_dropped_per_s": ("data packets dropped [1/s]", 1.0),
    "syn_arrived_per_s": ("opening packets that came [1/s]", 1.0),
    "syn_refused_per_s": ("of these, refused [1/s]", 1.0),
    "marked_per_s": ("packets marked [1/s]", 1.0),
}
"""What is drawn of a port: its title with unit, and its scale to that unit."""
CLASS = {
    "offered_per_s": "offered [1/s]",
    "admitted_per_s": "admitted [1/s]",
    "completed_per_s": "completed [1/s]",
    "delivered_mbps": "goodput of flows that ended [Mbit/s]",
    "fct_mean_s": "FCT of flows that ended, mean [s]",
    "rate_mean_kbps": "goodput of one of them, mean [kbit/s]",
}
"""What is drawn of a class over time: its title with unit."""
SIZES = np.geomspace(100.0, 1e9, 29)
"""Edges of the classes of size, four to a decade."""


def rounded(value: float | None) -> float | None:
    """Return five significant digits; nothing where there is no number."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.5g}")


def packed(rows: pl.DataFrame) -> Columns:
    """Return a frame as columns for the page."""
    found: Columns = {}
    for column in rows:
        if column.dtype.is_numeric():
            found[column.name] = [rounded(value) for value in column.cast(pl.Float64).to_list()]
            continue
        words = column.cast(pl.String).to_list()
        distinct = list(dict.fromkeys(words))
        places = {word: place for place, word in enumerate(distinct)}
        found[column.name] = {"words": distinct, "at": [places[word] for word in words]}
    return found


def ports(runs: Mapping[str, Path], access: frozenset[str]) -> pl.DataFrame:
    """Return how the ports that are no access links fared over time, by control."""
    parts = []
    for label, folder in runs.items():
        table = pl.read_parquet(folder / "ports.parquet", glob=False)
        table = table.with_columns(pl.col("port").cast(pl.String))
        table = table.filter(~pl.col("port").is_in(sorted(access)))
        if table.height:
            parts.append(_of_port(table).with_columns(control=pl.lit(label)))
    return pl.concat(parts) if parts else pl.DataFrame()


def _of_port(table: pl.DataFrame) -> pl.DataFrame:
    step = float(table["time_s"].min() or 1.0)  # type: ignore[arg-type]
    instants = table["time_s"].n_unique()
    width = step * max(1, -(-instants // INSTANTS))
    per_s = {
        f"{name}_per_s": pl.col(name).sum() / width
        for name in ("data_dropped", "syn_arrived", "syn_refused", "marked")
    }
    bins = (pl.col("time_s") / width - 1e-9).floor()
    return (
        table.group_by("port", bins.alias("bin"), maintain_order=True)
        .agg(
            time_s=pl.col("time_s").max(),
            utilisation=pl.col("utilisation").mean() * PORT["utilisation"][1],
            queue_mean_packets=pl.col("queue_mean_packets").mean(),
            queue_packets=pl.col("queue_packets").last(),
            throughput_mbps=pl.col("departed_bytes").sum() * 8e-6 / width,
            **per_s,
        )
        .drop("bin")
    )


def flows(folder: Path) -> pl.DataFrame:
    """Return the flows of a run with the columns that pages are made of."""
    wanted = ["class", "size_bytes", "start_s", "admitted_s", "closed_s", "fct_s"]
    wanted += ["goodput_bps", "syn_tries", "retransmitted_packets", "timeouts", "delivered_bytes"]
    table = pl.read_parquet(folder / "flows.parquet", columns=wanted, glob=False)
    return table.with_columns(pl.col("class").cast(pl.String))


def classes(table: pl.DataFrame, duration_s: float) -> pl.DataFrame:
    """Return what became of each class over time."""
    width = float(max(1, math.ceil(duration_s / INSTANTS)))

    def counted(when: str, **more: pl.Expr) -> pl.DataFrame:
        there = table.filter(pl.col(when).is_not_null())
        time = ((pl.col(when) / width).floor() + 1) * width
        return there.group_by("class", time.alias("time_s")).agg(number=pl.len() / width, **more)

    times = np.arange(1, math.ceil(duration_s / width) + 1) * width
    names = table["class"].unique(maintain_order=True).to_list()
    found = pl.DataFrame(
        {"class": [name for name in names for _ in times], "time_s": list(times) * len(names)}
    )
    ended = {
        "delivered_mbps": pl.col("delivered_bytes").sum() * 8e-6 / width,
        "fct_mean_s": pl.col("fct_s").mean(),
        "rate_mean_kbps": pl.col("goodput_bps").mean() * 1e-3,
    }
    for when, name, more in (
        ("start_s", "offered_per_s", {}),
        ("admitted_s", "admitted_per_s", {}),
        ("closed_s", "completed_per_s", ended),
    ):
        counts = counted(when, **more).rename({"number": name})
        found = found.join(counts, on=["class", "time_s"], how="left")
    nothing = ["offered_per_s", "admitted_per_s", "completed_per_s", "delivered_mbps"]
    return found.with_columns(pl.col(nothing).fill_null(0.0)).filter(
        pl.col("time_s") <= duration_s + 1e-9
    )


def by_size(table: pl.DataFrame, warmup_s: float) -> pl.DataFrame:
    """Return the completion times of flows that ended in the window, by their size."""
    there = table.filter((pl.col("closed_s") >= warmup_s) & pl.col("size_bytes").is_not_null())
    place = np.clip(np.searchsorted(SIZES, there["size_bytes"].to_numpy(), "right"), 1, 28)
    edges = {"from_bytes": SIZES[place - 1], "to_bytes": SIZES[place]}
    return (
        there.with_columns(**{name: pl.Series(each) for name, each in edges.items()})
        .group_by("from_bytes", "to_bytes")
        .agg(
            flows=pl.len(),
            fct_mean_s=pl.col("fct_s").mean(),
            fct_p50_s=pl.col("fct_s").quantile(0.5, "linear"),
            fct_p95_s=pl.col("fct_s").quantile(0.95, "linear"),
            goodput_mean_kbps=pl.col("goodput_bps").mean() * 1e-3,
        )
        .sort("from_bytes")
    )


def some(table: pl.DataFrame) -> pl.DataFrame:
    """Return single flows, evenly out of all that ended, by their start."""
    there = table.filter(pl.col("fct_s").is_not_null())
    step = max(1, -(-there.height // FLOWS))
    chosen = there.gather_every(step)
    return chosen.select(
        "class",
        "start_s",
        "fct_s",
        "size_bytes",
        "syn_tries",
        "timeouts",
        wait_s=pl.col("admitted_s") - pl.col("start_s"),
        goodput_kbps=pl.col("goodput_bps") * 1e-3,
        again=pl.col("retransmitted_packets"),
    )


def distributions(curves: Mapping[str, Sequence[Curves]]) -> pl.DataFrame:
    """Return the share of sessions that had ended within a time, by control."""
    parts = []
    for label, runs in curves.items():
        grid = runs[0].fct_grid_s
        offered, served = (
            np.mean([getattr(run, name) for run in runs], axis=0)
            for name in ("offered_share", "served_share")
        )
        risen = np.flatnonzero(offered > 0)
        first = int(risen[0]) if risen.size else 0
        full = np.flatnonzero(offered >= offered[-1])
        last = min(int(full[0]) + 1, len(grid) - 1) if full.size else len(grid) - 1
        places = np.unique(np.linspace(first, last, STEPS).astype(int))
        parts.append(
            pl.DataFrame(
                {
                    "fct_s": grid[places],
                    "of all offered": offered[places] * 100,
                    "of those served": served[places] * 100,
                }
            ).with_columns(control=pl.lit(label))
        )
    return pl.concat(parts)


def together(parts: Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Return frames below each other, each with its control."""
    found = [table.with_columns(control=pl.lit(label)) for label, table in parts if table.height]
    return pl.concat(found) if found else pl.DataFrame()
