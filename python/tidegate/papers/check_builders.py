"""The checks of most claims: a number, a ratio, an ordering."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.check import Check
from tidegate.papers.check_results import Numbers, Ordering, Part, Unchecked
from tidegate.papers.runs import paired

if TYPE_CHECKING:
    from tidegate.papers.check_results import CheckResult
    from tidegate.papers.runs import Floats, Measure, Runs


@dataclass(frozen=True)
class Value:
    """A measure of a case, in the unit of the claim."""

    case: str
    measure: Measure
    scale: float = 1.0

    @property
    def what(self) -> str:
        """The measure in words, and the case."""
        if isinstance(self.measure, str):
            return f"{self.measure} in {self.case}"
        text = (self.measure.__doc__ or "").partition("\n")[0]
        return f"{text.removeprefix('Return ').rstrip('.')} in {self.case}"

    def values(self, runs: Runs) -> Floats:
        """Return it, one value per seed."""
        return runs.values(self.case, self.measure) * self.scale


@dataclass(frozen=True)
class Greater:
    """The claim that `more` is greater than `less`.

    A margin of 0.02 makes it "not worse": `more` may be 2 % below `less`.
    """

    what: str
    more: Value
    less: Value
    margin: float = 0.0

    def part(self, runs: Runs) -> Part:
        """Return the paired differences."""
        more, less = self.more.values(runs), self.less.values(runs)
        means = f"{self.what} ({plain(more)} to {plain(less)})"
        return Part(means, paired(more, less * (1.0 - self.margin)))


def number(of: Value) -> Check:
    """Check a number."""
    return Check((of.case,), lambda runs: Numbers(tuple(of.values(runs))), f"Check {of.what}.")


def ratio(top: Value, bottom: Value) -> Check:
    """Check a ratio, computed per seed."""

    def find(runs: Runs) -> CheckResult:
        return Numbers(tuple(top.values(runs) / bottom.values(runs)))

    return Check((top.case, bottom.case), find, f"Check {top.what}, over {bottom.what}.")


def ordering(*parts: Greater | tuple[Greater, ...], note: str = "") -> Check:
    """Check that every part holds; those of `close` come in pairs."""
    sides = [side for each in parts for side in (each if isinstance(each, tuple) else (each,))]
    cases = dict.fromkeys(of.case for side in sides for of in (side.more, side.less))
    return Check(
        tuple(cases),
        lambda runs: Ordering(tuple(side.part(runs) for side in sides), note),
        f"Check that {'; '.join(side.what for side in sides)}.",
    )


def descending(what: str, *chain: tuple[str, Value], note: str = "") -> Check:
    """Check that each value is greater than the next."""
    sides = [
        Greater(f"{what}: {high} > {low}", more, less)
        for (high, more), (low, less) in pairwise(chain)
    ]
    return ordering(*sides, note=note)


def between(
    what: str, case: str, more: str, less: str, measure: Measure, margin: float = 0.0
) -> Greater:
    """Return the claim that one case has more than another; `{}` in `case` is what differs."""
    return Greater(
        what, Value(case.format(more), measure), Value(case.format(less), measure), margin
    )


def close(
    what: str, case: str, one: str, other: str, measure: Measure, within: float
) -> tuple[Greater, ...]:
    """Return the two parts of "about equal": neither is more than `within` above the other."""
    what = f"{what} within {100 * within:.0f} %"
    return (
        between(f"{what}, below", case, one, other, measure, within),
        between(f"{what}, above", case, other, one, measure, within),
    )


def unchecked(reason: str) -> Check:
    """Return the check of a claim that cannot be checked, with the reason."""
    return Check((), lambda _: Unchecked(reason), f"Say why it is not checked: {reason}")


def plain(values: Floats) -> str:
    """Return the mean over the seeds with three digits."""
    return f"{float(np.mean(values)):.3g}"
