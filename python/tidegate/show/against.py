"""Real hosts beside simulated ones, as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from tidegate.results.digits import significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidegate.hosts.against import ComparedMeasure


def value(found: Mapping[str, float | None]) -> str:
    """Return a mean with half of its 95 % interval, if there is one."""
    mean, high = found["mean"], found["high"]
    if mean is None:
        return ""
    shown = significant(mean, 4)
    return shown if high is None else f"{shown} ± {significant(high - mean, 2)}"


def difference(row: ComparedMeasure) -> str:
    """Return how much more the simulated hosts have."""
    return "" if row.difference is None else f"{100 * row.difference:+.1f} %"


def table(title: str, kernel: str, rows: Iterable[ComparedMeasure]) -> Table:
    """Return the measures of each class side by side."""
    made = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("", "measure"):
        made.add_column(head)
    for head in (kernel, "simulated", "simulated, more"):
        made.add_column(head, justify="right")
    group = None
    for row in rows:
        name = "" if row.group == group else row.group
        group = row.group
        cells = (name, row.label, value(row.real), value(row.simulated), difference(row))
        made.add_row(*(Text(cell) for cell in cells))
    return made
