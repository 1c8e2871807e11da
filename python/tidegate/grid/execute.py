"""The one way to run a grid: simulate what is missing, and put all runs together."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tidegate.grid.grid_result import GridResult
from tidegate.grid.work import Task, Work
from tidegate.results.curves import Curves, curves
from tidegate.results.run_output import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.grid.executor import Executor
    from tidegate.grid.grid_folder import GridFolder
    from tidegate.grid.plan import Job, Plan
    from tidegate.results.laws import OwnLaw
    from tidegate.results.run_files import SavedRun
    from tidegate.results.run_output import RunOutput

M = TypeVar("M", bound=GridResult)
TIMES = ("start_s", "admitted_s", "closed_s", "fct_s", "size_bytes", "delivered_bytes")
"""Columns of flows that curves are made of."""
LOADS = ("start_s", "loaded_s", "load_time_s")
"""The same of pages."""


def execute(
    planned: Plan,
    into: type[M],
    folder: GridFolder | None,
    executor: Executor,
    *,
    laws: Mapping[str, OwnLaw] | None = None,
    metrics: Sequence[str] = (),
    report: Callable[[int, float], None] | None = None,
    finished: Callable[[], None] | None = None,
    files: Callable[[M], Mapping[str, bytes]] | None = None,
) -> M:
    """Simulate the runs that are missing, save each at once, and put all together.

    The result does not depend on the executor, nor on how often the grid was
    interrupted. `report` gets the index of a run among the missing ones and its
    simulated time; `finished` is called after each run; `files` makes the files
    of the whole. Raises KeyboardInterrupt, and what a law of the user's own
    raises; saved runs stay.
    """
    start = time.perf_counter()
    subject = planned.subject
    missing = subject.jobs if folder is None else folder.missing
    summaries: dict[Job, Mapping[str, Any]] = {}
    drawn: dict[Job, Curves] = {}
    drawing = subject.command == "compare"
    for job, run in ({} if folder is None else folder.found).items():
        summaries[job] = run.summary
        if drawing:
            drawn[job] = curves_of(run)
    inputs = cache(planned.files)

    def task(index: int) -> Task:
        point, seed = missing[index]
        return Task(planned.scenarios[point], seed, inputs(point))

    def keep(index: int, output: RunOutput) -> tuple[dict[str, Any], Curves | None]:
        if folder is not None:
            folder.keep_run(missing[index], output)
        if finished is not None:
            finished()
        return output.summary, output.curves

    wanted = Wanted(tables=folder is not None and folder.keep_flows, curves=drawing)
    work = Work(len(missing), task, wanted, keep, laws, report)
    for index, (summary, lines) in executor.run(work):
        summaries[missing[index]] = summary
        if lines is not None:
            drawn[missing[index]] = lines
    done = into.of(subject, summaries, metrics, drawn)
    done.wall_s = time.perf_counter() - start
    if folder is not None:
        # a shard has no table of its own
        content = files(done) if files is not None and subject.shard is None else {}
        folder.finish(content, **_costs(done))
        done.folder = folder.target
    return done


def curves_of(run: SavedRun) -> Curves:
    """Return the curves of a saved run: the same as before it was saved."""
    parts = (run.table("flows", list(TIMES)), run.table("pages", list(LOADS)))
    flows, pages = (
        {name: table[name].fill_null(np.nan).to_numpy() for name in table.columns}
        for table in parts
    )
    return curves(flows, pages, run.summary["warmup_s"], run.summary["duration_s"])


def _costs(done: GridResult) -> dict[str, float]:
    """Return what a manifest says of the cost."""
    return {
        "wall_s": done.wall_s,
        "cpu_s": done.cpu_s,
        "packet_hops": sum(row["packet_hops"] for row in done.rows),
    }
