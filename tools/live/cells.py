"""Every measure of every cell of the matrix, as last measured: measured/cells.csv."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.results.csv_text import csv_text
from tools.live.matrix import COLUMNS, mean, text, whole
from tools.live.pages import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tools.live.matrix import Rows

FILE = Path(__file__).parent / "measured" / "cells.csv"
OWN_CLOCK = "7.2"
"""The kernel whose cells measured/matrix.jsonl has."""


@dataclass(frozen=True)
class Line:
    """A cell: what it is, and the means over its runs as pages show them."""

    kernel: str
    queue: str
    load: str
    control: str
    runs: str
    done: str
    least: str
    most: str
    page_s: str
    served: str
    wait_mean_s: str
    wait_most_s: str
    wasted: str
    half_open_most: str


def read(file: Path = FILE) -> list[Line]:
    """Return the cells."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [Line(**row) for row in csv.DictReader(lines)]


def written(lines: Iterable[Line]) -> str:
    """Return the file."""
    names = [field.name for field in fields(Line)]
    return csv_text(names, (asdict(line).values() for line in lines))


def renewed(lines: Iterable[Line], found: Rows) -> Iterator[Line]:
    """Yield the cells with what was measured anew; those of another kernel stay."""
    for line in lines:
        rows = found.get(whole(Cell(line.queue, line.control, line.load)), [])
        if line.kernel != OWN_CLOCK or not rows:
            yield line
            continue
        values = {
            name: text(by * mean(rows, name), form) for name, (_, by, form) in COLUMNS.items()
        }
        done = [row["done"] for row in rows]
        ends = {"least": str(min(done)), "most": str(max(done))}
        yield replace(line, runs=str(len(rows)), **values, **ends)


def table(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the table of one queue in one kernel, as Markdown."""
    ends = any(line.least for line in lines)
    heads = [head for head, _, _ in COLUMNS.values()]
    head = ["load", "control", "runs", heads[0], *(["least to most"] if ends else []), *heads[1:]]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for line in lines:
        values = [getattr(line, name) for name in COLUMNS]
        if ends:
            values.insert(1, f"{line.least} to {line.most}")
        yield f"| {' | '.join([line.load, line.control, line.runs, *values])} |"
