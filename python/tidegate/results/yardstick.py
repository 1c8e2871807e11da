"""The yardstick: how many packet-hops the simulator makes in a second of CPU time.

Nothing heavier than the native module is loaded, so that the peak of memory
is the simulator's and Python's own.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tidegate import _native

if TYPE_CHECKING:
    from collections.abc import Callable

FLOWS = 100
DURATION_S = 20.0
PAIRS_AT_MOST = 100
"""More flows share these pairs of hosts: what grows is the number of flows, not of ports."""


_RED = [("port.bottleneck.queue", '{ law = "red" }')]
_BBR = [("traffic.long.transport.tcp.sack", "true"), ("traffic.long.transport.tcp.control", "bbr")]
_PAGES = """{{
    arrivals = {{ uniform = {pages}, within = "19s" }},
    size = "20kB",
    pages = {{ document = "50kB", objects = 20 }},
    transport = {{ tcp = {{ profile = "linux" }} }}
}}"""


@dataclass(frozen=True)
class Kind:
    """A yardstick: what differs from the first one.

    `pages` users load a page each over six connections, beside the long flows.
    """

    many_delays: bool = False
    red: bool = False
    bbr: bool = False
    pages: int = 0


FIRST = Kind()


def measure(
    flows: int = FLOWS,
    seed: int = 1,
    tick: Callable[[float], None] | None = None,
    kind: Kind = FIRST,
) -> dict[str, Any]:
    """Run the yardstick with this number of long-lived flows; return speed, goodput and memory.

    Only the loop that advances the simulation is timed, in CPU time. Goodput
    is payload delivered in order, over the whole run, in Mbit/s of 10^6 bit.
    """
    scenario = load(flows, kind)
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
        **asdict(kind),
        "packet_hops": hops,
        "delivered_packets": results["delivered_packets"],
        "cpu_s": cpu,
        "mhops_per_cpu_s": hops / cpu / 1e6 if cpu else None,
        "goodput_mbit_s": delivered_bits / scenario.duration_s / 1e6,
        "peak_rss_mb": _peak_rss_mb(),
    }


def load(flows: int = FLOWS, kind: Kind = FIRST) -> _native.Scenario:
    """Return a yardstick with this number of long-lived flows."""
    text = files("tidegate.results").joinpath("yardstick.toml").read_text(encoding="utf-8")
    pairs = min(flows, PAIRS_AT_MOST)
    settings = [("traffic.long.arrivals.uniform", str(flows))]
    settings += _RED * kind.red + _BBR * kind.bbr
    classes = ["long"]
    if kind.pages:
        settings.append(("traffic.web", " ".join(_PAGES.format(pages=kind.pages).split())))
        classes.append("web")
    if kind.many_delays:
        head, _, traffic = text.partition("[topology.dumbbell]")
        text = head + _links(pairs) + traffic[traffic.index("[traffic.long]") :]
        for key, side in (("from", "source"), ("to", "sink")):
            names = ", ".join(f'"{side}{number}"' for number in range(1, pairs + 1))
            settings += [(f"traffic.{name}.{key}", f"[{names}]") for name in classes]
    else:
        settings.append(("topology.dumbbell.pairs", str(pairs)))
    return _native.load(text, "yardstick.toml", settings, {})


def _links(pairs: int) -> str:
    """Return the links of the yardstick with access delays from 0.5 to 1.5 ms, all different."""
    text = """
[topology.links.bottleneck]
from   = "left"
to     = "right"
rate   = "1Gbit"
delay  = "18ms"
buffer = "3333packets"
"""
    for number in range(1, pairs + 1):
        for side, (start, end) in enumerate(
            ((f"source{number}", "left"), ("right", f"sink{number}"))
        ):
            delay_us = 500.0 + 1000.0 * (2 * number - 2 + side) / (2 * pairs)
            text += f"""
[topology.links.access{2 * number - 1 + side}]
from  = "{start}"
to    = "{end}"
rate  = "10Gbit"
delay = "{delay_us}us"
"""
    return text


def _peak_rss_mb() -> float:
    """Return the largest resident set of this process so far, in MB of 10^6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
