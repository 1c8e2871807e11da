"""Renew the tables of pages in docs/, and cells.csv: measured anew, or predicted.

    python -m tools.live.matrix_page [--predict] [FILE]...

A FILE has lines of `tools.live.matrix`; by default it is `tools/live/measured/matrix.jsonl`. A cell
without a valid run there stays as it is, and so do the cells of Linux 6.18. With `--predict` the
simulator predicts each cell that it has anew (some minutes). Every measure is in
`tools/live/measured/cells.csv`, which the site shows.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.live import cells
from tools.live.matrix import by_cell, mean, read, seeds_of, text, whole
from tools.live.pages import CONTROLS, QUEUES, Cell
from tools.live.pages_predicted import predict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tools.live.cells import Line
    from tools.live.matrix import Rows

    Predicts = Callable[[Cell, Sequence[int]], dict[str, Any] | None]
    """Says what a cell has with the users of these seeds; none: it is not in the simulator."""

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / name for name in ("matrix.md", "matrix-figures.md", "gate.md")]
ALIASES = {"plain queue": "drop-tail"} | {name: name for name in QUEUES}
"""How the columns of queues are called."""
MEASURED = Path(__file__).parent / "measured" / "matrix.jsonl"
OTHER_KERNEL = "## Linux 6.18"
BY_LOAD = {1: "greedy", 6: "every connection"}
"""Columns of the table of greedy clients that have pages."""


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def line_of(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cells) + " |"


class Page:
    """The page while it is read line by line."""

    def __init__(self, found: Rows, predicted: Predicts, before: Iterable[Line]) -> None:
        """Take what was measured anew and before, and what predicts."""
        self.found, self.predicted = found, predicted
        self.runs = {
            (each.queue, each.control, each.load): int(each.runs)
            for each in before
            if each.kernel == cells.OWN_CLOCK
        }
        self.queue, self.other = "", False
        self.head: list[str] = []

    def line(self, line: str) -> str:
        """Return a line with what is new in it."""
        self._place(line)
        if self.other or not line.startswith("|"):
            self.head = []
            return line
        cells = cells_of(line)
        if not self.head:
            self.head = cells
            return line
        if line.startswith("|--"):
            return line
        if cells[0] in CONTROLS:
            return line_of(self._pages(cells))
        return line

    def _place(self, line: str) -> None:
        if line.startswith("## "):
            self.other, self.queue = line.startswith(OTHER_KERNEL), ""
        heading = re.match(r"\*\*([\w-]+)\*\*$", line)
        if heading and heading[1].lower() in QUEUES:
            self.queue = heading[1].lower()
        elif line.startswith("### "):
            self.queue = ""

    def _done(self, queue: str, control: str, load: str) -> list[dict[str, Any]]:
        return self.found.get(whole(Cell(queue, control, load)), [])

    def _pages(self, cells: list[str]) -> list[str]:
        """Return a line of pages: by load, by queue, or of greedy clients."""
        control = cells[0]
        new = list(cells)
        for at, head in enumerate(self.head):
            if self.queue and at:
                new[at] = self._cell(cells[at], self.queue, control, head)
            elif queue := ALIASES.get(head if head in ALIASES else head.lower()):
                new[at] = self._cell(cells[at], queue, control, "steady")
            elif self.head[1:2] == ["greedy client: pages"] and at in BY_LOAD:
                new[at] = self._cell(cells[at], "drop-tail", control, BY_LOAD[at])
        return new

    def _cell(self, old: str, queue: str, control: str, load: str) -> str:
        said, _, before = old.partition(" (")
        if rows := self._done(queue, control, load):
            said = text(mean(rows, "done"), ".0f")
        if not before:
            return said
        # the users of the runs: of earlier ones, where there is none in the file
        earlier = range(1, self.runs.get((queue, control, load), 1) + 1)
        seeds = seeds_of(rows) or tuple(earlier)
        predicted = self.predicted(Cell(queue, control, load), seeds)
        return f"{said} ({before}" if predicted is None else f"{said} ({predicted['done']:.0f})"


def renewed(page: str, found: Rows, predicted: Predicts, before: Iterable[Line]) -> str:
    """Return the page with what was measured and predicted."""
    state = Page(found, predicted, before)
    return "\n".join(state.line(line) for line in page.split("\n"))


def main() -> None:
    """Renew the pages and the file."""
    parser = argparse.ArgumentParser(prog="python -m tools.live.matrix_page", description=__doc__)
    parser.add_argument("--predict", action="store_true", help="renew the predictions too")
    parser.add_argument("file", nargs="*", type=Path, default=[MEASURED])
    given = parser.parse_args()
    rows = [row for file in given.file for row in read(file)]
    predicted = predict if given.predict else lambda *_: None
    found = by_cell(rows)
    before = cells.read()
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        page.write_text(renewed(old, found, predicted, before), encoding="utf-8")
    every = cells.renewed(before, found)
    cells.FILE.write_text(cells.written(every), encoding="utf-8")


if __name__ == "__main__":
    main()
