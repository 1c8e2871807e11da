"""Verdicts as a table for a terminal, and the claims of a paper in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidegate.papers.report_text import in_paper, measured
from tidegate.papers.verdicts import MET, NOT_MET, UNCHECKED, counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from tidegate.papers.request import PaperResult
    from tidegate.papers.verdicts import ClaimResult

HEADS = ("claim", "paper", "measured", "verdict")
GAP = 2
"""Blanks between two columns."""
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
    rows = [(each.claim.short, _cut(in_paper(each)), *_found(each)) for each in done.outcomes]
    # what stands behind a number in brackets may be on a line of its own
    numbers = [
        len(row[2].partition(" (")[0])
        for row, each in zip(rows, done.outcomes, strict=True)
        if isinstance(each.measured, float)
    ]
    found = ", ".join(f"{number} {verdict}" for verdict, number in counts(done.outcomes).items())
    return _Claims(rows, max(numbers, default=0), found)


@dataclass(frozen=True)
class _Claims:
    """A table that keeps names, numbers and verdicts in a narrow terminal.

    Texts are broken over lines first, then names, then what the paper has is left out; a number
    is broken last of all. How wide the terminal is is known when it is printed.
    """

    rows: Sequence[Sequence[str]]
    number: int
    """Letters of the longest number."""
    total: str

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Make the table for this width."""
        widths = self._widths(options.max_width)
        kept = [place for place, head in enumerate(HEADS) if head in widths]
        rows = ([row[place] for place in kept] for row in self.rows)
        yield of_verdicts(widths, rows, self.total)

    def _widths(self, room: int) -> dict[str, int | None]:
        columns = zip(HEADS, zip(HEADS, *self.rows, strict=True), strict=True)
        widths = {head: max(map(len, cells)) for head, cells in columns}
        widths["measured"] = min(widths["measured"], 28)
        name, number = widths["claim"], max(self.number, len("measured"))
        word = max(len(each) for row in (HEADS, *self.rows) for each in row[-1].split())

        def shrink(head: str, least: int) -> None:
            over = sum(widths.values()) + GAP * (len(widths) - 1) - room
            widths[head] = max(min(widths[head], least), widths[head] - max(over, 0))

        for head, least in (("paper", 20), ("measured", max(number, 16)), ("paper", 12)):
            shrink(head, least)
        for head, least in (("measured", number), ("claim", 20), ("paper", 5), ("claim", 14)):
            shrink(head, least)
        shrink("verdict", word)
        if sum(widths.values()) + GAP * (len(widths) - 1) > room:
            del widths["paper"]
            widths["claim"] = name
            for head, least in (("claim", 10), ("measured", 8), ("claim", 5), ("verdict", 7)):
                shrink(head, least)
        return dict(widths)


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
    nothing = "" if each.verdict == UNCHECKED else "nothing"
    return measured(each) or nothing, each.verdict


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
