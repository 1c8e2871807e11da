"""Threads that work through a list; the simulator does not hold the interpreter's lock."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from tidegate.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

J = TypeVar("J")
R = TypeVar("R")


def spread(
    jobs: Sequence[J],
    work: Callable[[J], R],
    take: Callable[[J, R], None],
    workers: int,
    stop: threading.Event,
) -> None:
    """Do all jobs, in about their order; `take` is handed each result, in this thread.

    Nothing is queued ahead of the workers, so that a long list costs nothing.
    Whatever a job raises, Ctrl-C included, sets `stop`, waits until the jobs
    under way are over, takes those that were finished, and is raised here.
    """
    done: SimpleQueue[tuple[J, R | None, BaseException | None]] = SimpleQueue()
    left, lock = iter(jobs), threading.Lock()

    def loop() -> None:
        while not stop.is_set():
            with lock:
                job = next(left, None)
            if job is None:
                return
            try:
                done.put((job, work(job), None))
            except BaseException as error:  # raised again in the thread that waits
                done.put((job, None, error))
                return

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(min(workers, len(jobs)))]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            _hand_over(done.get(), take)
    except BaseException:
        stop.set()
        for thread in threads:
            thread.join()
        while not done.empty():
            job, result, error = done.get()
            if error is None:
                _hand_over((job, result, None), take)
        raise
    for thread in threads:
        thread.join()


def _hand_over(
    ended: tuple[J, R | None, BaseException | None], take: Callable[[J, R], None]
) -> None:
    job, result, error = ended
    if error is not None:
        raise error
    if result is None:
        raise Stopped
    take(job, result)
