"""Run the same transfers in tidegate and in other simulators and print them side by side.

    python -m tools.validate [--only ns2|rates|ns3]... [--case NAME]... [--seeds N] [--jobs N]
                             [--markdown] [--write]

tidegate draws the flows; the other simulator gets their starts and sizes. A difference is accepted
up to 5 % or three standard errors of the mean difference over the seeds, whichever is larger; a
larger one has its explanation printed under the table. The exit status is 1 where a measure
differs and nothing in tools/validate/explained.py accounts for it, 2 where a simulator is missing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tools.peers.install import UnavailableError
from tools.validate import ns2, ns3, queues, rates
from tools.validate.cases import CASES, IDLE, idle
from tools.validate.judge import Verdict
from tools.validate.measure import Measures, of_ns2, of_ns3, of_tidegate
from tools.validate.printer import Printer, renew

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tools.validate.dumbbell import Case
    from tools.validate.rates import Experiment

    Pair = tuple[Measures, Measures]

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"

IDLE_ABOUT = "one flow on an idle link, first SYN to close"


def run(job: tuple[Case, int]) -> Pair:
    """Run one case with one seed in both."""
    case, seed = job
    mine, flows = of_tidegate(case, seed)
    theirs = of_ns3 if case.peer == "ns-3" else of_ns2
    return mine, theirs(case, seed, flows)


@dataclass
class Plan:
    """What is asked for, and the runs under way."""

    pool: ProcessPoolExecutor
    names: list[str] | None
    """Cases by name; None: all."""
    seeds: int | None
    """Seeds of each case; None: as many as the case says."""
    waiting: list[tuple[Case | Experiment, list[Future[Pair]]]] = field(default_factory=list)
    single: list[tuple[str, list[Future[Pair]]]] = field(default_factory=list)

    def asked(self, name: str) -> bool:
        """Tell whether a case is to be run."""
        return self.names is None or name in self.names

    def flows(self, name: str, cases: list[Case]) -> None:
        """Start single flows on an idle link."""
        if self.asked(name):
            self.single.append((name, [self.pool.submit(run, (case, 1)) for case in cases]))

    def cases(self, cases: tuple[Case, ...]) -> None:
        """Start cases: all at once, so that no process waits for the last run of one."""
        for case in cases:
            if self.asked(case.name):
                jobs = [self.pool.submit(run, (case, seed)) for seed in self._seeds(case)]
                self.waiting.append((case, jobs))

    def experiments(self, experiments: tuple[Experiment, ...]) -> None:
        """Start experiments."""
        for each in experiments:
            if self.asked(each.name):
                jobs = [self.pool.submit(rates.run, (each.name, n)) for n in self._seeds(each)]
                self.waiting.append((each, jobs))

    def _seeds(self, case: Case | Experiment) -> range:
        return range(1, (self.seeds or case.seeds) + 1)

    def show(self, printer: Printer) -> None:
        """Print everything as it comes."""
        heads = {
            "idle": ("MSS, B", "ns-2", IDLE_ABOUT),
            "idle-ns3": ("control", "ns-3", IDLE_ABOUT),
        }
        listed = {"idle": IDLE, "idle-ns3": queues.IDLE3}
        for name, jobs in self.single:
            pairs = [one.result() for one in jobs]
            printer.single_flows(name, heads[name], listed[name], pairs)
        for what, jobs in self.waiting:
            printer.case(what, [one.result() for one in jobs])


PARTS = ("ns2", "rates", "ns3")
"""FullTcp in ns-2; one-way agents in ns-2; ns-3."""


def names_of(part: str) -> list[str]:
    """Return the names of a part's cases."""
    return {
        "ns2": ["idle", *(case.name for case in CASES)],
        "rates": [each.name for each in rates.EXPERIMENTS],
        "ns3": ["idle-ns3", *(case.name for case in queues.CASES3)],
    }[part]


def options() -> argparse.Namespace:
    """Read the command line."""
    names = [name for part in PARTS for name in names_of(part)]
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.validate")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; repeatable")
    parser.add_argument("--case", action="append", choices=names, help="only this; repeatable")
    parser.add_argument("--seeds", type=int, help="seeds per case instead of the case's own")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument("--write", action="store_true", help="renew them in docs/validation.md")
    return parser.parse_args()


def parts(given: argparse.Namespace) -> list[str]:
    """Return the parts that are asked for, those of the cases that are named."""
    asked = given.only or list(PARTS)
    if given.case is None:
        return list(asked)
    return [part for part in asked if set(given.case) & set(names_of(part))]


def find(asked: list[str]) -> None:
    """Find the simulators that are needed, before anything runs."""
    if {"ns2", "rates"} & set(asked):
        ns2.find()
    if "ns3" in asked:
        ns3.build()


def main() -> int:
    """Run what was asked for."""
    given = options()
    asked = parts(given)
    try:
        find(asked)
    except (ns2.MissingError, UnavailableError) as error:
        print(error, file=sys.stderr)
        return 2
    begin = time.perf_counter()
    printer = Printer(markdown=given.markdown)
    with ProcessPoolExecutor(given.jobs) as pool:
        plan = Plan(pool, given.case, given.seeds)
        if "ns2" in asked:
            plan.flows("idle", [idle(mss, size) for mss, size in IDLE])
            plan.cases(CASES)
        if "rates" in asked:
            plan.experiments(rates.EXPERIMENTS)
        if "ns3" in asked:
            plan.flows("idle-ns3", [queues.idle3(*each) for each in queues.IDLE3])
            plan.cases(queues.CASES3)
        plan.show(printer)
    counts = ", ".join(f"{printer.verdicts[verdict]} {verdict.value}" for verdict in Verdict)
    printer.say(f"\n{counts}; {time.perf_counter() - begin:.0f} s")
    if given.write:
        PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), printer.blocks), encoding="utf-8")
    return 1 if printer.verdicts[Verdict.DIFFERS] else 0


if __name__ == "__main__":
    sys.exit(main())
