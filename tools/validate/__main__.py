"""Run the same transfers in tidegate and in other simulators and print them side by side.

    python -m tools.validate [--only ns2|rates|ns3|linux|quinn]... [--case NAME]... [--seeds N]
                             [--jobs N] [--markdown] [--write]

tidegate draws the flows; the other simulator gets their starts and sizes. A difference is accepted
up to 5 % or three standard errors of the mean difference over the seeds, whichever is larger. A
larger one needs an explanation in tools/validate/explained.py, which is printed under the table.
Tables of ns-3 have its corrected classes, and in the last column ns-3 unchanged. The exit status is
1 where a measure differs without an explanation, 2 where a simulator is missing. Linux is
left out, with the reason, without Debian's archive, and our controls beside quinn's where the
simulator was built without it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from tools.peers.install import UnavailableError
from tools.validate import measured, ns2
from tools.validate.judge import Verdict
from tools.validate.measure import Measures, of_ns2, of_ns3, of_tidegate
from tools.validate.parts import EXPLANATIONS, NAMES, PARTS, Part
from tools.validate.printer import Printer
from tools.validate.rates import Experiment

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tools.validate.dumbbell import Case


def run(case: Case | Experiment, seed: int) -> tuple[Measures, ...]:
    """Run one case with one seed here, in the other simulator, and in that one unchanged."""
    if isinstance(case, Experiment):
        return case.compare(case.protocol, seed)
    mine, flows = of_tidegate(case, seed)
    if case.peer != "ns-3":
        return mine, of_ns2(case, seed, flows)
    theirs = of_ns3(case.settings, seed, flows)
    if case.unchanged is None:
        return mine, theirs
    return mine, theirs, of_ns3(case.unchanged, seed, flows)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.validate")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; repeatable")
    parser.add_argument("--case", action="append", choices=NAMES, help="only this; repeatable")
    parser.add_argument("--seeds", type=int, help="seeds per case instead of the case's own")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument("--write", action="store_true", help=f"renew {measured.FILE.name}")
    return parser.parse_args()


def main() -> int:
    """Run the chosen cases."""
    given = options()
    names = set(given.case or NAMES)
    wanted = [PARTS[name] for name in given.only or PARTS if names & set(PARTS[name].tables)]
    chosen = []
    for part in wanted:
        try:
            part.find()
            chosen.append(part)
        except (ns2.MissingError, UnavailableError) as error:
            left_out = part.may_lack and not (given.only or given.case)
            print(f"left out: {error}" if left_out else error, file=sys.stderr)
            if not left_out:
                return 2
    begin = time.perf_counter()
    printer = Printer(markdown=given.markdown, explanations=EXPLANATIONS)
    with ProcessPoolExecutor(given.jobs) as pool:
        # All runs are submitted before any result is awaited, so that no process is idle.
        single: list[tuple[Part, list[Future[tuple[Measures, ...]]]]] = [
            (part, [pool.submit(run, case, 1) for case in part.flows.values()])
            for part in chosen
            if part.flows and part.idle in names
        ]
        waiting: list[tuple[Case | Experiment, list[Future[tuple[Measures, ...]]]]] = [
            (case, [pool.submit(run, case, n + 1) for n in range(given.seeds or case.seeds)])
            for part in chosen
            for case in part.cases
            if case.name in names
        ]
        for part, jobs in single:
            found = zip(part.flows or (), [job.result() for job in jobs], strict=True)
            printer.single_flows(part.idle, part.peer, dict(found))
        for case, jobs in waiting:
            printer.case(case, [job.result() for job in jobs])
    printer.say(f"\n{printer.counts()}; {time.perf_counter() - begin:.0f} s")
    if given.write:
        measured.renew(measured.FILE, printer.lines, NAMES)
    return 1 if printer.verdicts[Verdict.DIFFERS] else 0


if __name__ == "__main__":
    sys.exit(main())
