"""The opening of the report: what holds and what does not, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.openings import good

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import Outcome

_TOPICS = (
    ("fig1", "**Completion times** (Figure 1)"),
    ("fig2", "**Joining and leaving** (Figure 2)"),
    ("fig3", "**Different round trips** (Figure 3)"),
    ("fig4", "**Lossy links** (Figure 4)"),
    ("text", "**What the text says**"),
)


def opening(outcomes: Sequence[Outcome], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    found = [each for each in outcomes if not each.apart]
    lines = []
    for group, title in _TOPICS:
        mine = [each for each in found if each.claim.short.startswith(f"{group}.")]
        if mine:
            lines.append(f"- {title}: {_fares(mine)}")
    return "\n".join(lines) or f"{len(outcomes)} claims, {runs.seeds} seeds."


def _fares(outcomes: Sequence[Outcome]) -> str:
    hold = [each for each in outcomes if good(each)]
    text = f"{len(hold)} of {len(outcomes)} statements hold."
    rest = [each for each in outcomes if each not in hold]
    for each in rest:
        text += f" `{each.claim.short}` ({each.verdict}): {_short(each)}"
    return text


def _short(outcome: Outcome) -> str:
    if isinstance(outcome.measured, float) and np.isfinite(outcome.measured):
        return outcome.reason.split(". ")[0].rstrip(".") + "."
    return outcome.reason
