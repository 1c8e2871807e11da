"""The rules of verdicts, the same for all papers.

- A number is met within 20 % of the paper's, an approximate number within 30 %, a
  ratio within 25 %; "at least so much" has no tolerance. A number that is outside by
  less than two standard errors of its mean over the seeds is unresolved: noise never
  makes a number met.
- An ordering is met when the 95 % interval of the paired difference over the
  seeds lies on the claimed side (Student's t), not met when it lies on the
  other, unresolved when it contains zero. Every part must be met.
- A set-up row is met when it is exactly equal.
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
WITHIN = {"exact-number": 0.20, "approx-number": 0.30, "ratio": 0.25}
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

        A printed range, or "at least so much", is no such number.
        """
        return (
            isinstance(self.claim.expected, float)
            and isinstance(self.measured, float)
            and bool(self.values)
            and not (self.is_setup or self.chosen_on)
        )

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
    if claim.kind in SETUP_KINDS or not outcome.values:
        return "met when exactly equal"
    within = WITHIN.get(claim.kind, WITHIN["exact-number"])
    return (
        f"met within {100 * within:.0f} % of the paper's; unresolved when it is outside by less"
        " than two standard errors of the mean over the seeds"
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


def _number(claim: Claim, finding: Numbers) -> ClaimResult:
    said = claim.expected
    if said is None:
        raise ValueError(f"{claim.id}: {claim.value!r} is not a number: give it one in its row")
    low_said, high_said = said if isinstance(said, tuple) else (said, said)
    known = [value for value in finding.values if np.isfinite(value)]
    shown: float | str = said if isinstance(said, float | int) else claim.value
    if not known:
        return ClaimResult(claim, NOT_MET, "Nothing was measured.", paper=shown)
    between = interval(known)
    mean = float(np.mean(known))
    spread = float(np.std(known, ddof=1)) if len(known) > 1 else None
    nearest = min(max(mean, low_said), high_said)
    scale = abs(nearest) or 1.0
    off = abs(mean - nearest) / scale
    # "at least so much" has no tolerance: less is less
    at_least = high_said == float("inf") and mean < low_said
    within = 0.0 if at_least else WITHIN.get(claim.kind, WITHIN["exact-number"])
    if off <= within:
        verdict, why = MET, ""
    elif spread is not None and off - within <= 2 * spread / np.sqrt(len(known)) / scale:
        verdict = UNRESOLVED
        why = (
            f"{100 * (mean - nearest) / scale:+.0f} %, by less than two standard errors more than"
            f" {100 * within:.0f} %."
        )
    else:
        verdict = NOT_MET
        why = f"{100 * (mean - nearest) / scale:+.0f} %, more than {100 * within:.0f} %."
        if at_least:
            why = f"{100 * (mean - nearest) / scale:+.0f} % of the least value of the paper."
    low, high = between["low"], between["high"]
    values = tuple(known)
    return ClaimResult(claim, verdict, why, mean, low, high, spread, shown, values=values)


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
CHOSEN_ON, SET_UP = "used to choose", "set-up"
GROUPS = (NUMBERS, RATIOS, ORDERINGS, CHOSEN_ON, SET_UP)
"""Kinds of rows, counted separately."""


def group(kind: str, chosen_on: bool) -> str:
    """Return the kind of row that a result of a kind of claim is counted under."""
    if kind in SETUP_KINDS:
        return SET_UP
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
        apart = f"{name} " if name in (CHOSEN_ON, SET_UP) else ""
        for verdict, number in each.items():
            found[apart + verdict] = found.get(apart + verdict, 0) + number
    names = [each for each in VERDICTS if each in found] + [*found]
    return {name: found[name] for name in dict.fromkeys(names) if found[name]}
