"""The table and the files of a finished comparison or sweep."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from tidegate.grid.axes import named, numbers
from tidegate.results.csv_text import csv_text
from tidegate.results.location import location
from tidegate.results.store import parquet, write_whole
from tidegate.show import latex
from tidegate.show.look import Look
from tidegate.show.measures import blocks_of
from tidegate.show.tables import of_comparison, of_sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.tables import Shown

    Value = Mapping[str, float | None] | None


def table(done: GridResult, *, every: bool = True) -> Shown:
    """Return mean and interval of each setting, for a terminal.

    Without `every` a scenario with guests has what people feel alone.
    """
    if done.subject.command == "compare":
        return of_comparison(done, every=every)
    return of_sweep(done, every=every)


def show(console: Console, done: GridResult, *, terminal: bool, every: bool = True) -> None:
    """Print the table and, with `terminal`, the main figure below it."""
    console.print(table(done, every=every))
    if terminal:
        from tidegate.show.terminal import of_grid

        console.print(of_grid(done))


def lines(done: GridResult) -> str:
    """Return the table as CSV in long format: a line per setting and metric.

    The metrics are those that were chosen, or those of the tables of
    `compare`; the others are in `frame`.
    """
    seeds = Counter(tuple(row["settings"].values()) for row in done.rows)
    rows = []
    for row in done.averages:
        says = tuple(row["settings"].values())
        rows += [([*says, name, seeds[says]], row.get(name)) for name in _metrics(done)]
    return _csv([*done.subject.axes, "metric", "seeds"], rows)


def differences(done: GridResult) -> str:
    """Return as CSV what each setting has more than the one it is held against.

    A line per setting and metric: the setting, what it is held against, whether
    runs of one seed met the same flows and are subtracted seed by seed
    (`paired`), mean and 95 % interval.
    """
    axes = list(done.subject.axes)
    rows = []
    for each in done.contrasts:
        against = named(each.against), "yes" if each.paired else "no"
        says = [*map(each.settings.get, axes), *against]
        rows += [([*says, name], each.metrics.get(name)) for name in _metrics(done)]
    return _csv([*axes, "against", "paired", "metric"], rows)


def _metrics(done: GridResult) -> Sequence[str]:
    """Return the metrics that were chosen, or those of the tables."""
    blocks = blocks_of(done.subject.port, done.subject.classes, done.averages)
    return done.metrics or [row.metric for block in blocks for row in block.rows]


def _csv(head: Sequence[str], rows: Iterable[tuple[Sequence[object], Value]]) -> str:
    """Return lines with mean and interval at their ends; empty cells: there is no value."""
    lines = ([*cells, *(value.values() if value else ("", "", ""))] for cells, value in rows)
    return csv_text([*head, "mean", "low", "high"], lines)


def files(done: GridResult, *, plots: bool = True, look: Look | None = None) -> dict[str, bytes]:
    """Return table, data and, with `plots`, pictures: the same runs give the same bytes."""
    found = {
        "table.csv": lines(done).encode(),
        "table.tex": latex.table(done).encode(),
        "differences.csv": differences(done).encode(),
        f"{done.subject.command}.parquet": parquet(done.frame),
        "summary.json": (json.dumps(done.document(), allow_nan=False) + "\n").encode(),
    }
    axes = done.subject.axes.values()
    if plots and (done.subject.command == "compare" or any(numbers(values) for values in axes)):
        found |= drawn(done, look)
    return found


def drawn(done: GridResult, look: Look | None = None) -> dict[str, bytes]:
    """Return its pictures, by default as PNG and SVG."""
    from tidegate.show.pictures import pictures

    return pictures(done, look or Look())


def plot(
    done: GridResult, folder: str | Path | None = None, look: Look | None = None
) -> list[Path]:
    """Draw the pictures and return their paths.

    Without a folder they go where the results are, or into `pictures`.
    """
    return saved(drawn(done, look), location(folder or done.folder or "pictures"))


def saved(pictures: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write pictures into a folder and return their paths."""
    paths = []
    for name, content in pictures.items():
        write_whole(folder / name, content)
        paths.append(folder / name)
    return paths
