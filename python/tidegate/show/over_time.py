"""The pictures of single runs for files: the charts over time and by size that a page has too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from tidegate.results.location import plain_name
from tidegate.show import of_runs
from tidegate.show.traces import overlaid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tidegate.show.picture import Picture

    Drawn = tuple[str, str, list[Picture]]
    Folders = Mapping[str, Sequence[Path]]

PORTS = 4
"""Ports that have a picture each."""
PORT = (
    *("queue_mean_packets", "utilisation", "data_dropped_per_s"),
    *("marked_per_s", "syn_refused_per_s"),
)
BY_SIZE = ("fct_p50_s", "fct_mean_s", "fct_p95_s", "flows")
CLASS = ("offered_per_s", "completed_per_s", "arrived_mbps", "fct_mean_s")
"""What is drawn of a port, of sizes and of a class; a page has more, in a menu."""
SIZE = (5.55, 2.6)
"""Width and height of a panel over the sizes of flows, in inches."""
TABLES = ("flows.parquet", "ports.parquet")


def drawn(folders: Folders, title: str, window: tuple[float, float]) -> Iterator[Drawn]:
    """Yield the pictures of runs whose tables are kept: file, title and parts of each.

    Args:
        folders: The runs of each control. All but the sizes of flows are those of its first run.
        title: What every title begins with.
        window: Warm-up and duration.
    """
    first = {label: runs[0] for label, runs in folders.items() if runs}
    if not all((run / name).exists() for run in first.values() for name in TABLES):
        return
    seed = ", ".join(dict.fromkeys(run.name.replace("-", " ") for run in first.values()))
    seed = f", {seed}" if len(first) > 1 else ""
    ports = of_runs.ports(folders)
    if ports is not None:
        for name, part in _split(ports, "port", _longest(ports), PORT):
            yield f"ports-{plain_name(name, 'other')}", f"{title}{seed}: port {name}", [part]
    flows = {label: of_runs.flows(run) for label, run in first.items()}
    classes = of_runs.classes(flows, first, window[1], "")
    if classes is not None:
        names = classes.table["class"].unique(maintain_order=True).to_list()
        for name, part in _split(classes, "class", names, CLASS):
            yield f"classes-{plain_name(name, 'other')}", f"{title}{seed}: class {name}", [part]
    sizes = of_runs.by_size(folders, window[0])
    if sizes is not None and sizes.table["size_bytes"].n_unique() > 1:
        shown = {field: sizes.y[field] for field in BY_SIZE}
        part = replace(sizes, y=shown, columns=2, size=SIZE)
        yield "by-size", f"{title}: by size of the flow", [part]


def followed(folder: Path, title: str) -> Iterator[Drawn]:
    """Yield the pictures of the series that a run has."""
    for picture in of_runs.followed({"": [folder]}):
        by = picture.split[-1]
        if picture.key == "acks":
            table, fields = overlaid(picture)
            yield picture.key, title, [replace(picture, table=table, y=fields, by=by, split=())]
            continue
        if picture.key == "capacity":
            for port, part in _beside(picture):
                yield f"{picture.key}-{plain_name(port, 'other')}", f"{title}: {port}", [part]
            continue
        if picture.split == (by,):
            yield picture.key, title, [replace(picture, by=by, split=())]
            continue
        busy = picture.table.filter(pl.col("queue_bytes").sum().over("port") > 0)
        for port in busy["port"].unique().sort().to_list():
            table = busy.filter(pl.col("port") == port)
            part = replace(picture, table=table, by=by, split=())
            yield f"{picture.key}-{plain_name(port, 'other')}", f"{title}: {port}", [part]


def _beside(picture: Picture) -> Iterator[tuple[str, Picture]]:
    """Yield each port with its fields as lines of one panel."""
    unit = {"mbps": "Mbit/s"}
    for port in picture.table["port"].unique(maintain_order=True).to_list():
        mine = picture.table.filter(pl.col("port") == port)
        table = pl.concat(
            mine.select("time_s", mbps=pl.col(field), line=pl.lit(text.partition(" [")[0]))
            for field, text in picture.y.items()
        )
        yield port, replace(picture, table=table, y=unit, by="line", split=(), size=(9.1, 3.0))


def _split(
    picture: Picture, key: str, names: Sequence[str], fields: Sequence[str]
) -> Iterator[tuple[str, Picture]]:
    """Yield a picture for each of these, with those of the columns in which anything happens."""
    for name in names:
        table = picture.table.filter(pl.col(key) == name)
        there = {
            field: picture.y[field]
            for field in fields
            if (table[field].fill_null(0.0) != 0.0).any()
        }
        if there:
            yield name, replace(picture, table=table, y=there, split=())


def _longest(ports: Picture) -> list[str]:
    """Return the ports with the longest queues; where none has one, the port used most."""
    means = ports.table.group_by("port", "control", maintain_order=True).agg(
        pl.col("queue_mean_packets").mean(), pl.col("utilisation").mean()
    )
    most = means.group_by("port", maintain_order=True).agg(pl.all().exclude("control").max())
    most = most.sort("queue_mean_packets", "utilisation", descending=True, maintain_order=True)
    waits = most.filter(pl.col("queue_mean_packets") >= 1.0)
    return (waits.head(PORTS) if waits.height else most.head(1))["port"].to_list()
