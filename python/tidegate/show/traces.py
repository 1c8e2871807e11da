"""The state of single senders at every acknowledgement, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tidegate.results.location import readable
from tidegate.show.picture import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

INSTANTS = 1500
"""The most points of a line; of those that are nearer together the last is drawn."""
FIELDS = {
    "cwnd_packets": "congestion window [packets]",
    "ssthresh_packets": "slow-start threshold [packets]",
    "flight_kb": "in flight [kB]",
    "srtt_ms": "smoothed round trip [ms]",
}
THRESHOLD = " ssthresh"


def acks(folders: Mapping[str, Path], note: str = "") -> Picture | None:
    """Return the senders of traced flows over time, of one run of each control."""
    parts = [
        table.with_columns(control=pl.lit(label))
        for label, folder in folders.items()
        if (table := _acks(folder)).height
    ]
    if not parts:
        return None
    table = pl.concat(parts)
    there = {field: title for field, title in FIELDS.items() if table[field].count()}
    note = (note + " One point for an acknowledgement; where many are close, the last.").strip()
    title = "Senders at every acknowledgement"
    time = {"time_s": "time [s]"}
    return Picture("acks", title, table, time, there, split=("flow",), note=note, first="")


def _acks(folder: Path) -> pl.DataFrame:
    path = folder / "acks.parquet"
    if not path.exists():
        return pl.DataFrame()
    table = pl.read_parquet(readable(path), glob=False)
    number = pl.concat_str(pl.col("class").cast(pl.String), pl.lit(":"), pl.col("number"))
    step = max(float(table["time_s"].max() or 0.0) / INSTANTS, 1e-12)  # type: ignore[arg-type]
    return (
        table.with_columns(
            flow=number,
            flight_kb=pl.col("flight_bytes") * 1e-3,
            srtt_ms=pl.col("srtt_s") * 1e3,
            bin=(pl.col("time_s") / step).floor(),
        )
        .group_by("flow", "bin", maintain_order=True)
        .last()
        .select("flow", "time_s", *FIELDS)
    )


def overlaid(picture: Picture) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return table and panels with the threshold of each flow as a line beside its window."""
    name, title = next(iter(FIELDS.items()))
    fields = {field: text for field, text in picture.y.items() if field != "ssthresh_packets"}
    if "ssthresh_packets" not in picture.y:
        return picture.table, fields
    threshold = picture.table.filter(pl.col("ssthresh_packets").is_not_null()).select(
        pl.col("flow") + THRESHOLD, "time_s", pl.col("ssthresh_packets").alias(name)
    )
    table = pl.concat([picture.table, threshold], how="diagonal")
    return table, fields | {name: title.replace("window", "window, threshold")}
