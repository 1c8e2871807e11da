"""A queue law in Python: CoDel (RFC 8289), compared with the built-in one on the same traffic.

Run it from the top of the checkout: `.venv/bin/python examples/own_queue_law.py`
"""

from math import sqrt

from rich import print as show

import tidegate
from tidegate import Next, Verdict

PER_S = 10**12  # picoseconds: whole numbers, as the simulator has them

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


class CoDel:
    """Drop from the front while packets have waited more than a target for a whole interval."""

    def __init__(self, target_s: float = 0.005, interval_s: float = 0.1) -> None:
        self.target = round(target_s * PER_S)
        self.interval = round(interval_s * PER_S)
        self.interval_s = interval_s
        self.largest = 0  # bytes of the largest packet: less than that waiting is no queue
        self.first_above: int | None = None  # when the delay will have been above too long
        self.dropping = False
        self.drop_next = 0
        self.count = self.last_count = 0  # drops in this dropping state, and in the last one
        self.after = ""  # what the packet before this one met in the same call of RFC 8289

    def arrive(
        self,
        packet: tidegate.Packet,
        waiting: tidegate.Waiting,
        found: tidegate.Found,
        draw: tidegate.Draw,
    ) -> tidegate.Verdict:
        """Take what fits."""
        self.largest = max(self.largest, packet.size)
        return Verdict.PASS if found.fits else Verdict.FULL

    def next(
        self, waiting: tidegate.Waiting, slot: tidegate.Slot, draw: tidegate.Draw
    ) -> tidegate.Next:
        """Send the oldest packet, or drop it (RFC 8289, 5.5)."""
        packet, now = waiting.oldest, slot.start_ps
        above = self.above(now, now - packet.at_ps, waiting.bytes - packet.size)
        after, self.after = self.after, ""
        if after == "began":
            return Next.send(packet)
        if after == "dropped" and above:
            self.drop_next = self.later(self.drop_next)
        if not above:
            self.dropping = False
            return Next.send(packet)
        if not self.dropping:
            self.begin(now)
            self.after = "began"
        elif now >= self.drop_next:
            self.count += 1
            self.after = "dropped"
        else:
            return Next.send(packet)
        return Next.drop(packet)

    def above(self, now: int, waited: int, behind: int) -> bool:
        """Tell whether the delay has been above the target for an interval (5.6)."""
        if waited < self.target or behind <= self.largest:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now + self.interval
        return now >= self.first_above

    def later(self, start: int) -> int:
        """Return when to drop next: the more drops, the sooner (5.6)."""
        return start + int(self.interval_s / sqrt(self.count) * PER_S + 0.5)

    def begin(self, now: int) -> None:
        """Enter the dropping state, at the rate of the last one if that ended recently (5.5)."""
        before = self.count - self.last_count
        recent = now - self.drop_next < 16 * self.interval
        self.dropping = True
        self.count = before if before > 1 and recent else 1
        self.drop_next = self.later(now)
        self.last_count = self.count


def main() -> None:
    """Compare it with drop-tail and with the built-in CoDel, whose results are the same."""
    comparison = tidegate.compare(
        LINK,
        queues=["drop-tail", "codel", {"law": "python", "name": "mine"}],
        seeds=2,
        laws={"mine": CoDel},
    )
    show(comparison.table)


if __name__ == "__main__":
    main()
