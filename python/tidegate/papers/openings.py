"""What the openings of reports share: looking claims up by name, and listing what does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.report import number
from tidegate.papers.verdicts import CALIBRATED, MET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import Outcome

    Found = Mapping[str, Outcome]
    """Outcomes by the short id of their claim."""


def listed(parts: Sequence[Callable[[Found], str]], outcomes: Sequence[Outcome], runs: Runs) -> str:
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


def good(outcome: Outcome) -> bool:
    """Tell whether a claim holds, on a guess or not."""
    return outcome.verdict in (MET, CALIBRATED)


def holds(found: Found, name: str) -> bool:
    """Tell whether a claim was asked for and holds."""
    return name in found and good(found[name])


def failing(found: Found, title: str, kinds: Sequence[str]) -> str:
    """Return the claims of some kinds that do not hold, with their verdicts."""
    said = [each for each in found.values() if each.claim.kind in kinds and not good(each)]
    if not said:
        return ""
    names = ", ".join(f"`{each.claim.short}` ({each.verdict})" for each in said)
    return f"**{title}**: {names}."
