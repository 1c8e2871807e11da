"""The runs of a grid that are missing, made and put together."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tidegate.grid.executor import Executor
from tidegate.grid.grid_result import GridResult
from tidegate.grid.work import Task, Work
from tidegate.results.curves import Curves, curves
from tidegate.results.run_output import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.grid.ledger import Ledger
    from tidegate.grid.plan import Job, Plan
    from tidegate.results.run_files import SavedRun
    from tidegate.results.run_output import RunOutput
    from tidegate.results.simulate import Law, RateLaw

M = TypeVar("M", bound=GridResult)
TIMES = ("start_s", "admitted_s", "closed_s", "fct_s")
"""Columns of flows that curves are made of."""


def execute(
    planned: Plan,
    into: type[M],
    ledger: Ledger | None = None,
    *,
    laws: Mapping[str, Law | RateLaw] | None = None,
    executor: Executor | None = None,
    metrics: Sequence[str] = (),
    report: Callable[[int, float], None] | None = None,
    finished: Callable[[], None] | None = None,
) -> M:
    """Run what is missing; each run is saved as soon as it is over.

    The result does not depend on the executor, nor on how often the grid was
    broken off. `report` is told the place of a run among the missing ones and
    its simulated time. Raises KeyboardInterrupt, and whatever a law of the
    user's own raises; what was kept stays.
    """
    start = time.perf_counter()
    subject = planned.subject
    missing = subject.jobs if ledger is None else ledger.missing
    summaries: dict[Job, Mapping[str, Any]] = {}
    drawn: dict[Job, Curves] = {}
    drawing = subject.command == "compare"
    for job, run in ({} if ledger is None else ledger.found).items():
        summaries[job] = run.summary
        if drawing:
            drawn[job] = curves_of(run)
    files = cache(planned.files)

    def task(place: int) -> Task:
        point, seed = missing[place]
        return Task(planned.scenarios[point], seed, files(point))

    def keep(place: int, output: RunOutput) -> tuple[dict[str, Any], Curves | None]:
        if ledger is not None:
            ledger.keep_run(missing[place], output)
        if finished is not None:
            finished()
        return output.summary, output.curves

    wanted = Wanted(tables=ledger is not None and ledger.keep_flows, curves=drawing)
    work = Work(len(missing), task, wanted, keep, laws, report)
    for place, (summary, lines) in (executor or Executor()).run(work):
        summaries[missing[place]] = summary
        if lines is not None:
            drawn[missing[place]] = lines
    done = into.of(subject, summaries, metrics, drawn)
    done.wall_s = time.perf_counter() - start
    return done


def curves_of(run: SavedRun) -> Curves:
    """Return the curves of a saved run: the same as before it was saved."""
    table = run.table("flows", list(TIMES))
    flows = {name: table[name].fill_null(np.nan).to_numpy() for name in TIMES}
    return curves(flows, run.summary["warmup_s"], run.summary["duration_s"])


def costs(done: GridResult) -> dict[str, float]:
    """Return what a manifest says of the cost."""
    return {
        "wall_s": done.wall_s,
        "cpu_s": done.cpu_s,
        "packet_hops": sum(row["packet_hops"] for row in done.rows),
    }
