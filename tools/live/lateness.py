"""How late the processes of this machine run: whether what they time is valid.

Real packets are timed by processes that wait for the processor like any other. A thread that sleeps
for a moment again and again, with the priority of these processes, learns how late it wakes up.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

NAP_S = 0.002


class TooBusy(Exception):
    """A run was not valid: what it timed was late by more than its result may be off."""


class Watch:
    """Watches how late a thread of this process wakes up, until it is left."""

    def __init__(self) -> None:
        """Begin when entered."""
        self._late: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.is_set():
            due = time.monotonic() + NAP_S
            time.sleep(NAP_S)
            self._late.append(time.monotonic() - due)

    @property
    def mean_ms(self) -> float:
        """How late it woke up, mean."""
        # it grows meanwhile
        late = list(self._late)
        return 1e3 * sum(late) / max(1, len(late))

    @property
    def worst_ms(self) -> float:
        """How late it woke up at worst."""
        return 1e3 * max(self._late, default=0.0)


@dataclass(frozen=True)
class Late:
    """How late a link and its ends were while something was timed."""

    link_ms: float
    """95 of 100 writes of the link, at most (`tidegate.hosts.lab.lateness`)."""
    ends_ms: float
    """The processes at its ends, mean (`Watch`)."""

    def excuse(self, round_trips: int, allowed_s: float, seen: str) -> None:
        """Raise TooBusy if that may be why something took longer than is allowed.

        In so many round trips, one after the other, each end had to run once and the link to write
        twice. Late by half of what is allowed, it was not valid.
        """
        late_s = 1e-3 * round_trips * 2 * (self.link_ms + self.ends_ms)
        if late_s > allowed_s / 2:
            raise TooBusy(
                f"{seen}, of which {1e3 * late_s:.1f} ms may be late: {2 * round_trips} times"
                f" the link by {self.link_ms:.2f} ms and an end by {self.ends_ms:.2f} ms"
            )
