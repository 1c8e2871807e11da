"""What a picture shows, as data: `pictures`, `terminal` and `page` draw the same description."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from tidegate.show.style import PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.show.measures import Row


class Label(NamedTuple):
    """A text at the right of a panel, at the height `y`; with `x`, a dot marks the point."""

    panel: str
    series: str
    text: str
    y: float
    x: float | None = None


class Series(NamedTuple):
    """The points of one series, from left to right; `number` chooses its colour and stroke."""

    number: int
    name: str
    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]
    interval: bool

    @property
    def value(self) -> dict[str, float | None] | None:
        """The mean of its only point, with the interval if there is one."""
        if not self.y:
            return None
        ends = (self.low[0], self.high[0]) if self.interval else (None, None)
        return {"mean": self.y[0], "low": ends[0], "high": ends[1]}


class Panel(NamedTuple):
    """One part of a picture: a title with the unit, and its series."""

    title: str
    series: list[Series]
    labels: list[Label]


@dataclass(frozen=True)
class Picture:
    """One picture: a table with a row for each point, and which columns are drawn how.

    `x` and `y` are columns with their titles, units in brackets. Each column
    of `y` is a panel, or an entry of a menu; where `FIELD low` and `FIELD
    high` are columns too, they are its interval. Without `x` the series stand
    below each other. `by` is the column that distinguishes series; every value
    of the columns `split` has a panel, or an entry of a menu, of its own.
    """

    key: str
    title: str
    table: pl.DataFrame
    x: Mapping[str, str]
    y: Mapping[str, str]
    by: str = "control"
    split: tuple[str, ...] = ()
    note: str = ""
    mark: Literal["line", "interval", "stack", "point"] = "line"
    log: tuple[str, ...] = ()
    """The axes, of "x" and "y", that are logarithmic."""
    first: str = "completed_per_s"
    """What a menu of `y` shows first."""
    labels: tuple[Label, ...] = ()
    tips: Mapping[str, str] = field(default_factory=dict)
    """Further columns that a page shows where it is pointed at."""
    hues: tuple[str, ...] = PALETTE
    warmup_s: float = 0.0
    """The end of the warm-up, on an axis of time."""
    top: float | None = None
    """The upper end of the vertical axis, where the highest value is not it."""
    fixed: str = ""
    """The settings that all series of a sweep share."""
    columns: int = 1
    size: tuple[float, float] = (9.1, 1.7)
    """Width and height of a panel of a PNG, in inches."""

    @property
    def names(self) -> list[str]:
        """The series, in the order of the table."""
        return list(dict.fromkeys(self.table[self.by].to_list()))

    def panels(self) -> list[Panel]:
        """Return a panel for each value of `split`, or for each column of `y`."""
        parts = {"": self.table}
        if self.split:
            split = self.table.group_by(self.split[0], maintain_order=True)
            parts = {str(key[0]): rows for key, rows in split}
        return [
            Panel(
                part or title,
                [self._series(rows, number, name, y) for number, name in enumerate(self.names)],
                [label for label in self.labels if label.panel == (part or y)],
            )
            for part, rows in parts.items()
            for y, title in self.y.items()
        ]

    def _series(self, rows: pl.DataFrame, number: int, name: str, y: str) -> Series:
        mine = rows.filter((pl.col(self.by) == name) & pl.col(y).is_not_null())
        ends = [f"{y} low", f"{y} high"] if f"{y} low" in mine.columns else [y, y]
        low, high = (mine[end].fill_null(mine[y]).to_list() for end in ends)
        x = [each for field in self.x for each in mine[field]]
        known = ends[0] != y and mine[ends[0]].null_count() == 0
        return Series(number, name, x, mine[y].to_list(), low, high, known)


def scaled(row: Mapping[str, Any], measures: Sequence[Row]) -> dict[str, float | None]:
    """Return mean and interval of each measure in the unit of its title, as columns."""
    found: dict[str, float | None] = {}
    for each in measures:
        value = row.get(each.metric)
        for end, suffix in (("mean", ""), ("low", " low"), ("high", " high")):
            known = value[end] if isinstance(value, dict) else value
            found[each.metric + suffix] = None if known is None else known * each.scale
    return found


def frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a table; numbers are floats, also in columns without any."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.cast({pl.Null: pl.Float64, pl.Int64: pl.Float64})
