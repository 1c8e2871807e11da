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


def opening(outcomes: Sequence[Outcome], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    parts = (_works, _baseline, _classes, _fails)
    return listed(parts, outcomes, runs)


def _works(found: Found) -> str:
    latency, part = (measured(found, f"fig6c.{name}") for name in ("D_p3", "D_ratio"))
    total = measured(found, "fig6c.Da_ratio")
    if latency is None or part is None or total is None:
        return ""
    answer = "holds" if holds(found, "text.tradeoff") else "does not hold"
    return (
        f"**The trade {answer}, by less than the paper says.** At rho 1.6 flows that are admitted"
        f" under P3 take {number(latency)} s (paper: 14.0), {number(part)} % of what they take"
        f" under G-RED (paper: 5.9 %); with their set-up it is {number(total)} % (paper: 40.7 %)."
    )


def _baseline(found: Found) -> str:
    latency, lost = (measured(found, f"table1.dt.{name}") for name in ("D", "Pd"))
    if latency is None or lost is None:
        return ""
    return (
        f"**The baseline is less bad here**: drop-tail at rho 1.2 takes {number(latency)} s (paper:"
        f" 196.6) and loses {number(100 * lost)} % of the data (paper: 48 %). ns-2 of today has"
        " 114 s and 28 % with the timers of 2003; 1500 s of overload are a transient, and seeds"
        " differ by a quarter."
    )


def _classes(found: Found) -> str:
    if "fig7a.unfair" not in found:
        return ""
    answer = "holds" if holds(found, "fig7a.unfair") else "is not resolved"
    return (
        f"**Long flows gain more than short ones** under P3, at the cost of fairness: that {answer}"
        " for every mix of the two."
    )


def _fails(found: Found) -> str:
    return failing(found, "Statements that do not hold as they stand", ("ordering", "ratio"))
