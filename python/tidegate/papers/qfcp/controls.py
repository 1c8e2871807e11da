"""Controls of the paper's years that it names as related work, beside QFCP.

Each grows in slow start as Reno does, and has its own rule after that: HighSpeed TCP
(RFC 3649), Scalable TCP (Kelly, 2003), Vegas (Brakmo and Peterson, 1995) and FAST (Jin,
Wei and Low, 2004). They run over the simulator's TCP, which repairs the losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import exp, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate import _native

LEAST = 2.0
"""The least window after a loss, segments."""


class _Window(ABC):
    """A window that doubles each round trip until a loss, and shrinks by a share at a loss."""

    def __init__(self, tcp: _native.Tcp) -> None:
        self.cwnd = float(tcp.initial_window)
        self.ssthresh = float(tcp.initial_ssthresh)
        self.most = float(tcp.window)

    def on_ack(self, sample: _native.Sample) -> None:
        """Grow as far as the acknowledgement allows."""
        if sample.opens:
            if self.cwnd < self.ssthresh:
                self.start(sample)
            else:
                self.avoid(sample)
            self.cwnd = min(self.cwnd, self.most)

    def start(self, sample: _native.Sample) -> None:
        """Grow by what is acknowledged."""
        self.cwnd += sample.opens

    @abstractmethod
    def avoid(self, sample: _native.Sample) -> None:
        """Grow by the rule of the control."""

    def share_lost(self) -> float:
        """Return which share of the window a loss takes."""
        return 0.5

    def on_congestion(self, _: _native.Signal, __: _native.Congestion) -> None:
        """Give up a share of the window."""
        self.ssthresh = max((1.0 - self.share_lost()) * self.cwnd, LEAST)
        self.cwnd = self.ssthresh

    def on_recovered(self, _: float) -> None:
        """Take off what duplicate acknowledgements have added."""
        self.cwnd = self.ssthresh

    def on_timeout(self, at: _native.Congestion, again: bool) -> None:
        """Begin with one segment."""
        if not again:
            self.ssthresh = max(min(float(at.flight), self.cwnd) / 2.0, LEAST)
        self.cwnd = 1.0


LOW, HIGH = 38.0, 83_000.0
"""Windows of RFC 3649, 5: up to the first it is Reno's rule; the second is at HIGH_LOSS."""
LOW_LOSS, HIGH_LOSS = 1e-3, 1e-7
HIGH_SHARE = 0.1
"""Which share a loss takes of the higher window."""


def decrease(window: float) -> float:
    """Return b(w) of RFC 3649, 5."""
    if window <= LOW:
        return 0.5
    return (HIGH_SHARE - 0.5) * (log(window) - log(LOW)) / (log(HIGH) - log(LOW)) + 0.5


def increase(window: float) -> float:
    """Return a(w) of RFC 3649, 5: what keeps the window at a loss of p(w)."""
    if window <= LOW:
        return 1.0
    place = (log(window) - log(LOW)) / (log(HIGH) - log(LOW))
    loss = exp(place * (log(HIGH_LOSS) - log(LOW_LOSS)) + log(LOW_LOSS))
    share = decrease(window)
    return window**2 * loss * 2.0 * share / (2.0 - share)


class HighSpeed(_Window):
    """Grow by a(w) a round trip and give up b(w): the more the larger the window."""

    def avoid(self, sample: _native.Sample) -> None:
        """Grow by a(w) / w for each segment."""
        self.cwnd += sample.opens * increase(self.cwnd) / self.cwnd

    def share_lost(self) -> float:
        """Return b(w)."""
        return decrease(self.cwnd)


LEGACY = 16.0
"""The window up to which Scalable TCP does as Reno, segments."""


class Scalable(_Window):
    """Grow by a hundredth for each segment, and give up an eighth."""

    def avoid(self, sample: _native.Sample) -> None:
        """Grow in proportion to the window, or as Reno where it is small."""
        self.cwnd += sample.opens * (0.01 if self.cwnd > LEGACY else 1.0 / self.cwnd)

    def share_lost(self) -> float:
        """Return an eighth, or a half where the window is small."""
        return 0.125 if self.cwnd > LEGACY else 0.5


class _ByDelay(_Window):
    """A window that looks at the round trip once a round trip."""

    def __init__(self, tcp: _native.Tcp) -> None:
        super().__init__(tcp)
        self.base_s = float("inf")
        self.next_s = 0.0
        self.last_s = float("inf")

    def _round(self, sample: _native.Sample) -> bool:
        """Take in a round trip; tell whether one is over."""
        rtt_s = sample.rtt_s
        if rtt_s is None:
            return False
        self.base_s, self.last_s = min(self.base_s, rtt_s), rtt_s
        if sample.now_s < self.next_s:
            return False
        self.next_s = sample.now_s + rtt_s
        return True

    def waiting(self) -> float:
        """Return how many of its segments wait in queues: w (1 - base / rtt)."""
        return self.cwnd * (1.0 - self.base_s / self.last_s)


class Vegas(_ByDelay):
    """Keep between one and three segments in the queues."""

    FEW, MANY, END = 1.0, 3.0, 1.0

    def __init__(self, tcp: _native.Tcp) -> None:
        super().__init__(tcp)
        self.grows = True

    def start(self, sample: _native.Sample) -> None:
        """Double every second round trip, until a segment waits."""
        if self._round(sample):
            if self.waiting() > self.END:
                self.ssthresh = self.cwnd
                return
            self.grows = not self.grows
        if self.grows:
            self.cwnd += sample.opens

    def avoid(self, sample: _native.Sample) -> None:
        """Add or take away one segment a round trip."""
        if self._round(sample):
            waiting = self.waiting()
            self.cwnd += float(waiting < self.FEW) - float(waiting > self.MANY)
            self.cwnd = max(self.cwnd, LEAST)

    def share_lost(self) -> float:
        """Return a quarter."""
        return 0.25


class Fast(_ByDelay):
    """Go half of the way to the window that keeps `KEPT` segments in the queues."""

    KEPT, WAY = 100.0, 0.5

    def start(self, sample: _native.Sample) -> None:
        """Do so from the start: slow start is a window that may double."""
        self.avoid(sample)

    def avoid(self, sample: _native.Sample) -> None:
        """Set the window anew once a round trip, to twice what it was at most."""
        if self._round(sample):
            aim = self.base_s / self.last_s * self.cwnd + self.KEPT
            step = (1.0 - self.WAY) * self.cwnd + self.WAY * aim
            self.cwnd = max(min(2.0 * self.cwnd, step), LEAST)


LAWS = {"highspeed": HighSpeed, "scalable": Scalable, "vegas": Vegas, "fast": Fast}
"""Under the names that the cases give them."""
