"""The page of a paper that was judged again with seeds by which nothing was chosen.

Settings were searched, and checks written, with the results of the first seeds in view.
Whatever fits those seeds alone turns with others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.page import table
from tidegate.papers.report_text import in_paper, measured
from tidegate.papers.verdicts import CHOSEN_ON, DERIVED, MET, SET_UP, ClaimResult, group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.request import PaperResult

AGAIN = "again.md"
FIRST_SEED = 1001
"""The first of the other seeds."""


def page(usual: PaperResult, other: PaperResult) -> str:
    """Return the rows whose verdict differs between two judgements of the same claims."""
    key, seeds = usual.study.key, usual.runs.seeds
    pairs = [
        (mine, theirs)
        for mine, theirs in zip(usual.outcomes, other.outcomes, strict=True)
        if not mine.is_setup
    ]
    turned = [(mine, theirs) for mine, theirs in pairs if mine.verdict != theirs.verdict]
    last = other.request.first_seed + seeds - 1
    heads = (f"seeds 1 to {seeds}", f"seeds {other.request.first_seed} to {last}")
    rows = [_row(mine, theirs) for mine, theirs in turned]
    lines = [
        f"# Judged again with other seeds: {usual.study.title}",
        "",
        f"<!-- Made by `tidegate paper {key} --again`. -->",
        "",
        *_answer(pairs, heads[1]),
        "",
        "Every simulation was run again. Settings were chosen, and checks written, with seeds from"
        " 1 on in view, so a row that fits these seeds alone turns here. † marks a row on which"
        " a setting was chosen.",
        "",
        *table(("claim", "paper", heads[0], "verdict", heads[1], "verdict"), rows),
    ]
    return "\n".join(lines if rows else [*lines[:-2], "No verdict turns."]) + "\n"


def _answer(pairs: Sequence[tuple[ClaimResult, ClaimResult]], seeds: str) -> list[str]:
    """Return how many verdicts stand, those of rows that predict something first."""
    apart = (SET_UP, DERIVED, CHOSEN_ON)
    free = [each for each in pairs if group(each[0].claim.kind, each[0].chosen_on) not in apart]
    met = [each for each in free if each[0].verdict == MET]
    rest = [each for each in free if each[0].verdict != MET]
    again = sum(theirs.verdict == MET for _, theirs in met)
    new = sum(theirs.verdict == MET for _, theirs in rest)
    return [
        f"Of {len(met)} rows that are met and predict something, **{again} are met again** with"
        f" {seeds}. Of the {len(rest)} others {new or 'none'}"
        f" {'is' if new == 1 else 'are'} met with these. In all, of {len(pairs)} rows"
        f" {sum(mine.verdict == theirs.verdict for mine, theirs in pairs)} have the same verdict."
    ]


def _row(mine: ClaimResult, theirs: ClaimResult) -> tuple[str, ...]:
    mark = " †" if mine.chosen_on else ""
    return (
        f"`{mine.claim.short}`{mark}",
        in_paper(mine),
        measured(mine),
        mine.verdict,
        measured(theirs),
        theirs.verdict,
    )
