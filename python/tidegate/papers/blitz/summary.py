"""The opening of the report: what holds and what does not, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.report import number
from tidegate.papers.verdicts import CALIBRATED, MET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import Outcome


def opening(outcomes: Sequence[Outcome], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    found = {outcome.claim.short: outcome for outcome in outcomes}
    parts = [_gains(found), _grows(found), _ratio(found), _fails(found)]
    whole = [part for part in parts if part]
    return (
        "\n".join(f"- {part}" for part in whole) or f"{len(outcomes)} claims, {runs.seeds} seeds."
    )


def _measured(found: dict[str, Outcome], name: str) -> float | None:
    value = found[name].measured if name in found else None
    return value if isinstance(value, float) else None


def _holds(found: dict[str, Outcome], name: str) -> bool:
    return name in found and found[name].verdict in (MET, CALIBRATED)


def _gains(found: dict[str, Outcome]) -> str:
    gains = [_measured(found, f"fig4l.ratio{mbit}") for mbit in (30, 90, 150)]
    known = [gain for gain in gains if gain is not None]
    if len(known) < len(gains):
        return ""
    low, middle, high = (number(gain) for gain in known)
    return (
        f"**Blitz has the higher maximum power**: in the reference network {low}, {middle} and"
        f" {high} times TCP's at bottlenecks of 30, 90 and 150 Mbit/s (paper: 3, 6 and 10)."
    )


def _grows(found: dict[str, Outcome]) -> str:
    growth = _measured(found, "fig4r.gap")
    if growth is None:
        return ""
    return (
        f"**Its lead grows with bandwidth**, {number(growth)} times from 150 Mbit/s to 1 Gbit/s"
        " (paper: 2.5 to 3.5), and shrinks with the size of the files."
    )


def _ratio(found: dict[str, Outcome]) -> str:
    if "concl.ratio" not in found:
        return ""
    answer = "holds" if _holds(found, "concl.ratio") else "does not hold"
    window = "closes" if _holds(found, "text.aggressiveness") else "does not everywhere close"
    return (
        f"**The conclusion {answer}**: what is gained falls with F/BDP, in all networks at all"
        f" bottlenecks; and a TCP whose initial window grows with F/BDP {window} part of the gap"
        " where F is small beside BDP."
    )


def _fails(found: dict[str, Outcome]) -> str:
    """Return the statements of the text that do not hold."""
    said = [
        each
        for each in found.values()
        if each.claim.kind != "setup" and each.verdict not in (MET, CALIBRATED)
    ]
    if not said:
        return ""
    names = ", ".join(f"`{each.claim.short}` ({each.verdict})" for each in said)
    return f"**What does not hold as it stands**: {names}."
