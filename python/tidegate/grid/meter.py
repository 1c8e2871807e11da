"""The progress of many runs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Meter:
    """Adds up the simulated time of concurrent runs; any thread may report."""

    def __init__(
        self,
        runs: int,
        show: Callable[[float, int], None],
        stage: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._lock = threading.Lock()
        self._done = [0.0] * runs
        self._sum = 0.0
        self._finished = 0
        self._show = show
        self.stage = stage
        """Shows what is done after the runs."""

    def report(self, run: int, simulated_s: float) -> None:
        """Run number `run` has reached this simulated time."""
        with self._lock:
            self._sum += simulated_s - self._done[run]
            self._done[run] = simulated_s
            self._show(self._sum, self._finished)

    def finished(self) -> None:
        """One more run is complete and saved."""
        with self._lock:
            self._finished += 1
            self._show(self._sum, self._finished)
