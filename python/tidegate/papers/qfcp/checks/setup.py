"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount
from tidegate.papers.qfcp.cases import LOSSES
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

ADAPT, RTT, LOSSY = "adapt/qfcp", "rtt/qfcp", "lossy/qfcp/none"
WHERE = {"adapt": ADAPT, "rtt": RTT, "lossy": LOSSY}
"""The experiments in the ids of claims, and a case of each."""


def _number(value: float) -> Exact:
    return Exact(f"{round(value, 9):g}")


def _web(runs: Runs) -> dict[str, Any]:
    found: dict[str, Any] = runs.effective.of("fct/qfcp")["traffic"]["web"]
    return found


def _dumbbell(runs: Runs) -> dict[str, Any]:
    found: dict[str, Any] = runs.effective.of("fct/qfcp")["topology"]["dumbbell"]
    return found


def _links(runs: Runs, case: str) -> dict[str, Any]:
    found: dict[str, Any] = runs.effective.of(case)["topology"]["links"]
    return found


def _flows(runs: Runs, case: str) -> list[dict[str, Any]]:
    """Return the classes of a scenario, in their order."""
    return list(runs.effective.of(case)["traffic"].values())


def _round_trip_ms(runs: Runs, case: str, flow: int) -> float:
    """Return the propagation round trip of a flow."""
    links = _links(runs, case)
    names = (f"in{flow}", "middle", f"out{flow}")
    return round(2e3 * sum(amount(links[name]["delay"]) for name in names), 9)


@claim("setup.beta", of=())
def beta(runs: Runs) -> Exact:
    """Check the router's gain."""
    return _number(runs.effective.of("fct/qfcp")["port"]["bottleneck"]["stamp"]["beta"])


def _packet_bytes(runs: Runs) -> float:
    sender = _web(runs)["transport"]["qfcp"]
    return amount(sender["mss"]) + amount(sender["header"])


@claim("setup.pkt", of=())
def packet(runs: Runs) -> Exact:
    """Check the size of a data packet with its header."""
    return _number(_packet_bytes(runs))


def _bottleneck_mbit(runs: Runs) -> float:
    return amount(_dumbbell(runs)["bottleneck"]["rate"]) / 1e6


@claim("setup.fct.bw", of=())
def bandwidth(runs: Runs) -> Exact:
    """Check the rate of the bottleneck of Figure 1."""
    return _number(_bottleneck_mbit(runs))


@claim("setup.fct.flows", of=())
def flows(runs: Runs) -> Exact:
    """Check the number of flows of Figure 1."""
    return Exact(str(_web(runs)["arrivals"]["uniform"]))


@claim("setup.fct.rtt", of=())
def common_round_trip(runs: Runs) -> Exact:
    """Check the round trip of Figure 1."""
    links = _dumbbell(runs)
    seconds = 4 * amount(links["access"]["delay"]) + 2 * amount(links["bottleneck"]["delay"])
    return _number(1e3 * seconds)


def _rate(runs: Runs) -> float:
    arrivals = _web(runs)["arrivals"]
    return float(arrivals["uniform"]) / amount(arrivals["within"])


@claim("setup.fct.lambda", of=())
def arrival_rate(runs: Runs) -> Exact:
    """Check how many flows arrive a second."""
    return _number(_rate(runs))


def _mean_packets(runs: Runs) -> float:
    web = _web(runs)
    return amount(web["size"]["pareto"]["mean"]) / amount(web["transport"]["qfcp"]["mss"])


@claim("setup.fct.mean", of=())
def mean_size(runs: Runs) -> Exact:
    """Check the mean size of flows, in packets."""
    return _number(_mean_packets(runs))


@claim("setup.fct.shape", of=())
def shape(runs: Runs) -> Exact:
    """Check the shape of the sizes."""
    return _number(_web(runs)["size"]["pareto"]["shape"])


@claim("setup.fct.load", of=())
def load(runs: Runs) -> Exact:
    """Check what the flows offer, over the bottleneck."""
    offered = 8e-6 * _packet_bytes(runs) * _mean_packets(runs) * _rate(runs)
    return _number(offered / _bottleneck_mbit(runs))


@claim("setup.{where}.flows", of=(), where=("adapt", "rtt"))
def number_of_flows(runs: Runs, where: str) -> Exact:
    """Check the number of flows of Figures 2 and 3."""
    return Exact(str(len(_flows(runs, WHERE[where]))))


@claim("setup.{where}.bw", of=(), where=tuple(WHERE))
def rate(runs: Runs, where: str) -> Exact:
    """Check the rate of the link in the middle."""
    return _number(amount(_links(runs, WHERE[where])["middle"]["rate"]) / 1e6)


@claim("setup.{where}.rtt", of=(), where=("adapt", "lossy"))
def round_trip(runs: Runs, where: str) -> Exact:
    """Check the round trip of Figures 2 and 4."""
    return _number(_round_trip_ms(runs, WHERE[where], 1))


@claim("setup.adapt.starts", of=())
def starts(runs: Runs) -> Exact:
    """Check when the flows of Figure 2 start."""
    times = [amount(flow["arrivals"]["at"][0]) for flow in _flows(runs, ADAPT)]
    return Exact("; ".join(f"{each:g}" for each in times))


@claim("setup.adapt.stops", of=())
def stops(runs: Runs) -> Exact:
    """Check when the flows of Figure 2 stop."""
    return Exact("; ".join(f"{amount(flow['stop']):g}" for flow in _flows(runs, ADAPT)))


@claim("setup.rtt.range", of=())
def round_trips(runs: Runs) -> Exact:
    """Check that the round trips of Figure 3 go up in equal steps."""
    found = [_round_trip_ms(runs, RTT, k) for k in range(1, len(_flows(runs, RTT)) + 1)]
    step = found[1] - found[0]
    even = all(abs(each - found[0] - k * step) < 1e-6 for k, each in enumerate(found))
    listed = "; ".join(f"{each:g}" for each in found)
    return Exact(f"{found[0]:g}..{found[-1]:g} step {step:g}" if even else listed)


@claim("setup.lossy.range", of=())
def losses(runs: Runs) -> Exact:
    """Check the least and the greatest share of losses."""
    shares = [
        float(_links(runs, f"lossy/qfcp/data/{share}")["middle"]["loss"]["data"])
        for share in LOSSES
    ]
    low, high = (f"{each:.0e}".replace("e-0", "e-") for each in (shares[0], shares[-1]))
    return Exact(f"{low} .. {high}")


@claim("setup.lossy.dur", of=())
def duration(runs: Runs) -> Exact:
    """Check how long a run of Figure 4 takes."""
    return _number(amount(runs.effective.of(LOSSY)["duration"]))


@claim("setup.buffer", of=())
def buffers(runs: Runs) -> Exact:
    """Check that buffers are products of bandwidth and delay, in whole packets."""
    packet_bits = 8 * _packet_bytes(runs)
    held = [_dumbbell(runs)["bottleneck"]["buffer"]]
    held += [_links(runs, case)["middle"]["buffer"] for case in (ADAPT, LOSSY)]
    links = _dumbbell(runs)
    seconds = 4 * amount(links["access"]["delay"]) + 2 * amount(links["bottleneck"]["delay"])
    products = [amount(links["bottleneck"]["rate"]) * seconds / packet_bits]
    products += [
        amount(_links(runs, case)["middle"]["rate"])
        * 1e-3
        * _round_trip_ms(runs, case, 1)
        / packet_bits
        for case in (ADAPT, LOSSY)
    ]
    packets = [amount(each) for each in held]
    equal = all(abs(a - b) < 1e-6 for a, b in zip(packets, products, strict=True))
    return Exact("; ".join(f"{each:g}" for each in packets), equal)


@claim("setup.tcp_aqm", of=())
def queue(runs: Runs) -> Exact:
    """Check the queue law at TCP's bottleneck."""
    return Exact(runs.effective.of("fct/tcp")["port"]["bottleneck"]["queue"]["law"].upper())
