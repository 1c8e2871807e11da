"""What the openings of reports share: looking claims up by name, and listing what does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.report import number
from tidegate.papers.verdicts import CALIBRATED, MET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import ClaimResult

    Found = Mapping[str, ClaimResult]
    """Outcomes by the short id of their claim."""


def listed(
    parts: Sequence[Callable[[Found], str]], outcomes: Sequence[ClaimResult], runs: Runs
) -> str:
    """Return the parts as a list in Markdown; one whose claims were not asked for says nothing."""
    found = {outcome.claim.short: outcome for outcome in outcomes}
    said = [text for text in (part(found) for part in parts) if text]
    return "\n".join(f"- {text}" for text in said) or f"{len(outcomes)} claims, {runs.seeds} seeds."


def measured(found: Found, name: str) -> float | None:
    """Return what was measured for a claim; none: it was not asked for, or has no number."""
    value = found[name].measured if name in found else None
    return value if isinstance(value, float) else None


def said(found: Found, name: str) -> str:
    """Return the number, or the range, that the paper gives for a claim."""
    value = found[name].claim.said
    if isinstance(value, tuple):
        return " to ".join(number(each) for each in value)
    return found[name].claim.value if value is None else number(value)


def good(outcome: ClaimResult) -> bool:
    """Tell whether a claim holds, on a guess or not."""
    return outcome.verdict in (MET, CALIBRATED)


def holds(found: Found, name: str) -> bool:
    """Tell whether a claim was asked for and holds."""
    return name in found and good(found[name])


def failing(found: Found, title: str, kinds: Sequence[str]) -> str:
    """Return the claims of some kinds that do not hold, by their verdicts and in the words said."""
    there = [each for each in found.values() if each.claim.kind in kinds]
    rest = [each for each in there if not good(each)]
    if not rest:
        return ""
    lines = [f"**{title}**: {len(rest)} of {len(there)}."]
    for verdict in dict.fromkeys(each.verdict for each in rest):
        texts = "; ".join(in_words(each) for each in rest if each.verdict == verdict)
        lines.append(f"  - {verdict}: {texts}.")
    return "\n".join(lines)


def in_words(outcome: ClaimResult) -> str:
    """Return what a claim says, and of a number what was measured beside it."""
    claim, value = outcome.claim, outcome.measured
    if claim.kind == "ordering":
        return f"{claim.value} ({claim.where})"
    unit = "" if claim.unit in ("", "-") else f" {claim.unit}"
    here = f", here {number(value)}{unit}" if isinstance(value, float) else ""
    return f"{claim.metric}, {claim.scenario}: {claim.value}{unit}{here} ({claim.where})"
