"""The pictures of single runs, or of one run of each control, over time and by flow, as data."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidegate.results.columns import completed
from tidegate.results.location import readable
from tidegate.results.long_flows import rates
from tidegate.results.window import Window
from tidegate.show.picture import Picture
from tidegate.show.traces import acks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    Folders = Mapping[str, Sequence[Path]]

TIME = {"time_s": "time [s]"}
INSTANTS = 200
"""The most points of a line over time: more would not be visible."""
FLOWS = 1500
"""Single flows of a control that are drawn as points."""
PORT = {
    "utilisation": "utilisation [%]",
    "queue_mean_packets": "queue, mean of the interval [packets]",
    "queue_packets": "queue, at the end of the interval [packets]",
    "throughput_mbps": "sent [Mbit/s]",
    "data_dropped_per_s": "data packets dropped [1/s]",
    "syn_arrived_per_s": "SYNs arrived [1/s]",
    "syn_refused_per_s": "SYNs refused [1/s]",
    "marked_per_s": "packets marked [1/s]",
}
CLASS = {
    "offered_per_s": "offered [1/s]",
    "admitted_per_s": "admitted [1/s]",
    "completed_per_s": "completed [1/s]",
    "arrived_mbps": "data that reached receivers [Mbit/s]",
    "fct_mean_s": "FCT of flows that ended, mean [s]",
    "rate_mean_kbps": "goodput of a flow that ended, mean [kbit/s]",
}
PAGES = {
    "load_mean_s": "page load time of pages loaded, mean [s]",
    "load_p95_s": "page load time of pages loaded, p95 [s]",
    "loaded_per_s": "loaded [1/s]",
    "started_per_s": "started [1/s]",
    "given_up_per_s": "given up [1/s]",
}
BY_SIZE = {
    "fct_p50_s": "FCT, median [s]",
    "fct_mean_s": "FCT, mean [s]",
    "fct_p95_s": "FCT, p95 [s]",
    "goodput_mean_kbps": "goodput, mean [kbit/s]",
    "flows": "flows that ended",
}
SIZES = np.geomspace(100.0, 1e9, 29)
"""Edges of the classes of size, four to a decade."""
FOLLOWED = {
    "flow": (
        "Flows that are followed",
        {
            "cwnd_packets": "congestion window [packets]",
            "flight_packets": "in flight [packets]",
            "srtt_ms": "smoothed round trip [ms]",
            "rate_mbps": "delivered in order [Mbit/s]",
        },
        ("flow",),
    ),
    "class": (
        "Classes that are followed",
        {"rate_mbps": "delivered in order [Mbit/s]", "open_flows": "open flows"},
        ("class",),
    ),
    "queue": (
        "Queue of each class",
        {
            "queue_packets": "queued [packets]",
            "queue_bytes": "queued [B]",
            "queue_share": "share of the queued bytes [%]",
        },
        ("port", "class"),
    ),
}
"""The series that a scenario asks for, by the name of the table: title, columns, keys of lines."""
CAPACITY = {
    "possible_mbps": "possible by the trace [Mbit/s]",
    "sent_mbps": "sent [Mbit/s]",
}


IN_ORDER = (
    " What waited behind a lost packet is delivered in order all at once when that has come:"
    " an interval may then hold more than the link carries in it."
)


def _joined(parts: Iterator[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Return tables below each other, each with its control."""
    found = [table.with_columns(control=pl.lit(label)) for label, table in parts if table.height]
    return pl.concat(found) if found else pl.DataFrame()


def _of_first(folders: Folders, read: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
    """Return what is read of the first run of each control."""
    return _joined((label, read(runs[0])) for label, runs in folders.items() if runs)


def _table(folder: Path, name: str, columns: list[str] | None = None) -> pl.DataFrame:
    """Return a table of a run with names as text, or some of its columns; empty: none is there."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        return pl.DataFrame()
    table = pl.read_parquet(readable(path), columns=columns, glob=False)
    return table.with_columns(pl.col(pl.Enum).cast(pl.String))


def ports(folders: Folders, note: str = "") -> Picture | None:
    """Return the ports that are no access links over time, of the first run of each control."""
    table = _of_first(folders, _port)
    if table.is_empty():
        return None
    title = "Ports over time"
    return Picture("ports", title, table, TIME, PORT, split=("port",), note=note, first="")


def _port(folder: Path) -> pl.DataFrame:
    table = _table(folder, "ports").filter(~pl.col("port").str.starts_with("access."))
    if table.is_empty():
        return table
    width, bins = _bins(table, INSTANTS)
    per_s = {
        f"{name}_per_s": pl.col(name).sum() / width
        for name in ("data_dropped", "syn_arrived", "syn_refused", "marked")
    }
    return (
        table.group_by("port", bins, maintain_order=True)
        .agg(
            time_s=pl.col("time_s").max(),
            utilisation=pl.col("utilisation").mean() * 100,
            queue_mean_packets=pl.col("queue_mean_packets").mean(),
            queue_packets=pl.col("queue_packets").last(),
            throughput_mbps=pl.col("departed_bytes").sum() * 8e-6 / width,
            **per_s,
        )
        .drop("bin")
    )


def _bins(table: pl.DataFrame, most: int) -> tuple[float, pl.Expr]:
    """Return the length of at most so many equal intervals, and the number of each."""
    step = float(table["time_s"].min() or 1.0)  # type: ignore[arg-type]
    width = step * max(1, -(-table["time_s"].n_unique() // most))
    return width, (pl.col("time_s") / width - 1e-9).floor().alias("bin")


def followed(folders: Folders, note: str = "") -> Iterator[Picture]:
    """Yield the series that the scenario asks for, of the first run of each control."""
    for name, (title, fields, keys) in FOLLOWED.items():
        table = _of_first(folders, partial(_followed, name=name))
        if table.is_empty():
            continue
        there = {field: text for field, text in fields.items() if table[field].count()}
        more = IN_ORDER if "rate_mbps" in there else ""
        yield Picture(
            *(f"{name}-series", title, table, TIME, there), split=keys, note=note + more, first=""
        )
    table = _of_first(folders, _traced)
    if table.height:
        title = "Capacity by the trace, and what was sent"
        yield Picture(
            "capacity", title, table, TIME, CAPACITY, split=("port",), note=note, first=""
        )
    traced = acks({label: runs[0] for label, runs in folders.items() if runs}, note)
    if traced is not None:
        yield traced


def _traced(folder: Path) -> pl.DataFrame:
    """Return what links could carry by their traces, and what they sent."""
    table = _table(folder, "ports")
    if "possible_bytes" not in table.columns:
        return pl.DataFrame()
    table = table.filter(pl.col("possible_bytes").sum().over("port") > 0)
    width, bins = _bins(table, 2 * INSTANTS)
    return (
        table.group_by("port", bins, maintain_order=True)
        .agg(
            time_s=pl.col("time_s").max(),
            possible_mbps=pl.col("possible_bytes").sum() * 8e-6 / width,
            sent_mbps=pl.col("departed_bytes").sum() * 8e-6 / width,
        )
        .drop("bin")
    )


def _followed(folder: Path, name: str) -> pl.DataFrame:
    table = _table(folder, f"{name}_series")
    if table.is_empty():
        return table
    _, fields, keys = FOLLOWED[name]
    if "rate_bps" in table.columns:
        table = table.with_columns(rate_mbps=pl.col("rate_bps") * 1e-6)
    if name == "flow":
        number = pl.concat_str(pl.col("class"), pl.lit(":"), pl.col("number").cast(pl.String))
        table = table.with_columns(flow=number, srtt_ms=pl.col("srtt_s") * 1e3)
    if name == "queue":
        whole = pl.col("queue_bytes").sum().over("time_s", "port")
        share = pl.when(whole > 0).then(pl.col("queue_bytes") / whole * 100)
        table = table.with_columns(queue_share=share)
    bins = pl.col("time_s").rank("dense").over(pl.lit(0)) - 1
    step = -(-table["time_s"].n_unique() // (2 * INSTANTS))
    return (
        table.group_by(*keys, (bins // step).alias("bin"), maintain_order=True)
        .agg(pl.col("time_s").max(), *(pl.col(field).mean() for field in fields))
        .drop("bin")
    )


def flows(folder: Path) -> pl.DataFrame:
    """Return the flows of a run with the columns that pictures are made of."""
    wanted = ["class", "size_bytes", "start_s", "admitted_s", "closed_s", "gave_up_s", "fct_s"]
    wanted += ["goodput_bps", "syn_tries", "retransmitted_packets", "timeouts", "delivered_bytes"]
    table = _table(folder, "flows", wanted)
    if table.is_empty():
        return table
    served = pl.lit(pl.Series(completed({name: table[name] for name in table.columns})))
    return table.with_columns(closed_s=pl.when(served).then(pl.col("closed_s")))


def classes(
    tables: Mapping[str, pl.DataFrame], folders: Mapping[str, Path], duration_s: float, note: str
) -> Picture | None:
    """Return arrivals, completions, rates and FCT of each class over time.

    Args:
        tables: The flows of one run of each control.
        folders: The folders of these runs.
        duration_s: Length of the runs.
        note: What is said below the picture.
    """
    table = _joined(
        (label, _classes(each, folders[label], duration_s)) for label, each in tables.items()
    )
    if table.is_empty():
        return None
    # the class with most to show first: viewers may watch to the end, and none completes
    most = table.group_by("class", maintain_order=True).agg(pl.col("completed_per_s").sum())
    order = most.sort("completed_per_s", descending=True, maintain_order=True)["class"].to_list()
    ranks = pl.col("class").replace_strict({name: rank for rank, name in enumerate(order)})
    table = table.sort(ranks, maintain_order=True)
    note += (
        " FCT and goodput are those of the flows that ended in each interval. Data that reached"
        " receivers includes headers and packets sent again."
    )
    return Picture("classes", "Classes over time", table, TIME, CLASS, split=("class",), note=note)


def _classes(table: pl.DataFrame, folder: Path, duration_s: float) -> pl.DataFrame:
    width = float(max(1, math.ceil(duration_s / INSTANTS)))
    ended = {
        "fct_mean_s": pl.col("fct_s").mean(),
        "rate_mean_kbps": pl.col("goodput_bps").mean() * 1e-3,
    }
    events = {"offered": "start_s", "admitted": "admitted_s", "completed": "closed_s"}
    found = _in_intervals(table, width, duration_s, events, {"completed": ended})
    return found.join(_arrived(folder, width), on=["class", "time_s"], how="left")


def _in_intervals(
    table: pl.DataFrame,
    width: float,
    duration_s: float,
    events: Mapping[str, str],
    more: Mapping[str, Mapping[str, pl.Expr]],
) -> pl.DataFrame:
    """Return for each class and interval how many of its events it has a second.

    Args:
        table: A row for each flow or page, with its class.
        width: Length of an interval, in seconds.
        duration_s: Length of the run.
        events: The column with the time of each event.
        more: What else is computed of those with an event in the interval.
    """
    times = np.arange(1, math.ceil(duration_s / width) + 1) * width
    names = table["class"].unique(maintain_order=True).to_list()
    found = pl.DataFrame(
        {"class": [name for name in names for _ in times], "time_s": list(times) * len(names)},
        schema={"class": pl.String, "time_s": pl.Float64},
    )
    for event, when in events.items():
        time = ((pl.col(when) / width).floor() + 1) * width
        counts = (
            table.filter(pl.col(when).is_not_null())
            .group_by("class", time.alias("time_s"))
            .agg((pl.len() / width).alias(f"{event}_per_s"), **more.get(event, {}))
        )
        found = found.join(counts, on=["class", "time_s"], how="left")
    rates = pl.col([f"{event}_per_s" for event in events])
    return found.with_columns(rates.fill_null(0.0)).filter(pl.col("time_s") <= duration_s + 1e-9)


def _arrived(folder: Path, width: float) -> pl.DataFrame:
    """Return how fast the data of each class reached its receivers, in intervals of `width` (s)."""
    table = _table(folder, "class_rates")
    if table.is_empty():
        kinds = {"class": pl.String, "time_s": pl.Float64, "arrived_mbps": pl.Float64}
        return pl.DataFrame(schema=kinds)
    span = pl.col("time_s").diff().over("class").fill_null(pl.col("time_s"))
    time = ((pl.col("time_s") / width - 1e-9).floor() + 1) * width
    bits = pl.col("arrived_bps") * span
    return (
        table.with_columns(bits=bits, span=span, time_s=time)
        .group_by("class", "time_s")
        .agg(arrived_mbps=pl.col("bits").sum() / pl.col("span").sum() * 1e-6)
    )


def lasting(folders: Mapping[str, Path], window: tuple[float, float], note: str) -> Picture | None:
    """Return the rates of the flows that last, by their start, of one run of each control."""
    table = _joined((label, _lasting(folder, window)) for label, folder in folders.items())
    if table.is_empty():
        return None
    return Picture(
        "long-flows",
        "Long flows",
        table,
        {"start_s": "start [s]", "flow": "number of the flow"},
        {"rate_mbps": "rate while open after the warm-up [Mbit/s]"},
        note=f"{note} Flows that were open for at least a tenth of the time after the warm-up.",
        mark="point",
        first="rate_mbps",
        tips={"class": "class", "flow": "flow", "rate_mbps": "rate [Mbit/s]"},
    )


def _lasting(folder: Path, window: tuple[float, float]) -> pl.DataFrame:
    windows = _table(folder, "flow_window")
    if windows.is_empty():
        return windows
    wanted = ["flow", "class", "start_s", "closed_s", "gave_up_s"]
    table = _table(folder, "flows", wanted).hstack(windows)
    arrays = {
        name: table[name].fill_null(np.nan).to_numpy()
        for name in ("reached_s", "closed_s", "gave_up_s")
    }
    got, long = rates({**arrays, "window_bytes": table["window_bytes"].to_numpy()}, Window(*window))
    there = table.with_columns(rate_mbps=pl.Series(got * 1e-6)).filter(pl.Series(long))
    there = there.gather_every(max(1, -(-there.height // FLOWS)))
    return there.select("class", "flow", "start_s", "rate_mbps")


def pages(folders: Folders, duration_s: float, note: str = "") -> Picture | None:
    """Return page load times over time, of the first run of each control; None: no pages."""
    table = _of_first(folders, partial(_pages, duration_s=duration_s))
    if table.is_empty():
        return None
    note += " Page load times are those of the pages that were loaded in each interval."
    return Picture("pages-time", "Pages over time", table, TIME, PAGES, split=("class",), note=note)


def _pages(folder: Path, duration_s: float) -> pl.DataFrame:
    table = _table(folder, "pages")
    if table.is_empty():
        return table
    width = float(max(1, math.ceil(duration_s / (INSTANTS // 4))))
    loads = {
        "load_mean_s": pl.col("load_time_s").mean(),
        "load_p95_s": pl.col("load_time_s").quantile(0.95, "linear"),
    }
    events = {"started": "start_s", "loaded": "loaded_s", "given_up": "gave_up_s"}
    return _in_intervals(table, width, duration_s, events, {"loaded": loads})


def by_size(folders: Folders, warmup_s: float) -> Picture | None:
    """Return the completion times of flows that ended in the window, by their size."""
    every = {label: pl.concat([flows(run) for run in runs]) for label, runs in folders.items()}
    table = _joined((label, _by_size(each, warmup_s)) for label, each in every.items())
    if table.is_empty():
        return None
    return Picture(
        "sizes",
        "By size of the flow",
        table,
        {"size_bytes": "size [B]"},
        BY_SIZE,
        note="Flows that ended after the warm-up, all seeds together, four classes of size a"
        " decade.",
        log=("x", "y"),
        first="fct_p50_s",
        tips={
            "from_bytes": "size from [B]",
            "to_bytes": "size to [B]",
            "flows": "flows of all seeds",
        },
    )


def _by_size(table: pl.DataFrame, warmup_s: float) -> pl.DataFrame:
    there = table.filter((pl.col("closed_s") >= warmup_s) & pl.col("size_bytes").is_not_null())
    bins = np.clip(np.searchsorted(SIZES, there["size_bytes"].to_numpy(), "right"), 1, 28)
    low, high = SIZES[bins - 1], SIZES[bins]
    edges = {"size_bytes": np.sqrt(low * high), "from_bytes": low, "to_bytes": high}
    return (
        there.with_columns(**{name: pl.Series(each) for name, each in edges.items()})
        .group_by(list(edges))
        .agg(
            flows=pl.len(),
            fct_mean_s=pl.col("fct_s").mean(),
            fct_p50_s=pl.col("fct_s").quantile(0.5, "linear"),
            fct_p95_s=pl.col("fct_s").quantile(0.95, "linear"),
            goodput_mean_kbps=pl.col("goodput_bps").mean() * 1e-3,
        )
        .sort("from_bytes")
    )


def single(tables: Mapping[str, pl.DataFrame], note: str) -> Picture | None:
    """Return single flows as points, evenly out of all that ended, by their start."""
    table = _joined((label, _single(each)) for label, each in tables.items())
    if table.is_empty():
        return None
    wait = {"wait_s": "wait for admission [s]"}
    across = {"start_s": "start [s]", "size_bytes": "size [B]", **wait}
    up = {"fct_s": "FCT [s]", "goodput_kbps": "goodput [kbit/s]", **wait}
    counts = {
        "syn_tries": "SYNs sent",
        "again": "data packets sent again",
        "timeouts": "timeouts",
    }
    return Picture(
        "flows",
        "Single flows",
        table,
        across,
        up,
        note=f"{note} At most {FLOWS:,} flows of each, evenly out of all that ended.",
        mark="point",
        first="fct_s",
        tips={"class": "class", **across, **up, **counts},
    )


def _single(table: pl.DataFrame) -> pl.DataFrame:
    there = table.filter(pl.col("fct_s").is_not_null())
    return there.gather_every(max(1, -(-there.height // FLOWS))).select(
        *("class", "start_s", "fct_s", "size_bytes", "syn_tries", "timeouts"),
        wait_s=pl.col("admitted_s") - pl.col("start_s"),
        goodput_kbps=pl.col("goodput_bps") * 1e-3,
        again=pl.col("retransmitted_packets"),
    )
