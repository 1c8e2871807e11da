"""The executor of the runs of a grid, a paper or a study: threads here, or a cluster."""

from __future__ import annotations

import copy
import os
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from tidegate.arguments import text, whole
from tidegate.results.run_output import RunOutput
from tidegate.results.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.grid.cluster import Cluster
    from tidegate.grid.work import Work

R = TypeVar("R")

IN_RUN = "in the run"
"""How the note begins that says in which run a law raised something."""
POLL_S = 0.05
"""The system may deliver Ctrl-C to any thread; the waiting one looks for it this often."""


class Executor:
    """Threads of this machine, or the workers of a cluster; it connects when first needed."""

    def __init__(self, workers: int | None = None, dask: str | None = None) -> None:
        self.workers = None if workers is None else whole(workers, "workers", 1)
        self.dask = None if dask is None else text(dask, "dask", "local:4")
        self._cluster: Cluster | None = None
        self._open = ExitStack()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, work: Work[R]) -> Iterator[tuple[int, R]]:
        """Yield the indices of the runs as they complete, with what `keep` returned.

        Raises KeyboardInterrupt, and whatever a law or `keep` raises, after the
        other runs have been stopped; what was saved stays.
        """
        if not work.count:
            return
        stop = threading.Event()
        cluster = self.joined()
        if cluster is not None:
            yield from cluster.run(work, self.workers, stop)
        else:
            yield from _on_threads(work, self.workers or os.cpu_count() or 1, stop)

    def joined(self) -> Cluster | None:
        """Return the cluster, if the runs are to be simulated on one."""
        if self._cluster is None and self.dask is not None:
            from tidegate.grid.cluster import connected

            self._cluster = self._open.enter_context(connected(self.dask))
        return self._cluster


def _on_threads(work: Work[R], workers: int, stop: threading.Event) -> Iterator[tuple[int, R]]:
    """Simulate on threads: the native module releases the interpreter's lock."""

    def one(index: int) -> R:
        task, report = work.task(index), work.report
        tick = None if report is None else (lambda now_s: report(index, now_s))
        laws = copy.deepcopy(dict(work.laws)) if work.laws else None
        try:
            outcome = simulate(task.scenario, task.seed, laws, tick, stop)
        except BaseException as error:  # a panic in a law's own native module is no Exception
            if work.named is not None:
                error.add_note(f"{IN_RUN} {work.named(index)}")
            raise
        return work.keep(index, RunOutput.of(outcome, work.wanted))

    left = iter(range(work.count))
    pending: dict[Future[R], int] = {}
    with ThreadPoolExecutor(min(workers, work.count)) as pool:
        try:
            # one run more than threads: a long list is not submitted at once
            pending = {pool.submit(one, index): index for index in islice(left, workers + 1)}
            while pending:
                for future in wait(pending, POLL_S, FIRST_COMPLETED).done:
                    index = pending.pop(future)
                    result = future.result()
                    pending |= {pool.submit(one, each): each for each in islice(left, 1)}
                    yield index, result
        finally:
            stop.set()
            for future in pending:
                future.cancel()
