"""Run the same transfers in tidegate and in ns-2 and print them side by side.

    python -m tools.validate [--case NAME]... [--no-rates] [--seeds N] [--jobs N] [--markdown]

tidegate draws the flows; ns-2 gets their starts and sizes. A difference is accepted up to 5 % or
three standard errors of the mean difference over the seeds, whichever is larger; a larger one has
its explanation printed under the table. The exit status is 1 where a measure differs and nothing
in tools/validate/explained.py accounts for it, 2 where ns-2 is not installed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from tools.validate import ns2, rates
from tools.validate.cases import CASES, IDLE, idle
from tools.validate.explained import EXPLANATIONS
from tools.validate.judge import Row, Verdict, rows, spread
from tools.validate.measure import Measures, of_ns2, of_tidegate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

    from tools.validate.dumbbell import Case
    from tools.validate.rates import Experiment

    Pair = tuple[Measures, Measures]

EXACT_S = 50e-6
"""How far single flows on an idle link may be apart: nothing is random there."""


def run(job: tuple[Case, int]) -> Pair:
    """Run one case with one seed in both."""
    case, seed = job
    mine, flows = of_tidegate(case, seed)
    return mine, of_ns2(case, seed, flows)


WIDTH = 100


class Printer:
    """Prints tables and counts verdicts."""

    def __init__(self, *, markdown: bool) -> None:
        """Print tables for a terminal, or such as belong in a document."""
        # a file or a pipe has no width of its own: that of the widest row
        self.console = Console(width=None if sys.stdout.isatty() else WIDTH)
        self.markdown = markdown
        self.verdicts: Counter[Verdict] = Counter()

    def table(self, title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
        """Print one table."""
        self.console.print(f"\n{title}\n", highlight=False, markup=False, soft_wrap=True)
        drawn = Table(box=box.MARKDOWN if self.markdown else box.SIMPLE_HEAD)
        for column in head:
            drawn.add_column(column)
        for line in lines:
            drawn.add_row(*line)
        self.console.print(drawn)

    def case(self, case: Case | Experiment, pairs: Sequence[Pair]) -> None:
        """Print one case with what is known of its disagreements."""
        drawn = rows(case.name, case.measures, pairs, EXPLANATIONS)
        self.verdicts.update(row.verdict for row in drawn)
        head = ("measure", "tidegate", "ns-2", "difference", "accepted", "")
        title = f"{case.name}: {case.about}; {len(pairs)} seeds"
        self.table(title, head, map(line, drawn))
        for row in drawn:
            if row.verdict is Verdict.EXPLAINED and row.explanation is not None:
                why = f"{row.measure} is explained: {row.explanation.why}"
                self.console.print(why, highlight=False, markup=False)

    def single_flows(self, pairs: Sequence[Pair]) -> None:
        """Print the single flows on an idle link, whose times are exact in both."""
        lines = []
        for (mss, size), (mine, theirs) in zip(IDLE, pairs, strict=True):
            one, two = mine["fct_mean_s"], theirs["fct_mean_s"]
            verdict = Verdict.AGREES if abs(one - two) <= EXACT_S else Verdict.DIFFERS
            self.verdicts[verdict] += 1
            apart = f"{(one - two) * 1e6:+.1f} us"
            lines.append((str(mss), str(size), f"{one:.6f}", f"{two:.6f}", apart, verdict.value))
        head = ("MSS, B", "size, B", "tidegate, s", "ns-2, s", "difference", "verdict")
        self.table("idle: one flow on an idle link, first SYN to close", head, lines)


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


def options() -> argparse.Namespace:
    """Read the command line."""
    names = ["idle", *(case.name for case in CASES), *(each.name for each in rates.EXPERIMENTS)]
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.validate")
    parser.add_argument("--case", action="append", choices=names, help="only this; repeatable")
    parser.add_argument("--no-rates", action="store_true", help="leave XCP and Reno over RED out")
    parser.add_argument("--seeds", type=int, help="seeds per case instead of the case's own")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    return parser.parse_args()


def seeds(case: Case | Experiment, given: int | None) -> range:
    """Return the seeds to run: as many as asked for, or the case's own number."""
    return range(1, (given or case.seeds) + 1)


def main() -> int:
    """Run what was asked for."""
    given = options()
    try:
        ns2.find()
    except ns2.MissingError as error:
        print(error, file=sys.stderr)
        return 2
    begin = time.perf_counter()
    printer = Printer(markdown=given.markdown)
    asked = [case for case in CASES if given.case is None or case.name in given.case]
    tried = [each for each in rates.EXPERIMENTS if given.case is None or each.name in given.case]
    if given.no_rates:
        tried = []
    with ProcessPoolExecutor(given.jobs) as pool:
        flows = IDLE if given.case is None or "idle" in given.case else ()
        single = [pool.submit(run, (idle(mss, size), 1)) for mss, size in flows]
        # all at once, so that no process waits for the last run of a case
        waiting: list[tuple[Case | Experiment, list[Future[Pair]]]] = []
        for case in asked:
            jobs = [pool.submit(run, (case, seed)) for seed in seeds(case, given.seeds)]
            waiting.append((case, jobs))
        for each in tried:
            numbers = seeds(each, given.seeds)
            jobs = [pool.submit(rates.run, (each.name, seed)) for seed in numbers]
            waiting.append((each, jobs))
        if single:
            printer.single_flows([one.result() for one in single])
        for what, runs in waiting:
            printer.case(what, [one.result() for one in runs])
    counts = ", ".join(f"{printer.verdicts[verdict]} {verdict.value}" for verdict in Verdict)
    printer.console.print(f"\n{counts}; {time.perf_counter() - begin:.0f} s", highlight=False)
    return 1 if printer.verdicts[Verdict.DIFFERS] else 0


if __name__ == "__main__":
    sys.exit(main())
