"""Tables of verdicts: on a terminal, and in docs/validation.md."""

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

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tools.validate.dumbbell import Case
    from tools.validate.measure import Measures
    from tools.validate.rates import Experiment

    Pair = tuple[Measures, Measures]

EXACT_S = 50e-6
"""How far single flows on an idle link may be apart: nothing is random there."""

WIDTH = 100


class Printer:
    """Prints tables, counts verdicts, and keeps the same tables as Markdown."""

    def __init__(
        self, *, markdown: bool, explanations: Sequence[Explanation] = EXPLANATIONS
    ) -> None:
        """Print tables for a terminal, or such as belong in a document."""
        self.explanations = explanations
        # a file or a pipe has no width of its own: that of the widest row
        self.console = Console(width=None if sys.stdout.isatty() else WIDTH)
        self.markdown = markdown
        self.verdicts: Counter[Verdict] = Counter()
        self.blocks: dict[str, str] = {}
        """Table of each case in Markdown, by the name of the case."""

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

    def case(self, case: Case | Experiment, pairs: Sequence[Pair]) -> None:
        """Print one case with what is known of its disagreements."""
        drawn = rows(case.name, case.measures, pairs, self.explanations)
        self.verdicts.update(row.verdict for row in drawn)
        head = ("measure", "tidegate", case.peer, "difference", "accepted", "")
        self.table(case.name, f"{case.about}; {many(len(pairs))}", head, map(line, drawn))
        for why in reasons(drawn):
            self.blocks[case.name] += f"\n{why}\n"
            self.say(f"\n{why}")

    def single_flows(
        self,
        name: str,
        heads: tuple[str, str, str],
        flows: Sequence[tuple[object, int]],
        pairs: Sequence[Pair],
    ) -> None:
        """Print single flows on an idle link, whose times are exact in both."""
        lines = []
        for (what, size), (mine, theirs) in zip(flows, pairs, strict=True):
            one, two = mine["fct_mean_s"], theirs["fct_mean_s"]
            verdict = Verdict.AGREES if abs(one - two) <= EXACT_S else Verdict.DIFFERS
            self.verdicts[verdict] += 1
            apart = f"{(one - two) * 1e6:+.1f} us"
            lines.append((str(what), str(size), f"{one:.6f}", f"{two:.6f}", apart, verdict.value))
        kind, peer, about = heads
        head = (kind, "size, B", "tidegate, s", f"{peer}, s", "difference", "verdict")
        self.table(name, about, head, lines)


def as_markdown(name: str, about: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table with its title as Markdown."""
    said = [f"**{name}**: {about}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*said, *(f"| {' | '.join(each)} |" for each in lines)]) + "\n"


def reasons(drawn: Iterable[Row]) -> list[str]:
    """Return what is known of the rows that differ, measures with one reason together."""
    known: dict[str, list[str]] = {}
    for row in drawn:
        if row.verdict is Verdict.EXPLAINED and row.explanation is not None:
            known.setdefault(row.explanation.why, []).append(row.measure)
    return [f"Explained ({', '.join(measures)}): {why}" for why, measures in known.items()]


def many(seeds: int) -> str:
    """Say how many seeds there are."""
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
    """Return a number with so many digits at least, and no exponent."""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def renew(page: str, blocks: Mapping[str, str]) -> str:
    """Put tables where a page has a place for them: between the two marks of a case."""

    def place(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in blocks:
            return found[0]
        return f"<!-- begin {name} -->\n{blocks[name]}<!-- end {name} -->"

    return PLACE.sub(place, page)


PLACE = re.compile(r"<!-- begin (?P<name>\S+) -->\n.*?<!-- end (?P=name) -->", re.DOTALL)


def placed(page: str) -> set[str]:
    """Return the cases that a page has a place for."""
    return {found["name"] for found in PLACE.finditer(page)}
