"""Better than, like or worse than the standard controls: how a measure is judged.

A control is worse if it does more harm than the worst of the standard controls, and better if it
does less than the best of them; each by more than the limit, with 95 % confidence over the seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, log, nan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.results.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tidegate.certify.conditions import Limit

    Floats = NDArray[np.float64]

BETTER, LIKE, WORSE, UNKNOWN = "better", "like", "worse", "not known"


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
    distance: float
    """How much worse than that reference, as a ratio or in points; below 1 or 0: better."""
    low: float
    high: float
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

    best, worst = min(references, key=harm), max(references, key=harm)
    kept = {name: tuple(map(float, found)) for name, found in references.items()}
    own = tuple(map(float, values))
    if any(map(isnan, kept[worst])):
        return Measured(limit, of, own, kept, UNKNOWN, worst, nan, nan, nan)
    if any(map(isnan, own)):
        return Measured(limit, of, own, kept, WORSE, worst, nan, nan, nan)
    for verdict, name in ((WORSE, worst), (BETTER, best)):
        distance, low, high = _distance(limit, sign, values, references[name])
        edge = limit.points if limit.points is not None else log(limit.ratio or 1.0)
        if (verdict == WORSE and low > edge) or (verdict == BETTER and high < -edge):
            return Measured(
                limit, of, own, kept, verdict, name, *_shown(limit, distance, low, high)
            )
    distance, low, high = _distance(limit, sign, values, references[worst])
    return Measured(limit, of, own, kept, LIKE, worst, *_shown(limit, distance, low, high))


def _distance(
    limit: Limit, sign: float, values: Floats, reference: Floats
) -> tuple[float, float, float]:
    """Return the mean distance, seed by seed, and its interval; above 0: worse."""
    if limit.points is None:
        raised = (np.maximum(each, limit.floor) for each in (values, reference))
        each = sign * np.log(np.divide(*raised))
    else:
        each = sign * (values - reference)
    found = interval(map(float, each))
    low, high = found["low"], found["high"]
    # one run has no interval: it shows no difference
    return (
        float(np.mean(each)),
        -inf if low is None else low,
        inf if high is None else high,
    )


def _shown(limit: Limit, *distances: float) -> tuple[float, ...]:
    if limit.points is not None:
        return distances
    return tuple(float(np.exp(each)) for each in distances)


def overall(measured: list[Measured]) -> str:
    """Return the verdict of a condition: worse if any measure is, else better if any is."""
    found = {each.verdict for each in measured}
    return next(each for each in (WORSE, UNKNOWN, BETTER, LIKE) if each in found)
