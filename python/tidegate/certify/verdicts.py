"""Better than, like or worse than the standard controls: how a measure is judged.

A control is worse if it does more harm than the worst of the standard controls, and better if it
does less than the best of them; each by more than the limit, with 95 % confidence over the seeds.
It is like them if it is certain that it is not worse, and otherwise the seeds do not settle it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.results.statistics import interval, side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tidegate.certify.conditions import Limit

    Floats = NDArray[np.float64]

BETTER, LIKE, WORSE = "better", "like", "worse"
UNSETTLED = "not settled"
"""The interval over the seeds reaches beyond the limit: more seeds tell whether it is worse."""
UNKNOWN = "not known"
"""What it is compared with has no value."""


@dataclass(frozen=True)
class Measured:
    """A measure of one condition: the control's values, the references', and the verdict."""

    limit: Limit
    of: str
    values: tuple[float, ...]
    """One per seed."""
    references: dict[str, tuple[float, ...]]
    verdict: str
    against: str
    """The reference that decides: the worst, or the best where the control is better."""
    distance: float = nan
    """How much worse than that reference, in limits; below 0: better."""
    low: float = nan
    high: float = nan
    """The ends of its 95 % interval."""

    @property
    def mean(self) -> float:
        """The mean of the control's values."""
        return float(np.mean(self.values))

    @property
    def half(self) -> float:
        """Half the length of the 95 % interval of the mean; NaN where there is none."""
        high = None if any(map(isnan, self.values)) else interval(self.values)["high"]
        return nan if high is None else high - self.mean


def judge(limit: Limit, of: str, values: Floats, references: Mapping[str, Floats]) -> Measured:
    """Judge the values of a control, one per seed, by those of each reference.

    A value that is undefined, as the completion time of flows that do not complete, is worse than
    any that is defined. Where the worst reference has none, there is no verdict.
    """
    sign = -1.0 if limit.more_is_better else 1.0

    def harm(name: str) -> float:
        mean = float(np.mean(references[name]))
        return inf if isnan(mean) else sign * mean

    def distance(name: str) -> dict[str, float | None]:
        """Return the mean distance, seed by seed, and its interval; above 0: worse."""
        own, other = values, references[name]
        if limit.points is None:
            own, other = (np.log(np.maximum(each, limit.floor)) for each in (own, other))
        return interval(map(float, sign * (own - other) / limit.edge))

    best, worst = min(references, key=harm), max(references, key=harm)
    kept = {name: tuple(map(float, found)) for name, found in references.items()}
    measured = partial(Measured, limit, of, tuple(map(float, values)), kept)
    if any(map(isnan, kept[worst])):
        return measured(UNKNOWN, worst)
    if any(map(isnan, values)):
        return measured(WORSE, worst)
    to_worst, to_best = distance(worst), distance(best)
    if side(to_worst, 1.0) <= 0 and side(to_best, 1.0) < 0:
        return measured(BETTER, best, *_ends(to_best))
    if side(to_worst, 1.0) > 0:
        return measured(WORSE, worst, *_ends(to_worst))
    high = to_worst["high"]
    within = high is not None and high <= 1.0
    return measured(LIKE if within else UNSETTLED, worst, *_ends(to_worst))


def _ends(found: dict[str, float | None]) -> tuple[float, ...]:
    # one run has no interval: it shows no difference
    rest = {"mean": nan, "low": -inf, "high": inf}
    return tuple(each if (each := found[key]) is not None else rest[key] for key in rest)


def overall(measured: list[Measured]) -> str:
    """Return the verdict of a condition: worse if any measure is, else better if any is.

    It is like what it is compared with only if all measures are.
    """
    found = {each.verdict for each in measured}
    return next(each for each in (WORSE, UNKNOWN, BETTER, UNSETTLED, LIKE) if each in found)
