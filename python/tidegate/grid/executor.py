"""Who simulates the runs of a grid, a paper or a study: threads here, or a cluster."""

from __future__ import annotations

import copy
import os
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from tidegate.grid.workers import Pool
from tidegate.results.run_output import RunOutput
from tidegate.results.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from tidegate.grid.cluster import Cluster
    from tidegate.grid.work import Work

R = TypeVar("R")


class Executor:
    """Threads of this machine, or the workers of a cluster, which is joined once it is needed."""

    def __init__(self, workers: int | None = None, dask: str | None = None) -> None:
        self.workers, self.dask = workers, dask
        self._cluster: Cluster | None = None
        self._open = ExitStack()

    def __enter__(self) -> Executor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def run(self, work: Work[R]) -> Iterator[tuple[int, R]]:
        """Yield the places of the runs as they are over, with what `keep` returned.

        Raises KeyboardInterrupt, and whatever a law or `keep` raises; what was
        kept stays.
        """
        if not work.count:
            return
        stop = threading.Event()
        cluster = self.joined()
        if cluster is not None:
            yield from cluster.run(work, self.workers, stop)
            return

        def one(place: int) -> R:
            task, report = work.task(place), work.report
            tick = None if report is None else (lambda now_s: report(place, now_s))
            own = copy.deepcopy(dict(work.laws)) if work.laws else None
            outcome = simulate(task.scenario, task.seed, own, tick, stop)
            return work.keep(place, RunOutput.of(outcome, work.wanted))

        yield from Pool(range(work.count), one, stop).run(self.workers or os.cpu_count() or 1)

    def joined(self) -> Cluster | None:
        """Return the cluster, if the runs are to be made on one."""
        if self._cluster is None and self.dask is not None:
            from tidegate.grid.cluster import connected

            self._cluster = self._open.enter_context(connected(self.dask))
        return self._cluster
