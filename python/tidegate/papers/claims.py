"""The claims of a paper: every number and statement that is checked."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SETUP_KINDS = ("setup", "arithmetic", "identity")
"""Kinds of claims that are not about behaviour; they are counted separately."""
KINDS = (*SETUP_KINDS, "exact-number", "approx-number", "ratio", "derived", "ordering")
COLUMNS = ("id", "where", "scenario", "metric", "unit", "value", "kind", "note", "number")
CHECKED = ("of", "measure", "check", "margin")
"""Columns that say how a claim is checked (`row_check.py`); the columns above are the paper's."""


@dataclass(frozen=True)
class Claim:
    """One number or statement of a paper, as its `claims.csv` has it."""

    id: str
    where: str
    scenario: str
    metric: str
    unit: str
    value: str
    kind: str
    note: str = ""
    number_or_range: str = ""
    """The number, or the range `low..high`, `low..` or `..high`, that a text in `value` has."""
    of: str = ""
    measure: str = ""
    check: str = ""
    margin: str = ""

    @property
    def expected(self) -> float | tuple[float, float] | None:
        """What a measured number is compared with: a number, or the two ends of a range."""
        if not self.number_or_range:
            return self.number
        low, dots, high = self.number_or_range.partition("..")
        return (float(low or "-inf"), float(high or "inf")) if dots else float(low)

    @property
    def within(self) -> float:
        """The share by which the greater side of a comparison may be less."""
        return float(self.margin or 0.0)

    @property
    def number(self) -> float | None:
        """The number that the paper gives, if it is one and nothing else (`~17` is)."""
        found = re.fullmatch(r"\s*[~≈]?\s*(-?\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*%?\s*", self.value)
        return float(found[1]) if found else None

    @property
    def counted_in(self) -> str:
        """The unit of what is measured: 1 for a plain number, empty for a text."""
        if self.unit not in ("", "-"):
            return self.unit
        if self.kind == "ordering":
            return "difference"
        return "1" if self.expected is not None else ""

    @property
    def short(self) -> str:
        """Its id without the key of the paper."""
        return self.id.partition(".")[2]


def read(text: str) -> list[Claim]:
    """Read a `claims.csv`; ValueError says what is wrong with it."""
    claims = [
        Claim(*((row.get(name) or "").strip() for name in COLUMNS + CHECKED))
        for row in csv.DictReader(io.StringIO(text))
    ]
    for claim in claims:
        if claim.kind not in KINDS:
            raise ValueError(f"{claim.id}: there is no kind of claim {claim.kind}")
    ids = [claim.id for claim in claims]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        raise ValueError(f"ids that stand twice: {', '.join(sorted(twice))}")
    return claims


def matches(pattern: str, name: str) -> bool:
    """Tell whether a pattern names a claim: its id, the beginning of it, or with `*`.

    `table1`, `table1.admit65`, `session.table1.*.fct` and so on; the key of
    the paper may be left out.
    """
    short = name.partition(".")[2]
    return any(
        each == pattern or each.startswith(f"{pattern}.") or fnmatchcase(each, pattern)
        for each in (name, short)
    )


def chosen(claims: Sequence[Claim], patterns: Iterable[str]) -> list[Claim]:
    """Return the claims that fit a pattern, all without patterns.

    Raises UsageError for a pattern that fits no claim.
    """
    wanted = list(patterns)
    for pattern in wanted:
        if not any(matches(pattern, claim.id) for claim in claims):
            groups = dict.fromkeys(claim.short.partition(".")[0] for claim in claims)
            near = get_close_matches(pattern, [*groups, *(claim.short for claim in claims)], 3, 0.5)
            raise UsageError(
                f"No claim is called {pattern or repr(pattern)}.",
                f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(groups)}.",
            )
    if not wanted:
        return list(claims)
    return [claim for claim in claims if any(matches(each, claim.id) for each in wanted)]
