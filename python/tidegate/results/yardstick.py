"""The yardstick: how many packet-hops the simulator makes in a second of CPU time.

Nothing heavier than the native module is loaded, so that the peak of memory
is the simulator's and Python's own.
"""

from __future__ import annotations

import resource
import sys
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tidegate import _native

if TYPE_CHECKING:
    from collections.abc import Callable

FLOWS = 100
DURATION_S = 20.0
PAIRS_AT_MOST = 100
"""More flows share these pairs of hosts: what grows is the number of flows, not of ports."""


def measure(
    flows: int = FLOWS, seed: int = 1, tick: Callable[[float], None] | None = None
) -> dict[str, Any]:
    """Run the yardstick with so many long-lived flows; return speed, goodput and memory.

    Only the loop that advances the simulation is timed, in CPU time. Goodput
    is payload delivered in order, over the whole run, in Mbit/s of 10^6 bit.
    """
    text = files("tidegate.results").joinpath("yardstick.toml").read_text(encoding="utf-8")
    pairs = min(flows, PAIRS_AT_MOST)
    settings = [
        ("traffic.long.arrivals.uniform", str(flows)),
        ("topology.dumbbell.pairs", str(pairs)),
    ]
    scenario = _native.load(text, "yardstick.toml", settings, {})
    run = _native.Simulation(scenario, seed)
    cpu, done = 0.0, False
    while not done:
        start = time.process_time()
        done = run.advance(50.0)
        cpu += time.process_time() - start
        if tick is not None and not done:
            tick(run.now_s)
    results = run.results()
    hops = results["packet_hops"]
    delivered_bits = float(results["flows"]["delivered_bytes"].sum()) * 8.0
    return {
        "scenario": scenario.name,
        "flows": flows,
        "packet_hops": hops,
        "delivered_packets": results["delivered_packets"],
        "cpu_s": cpu,
        "mhops_per_cpu_s": hops / cpu / 1e6 if cpu else None,
        "goodput_mbit_s": delivered_bits / scenario.duration_s / 1e6,
        "peak_rss_mb": _peak_rss_mb(),
    }


def _peak_rss_mb() -> float:
    """Return the largest resident set of this process so far, in MB of 10^6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
