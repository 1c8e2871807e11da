"""Verdicts as a table for a terminal, and the claims of a paper in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidegate.papers.report_text import in_paper, measured
from tidegate.papers.verdicts import MET, NOT_MET, counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

    from tidegate.papers.request import PaperResult
    from tidegate.papers.verdicts import ClaimResult

STYLES = {MET: "green", NOT_MET: "red", "better": "green", "worse": "red", "like": "default"}


def of_verdicts(
    widths: Mapping[str, int | None], rows: Iterable[Sequence[str]], total: str
) -> RenderableType:
    """Return a table, one of whose columns is `verdict`, and a line below it.

    `widths`: the columns; None: as wide as it has to be.
    """
    table = Table(box=None, pad_edge=False)
    for head, width in widths.items():
        table.add_column(head, overflow="fold", width=width)
    for row in rows:
        named = zip(widths, row, strict=True)
        styles = (STYLES.get(cell, "yellow") if head == "verdict" else "" for head, cell in named)
        table.add_row(*map(Text, row, styles))
    return Group(table, Text(""), Text(total))


def of_outcomes(done: PaperResult) -> RenderableType:
    """Return one line per claim, and how many have which verdict."""
    rows = [
        (each.claim.short, _cut(in_paper(each)), measured(each), each.verdict)
        for each in done.outcomes
    ]
    figures, verdicts = (max((len(row[place]) for row in rows), default=0) for place in (2, 3))
    # numbers and verdicts are never broken over lines; texts and names of claims are
    widths = {"claim": None, "paper": None, "measured": min(figures, 28), "verdict": verdicts}
    found = ", ".join(f"{number} {verdict}" for verdict, number in counts(done.outcomes).items())
    return of_verdicts(widths, rows, found)


def of_tried(usual: PaperResult, other: PaperResult) -> RenderableType:
    """Return one line per claim: as taken, and with settings of the user's own."""
    pairs = list(zip(usual.outcomes, other.outcomes, strict=True))
    rows = [
        (mine.claim.short, _cut(in_paper(mine)), *_found(mine), *_found(theirs))
        for mine, theirs in pairs
    ]
    turned = sum(mine.verdict != theirs.verdict for mine, theirs in pairs)
    heads = ("claim", "paper", "as taken", "then", "with --set", "verdict")
    return of_verdicts(dict.fromkeys(heads), rows, f"{turned or 'none'} of {len(rows)} turned")


def _found(each: ClaimResult) -> tuple[str, str]:
    return measured(each), each.verdict


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
