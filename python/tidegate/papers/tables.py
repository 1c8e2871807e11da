"""The claims of a paper as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidegate.papers.report_text import in_paper, measured
from tidegate.papers.verdicts import MET, NOT_MET, counts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tidegate.papers.request import PaperResult

STYLES = {MET: "green", NOT_MET: "red"}


def of_outcomes(done: PaperResult) -> RenderableType:
    """Return one line per claim, and how many have which verdict."""
    table = Table(box=None, pad_edge=False)
    texts = [(measured(each), each.verdict) for each in done.outcomes]
    figures, verdicts = (max(map(len, each)) for each in zip(("", ""), *texts, strict=True))
    # numbers and verdicts are never broken over lines; texts and names of claims are
    widths = {"claim": None, "paper": None, "measured": min(figures, 28), "verdict": verdicts}
    for head, width in widths.items():
        table.add_column(head, overflow="fold", width=width)
    for each in done.outcomes:
        style = STYLES.get(each.verdict, "yellow")
        table.add_row(
            Text(each.claim.short),
            Text(_cut(in_paper(each))),
            Text(measured(each)),
            Text(each.verdict, style=style),
        )
    found = ", ".join(f"{number} {verdict}" for verdict, number in counts(done.outcomes).items())
    return Group(table, Text(""), Text(found))


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
