"""The page of every claim of a paper, from its `verdicts.csv`, its claims and its guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.page import heading, line
from tidegate.papers.report_text import environment, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidegate.papers.published import Line
    from tidegate.papers.study import PaperStudy


def page(study: PaperStudy, lines: Iterable[Line]) -> str:
    """Return the page, as Markdown."""
    claims = {claim.short: claim for claim in study.claims()}
    template = environment().get_template("claims.md.j2")
    text = template.render(
        study=study,
        rows=[(claims[each.id], each) for each in lines],
        deviations=study.deviations().deviations,
        head=heading,
        row=line,
        in_paper=_in_paper,
    )
    return text.rstrip() + "\n"


def _in_paper(said: str) -> str:
    """Return what the paper has: a number as numbers are shown, or its own words."""
    try:
        return number(float(said))
    except ValueError:
        return said
