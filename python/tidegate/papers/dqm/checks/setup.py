"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.check_results import Exact
from tidegate.papers.dqm.cases import LIGHT, PACKET_BITS, at, two
from tidegate.papers.effective import amount
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

ONE = at(1.2, "dt")
MIXED = two(2.0, 5, "gr2")
ROW = "tandem/gr2"
BOTH = ("short", "long")
QUANTITIES = {
    # a packet as full-tcp is given it: its payload
    "pkt": (ONE, "traffic.flows.transport.tcp.mss", 1.0),
    "C": (ONE, "topology.dumbbell.bottleneck.rate", 1e-6),
    "buffer": (ONE, "topology.dumbbell.bottleneck.buffer", 1.0),
    "dur": (ONE, "duration", 1.0),
    "multi_dur": (ROW, "duration", 1.0),
}
"""Rows by their case, where the quantity stands, and the factor to the unit of the paper."""
QUEUE = "port.bottleneck.queue"


def _size(runs: Runs, case: str, name: str) -> float:
    """Return the mean size of the flows of a class, in packets."""
    traffic = runs.effective.at(case, f"traffic.{name}")
    return amount(traffic["size"]["exponential"]["mean"]) / amount(
        traffic["transport"]["tcp"]["mss"]
    )


def _load(runs: Runs, case: str, names: tuple[str, ...]) -> float:
    """Return rho of the classes together, which carries the rounding of rates to six digits."""
    packets = sum(
        runs.effective.amount(case, f"traffic.{name}.arrivals.poisson") * _size(runs, case, name)
        for name in names
    )
    return round(packets * PACKET_BITS / 1e5, 4)


@claim("setup.{name}", of=(), name=tuple(QUANTITIES))
def quantity(runs: Runs, name: str) -> Exact:
    """Check a quantity of a scenario."""
    return runs.effective.exact(*QUANTITIES[name])


@claim("setup.d", of=())
def mean_size(runs: Runs) -> Exact:
    """Check the mean size of flows."""
    return Exact(f"{_size(runs, ONE, 'flows'):g}")


@claim("setup.rtt", of=())
def round_trip(runs: Runs) -> Exact:
    """Check the two-way propagation delay."""
    link = runs.effective.at(ONE, "topology.dumbbell")
    seconds = 4 * amount(link["access"]["delay"]) + 2 * amount(link["bottleneck"]["delay"])
    return Exact(f"{1e3 * seconds:g}")


@claim("setup.{policy}", of=(), policy=("gr1", "gr2", "gr3"))
def red(runs: Runs, policy: str) -> Exact:
    """Check the thresholds and the share of a setting of RED."""
    queue = runs.effective.at(at(1.2, policy), QUEUE)
    return Exact(",".join(f"{queue[name]:g}" for name in ("min_th", "max_th", "max_p")))


@claim("setup.{policy}", of=(), policy=("p1", "p2", "p3"))
def curve(runs: Runs, policy: str) -> Exact:
    """Check the triple of a policy, and that its queues are drop-tail (Figure 2a)."""
    dual = runs.effective.at(at(1.2, policy), QUEUE)
    if dual["over"]["law"] != "drop-tail":
        return Exact(f"{policy} does not lie over drop-tail")
    return Exact(",".join(f"{dual[name]:g}" for name in ("x_m", "x_M", "P_M")))


@claim("setup.hetero", of=())
def two_sizes(runs: Runs) -> Exact:
    """Check the mean sizes of short and of long flows."""
    return Exact("; ".join(f"{_size(runs, MIXED, name):g}" for name in BOTH))


@claim("setup.hetero_rho", of=())
def load_of_two(runs: Runs) -> Exact:
    """Check the load of the two classes together."""
    return Exact(f"{_load(runs, MIXED, BOTH):g}")


@claim("setup.light", of=())
def light_loads(runs: Runs) -> Exact:
    """Check the light loads."""
    return Exact("; ".join(f"{_load(runs, two(rho, 5, 'gr2'), BOTH):g}" for rho in LIGHT))


@claim("setup.multi_rho", of=())
def load_of_many(runs: Runs) -> Exact:
    """Check the load of a congested link of the row."""
    return Exact(f"{_load(runs, ROW, ('first', 'third')):g}")


@claim("setup.multi_routers", of=())
def routers(runs: Runs) -> Exact:
    """Check the number of routers in a row."""
    return Exact(str(len(runs.effective.at(ROW, "topology.tandem.links")) + 1))
