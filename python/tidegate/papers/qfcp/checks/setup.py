"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount, rounded
from tidegate.papers.qfcp.cases import LOSSES
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

FCT, ADAPT, RTT, LOSSY = "fct/qfcp", "adapt/qfcp", "rtt/qfcp", "lossy/qfcp/none"
WHERE = {"adapt": ADAPT, "rtt": RTT, "lossy": LOSSY}
"""The experiments in the ids of claims, and a case of each."""
MIDDLE = "topology.links.middle"
QUANTITIES = {
    "beta": (FCT, "port.bottleneck.stamp.beta", 1.0),
    "fct.bw": (FCT, "topology.dumbbell.bottleneck.rate", 1e-6),
    "fct.shape": (FCT, "traffic.web.size.pareto.shape", 1.0),
    "lossy.dur": (LOSSY, "duration", 1.0),
    **{f"{name}.bw": (case, f"{MIDDLE}.rate", 1e-6) for name, case in WHERE.items()},
}
"""Rows by their case, where the quantity stands, and the factor to the unit of the paper."""


@claim("setup.{name}", of=(), name=tuple(QUANTITIES))
def quantity(runs: Runs, name: str) -> Exact:
    """Check a quantity of a scenario."""
    return runs.effective.exact(*QUANTITIES[name])


def _round_trip_s(runs: Runs, case: str, flow: int) -> float:
    """Return the propagation round trip of a flow."""
    links = runs.effective.at(case, "topology.links")
    return 2 * sum(amount(links[name]["delay"]) for name in (f"in{flow}", "middle", f"out{flow}"))


def _common_round_trip_s(runs: Runs) -> float:
    """Return the propagation round trip of Figure 1."""
    links = runs.effective.at(FCT, "topology.dumbbell")
    return 4 * amount(links["access"]["delay"]) + 2 * amount(links["bottleneck"]["delay"])


def _packet_bytes(runs: Runs) -> float:
    sender = runs.effective.at(FCT, "traffic.web.transport.qfcp")
    return amount(sender["mss"]) + amount(sender["header"])


@claim("setup.pkt", of=())
def packet(runs: Runs) -> Exact:
    """Check the size of a data packet with its header."""
    return rounded(_packet_bytes(runs))


@claim("setup.fct.flows", of=())
def flows(runs: Runs) -> Exact:
    """Check the number of flows of Figure 1."""
    return Exact(str(runs.effective.at(FCT, "traffic.web.arrivals.uniform")))


@claim("setup.fct.rtt", of=())
def common_round_trip(runs: Runs) -> Exact:
    """Check the round trip of Figure 1."""
    return rounded(1e3 * _common_round_trip_s(runs))


def _rate(runs: Runs) -> float:
    arrivals = runs.effective.at(FCT, "traffic.web.arrivals")
    return amount(arrivals["uniform"]) / amount(arrivals["within"])


@claim("setup.fct.lambda", of=())
def arrival_rate(runs: Runs) -> Exact:
    """Check how many flows arrive a second."""
    return rounded(_rate(runs))


def _mean_packets(runs: Runs) -> float:
    web = runs.effective.at(FCT, "traffic.web")
    return amount(web["size"]["pareto"]["mean"]) / amount(web["transport"]["qfcp"]["mss"])


@claim("setup.fct.mean", of=())
def mean_size(runs: Runs) -> Exact:
    """Check the mean size of flows, in packets."""
    return rounded(_mean_packets(runs))


@claim("setup.fct.load", of=())
def load(runs: Runs) -> Exact:
    """Check what the flows offer, over the bottleneck."""
    offered = 8 * _packet_bytes(runs) * _mean_packets(runs) * _rate(runs)
    return rounded(offered / runs.effective.amount(FCT, "topology.dumbbell.bottleneck.rate"))


@claim("setup.{where}.flows", of=(), where=("adapt", "rtt"))
def number_of_flows(runs: Runs, where: str) -> Exact:
    """Check the number of flows of Figures 2 and 3."""
    return Exact(str(len(runs.effective.at(WHERE[where], "traffic"))))


@claim("setup.{where}.rtt", of=(), where=("adapt", "lossy"))
def round_trip(runs: Runs, where: str) -> Exact:
    """Check the round trip of Figures 2 and 4."""
    return rounded(1e3 * _round_trip_s(runs, WHERE[where], 1))


@claim("setup.adapt.starts", of=())
def starts(runs: Runs) -> Exact:
    """Check when the flows of Figure 2 start."""
    traffic = runs.effective.at(ADAPT, "traffic").values()
    return Exact("; ".join(f"{amount(flow['arrivals']['at'][0]):g}" for flow in traffic))


@claim("setup.adapt.stops", of=())
def stops(runs: Runs) -> Exact:
    """Check when the flows of Figure 2 stop."""
    traffic = runs.effective.at(ADAPT, "traffic").values()
    return Exact("; ".join(f"{amount(flow['stop']):g}" for flow in traffic))


@claim("setup.rtt.range", of=())
def round_trips(runs: Runs) -> Exact:
    """Check that the round trips of Figure 3 go up in equal steps."""
    count = len(runs.effective.at(RTT, "traffic"))
    found = [1e3 * _round_trip_s(runs, RTT, k) for k in range(1, count + 1)]
    step = found[1] - found[0]
    even = all(abs(each - found[0] - k * step) < 1e-6 for k, each in enumerate(found))
    listed = "; ".join(f"{each:g}" for each in found)
    return Exact(f"{found[0]:g}..{found[-1]:g} step {step:g}" if even else listed)


@claim("setup.lossy.range", of=())
def losses(runs: Runs) -> Exact:
    """Check the least and the greatest share of losses."""
    cases = (f"lossy/qfcp/data/{share}" for share in LOSSES)
    shares = [runs.effective.amount(case, f"{MIDDLE}.loss.data") for case in cases]
    low, high = (f"{each:.0e}".replace("e-0", "e-") for each in (shares[0], shares[-1]))
    return Exact(f"{low} .. {high}")


@claim("setup.buffer", of=())
def buffers(runs: Runs) -> Exact:
    """Check that buffers are products of bandwidth and delay, in whole packets."""
    links = [(FCT, "topology.dumbbell.bottleneck", _common_round_trip_s(runs))]
    links += [(case, MIDDLE, _round_trip_s(runs, case, 1)) for case in (ADAPT, LOSSY)]
    packets, equal = [], True
    for case, link, seconds in links:
        held = runs.effective.amount(case, f"{link}.buffer")
        bits = runs.effective.amount(case, f"{link}.rate") * seconds
        equal &= abs(held - bits / (8 * _packet_bytes(runs))) < 1e-6
        packets.append(f"{held:g}")
    return Exact("; ".join(packets), equal)


@claim("setup.tcp_aqm", of=())
def queue(runs: Runs) -> Exact:
    """Check the queue law at TCP's bottleneck."""
    return Exact(runs.effective.at("fct/tcp", "port.bottleneck.queue.law").upper())
