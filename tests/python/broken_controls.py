"""Controls that are Reno but for one thing, broken on purpose, which `certify` must find."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tidegate


class Reno:
    """Slow start, one segment more in each round trip, and half of it at a loss (RFC 5681)."""

    step = 1.0
    """What a round trip adds, in segments."""
    kept = 0.5
    """What a loss leaves of the window."""

    def __init__(self, tcp: tidegate.Tcp) -> None:
        self.cwnd = float(tcp.initial_window)
        self.ssthresh = float(tcp.initial_ssthresh)

    def on_ack(self, sample: tidegate.Sample) -> None:
        if self.cwnd < self.ssthresh:
            self.cwnd += sample.opens
        else:
            self.cwnd += self.step * sample.opens / self.cwnd

    def on_congestion(self, signal: tidegate.Signal, at: tidegate.Congestion) -> None:
        self.ssthresh = max(min(at.flight, self.cwnd) * self.kept, 2.0)
        self.cwnd = self.ssthresh

    def on_recovered(self, window: float) -> None:
        self.cwnd = self.ssthresh

    def on_timeout(self, at: tidegate.Congestion, again: bool) -> None:
        self.ssthresh = max(self.cwnd / 2.0, 2.0)
        self.cwnd = 1.0


class NeverBacksOff(Reno):
    """Sends its whole window at each timeout, however many there were."""

    def on_timeout(self, at: tidegate.Congestion, again: bool) -> None:
        pass


class IgnoresLoss(Reno):
    """Keeps its window at a loss, but for the end of slow start; a timeout counts."""

    def on_congestion(self, signal: tidegate.Signal, at: tidegate.Congestion) -> None:
        self.ssthresh = self.cwnd


class Starves(Reno):
    """Takes what others leave at a loss: it adds eight segments, and gives up a tenth."""

    step = 8.0
    kept = 0.9


class FillsBuffer(Reno):
    """Keeps the buffer full once it was: it falls by a single segment at a loss."""

    def on_congestion(self, signal: tidegate.Signal, at: tidegate.Congestion) -> None:
        self.ssthresh = max(self.cwnd - 1.0, 2.0)
        self.cwnd = self.ssthresh
