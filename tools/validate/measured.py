"""The rows of every table, as they were last measured: measured.csv, which `--write` renews."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.results.csv_text import csv_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILE = Path(__file__).with_suffix(".csv")

ALONE = "one flow on an idle link, seconds from its first SYN to its close"
"""What a table of single flows is about."""


@dataclass(frozen=True)
class Line:
    """One measure of one case, as the tables show it."""

    case: str
    measure: str
    seeds: str
    tidegate: str
    """Mean and standard deviation over the seeds."""
    other: str
    """The same of the other simulator."""
    difference: str
    accepted: str
    verdict: str
    unchanged: str = ""
    """What the other simulator gives without corrections; empty where it has none."""


def read(path: Path = FILE) -> list[Line]:
    """Return the rows that were measured."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Line(**row) for row in csv.DictReader(file)]


def renew(path: Path, measured: Iterable[Line], order: Sequence[str]) -> None:
    """Replace the rows of the cases that were measured; `order` has the names of all cases."""
    new = list(measured)
    ran = {line.case for line in new}
    kept = [line for line in read(path) if line.case not in ran and line.case in order]
    every = sorted([*kept, *new], key=lambda line: order.index(line.case))
    names = [field.name for field in fields(Line)]
    path.write_text(csv_text(names, (asdict(line).values() for line in every)), encoding="utf-8")
