"""Write what ns-2 sends when listed packets are lost: the golden file of `crates/sim/tests/ns2.rs`.

    python -m tools.validate.lossy > crates/sim/tests/golden/ns2_lossy.csv

One upload over an otherwise idle link (10 Mbit/s, round trip 200 ms, ns-2 of 2006). Every packet
that reaches the bottleneck is lost with a given probability, drawn beforehand. A row per packet
until the flow is closed: time at the bottleneck, what it is (a data packet by its number), and
whether it was lost. ns-2's clock starts at a random phase of its 10 ms tick; the flows below are
some of those whose timeouts do not depend on it.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tools.validate import ns2

FLOWS = (
    # seed, probability of loss, least and greatest size
    (4, 0.4, 4000, 12000),
    (8, 0.4, 4000, 12000),
    (31, 0.4, 4000, 12000),
    (36, 0.4, 4000, 12000),
    (304, 0.65, 4000, 12000),
    (323, 0.65, 4000, 12000),
    (109, 0.03, 60000, 120000),
    (105, 0.03, 60000, 120000),
    (123, 0.03, 60000, 120000),
)
MSS = 536


def packet(flags: int, size: int, sequence: int) -> str:
    """Name a packet: SYN, a pure ACK or FIN, or the number of a data segment."""
    if flags & ns2.SYN:
        return "syn"
    if size > ns2.HEADER:
        return str((sequence - 1) // MSS)
    return "fin" if flags & ns2.FIN else "ack"


def rows(seed: int, loss: float, least: int, greatest: int) -> list[str]:
    """Run one flow and return its rows."""
    chance = random.Random(seed)
    size = chance.randrange(least, greatest)
    lost = [number for number in range(1, 2000) if chance.random() < loss]
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        settings = {"drop": " ".join(map(str, lost)), "until": "4000", "mss": str(MSS)}
        (flow,) = ns2.run([(0.0, size)], settings, trace=trace)
        sent = [event for event in ns2.events(trace) if event.kind == "+"]
    return [
        f"{seed},{size},{event.time:.6f},{packet(event.flags, event.size, event.sequence)},"
        f"{int(number in lost)}"
        for number, event in enumerate(sent, start=1)
        if event.time < flow.closed
    ]


def main() -> None:
    """Print the file."""
    lines = ["flow,size_bytes,time_s,packet,lost"]
    for flow in FLOWS:
        lines += rows(*flow)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
