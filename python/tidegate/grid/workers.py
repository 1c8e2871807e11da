"""Threads that work through a list; the simulator does not hold the interpreter's lock."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

J = TypeVar("J")
R = TypeVar("R")

LOOK_S = 0.05
"""How often the waiting thread gives Ctrl-C a chance."""


@dataclass(frozen=True)
class _Done(Generic[J, R]):
    job: J
    result: R


class Pool(Generic[J, R]):
    """Workers that take the next job when they are free: a long list costs nothing."""

    def __init__(self, jobs: Sequence[J], work: Callable[[J], R], stop: threading.Event) -> None:
        self.jobs, self.work, self.stop = jobs, work, stop
        self._left, self._lock = iter(jobs), threading.Lock()
        self._ended: SimpleQueue[_Done[J, R] | BaseException] = SimpleQueue()

    def run(self, workers: int) -> Iterator[tuple[J, R]]:
        """Yield jobs with their results as they come.

        Whatever a job raises, and Ctrl-C, ends all workers and is raised here.
        """
        count = min(workers, len(self.jobs))
        threads = [threading.Thread(target=self._loop, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            for _ in self.jobs:
                ended = self._next()
                if isinstance(ended, BaseException):
                    raise ended
                yield ended.job, ended.result
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()

    def _next(self) -> _Done[J, R] | BaseException:
        """Wait for the next job that is over, looking up now and then.

        The system may hand Ctrl-C to any thread; the one that waits here, which
        alone can act on it, is not woken then.
        """
        while True:
            with suppress(Empty):
                return self._ended.get(timeout=LOOK_S)

    def _loop(self) -> None:
        while not self.stop.is_set():
            with self._lock:
                job = next(self._left, None)
            if job is None:
                return
            try:
                self._ended.put(_Done(job, self.work(job)))
            except BaseException as error:  # to be raised in the thread that waits
                self._ended.put(error)
                return


class Meter:
    """Adds up what several runs at once have simulated; any thread may report."""

    def __init__(self, runs: int, show: Callable[[float, int], None]) -> None:
        self._lock = threading.Lock()
        self._done = [0.0] * runs
        self._sum = 0.0
        self._finished = 0
        self._show = show

    def report(self, run: int, simulated_s: float) -> None:
        """Run number `run` has come to this simulated time."""
        with self._lock:
            self._sum += simulated_s - self._done[run]
            self._done[run] = simulated_s
            self._show(self._sum, self._finished)

    def finished(self) -> None:
        """One more run is over and kept."""
        with self._lock:
            self._finished += 1
            self._show(self._sum, self._finished)
