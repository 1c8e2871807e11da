"""From what was found to a verdict: one set of rules for all papers.

- A number is met within 20 % of the paper's, or within two standard deviations
  of the seeds where one of these is under 20 % of the paper's; an approximate
  number within 30 %; a ratio within 25 %. Less than "at least so much" is not met.
- An ordering is met when the 95 % interval of the paired difference over the
  seeds lies on the claimed side (Student's t), not met when it lies on the
  other, unresolved when it straddles. Of several parts every one must be met.
- A set-up row is met when it is exactly equal.
- What would be met is `calibrated` where it hangs on a number that the paper
  withholds and that was chosen here.
- Where the paper itself says otherwise elsewhere, it is `contradicted`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isclose
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.check_results import CheckResult, Exact, Numbers, Ordering, Unchecked
from tidegate.papers.claims import APART
from tidegate.papers.deviations import ClaimContext
from tidegate.results.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.claims import Claim

MET, NOT_MET, UNRESOLVED = "met", "not met", "unresolved"
CALIBRATED, CONTRADICTED, UNCHECKED = "calibrated", "contradicted", "cannot be checked"
VERDICTS = (MET, CALIBRATED, UNRESOLVED, NOT_MET, CONTRADICTED, UNCHECKED)
WITHIN = {"exact-number": 0.20, "approx-number": 0.30, "ratio": 0.25}


@dataclass(frozen=True)
class ClaimResult:
    """One line of a report: the claim, what was measured, the verdict and why.

    Of an ordering, `measured` with its interval is the paired difference of
    the part that decides; `parts` has all. `reason` is why the rule comes to
    its verdict, `explanation` why the paper may have found otherwise.
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
    """Of an ordering, the part that `measured` and `values` are of."""
    explanation: str = ""
    chosen_on: bool = False
    """Whether a setting was chosen on this claim: counted apart from predictions."""

    @property
    def apart(self) -> bool:
        """Whether it is a row of the set-up, counted apart."""
        return self.claim.kind in APART


@dataclass(frozen=True)
class _Judged:
    """A verdict by the rule alone, with what it was taken from."""

    verdict: str
    why: str
    measured: float | str | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    paper: float | str | None = None
    parts: tuple[str, ...] = field(default=())
    values: tuple[float, ...] = field(default=())
    decides: str = ""


def rule(outcome: ClaimResult) -> str:
    """Say by which rule an outcome was judged."""
    claim = outcome.claim
    if outcome.verdict == UNCHECKED:
        return "none: nothing can be measured"
    if outcome.decides:
        return (
            "met when the 95 % interval of the paired difference over the seeds lies above zero,"
            " not met when it lies below, unresolved when it straddles; every part has to be met"
        )
    if claim.kind in APART or not outcome.values:
        return "met when exactly so"
    within = WITHIN.get(claim.kind, WITHIN["exact-number"])
    return (
        f"met within {100 * within:.0f} % of the paper's, or within two standard deviations of the"
        " seeds where one is under 20 %"
    )


def judge(claim: Claim, finding: CheckResult, beside: ClaimContext | None = None) -> ClaimResult:
    """Return the verdict on a claim."""
    beside = beside or ClaimContext()
    if isinstance(finding, Unchecked):
        why, paper = finding.reason, claim.number or claim.value
        return ClaimResult(claim, UNCHECKED, why, paper=paper, chosen_on=beside.chosen_on)
    if isinstance(finding, Numbers):
        ruled = _number(claim, finding)
    elif isinstance(finding, Ordering):
        ruled = _ordering(claim, finding)
    else:
        ruled = _exact(claim, finding)
    verdict, reasons = ruled.verdict, [ruled.why, finding.note]
    if beside.contradicted_by:
        reasons = [f"{beside.contradicted_by} Here it is {verdict}:", *reasons]
        verdict = CONTRADICTED
    elif verdict == MET and beside.hangs_on:
        verdict = CALIBRATED
        reasons.append(f"Hangs on {' and '.join(beside.hangs_on)}, which the paper withholds.")
    explanation = "" if verdict in (MET, CALIBRATED) else beside.explanation
    return ClaimResult(
        claim,
        verdict,
        " ".join(each for each in reasons if each),
        ruled.measured,
        ruled.low,
        ruled.high,
        ruled.spread,
        ruled.paper,
        ruled.parts,
        ruled.values,
        ruled.decides,
        explanation,
        beside.chosen_on,
    )


def _number(claim: Claim, finding: Numbers) -> _Judged:
    said = claim.said
    if said is None:
        raise ValueError(f"{claim.id}: {claim.value!r} is not a number: give it one in its row")
    low_said, high_said = said if isinstance(said, tuple) else (said, said)
    known = [value for value in finding.values if np.isfinite(value)]
    shown: float | str = said if isinstance(said, float | int) else claim.value
    if not known:
        return _Judged(NOT_MET, "Nothing was measured.", paper=shown)
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
    elif spread is not None and spread < 0.2 * scale and abs(mean - nearest) <= 2 * spread:
        verdict, why = MET, "Within two standard deviations of the seeds."
    else:
        verdict = NOT_MET
        why = f"{100 * (mean - nearest) / scale:+.0f} %, more than {100 * within:.0f} %."
        if at_least:
            why = f"{100 * (mean - nearest) / scale:+.0f} % of the least that is said."
    low, high = between["low"], between["high"]
    return _Judged(verdict, why, mean, low, high, spread, shown, (), tuple(known))


def _ordering(claim: Claim, finding: Ordering) -> _Judged:
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
        straddles = len(part.differences) > 1
        what = "The interval straddles" if straddles else "One seed gives no interval"
        why = f"{what}: {why}"
    return _Judged(
        verdict,
        why,
        between["mean"],
        between["low"],
        between["high"],
        None,
        claim.value,
        lines,
        part.differences,
        part.what,
    )


def _side(differences: Sequence[float]) -> tuple[str, dict[str, float | None]]:
    """Return on which side of zero the 95 % interval of the mean lies."""
    known = [each for each in differences if np.isfinite(each)]
    between = interval(known)
    low, high = between["low"], between["high"]
    if low is None or high is None or len(known) < len(differences):
        return UNRESOLVED, between
    if low == high:  # all seeds agree: equal is not more
        return (MET if low > 0 else NOT_MET), between
    if low > 0:
        return MET, between
    return (NOT_MET if high < 0 else UNRESOLVED), between


def _margin(differences: Sequence[float]) -> float:
    """Return how far the mean is on the claimed side, in standard deviations."""
    deviation = float(np.std(differences)) or 1e-12
    return float(np.mean(differences)) / deviation


def _exact(claim: Claim, finding: Exact) -> _Judged:
    equal = _equal(claim, finding) if finding.equal is None else finding.equal
    verdict = MET if equal else NOT_MET
    why = "" if equal else f"Here it is {finding.found}."
    try:
        measured: float | str = float(finding.found)
    except ValueError:
        measured = finding.found
    return _Judged(verdict, why, measured, paper=claim.number or claim.value)


def _equal(claim: Claim, finding: Exact) -> bool:
    """Tell whether a set-up row says what was found: the same number, or the same text."""
    said, within = claim.said, finding.within
    if isinstance(said, float):
        try:
            return isclose(float(finding.found), said, rel_tol=1e-9, abs_tol=within)
        except ValueError:
            return False
    return "".join(finding.found.split()) == "".join(claim.value.split())


NUMBERS, RATIOS, ORDERINGS = "numbers", "ratios", "orderings"
CHOSEN_ON, SET_UP = "used to choose", "set-up"
GROUPS = (NUMBERS, RATIOS, ORDERINGS, CHOSEN_ON, SET_UP)
"""Kinds of rows that are counted apart from each other."""


def group(outcome: ClaimResult) -> str:
    """Return the kind of row that an outcome is counted under."""
    if outcome.apart:
        return SET_UP
    if outcome.chosen_on:
        return CHOSEN_ON
    return {"ratio": RATIOS, "ordering": ORDERINGS}.get(outcome.claim.kind, NUMBERS)


def by_group(outcomes: Sequence[ClaimResult]) -> dict[str, dict[str, int]]:
    """Return how many rows of each kind have which verdict."""
    found: dict[str, dict[str, int]] = {name: dict.fromkeys(VERDICTS, 0) for name in GROUPS}
    for outcome in outcomes:
        found[group(outcome)][outcome.verdict] += 1
    return {name: each for name, each in found.items() if any(each.values())}


def counts(outcomes: Sequence[ClaimResult]) -> dict[str, int]:
    """Return how many claims have which verdict; what is no prediction under names of its own."""
    found: dict[str, int] = {}
    for name, each in by_group(outcomes).items():
        apart = f"{name} " if name in (CHOSEN_ON, SET_UP) else ""
        for verdict, number in each.items():
            found[apart + verdict] = found.get(apart + verdict, 0) + number
    names = [each for each in VERDICTS if each in found] + [*found]
    return {name: found[name] for name in dict.fromkeys(names) if found[name]}
