"""Tables of verdicts: on a terminal, as Markdown, and as lines of measured.csv."""

from __future__ import annotations

import re
import statistics
import sys
from collections import Counter
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from tools.validate.explained import EXPLANATIONS
from tools.validate.judge import Explanation, Row, Verdict, rows, spread
from tools.validate.measured import ALONE, Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tools.validate.dumbbell import Case
    from tools.validate.measure import Measures
    from tools.validate.rates import Experiment

EXACT_S = 50e-6
"""Accepted difference of single flows on an idle link: nothing is random there."""

WIDTH = 100


class Printer:
    """Prints tables, counts verdicts, and keeps the same tables as Markdown."""

    def __init__(
        self, *, markdown: bool, explanations: Sequence[Explanation] = EXPLANATIONS
    ) -> None:
        """Print tables for a terminal, or as Markdown."""
        self.explanations = explanations
        # a file or a pipe has no width of its own
        self.console = Console(width=None if sys.stdout.isatty() else WIDTH)
        self.markdown = markdown
        self.verdicts: Counter[Verdict] = Counter()
        self.blocks: dict[str, str] = {}
        """Table of each case in Markdown, by the name of the case."""
        self.lines: list[Line] = []

    def table(
        self, name: str, about: str, head: Sequence[str], lines: Iterable[Sequence[str]]
    ) -> None:
        """Print one table."""
        lines = list(lines)
        self.blocks[name] = as_markdown(name, about, head, lines)
        if self.markdown:
            self.say(f"\n{self.blocks[name]}")
            return
        self.say(f"\n{name}: {about}\n")
        drawn = Table(box=box.SIMPLE_HEAD)
        for column in head:
            drawn.add_column(column)
        for line in lines:
            drawn.add_row(*line)
        self.console.print(drawn)

    def say(self, text: str) -> None:
        """Print a paragraph as it is."""
        self.console.print(text, highlight=False, markup=False, soft_wrap=self.markdown)

    def case(self, case: Case | Experiment, runs: Sequence[Sequence[Measures]]) -> None:
        """Print one case and the explanations of its differences.

        A run is measured in tidegate and in the other simulator, and where that one is corrected,
        in the unchanged one too, which nothing judges.
        """
        drawn = rows(
            case.name, case.measures, [(run[0], run[1]) for run in runs], self.explanations
        )
        self.verdicts.update(row.verdict for row in drawn)
        head = ["measure", "tidegate", case.peer, "difference", "accepted", ""]
        lines = [[*line(row)] for row in drawn]
        if all(len(run) > 2 for run in runs):
            head.append(f"{case.peer} unchanged")
            for row, cells in zip(drawn, lines, strict=True):
                cells.append(shown([run[2][row.measure] for run in runs]))
        self.keep(case.name, len(runs), lines)
        self.table(case.name, f"{case.about}; {many(len(runs))}", head, lines)
        for why in reasons(drawn):
            self.blocks[case.name] += f"\n{why}\n"
            self.say(f"\n{why}")

    def single_flows(self, name: str, peer: str, runs: Mapping[str, Sequence[Measures]]) -> None:
        """Print single flows on an idle link by what distinguishes them; both are exact."""
        lines = []
        for flow, (mine, theirs, *_) in runs.items():
            one, two = mine["fct_mean_s"], theirs["fct_mean_s"]
            verdict = Verdict.AGREES if abs(one - two) <= EXACT_S else Verdict.DIFFERS
            self.verdicts[verdict] += 1
            apart = (f"{(one - two) * 1e6:+.1f} us", f"{EXACT_S * 1e6:.1f} us")
            lines.append((flow, f"{one:.6f}", f"{two:.6f}", *apart, verdict.value))
        self.keep(name, 1, lines)
        head = ("flow", "tidegate", peer, "difference", "accepted", "")
        self.table(name, ALONE, head, lines)

    def keep(self, name: str, seeds: int, lines: Iterable[Sequence[str]]) -> None:
        """Keep the rows of a table for the file."""
        self.lines += [Line(name, first, str(seeds), *rest) for first, *rest in lines]

    def counts(self) -> str:
        """Return how many rows have each verdict."""
        return ", ".join(f"{self.verdicts[verdict]} {verdict.value}" for verdict in Verdict)


def as_markdown(name: str, about: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table with its title as Markdown."""
    text = [f"**{name}**: {about}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*text, *(f"| {' | '.join(each)} |" for each in lines)]) + "\n"


def reasons(drawn: Iterable[Row]) -> list[str]:
    """Return the explanations of rows that differ, each with all of its measures."""
    known: dict[str, list[str]] = {}
    for row in drawn:
        if row.verdict is Verdict.EXPLAINED and row.explanation is not None:
            known.setdefault(row.explanation.why, []).append(row.measure)
    return [f"Explained ({', '.join(measures)}): {why}" for why, measures in known.items()]


def many(seeds: int) -> str:
    """Return the number of seeds in words."""
    return "1 seed" if seeds == 1 else f"{seeds} seeds"


def line(row: Row) -> tuple[str, ...]:
    """Return a row as text."""

    def of_scale(value: float, sign: str) -> str:
        return f"{value / row.scale:{sign}.2%}" if row.scale else f"{value:{sign}.3g}"

    return (
        row.measure,
        shown(row.mine),
        shown(row.theirs),
        of_scale(row.difference, "+"),
        of_scale(row.allowed, ""),
        row.verdict.value,
    )


def shown(values: Sequence[float]) -> str:
    """Return mean and standard deviation over seeds."""
    return f"{brief(statistics.fmean(values))} ± {brief(spread(values), 2)}"


def brief(value: float, digits: int = 4) -> str:
    """Return a number with at least `digits` significant digits and no exponent."""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def renew(page: str, blocks: Mapping[str, str]) -> str:
    """Put each table between the two marks of its case in a page."""

    def renewed(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in blocks:
            return found[0]
        return f"<!-- begin {name} -->\n{blocks[name]}<!-- end {name} -->"

    return PLACE.sub(renewed, page)


PLACE = re.compile(r"<!-- begin (?P<name>\S+) -->\n.*?<!-- end (?P=name) -->", re.DOTALL)


def placed(page: str) -> set[str]:
    """Return the cases whose marks a page has."""
    return {found["name"] for found in PLACE.finditer(page)}
