"""The opening of the report: what holds and what does not, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.openings import failing, holds, listed, measured
from tidegate.papers.report import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.openings import Found
    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import Outcome

_KINDS = ("ordering", "ratio", "approx-number")


def opening(outcomes: Sequence[Outcome], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    parts = (_gains, _grows, _ratio, _fails)
    return listed(parts, outcomes, runs)


def _gains(found: Found) -> str:
    gains = [measured(found, f"fig4l.ratio{mbit}") for mbit in (30, 90, 150)]
    known = [gain for gain in gains if gain is not None]
    if len(known) < len(gains):
        return ""
    low, middle, high = (number(gain) for gain in known)
    return (
        f"**Blitz has the higher maximum power**: in the reference network {low}, {middle} and"
        f" {high} times TCP's at bottlenecks of 30, 90 and 150 Mbit/s (paper: 3, 6 and 10)."
    )


def _grows(found: Found) -> str:
    growth = measured(found, "fig4r.gap")
    if growth is None:
        return ""
    return (
        f"**Its lead grows with bandwidth**, {number(growth)} times from 150 Mbit/s to 1 Gbit/s"
        " (paper: 2.5 to 3.5), and shrinks with the size of the files."
    )


def _ratio(found: Found) -> str:
    if "concl.ratio" not in found:
        return ""
    answer = "holds" if holds(found, "concl.ratio") else "does not hold"
    window = "closes" if holds(found, "text.aggressiveness") else "does not everywhere close"
    return (
        f"**The conclusion {answer}**: what is gained falls with F/BDP, in all networks at all"
        f" bottlenecks; and a TCP whose initial window grows with F/BDP {window} part of the gap"
        " where F is small beside BDP."
    )


def _fails(found: Found) -> str:
    return failing(
        found,
        "What does not hold as it stands",
        ("ordering", "ratio", "approx-number", "exact-number"),
    )
