"""What is looked for in a world, and by how many limits a control is worse than others."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf, isnan, log
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.certify.conditions import Limit
from tidegate.certify.verdicts import UNKNOWN, judge
from tidegate.results.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BEYOND = 100.0
"""The distance, in limits, of what is undefined, such as the time of files that never arrive."""
FOUND = 1.0
"""From this distance on a world is a find."""


@dataclass(frozen=True)
class Objective:
    """A measure with its limit, as certificates have it, and the worlds that it is about."""

    limit: Limit
    of: str
    """The class or port that is measured."""
    part: str | None = None
    """The part that each of its worlds has."""
    without: tuple[str, ...] = ()
    """The parts that none of them has."""
    best: bool = False
    """Whether the best of the others counts, in place of the worst."""
    alone: bool = False
    """Whether nothing is compared with: the measure itself counts, in limits."""

    calm: bool = False
    """Whether a control is compared with itself in the same world without its parts."""

    @classmethod
    def read(cls, name: str, table: Mapping[str, Any]) -> Objective:
        """Read an objective."""
        mine = {each.name for each in fields(Limit)}
        limit = Limit(name, **{key: value for key, value in table.items() if key in mine})
        rest = {key: value for key, value in table.items() if key not in mine}
        return cls(limit, **{**rest, "without": tuple(rest.get("without", ()))})

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.limit.name

    @property
    def needed(self) -> tuple[str, ...]:
        """The parts that each of its worlds has."""
        return () if self.part is None else (self.part,)

    def score(self, own: float, others: Sequence[float]) -> float:
        """Return by how many limits a value is worse than those of others."""
        if self.alone:
            sign = -1.0 if self.limit.more_is_better else 1.0
            return BEYOND if isnan(own) else sign * own / self.limit.edge
        found = [self._distance(own, each) for each in others]
        return max(found) if self.best else min(found)

    def certain(self, own: Sequence[float], others: Mapping[str, Sequence[float]]) -> float:
        """Return by how many limits values are worse for certain, as certificates judge it."""
        sign = -1.0 if self.limit.more_is_better else 1.0
        if self.alone:
            low = interval([self.score(each, []) for each in own])["low"]
            return -BEYOND if low is None else low
        kept = {name: np.array(values) for name, values in others.items()}
        if self.best:
            harm = {name: sign * float(np.mean(values)) for name, values in kept.items()}
            best = min(harm, key=lambda name: inf if isnan(harm[name]) else harm[name])
            kept = {best: kept[best]}
        found = judge(self.limit, self.of, np.array(own), kept)
        if found.verdict == UNKNOWN:
            return -BEYOND
        return BEYOND if isnan(found.distance) else found.low

    def _distance(self, own: float, other: float) -> float:
        if isnan(own) or isnan(other):
            return BEYOND * (isnan(own) - isnan(other))
        sign = -1.0 if self.limit.more_is_better else 1.0
        if self.limit.points is not None:
            return sign * (own - other) / self.limit.edge
        floor = self.limit.floor
        return sign * (log(max(own, floor)) - log(max(other, floor))) / self.limit.edge


REFUSED = -inf
"""The score of a world that cannot be run."""
