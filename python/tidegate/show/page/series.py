"""Single flows and classes over time, as a scenario follows them: charts of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tidegate.show.page import charts, frames

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidegate.show.page.sheet import Page

INSTANTS = 400
"""Points of a line over time."""
FLOW = {
    "cwnd_packets": "congestion window [packets]",
    "flight_packets": "in flight [packets]",
    "srtt_ms": "smoothed round trip [ms]",
    "rate_mbps": "delivered [Mbit/s]",
}
"""What is drawn of a flow: its title with unit."""
CLASS = {"rate_mbps": "delivered [Mbit/s]", "open_flows": "open flows"}
"""What is drawn of a class."""
QUEUE = {
    "queue_packets": "waiting [packets]",
    "queue_bytes": "waiting [B]",
    "queue_share": "share of what waits, in bytes [%]",
}
"""What is drawn of what a class has waiting at a port."""


def flows(folder: Path) -> pl.DataFrame:
    """Return how the flows of a run that are followed fared; none where none is."""
    table = _read(folder, "flow_series")
    if table.is_empty():
        return table
    named = pl.concat_str(pl.col("class"), pl.lit(":"), pl.col("number").cast(pl.String))
    scaled = {"srtt_ms": pl.col("srtt_s") * 1e3, "rate_mbps": pl.col("rate_bps") * 1e-6}
    return _thinned(table.with_columns(named.alias("flow"), **scaled), ["flow"], list(FLOW))


def classes(folder: Path) -> pl.DataFrame:
    """Return how the classes of a run that are followed fared."""
    table = _read(folder, "class_series")
    if table.is_empty():
        return table
    scaled = table.with_columns(rate_mbps=pl.col("rate_bps") * 1e-6)
    return _thinned(scaled, ["class"], list(CLASS))


def queues(folder: Path) -> pl.DataFrame:
    """Return what waited of each class at each port of a run."""
    table = _read(folder, "queue_series")
    if table.is_empty():
        return table
    whole = pl.col("queue_bytes").sum().over("time_s", "port")
    share = pl.when(whole > 0).then(pl.col("queue_bytes") / whole * 100)
    return _thinned(table.with_columns(queue_share=share), ["port", "class"], list(QUEUE))


def _read(folder: Path, name: str) -> pl.DataFrame:
    path = folder / f"{name}.parquet"
    if not path.exists():
        return pl.DataFrame()
    return pl.read_parquet(path, glob=False).with_columns(pl.col(pl.Enum).cast(pl.String))


def _thinned(table: pl.DataFrame, keys: Sequence[str], fields: Sequence[str]) -> pl.DataFrame:
    """Return means over as many intervals as can be seen."""
    instants = table["time_s"].unique().sort()
    place = pl.col("time_s").rank("dense").over(pl.lit(0)) - 1
    step = -(-instants.len() // INSTANTS)
    return (
        table.group_by(*keys, (place // step).alias("bin"), maintain_order=True)
        .agg(pl.col("time_s").max(), *(pl.col(field).mean() for field in fields))
        .drop("bin")
    )


def add(page: Page, part: str, first: Mapping[str, Path], seed: int) -> None:
    """Add the charts of what is followed, of the first run of each control."""
    kinds = (
        ("followed", "Flows that are followed", flows, FLOW, ("flow",)),
        ("whole", "Classes that are followed", classes, CLASS, ("class",)),
        ("waiting", "What waits of each class", queues, QUEUE, ("port", "class")),
    )
    for name, title, read, fields, keys in kinds:
        table = frames.together((label, read(folder)) for label, folder in first.items())
        if table.is_empty():
            continue
        needs = f"{part}-{name}"
        page.data[needs] = frames.packed(table)
        menus = [charts.titles(fields), charts.chosen("field", "show", fields)]
        for key in keys:
            names = table[key].unique(maintain_order=True).to_list()
            menus.append(charts.chosen(_menu(key), key, {each: each for each in names}))
        drawn = charts.over_time(needs, list(first), menus, {key: _menu(key) for key in keys})
        page.chart(part, charts.Chart(title, f"Seed {seed}.", drawn, (needs,)))


def _menu(key: str) -> str:
    """Return what the menu of a key is called in expressions, where `class` is no name."""
    return "which" if key == "class" else key
