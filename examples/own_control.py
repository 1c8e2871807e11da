"""A control of a sender in Python: Reno (RFC 5681), compared with the built-in one.

Run it from the top of the checkout: `.venv/bin/python examples/own_control.py`
"""

from rich import print as show

import tidegate
from tidegate import Signal

LINK = """
name = "a-long-transfer-beside-the-web"
duration = "20s"
warmup = "5s"
[topology.dumbbell]
pairs = 4
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "20ms", buffer = "200packets" }
[traffic.long]
arrivals = { at = ["0s", "0s"] }
size = "unlimited"
[traffic.web]
arrivals = { poisson = "20/s" }
size = { pareto = { mean = "30kB", shape = 1.5 } }
"""


class Reno:
    """Double the window each round trip, then add one segment to it; halve it at a loss."""

    def __init__(self, tcp: tidegate.Tcp) -> None:
        self.tcp = tcp
        self.cwnd = float(tcp.initial_window)
        self.ssthresh = float(tcp.initial_ssthresh)
        self.credit = 0  # segments acknowledged since the window last grew by one

    def on_ack(self, sample: tidegate.Sample) -> None:
        """Grow (RFC 5681, 3.1; RFC 3465)."""
        if not sample.opens:
            return
        if self.cwnd < self.ssthresh:
            room = max(self.ssthresh - self.cwnd, 1.0)
            self.cwnd += min(sample.opens, self.tcp.byte_counting, room)
        else:
            self.credit += sample.opens
            if self.credit >= self.cwnd:
                self.credit -= int(self.cwnd)
                self.cwnd += 1.0
        self.cwnd = min(self.cwnd, float(self.tcp.window))

    def on_congestion(self, signal: tidegate.Signal, at: tidegate.Congestion) -> None:
        """Halve, but once for a mark and the loss after it."""
        if signal != Signal.LOSS_AFTER_MARK:
            self.halve(at)
        self.credit = 0
        self.cwnd = self.ssthresh

    def on_recovered(self, window: float) -> None:
        """Take off what duplicate acknowledgements have added."""
        self.cwnd = self.ssthresh

    def on_timeout(self, at: tidegate.Congestion, again: bool) -> None:
        """Begin with one segment; the threshold stays when the same segment is lost again."""
        if not again:
            self.halve(at)
        self.credit = 0
        self.cwnd = 1.0

    def halve(self, at: tidegate.Congestion) -> None:
        """Halve what is in flight (RFC 5681, eq. 4), or in Linux the window."""
        flight = float(at.flight)
        if self.tcp.loss_rule == "linux":  # in whole segments
            flight = float(int(self.cwnd) // 2 * 2)
        elif self.tcp.recovery == "sack":  # segments behind a hole count as in flight too
            flight = min(flight, self.cwnd)
        self.ssthresh = max(flight / 2.0, 2.0)


def main() -> None:
    """Compare it with the built-in Reno, whose results are the same, and with CUBIC."""
    comparison = tidegate.compare(
        LINK,
        vary={
            "traffic.long.transport": [
                {"tcp": {"control": "reno"}},
                {"python": {"name": "mine"}},
                {"tcp": {"control": "cubic"}},
            ]
        },
        seeds=2,
        laws={"mine": Reno},
    )
    show(comparison.table)


if __name__ == "__main__":
    main()
