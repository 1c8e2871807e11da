"""A filter in Python: no flow may take more than its share of a port.

Run it from the top of the checkout: `.venv/bin/python examples/own_filter.py`
"""

from rich import print as show

import tidegate
from tidegate import Verdict


class PerFlow:
    """Drop what a flow sends faster than a bucket of tokens of its own fills."""

    def __init__(self, rate_bps: float = 4e6, burst_bytes: float = 30_000.0) -> None:
        self.rate_bps = rate_bps
        self.burst_bytes = burst_bytes
        self.buckets: dict[int, tuple[float, float]] = {}  # by flow: bytes, and since when

    def arrive(self, packet: tidegate.Packet, now_s: float, draw: tidegate.Draw) -> Verdict:
        """Let a packet through that finds tokens for its bytes."""
        tokens, since_s = self.buckets.get(packet.flow, (self.burst_bytes, 0.0))
        tokens = min(self.burst_bytes, tokens + (now_s - since_s) * self.rate_bps / 8)
        passes = tokens >= packet.size
        self.buckets[packet.flow] = (tokens - packet.size if passes else tokens, now_s)
        return Verdict.PASS if passes else Verdict.DROP


LINK = """
name = "two-flows"
duration = "20s"
[topology.dumbbell]
pairs = 2
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms", buffer = "100packets" }
[traffic.greedy]
arrivals = { at = ["0s"] }
size = "unlimited"
transport = { udp = { rate = "20Mbit" } }
[traffic.polite]
arrivals = { at = ["0s"] }
size = "unlimited"
"""


def main() -> None:
    """Run a sender of 20 Mbit/s beside TCP, without and with the filter."""
    filters = [{"law": "none"}, {"law": "python", "name": "mine"}]
    comparison = tidegate.compare(
        LINK, vary={"port.bottleneck.filter": filters}, seeds=2, laws={"mine": PerFlow}
    )
    show(comparison.table)


if __name__ == "__main__":
    main()
