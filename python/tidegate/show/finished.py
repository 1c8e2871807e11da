"""The table and the files of a finished comparison or sweep."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.grid.axes import numbers
from tidegate.results.store import parquet, write_whole
from tidegate.show.measures import blocks_of
from tidegate.show.tables import of_comparison, of_sweep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, RenderableType

    from tidegate.grid.grid_result import GridResult


def table(done: GridResult) -> RenderableType:
    """Return mean and interval of each setting, for a terminal."""
    return of_comparison(done) if done.subject.command == "compare" else of_sweep(done)


def show(console: Console, done: GridResult, *, terminal: bool) -> None:
    """Print the table and, with `terminal`, the main figure below it."""
    console.print(table(done))
    if terminal:
        from tidegate.show.terminal import of_grid

        console.print(of_grid(done))


def lines(done: GridResult) -> str:
    """Return the table as CSV in long format: a line per setting and metric.

    The metrics are those that were chosen, or those of the tables of
    `compare`; the others are in `frame`.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*done.subject.axes, "metric", "seeds", "mean", "low", "high"])
    blocks = blocks_of(done.subject.port, done.subject.classes, done.averages)
    chosen = done.metrics or [row.metric for block in blocks for row in block.rows]
    seeds = Counter(tuple(row["settings"].values()) for row in done.rows)
    for row in done.averages:
        says = tuple(row["settings"].values())
        for name in chosen:
            value = row.get(name) or {"mean": None, "low": None, "high": None}
            writer.writerow([*says, name, seeds[says], *value.values()])
    return text.getvalue()


def files(done: GridResult, *, plots: bool = True) -> dict[str, bytes]:
    """Return table, data and, with `plots`, pictures: the same runs give the same bytes."""
    found = {
        "table.csv": lines(done).encode(),
        f"{done.subject.command}.parquet": parquet(done.frame),
        "summary.json": (json.dumps(done.document(), allow_nan=False) + "\n").encode(),
    }
    axes = done.subject.axes.values()
    if plots and (done.subject.command == "compare" or any(numbers(values) for values in axes)):
        found |= drawn(done)
    return found


def drawn(done: GridResult) -> dict[str, bytes]:
    """Return its pictures, as PNG and SVG."""
    from tidegate.show.pictures import pictures

    return pictures(done)


def plot(done: GridResult, folder: str | Path | None = None) -> list[Path]:
    """Draw the pictures and return their paths.

    Without a folder they go where the results are, or into `pictures`.
    """
    return kept(drawn(done), Path(folder or done.folder or "pictures"))


def kept(pictures: Mapping[str, bytes], place: Path) -> list[Path]:
    """Write pictures into a folder and return their paths."""
    paths = []
    for name, content in pictures.items():
        write_whole(place / name, content)
        paths.append(place / name)
    return paths
