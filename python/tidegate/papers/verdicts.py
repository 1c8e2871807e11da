"""The rules of verdicts, the same for all papers.

- A number is met within 20 % of the paper's, a ratio within 25 %; "at least so much" and
  "under so much" have no tolerance. The 95 % interval of the mean over the seeds (Student's t)
  decides: inside of the limits it is met, outside of them not met. Where it crosses a limit
  the number is unresolved, on whichever side the mean is: noise decides nothing.
- An ordering is met when the 95 % interval of the paired difference over the
  seeds lies on the claimed side (Student's t), not met when it lies on the
  other, unresolved when it contains zero. Every part must be met.
- A set-up row is met when it is exactly equal. An identity follows from how the
  experiment is made, so that no simulation of it could fail: it is held to its number or
  ordering as others are, and counted with the set-up.
- A derived row is a quotient of numbers that have rows of their own: it is judged as a
  ratio, and counted apart.
- Runs that are all the same count as one: there is no interval, the sign decides.
- A claim that another value of a guess would turn from met to not met, or from not
  met to met, `depends on a guess`.
- A claim is `contradicted` where the paper says otherwise elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isclose
from typing import TYPE_CHECKING

import numpy as np

from tidegate.errors import UsageError
from tidegate.papers.check_results import CheckResult, Exact, Numbers, Ordering, Unchecked
from tidegate.papers.claims import SETUP_KINDS
from tidegate.papers.deviations import ClaimContext
from tidegate.results.statistics import interval, side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.claims import Claim

MET, NOT_MET, UNRESOLVED = "met", "not met", "unresolved"
DEPENDS, CONTRADICTED, UNCHECKED = "depends on a guess", "contradicted", "cannot be checked"
VERDICTS = (MET, DEPENDS, UNRESOLVED, NOT_MET, CONTRADICTED, UNCHECKED)
WITHIN = {"exact-number": 0.20, "approx-number": 0.20, "ratio": 0.25, "derived": 0.25}
"""A number that the paper rounds is held to what any other number is: rounding is no licence."""
FIFTH = 0.20
"""How near a number has to be to be counted as near, whatever its kind."""


@dataclass(frozen=True)
class ClaimResult:
    """A claim with what was measured, its verdict and the reason.

    For an ordering, `measured`, `low` and `high` are the paired difference of the
    deciding part and its 95 % interval; `parts` has all parts. `reason` is why
    the rule gives its verdict, `explanation` why the paper may have a different
    result.
    """

    claim: Claim
    verdict: str
    reason: str
    measured: float | str | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    paper: float | str | None = None
    parts: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    decides: str = ""
    """The deciding part of an ordering, which `measured` and `values` belong to."""
    explanation: str = ""
    chosen_on: bool = False
    """Whether a setting was chosen on this claim; it is then no prediction."""
    as_taken: str = ""
    """The verdict with the guesses as they were taken, by the rules alone."""

    @property
    def holds(self) -> bool:
        """Whether it is met with the guesses as they were taken."""
        return MET in (self.verdict, self.as_taken)

    @property
    def one_run(self) -> bool:
        """Whether there is one run, or the runs of all seeds are the same: there is no interval."""
        return bool(self.values) and len(set(self.values)) == 1

    @property
    def predicts(self) -> bool:
        """Whether it compares a number with a printed one on which nothing was chosen.

        A printed range, or "at least so much", is no such number, nor is a quotient of
        others (`derived`).
        """
        return (
            isinstance(self.claim.expected, float)
            and isinstance(self.measured, float)
            and bool(self.values)
            and not (self.is_setup or self.chosen_on or self.claim.kind == DERIVED)
        )

    @property
    def chosen_number(self) -> bool:
        """Whether it compares a number with a printed one, and a setting was chosen on it."""
        said, found = self.claim.expected, self.measured
        known = isinstance(said, float) and isinstance(found, float) and bool(self.values)
        return known and self.chosen_on and group(self.claim.kind, chosen_on=True) == CHOSEN_ON

    @property
    def near(self) -> bool:
        """Whether it is within a fifth of the number that the paper prints."""
        said = self.claim.expected
        assert isinstance(said, float)
        assert isinstance(self.measured, float)
        return abs(self.measured - said) <= FIFTH * abs(said)

    @property
    def is_setup(self) -> bool:
        """Whether it is a row of the set-up, which is counted separately."""
        return self.claim.kind in SETUP_KINDS


def rule(outcome: ClaimResult) -> str:
    """Return the rule by which a result was judged."""
    claim = outcome.claim
    if outcome.verdict == UNCHECKED:
        return "none: the claim cannot be checked"
    if outcome.decides:
        return (
            "met when the 95 % interval of the paired difference over the seeds lies above zero,"
            " not met when it lies below, unresolved when it contains zero; every part must be met"
        )
    if not outcome.values and outcome.measured is not None:
        return "met when exactly equal"
    low, high = _limits(claim)
    ends = (f"at least {low:g}", f"at most {high:g}")
    open_ends = [said for said, end in zip(ends, (low, high), strict=True) if np.isfinite(end)]
    within = f"within {100 * WITHIN.get(claim.kind, WITHIN['exact-number']):.0f} % of the paper's"
    held = within if len(open_ends) == 2 else open_ends[0]
    return (
        f"met when the 95 % interval of the mean over the seeds lies {held}, not met when it lies"
        " outside, unresolved when it crosses a limit"
    )


def judge(claim: Claim, finding: CheckResult, context: ClaimContext | None = None) -> ClaimResult:
    """Return the verdict on a claim."""
    context = context or ClaimContext()
    if isinstance(finding, Unchecked):
        ruled = ClaimResult(claim, UNCHECKED, finding.reason, paper=claim.number or claim.value)
        return replace(ruled, chosen_on=context.chosen_on)
    if isinstance(finding, Numbers):
        ruled = _number(claim, finding)
    elif isinstance(finding, Ordering):
        ruled = _ordering(claim, finding)
    else:
        ruled = _exact(claim, finding)
    verdict, reasons = ruled.verdict, [ruled.reason, finding.note]
    if context.contradicted_by:
        reasons = [f"{context.contradicted_by} Here it is {verdict}:", *reasons]
        verdict = CONTRADICTED
    elif verdict != UNRESOLVED and context.depends_on and not context.chosen_on:
        guesses = " and ".join(context.depends_on)
        reasons.append(f"As taken: {verdict}. Turns with other values of: {guesses}.")
        verdict = DEPENDS
    return replace(
        ruled,
        verdict=verdict,
        as_taken=ruled.verdict,
        reason=" ".join(each for each in reasons if each),
        explanation="" if ruled.verdict == MET else context.explanation,
        chosen_on=context.chosen_on,
    )


def _limits(claim: Claim) -> tuple[float, float]:
    """Return the least and the greatest value that count as met.

    A range that is open on one side is a limit that the paper gives: it has no tolerance.
    """
    said = claim.expected
    if said is None:
        raise UsageError(
            f"{claim.id}: {claim.value!r} is not a number.", "Give it one in its row of claims.csv."
        )
    low, high = said if isinstance(said, tuple) else (said, said)
    if not (np.isfinite(low) and np.isfinite(high)):
        return low, high
    within = WITHIN.get(claim.kind, WITHIN["exact-number"])
    return low - within * abs(low), high + within * abs(high)


def _number(claim: Claim, finding: Numbers) -> ClaimResult:
    low, high = _limits(claim)
    said = claim.expected
    known = [value for value in finding.values if np.isfinite(value)]
    shown: float | str = said if isinstance(said, float | int) else claim.value
    if not known:
        return ClaimResult(claim, NOT_MET, _nothing(claim, finding.values), paper=shown)
    between = interval(known)
    mean = float(np.mean(known))
    spread = float(np.std(known, ddof=1)) if len(known) > 1 else None
    # of one run, and of runs that are all the same, the mean alone decides
    ends = [mean if end is None else end for end in (between["low"], between["high"])]
    slack = 1e-9 * abs(mean)
    inside = [low - slack <= end <= high + slack for end in ends]
    if all(inside):
        verdict = MET
    elif any(inside) or ends[0] < low < high < ends[1]:
        verdict = UNRESOLVED
    else:
        verdict = NOT_MET
    why = "" if verdict == MET else _how_far(claim, mean, crosses=verdict == UNRESOLVED)
    values = tuple(known)
    return ClaimResult(
        claim, verdict, why, mean, between["low"], between["high"], spread, shown, values=values
    )


def _nothing(claim: Claim, values: Sequence[float]) -> str:
    """Say why there is no number: what was measured is undefined, or infinite."""
    words = {"infinite" if np.isinf(each) else "undefined" for each in values}
    if not words:
        return "Nothing was measured."
    what = f"`{claim.measure}`" if claim.measure else "what is measured"
    return f"Nothing was measured: {what} is {' or '.join(sorted(words))} in every run."


def _how_far(claim: Claim, mean: float, *, crosses: bool) -> str:
    """Return how far a number is from the nearest that the paper has, and past which limit."""
    said = claim.expected
    low, high = said if isinstance(said, tuple) else (said or 0.0, said or 0.0)
    nearest = min(max(mean, low), high)
    off = f"{100 * (mean - nearest) / (abs(nearest) or 1.0):+.0f} %"
    if not (np.isfinite(low) and np.isfinite(high)):
        limit = "the least value of the paper" if high == np.inf else "the greatest value it gives"
        return f"The interval crosses {limit}." if crosses else f"{off} of {limit}."
    within = f"{100 * WITHIN.get(claim.kind, WITHIN['exact-number']):.0f} %"
    return f"{off}; the interval crosses {within}." if crosses else f"{off}, more than {within}."


def _ordering(claim: Claim, finding: Ordering) -> ClaimResult:
    if not finding.parts:
        raise ValueError(f"{claim.id}: an ordering of nothing")
    ruled = [(part, *_side(part.differences)) for part in finding.parts]
    rank = (NOT_MET, UNRESOLVED, MET)
    decides = min(ruled, key=lambda each: (rank.index(each[1]), _margin(each[0].differences)))
    part, verdict, between = decides
    lines = tuple(f"{each.what}: {side}" for each, side, _ in ruled)
    failing = [each.what for each, side, _ in ruled if side == verdict]
    why = f"{'; '.join(failing[:4])}{' ...' if len(failing) > 4 else ''}."
    if verdict == MET:
        why = "; ".join(each.what for each, _, _ in ruled[:4]) + "."
    elif verdict == UNRESOLVED:
        several = len(part.differences) > 1
        what = "The interval contains zero" if several else "One seed gives no interval"
        if not np.isfinite(part.differences).any():
            what = "Nothing was measured, in every run one side is undefined or infinite"
        why = f"{what}: {why}"
    return ClaimResult(
        claim,
        verdict,
        why,
        between["mean"],
        between["low"],
        between["high"],
        paper=claim.value,
        parts=lines,
        values=part.differences,
        decides=part.what,
    )


def _side(differences: Sequence[float]) -> tuple[str, dict[str, float | None]]:
    """Return on which side of zero the 95 % interval of the mean lies."""
    known = [each for each in differences if np.isfinite(each)]
    between = interval(known)
    if len(known) < len(differences):
        return UNRESOLVED, between
    if between["low"] == between["high"] == 0:  # all seeds agree: equal is not greater
        return NOT_MET, between
    return (UNRESOLVED, MET, NOT_MET)[side(between)], between


def _margin(differences: Sequence[float]) -> float:
    """Return the distance of the mean from zero, in standard deviations."""
    deviation = float(np.std(differences)) or 1e-12
    return float(np.mean(differences)) / deviation


def _exact(claim: Claim, finding: Exact) -> ClaimResult:
    equal = _equal(claim, finding) if finding.equal is None else finding.equal
    verdict = MET if equal else NOT_MET
    why = "" if equal else f"Here it is {finding.found}."
    try:
        measured: float | str = float(finding.found)
    except ValueError:
        measured = finding.found
    return ClaimResult(claim, verdict, why, measured, paper=claim.number or claim.value)


def _equal(claim: Claim, finding: Exact) -> bool:
    """Tell whether a set-up row has the same number, or the same text, as was found."""
    said, within = claim.expected, finding.within
    if isinstance(said, float):
        try:
            return isclose(float(finding.found), said, rel_tol=1e-9, abs_tol=within)
        except ValueError:
            return False
    return "".join(finding.found.split()) == "".join(claim.value.split())


NUMBERS, RATIOS, ORDERINGS = "numbers", "ratios", "orderings"
DERIVED, CHOSEN_ON, SET_UP = "derived", "used to choose", "set-up"
GROUPS = (NUMBERS, RATIOS, ORDERINGS, DERIVED, CHOSEN_ON, SET_UP)
"""Kinds of rows, counted separately."""


def group(kind: str, chosen_on: bool) -> str:
    """Return the kind of row that a result of a kind of claim is counted under."""
    if kind in SETUP_KINDS:
        return SET_UP
    if kind == DERIVED:
        return DERIVED
    if chosen_on:
        return CHOSEN_ON
    return {"ratio": RATIOS, "ordering": ORDERINGS}.get(kind, NUMBERS)


def by_group(outcomes: Sequence[ClaimResult]) -> dict[str, dict[str, int]]:
    """Return how many rows of each kind have which verdict."""
    found: dict[str, dict[str, int]] = {name: dict.fromkeys(VERDICTS, 0) for name in GROUPS}
    for outcome in outcomes:
        found[group(outcome.claim.kind, outcome.chosen_on)][outcome.verdict] += 1
    return {name: each for name, each in found.items() if any(each.values())}


def counts(outcomes: Sequence[ClaimResult]) -> dict[str, int]:
    """Return how many claims have which verdict; rows that predict nothing have their own names."""
    found: dict[str, int] = {}
    for name, each in by_group(outcomes).items():
        apart = f"{name} " if name in (DERIVED, CHOSEN_ON, SET_UP) else ""
        for verdict, number in each.items():
            found[apart + verdict] = found.get(apart + verdict, 0) + number
    names = [each for each in VERDICTS if each in found] + [*found]
    return {name: found[name] for name in dict.fromkeys(names) if found[name]}
