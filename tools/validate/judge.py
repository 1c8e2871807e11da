"""When two simulators agree, and explanations of where they do not."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.validate.measure import Measures

SHARE = 0.05
"""A difference is accepted up to this share of the other simulator's value ..."""

ERRORS = 3.0
"""... or up to this many standard errors of the mean difference, whichever is larger."""


@dataclass(frozen=True)
class Explanation:
    """Why a measure of a case differs, and by how much at most for this reason."""

    case: str
    measure: str
    at_most: float
    """The largest share of the other simulator's value that the reason accounts for."""
    why: str


class Verdict(Enum):
    """The verdict on a row."""

    AGREES = "agrees"
    EXPLAINED = "explained"
    DIFFERS = "DIFFERS"


@dataclass(frozen=True)
class Row:
    """One measure of one case in both, a value for each seed."""

    measure: str
    mine: tuple[float, ...]
    theirs: tuple[float, ...]
    explanation: Explanation | None = None

    @property
    def scale(self) -> float:
        """What a share refers to: the mean of the other simulator."""
        return abs(statistics.fmean(self.theirs))

    @property
    def differences(self) -> list[float]:
        """The difference of each seed: both run the same flows."""
        return [one - two for one, two in zip(self.mine, self.theirs, strict=True)]

    @property
    def difference(self) -> float:
        """The mean difference."""
        return statistics.fmean(self.differences)

    @property
    def allowed(self) -> float:
        """How large the mean difference may be."""
        error = spread(self.differences) / math.sqrt(len(self.mine))
        return max(SHARE * self.scale, ERRORS * error)

    @property
    def verdict(self) -> Verdict:
        """Whether they agree, and if not, whether it is explained. NaN differs."""
        if abs(self.difference) <= self.allowed:
            return Verdict.AGREES
        known = self.explanation
        if known is not None and abs(self.difference) <= known.at_most * self.scale:
            return Verdict.EXPLAINED
        return Verdict.DIFFERS


def spread(values: Iterable[float]) -> float:
    """Return the standard deviation over seeds, zero of a single one."""
    known = list(values)
    return statistics.stdev(known) if len(known) > 1 else 0.0


def rows(
    case: str,
    measures: Iterable[str],
    pairs: Iterable[tuple[Measures, Measures]],
    explanations: Iterable[Explanation],
) -> list[Row]:
    """Put the runs of one case side by side, a row for each measure."""
    mine, theirs = zip(*pairs, strict=True)
    known = {one.measure: one for one in explanations if one.case == case}
    return [
        Row(
            name,
            tuple(run[name] for run in mine),
            tuple(run[name] for run in theirs),
            known.get(name),
        )
        for name in measures
    ]
