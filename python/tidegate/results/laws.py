"""Laws of the user's own in Python: what each kind of them must have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from tidegate import _native


class Law(Protocol):
    """A law of the user's own, as the controller of a gate.

    In the scenario: `gate = { law = "python", name = "mine", limiter = "counter" }`,
    and `laws={"mine": MyLaw()}` with the run. A run uses the very object, which
    can be looked at afterwards; a comparison gives each of its runs a deep copy.
    An exception ends the run with its own traceback.
    """

    def start(self, now_s: float, knobs: _native.Knobs) -> float:
        """Set the first knobs; return the time (s) of the first update."""

    def update(
        self, now_s: float, view: _native.View, counts: _native.Counts, knobs: _native.Knobs
    ) -> float | tuple[float, _native.Decision | None]:
        """Set the knobs from what was counted since last time; return the next time (s).

        With a `Decision` that is the row of the table `events`, with None there is
        none; a time alone gets a row that says `python`.
        """


class RateLaw(Protocol):
    """A law of the user's own that sets the rate which a port grants to senders.

    In the scenario: `stamp = { law = "python", name = "mine" }`,
    and `laws={"mine": MyLaw()}` with the run. The rest is as with `Law`. The
    rate is in force for what leaves from then on.
    """

    def start(self, now_s: float, knobs: _native.RateKnobs) -> float:
        """Set the first rate, or leave no limit; return the time (s) of the first update."""

    def update(
        self,
        now_s: float,
        view: _native.View,
        counts: _native.RateCounts,
        knobs: _native.RateKnobs,
    ) -> float | tuple[float, _native.Decision | None]:
        """Set the rate from what was counted since last time; return the next time (s)."""


class QueueLaw(Protocol):
    """A law of the user's own that drops, marks and chooses the packets of a queue.

    In the scenario: `queue = { law = "python", name = "mine" }`, and
    `laws={"mine": MyLaw}` with the run: the class, which is called for each port
    without arguments, or an object. A law may also have `next(waiting, slot, draw)`,
    which returns a `Next` (without it the oldest packet is sent; with it `arrive`
    may be missing: what fits is taken), `taken(packet, waiting)`, `start(now_s)` with
    `tick(now_s, view)`, `average(idle_s)` and `observe(found)`.
    """

    def arrive(
        self,
        packet: _native.Packet,
        waiting: _native.Waiting,
        found: _native.Found,
        draw: _native.Draw,
    ) -> _native.Verdict:
        """Decide whether a packet joins the queue; others may be evicted for it."""


class Filter(Protocol):
    """A filter of the user's own: it sees what comes to a port, before the gate and the queue.

    In the scenario: `filter = { law = "python", name = "mine" }`, and
    `laws={"mine": MyFilter}` with the run, as for a queue law. It may also have
    `enqueued(packet, now_s)`, `dropped(packet, reason, now_s)` and
    `depart(packet, now_s)`.
    """

    def arrive(self, packet: _native.Packet, now_s: float, draw: _native.Draw) -> _native.Verdict:
        """Decide whether a packet continues."""


class Control(Protocol):
    """A congestion control of the user's own, of one flow.

    In the scenario: `transport = { python = { name = "mine" } }`, with any setting
    of TCP, and `laws={"mine": MyControl}` with the run: the class, which is called
    for each flow with the settings of TCP (`Tcp`). It may also have the attributes
    `ssthresh` (segments), `gap_s` (least time between two packets, or None),
    `samples_rate`, `keeps_window` and `limited_transmit`, and the methods
    `on_recovered(window)`, `on_sent(now_s, flight)`, `on_lost_syn(rule)` and
    `on_idle(window, ssthresh)`.
    """

    cwnd: float
    """Segments that may be in flight; read after every call."""

    def on_ack(self, sample: _native.Sample) -> None:
        """Take in that an acknowledgement covers new data."""

    def on_congestion(self, signal: _native.Signal, at: _native.Congestion) -> None:
        """Answer to congestion on the path."""

    def on_timeout(self, at: _native.Congestion, again: bool) -> None:
        """Answer to a timeout; `again`: it was for the same segment as before."""


OwnLaw: TypeAlias = (
    Law
    | RateLaw
    | QueueLaw
    | Filter
    | Callable[[], QueueLaw]
    | Callable[[], Filter]
    | Callable[["_native.Tcp"], Control]
)
"""What is handed in under the name of a law."""


def handed(laws: Mapping[str, OwnLaw] | None) -> dict[str, Any] | None:
    """Return laws as the simulator takes them: session and rate laws as objects.

    It calls the classes of the other kinds itself, as each port and flow has its own.
    """
    if not laws:
        return None
    return {
        name: law() if isinstance(law, type) and hasattr(law, "update") else law
        for name, law in laws.items()
    }
