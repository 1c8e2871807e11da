"""The verdicts of published reports, as their `verdicts.csv` has them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.papers.verdicts import CHOSEN_ON, DERIVED, FIFTH, SET_UP, group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

NUMBERS = ("exact-number", "approx-number", "ratio")


@dataclass(frozen=True)
class Line:
    """One line of a `verdicts.csv`."""

    id: str
    kind: str
    paper: str
    measured: str
    verdict: str
    as_taken: str
    chosen_on: bool
    near: str
    shown: str
    """What was measured, with its standard deviation or interval."""
    reason: str
    """Why the rule gives this verdict."""

    @property
    def pair(self) -> tuple[float, float] | None:
        """The printed number and the measured one; None if it is no pair of positive numbers."""
        try:
            both = float(self.paper), float(self.measured)
        except ValueError:
            return None
        shown = bool(self.near) or self.chosen_on
        return both if shown and self.kind in NUMBERS and min(both) > 0 else None


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of one paper."""

    key: str
    title: str
    lines: tuple[Line, ...]

    def count(self, verdict: str) -> int:
        """Return how many claims have a verdict; those that predict nothing apart."""
        return sum(each.verdict == verdict for each in self.lines if not self._apart(each))

    @staticmethod
    def _apart(each: Line) -> bool:
        return group(each.kind, each.chosen_on) in (DERIVED, CHOSEN_ON, SET_UP)

    @property
    def predictions(self) -> list[Line]:
        """The numbers that the paper prints and on which nothing was chosen."""
        return [each for each in self.lines if each.near]

    @property
    def near(self) -> int:
        """How many of them are within a fifth."""
        return sum(each.near == "yes" for each in self.predictions)

    @property
    def chosen(self) -> list[tuple[float, float]]:
        """The printed and the measured numbers on which a setting was chosen."""
        return [each.pair for each in self.lines if each.chosen_on and each.pair]

    @property
    def near_chosen(self) -> int:
        """How many of these are within a fifth."""
        return sum(abs(found - said) <= FIFTH * said for said, found in self.chosen)


def read(folder: Path, keys: Sequence[str]) -> list[Verdicts]:
    """Return the verdicts of the papers that have a report in a folder."""
    from tidegate import papers

    found = []
    for key in keys:
        path = folder / key / "verdicts.csv"
        if not path.is_file():
            continue
        lines = tuple(of_text(path.read_text(encoding="utf-8")))
        found.append(Verdicts(key, papers.title(key), lines))
    return found


def of_text(text: str) -> Iterator[Line]:
    """Yield the lines of a `verdicts.csv`."""
    for row in csv.DictReader(io.StringIO(text)):
        yield Line(
            row["id"],
            row["kind"],
            row["paper"],
            row["measured"],
            row["verdict"],
            row["as_taken"],
            bool(row["chosen_on"]),
            row["near"],
            row["shown"],
            row["reason"],
        )
