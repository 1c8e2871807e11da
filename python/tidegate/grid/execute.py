"""The runs of a grid on all cores; whatever is finished is kept at once."""

from __future__ import annotations

import copy
import os
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tidegate.grid.measured import Measured
from tidegate.grid.workers import Pool
from tidegate.results.curves import Curves, curves
from tidegate.results.simulate import simulate
from tidegate.results.statistics import summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.grid.cluster import Cluster
    from tidegate.grid.ledger import Ledger
    from tidegate.grid.plan import Job, Plan
    from tidegate.results.keep import Kept
    from tidegate.results.simulate import Law, Outcome, RateLaw

M = TypeVar("M", bound=Measured)
TIMES = ("start_s", "admitted_s", "closed_s", "fct_s")
"""Columns of flows that curves are made of."""


def execute(
    planned: Plan,
    into: type[M],
    ledger: Ledger | None = None,
    *,
    laws: Mapping[str, Law | RateLaw] | None = None,
    workers: int | None = None,
    cluster: Cluster | None = None,
    metrics: Sequence[str] = (),
    report: Callable[[int, float], None] | None = None,
    finished: Callable[[], None] | None = None,
) -> M:
    """Run what is missing on a pool of threads, or on a cluster; each run is kept once it is over.

    The result does not depend on the number of workers, nor on how often the
    grid was broken off. `report` is told the place of a run among the missing
    ones and its simulated time. Raises KeyboardInterrupt, and whatever a law
    of the user's own raises; what was kept stays.
    """
    start, stop = time.perf_counter(), threading.Event()
    subject = planned.subject
    missing = subject.jobs if ledger is None else ledger.missing
    summaries: dict[Job, Mapping[str, Any]] = {}
    drawn: dict[Job, Curves] = {}
    drawing = subject.command == "compare"
    for job, run in ({} if ledger is None else ledger.found).items():
        summaries[job] = run.summary
        if drawing:
            drawn[job] = of_kept(run)

    def work(place: int) -> tuple[dict[str, Any], Curves | None]:
        point, seed = job = missing[place]
        scenario = planned.scenarios[point]
        if cluster is not None:
            outcome = cluster.simulate(scenario, planned.files(point), seed, laws, stop)
            if report is not None:
                report(place, scenario.duration_s)
        else:
            tick = None if report is None else (lambda now_s: report(place, now_s))
            own = copy.deepcopy(dict(laws)) if laws else None
            outcome = simulate(scenario, seed, own, tick, stop)
        summary = summarise(outcome)
        if ledger is not None:
            ledger.keep_run(job, outcome, summary)
        if finished is not None:
            finished()
        return summary, _of_outcome(outcome) if drawing else None

    pool = Pool(range(len(missing)), work, stop)
    at_once = cluster.at_once if cluster is not None else os.cpu_count() or 1
    for place, (summary, lines) in pool.run(workers or at_once):
        summaries[missing[place]] = summary
        if lines is not None:
            drawn[missing[place]] = lines
    done = into.of(subject, summaries, metrics, drawn)
    done.wall_s = time.perf_counter() - start
    return done


def _of_outcome(outcome: Outcome) -> Curves:
    scenario = outcome.scenario
    return curves(outcome.tables["flows"], scenario.warmup_s, scenario.duration_s)


def of_kept(run: Kept) -> Curves:
    """Return the curves of a run that was kept: the same as when it was made."""
    import polars as pl

    table = pl.read_parquet(run.folder / "flows.parquet", columns=list(TIMES))
    flows = {name: table[name].fill_null(np.nan).to_numpy() for name in TIMES}
    return curves(flows, run.summary["warmup_s"], run.summary["duration_s"])


def costs(done: Measured) -> dict[str, float]:
    """Return what a manifest says of the cost."""
    return {
        "wall_s": done.wall_s,
        "cpu_s": done.cpu_s,
        "packet_hops": sum(row["packet_hops"] for row in done.rows),
    }
