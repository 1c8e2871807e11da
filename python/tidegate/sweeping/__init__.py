"""A grid of settings x seeds on all cores, that can be broken off and gone on with."""

from __future__ import annotations

import copy
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from tidegate import scenario as documents
from tidegate.errors import UsageError
from tidegate.results import Result
from tidegate.runner import simulate
from tidegate.store import display
from tidegate.sweeping import axes as grid
from tidegate.sweeping.ledger import Ledger
from tidegate.sweeping.outcome import Sweep, chosen, tabulated
from tidegate.sweeping.plan import plan, shard_of
from tidegate.sweeping.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tidegate.runner import Law, RateLaw
    from tidegate.scenario import Source
    from tidegate.sweeping.plan import Job, Plan

__all__ = ["Sweep", "execute", "finish", "sweep"]


def execute(
    planned: Plan,
    ledger: Ledger | None = None,
    *,
    laws: Mapping[str, Law | RateLaw] | None = None,
    workers: int | None = None,
    metrics: Sequence[str] = (),
    report: Callable[[int, float], None] | None = None,
    finished: Callable[[], None] | None = None,
) -> Sweep:
    """Run what is missing on a pool of threads; every run is kept as soon as it is over.

    The result does not depend on the number of workers, nor on how often the
    sweep was broken off. `report` is told the place of a run among the missing
    ones and its simulated time. Raises KeyboardInterrupt, and whatever a law
    of the user's own raises; what was kept stays.
    """
    start, stop = time.perf_counter(), threading.Event()
    missing = planned.subject.jobs if ledger is None else ledger.missing
    summaries: dict[Job, Mapping[str, Any]] = {}
    if ledger is not None:
        summaries = {job: run.summary for job, run in ledger.found.items()}

    def work(place: int) -> dict[str, Any]:
        point, seed = job = missing[place]
        tick = None if report is None else (lambda now_s: report(place, now_s))
        own = copy.deepcopy(dict(laws)) if laws else None
        outcome = simulate(planned.scenarios[point], seed, own, tick, stop)
        result = Result(outcome, "sweep")
        if ledger is not None:
            ledger.keep(job, result)
        if finished is not None:
            finished()
        return result.summary

    pool = Pool(range(len(missing)), work, stop)
    for place, summary in pool.run(workers or os.cpu_count() or 1):
        summaries[missing[place]] = summary
    done = Sweep.of(planned.subject, summaries, metrics)
    done.wall_s = time.perf_counter() - start
    return done


def finish(ledger: Ledger, done: Sweep) -> Path:
    """Write the tables and pictures of a finished sweep; of a shard only its manifest."""
    if done.subject.shard is None:
        for name, content in tabulated(done).items():
            ledger.write(name, content)
    ledger.manifest(
        complete=done.complete,
        wall_s=done.wall_s,
        cpu_s=sum(row["cpu_s"] for row in done.rows),
        packet_hops=sum(row["packet_hops"] for row in done.rows),
    )
    done.folder = ledger.target
    return display(ledger.target)


def sweep(
    source: Source,
    axes: Mapping[str, Sequence[object]] | None = None,
    *,
    gates: Sequence[str | dict[str, Any]] | None = None,
    seeds: int | Sequence[int] | None = None,
    port: str | None = None,
    settings: Mapping[str, object] | None = None,
    laws: Mapping[str, Law | RateLaw] | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    keep_flows: bool = False,
    metrics: Sequence[str] = (),
    shard: str | None = None,
    mix: bool = False,
) -> Sweep:
    """Run a grid of settings, each with the same seeds.

    `source` is a path, the text of a document or nested dicts. The axes are
    `axes={"port.bottleneck.gate.rate": ["50/s", "100/s"]}` and `gates`, or else
    those of its table [sweep]; `seeds` is how many (1, 2, ...) or which, by
    default those of the document, or 10. With `out` every finished run is kept
    there at once, and a second call runs only what is missing; it refuses to
    mix runs of another code or scenario unless `mix` is set. `keep_flows`
    keeps the Parquet files of each run too, `shard="2/8"` runs a part.
    Raises ScenarioError, TidegateError, and what a law of your own raises.
    """
    if keep_flows and out is None:
        raise UsageError("There is no place to keep the flows.", "Name a folder with `out`.")
    document = documents.read(source, settings)
    planned = plan(
        document,
        axes=grid.asked(axes or {}),
        gates=gates,
        seeds=seeds,
        port=port,
        laws=laws,
        shard=None if shard is None else shard_of(shard),
    )
    names = chosen(metrics, planned.subject)
    if out is None:
        return execute(planned, laws=laws, workers=workers, metrics=names)
    with Ledger(out, planned, keep_flows=keep_flows, mix=mix) as ledger:
        done = execute(planned, ledger, laws=laws, workers=workers, metrics=names)
        finish(ledger, done)
    return done
