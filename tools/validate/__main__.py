"""Run the same transfers in tidegate and in ns-2 and print them side by side.

    python -m tools.validate [--case NAME]... [--seeds N] [--jobs N]

tidegate draws the flows; ns-2 gets their starts and sizes. A difference is accepted up to 5 % or
three standard errors of the mean difference over the seeds, whichever is larger. The exit status
is 1 where a measure differs by more, 2 where ns-2 is not installed.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tools.validate import ns2
from tools.validate.cases import CASES, IDLE, Case, idle
from tools.validate.measure import Measures, of_ns2, of_tidegate

if TYPE_CHECKING:
    from collections.abc import Iterable

    Pair = tuple[Measures, Measures]

SHARE = 0.05
ERRORS = 3.0


def run(job: tuple[Case, int]) -> Pair:
    """Run one case with one seed in both."""
    case, seed = job
    mine, flows = of_tidegate(case, seed)
    return mine, of_ns2(case, seed, flows)


def compare(name: str, pairs: Iterable[Pair]) -> tuple[list[str], bool]:
    """Return a row of the table for one measure, and whether the two agree."""
    mine, theirs = zip(*((one[name], two[name]) for one, two in pairs), strict=True)
    differences = [one - two for one, two in zip(mine, theirs, strict=True)]
    difference, scale = statistics.fmean(differences), abs(statistics.fmean(theirs))
    error = spread(differences) / math.sqrt(len(differences))
    allowed = max(SHARE * scale, ERRORS * error)
    agrees = abs(difference) <= allowed
    row = [
        name,
        shown(mine),
        shown(theirs),
        f"{difference / scale:+.2%}" if scale else f"{difference:+.3g}",
        f"{allowed / scale:.1%}" if scale else f"{allowed:.3g}",
        "agrees" if agrees else "DIFFERS",
    ]
    return row, agrees


def spread(values: Iterable[float]) -> float:
    """Return the standard deviation over seeds, zero of a single one."""
    known = list(values)
    return statistics.stdev(known) if len(known) > 1 else 0.0


def shown(values: Iterable[float]) -> str:
    """Return mean and standard deviation over seeds."""
    known = list(values)
    return f"{statistics.fmean(known):.6g} ± {spread(known):.2g}"


def table(console: Console, case: Case, pairs: list[Pair]) -> bool:
    """Print one case; return whether all its measures agree."""
    columns = ("measure", "tidegate", "ns-2", "difference", "accepted", "")
    drawn = Table(*columns, title=f"{case.name}: {case.about}; seeds: {len(pairs)}")
    agree = True
    for name in case.measures:
        row, agrees = compare(name, pairs)
        drawn.add_row(*row)
        agree &= agrees
    console.print(drawn)
    return agree


def single_flows(console: Console, pairs: list[Pair]) -> bool:
    """Print the single flows on an idle link, whose times are exact in both."""
    columns = ("MSS B", "size B", "tidegate s", "ns-2 s", "difference us", "")
    drawn = Table(*columns, title="one flow on an idle link: first SYN to close")
    agree = True
    for (mss, size), (mine, theirs) in zip(IDLE, pairs, strict=True):
        one, two = mine["fct_mean_s"], theirs["fct_mean_s"]
        agrees = abs(one - two) <= SHARE * two
        agree &= agrees
        cells = (f"{one:.6f}", f"{two:.6f}", f"{(one - two) * 1e6:+.1f}")
        drawn.add_row(str(mss), str(size), *cells, "agrees" if agrees else "DIFFERS")
    console.print(drawn)
    return agree


def main() -> int:
    """Run what was asked for."""
    names = ["idle", *(case.name for case in CASES)]
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.validate")
    parser.add_argument("--case", action="append", choices=names, help="only this; repeatable")
    parser.add_argument("--seeds", type=int, help="seeds per case instead of the case's own")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    given = parser.parse_args()
    try:
        ns2.find()
    except ns2.MissingError as error:
        print(error, file=sys.stderr)
        return 2
    wanted = given.case or names
    console = Console()
    agree = True
    with ProcessPoolExecutor(given.jobs) as pool:
        if "idle" in wanted:
            jobs = [(idle(mss, size), 1) for mss, size in IDLE]
            agree &= single_flows(console, list(pool.map(run, jobs)))
        for case in CASES:
            if case.name in wanted:
                jobs = [(case, seed) for seed in range(1, (given.seeds or case.seeds) + 1)]
                agree &= table(console, case, list(pool.map(run, jobs)))
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
