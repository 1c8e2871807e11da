"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.check_results import Exact
from tidegate.papers.dqm.cases import LIGHT, PACKET_BITS, at, two
from tidegate.papers.effective import amount
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

ONE = at(1.2, "dt")
MIXED = two(2.0, 5, "gr2")
BOTH = ("short", "long")


def _number(value: float) -> Exact:
    """Return a number; loads carry the rounding of rates to six digits, and are rounded below."""
    return Exact(f"{round(value, 4):g}")


def _link(runs: Runs) -> dict[str, Any]:
    found: dict[str, Any] = runs.effective.of(ONE)["topology"]["dumbbell"]
    return found


def _queue(runs: Runs, case: str) -> dict[str, Any]:
    found: dict[str, Any] = runs.effective.of(case)["port"]["bottleneck"]["queue"]
    return found


def _segment(runs: Runs, case: str, name: str) -> float:
    """Return the payload of a packet."""
    return amount(runs.effective.of(case)["traffic"][name]["transport"]["tcp"]["mss"])


def _size(runs: Runs, case: str, name: str) -> float:
    """Return the mean size of the flows of a class, in packets."""
    size = runs.effective.of(case)["traffic"][name]["size"]["exponential"]["mean"]
    return amount(size) / _segment(runs, case, name)


def _load(runs: Runs, case: str, names: tuple[str, ...]) -> float:
    """Return rho of the classes together."""
    traffic = runs.effective.of(case)["traffic"]
    packets = sum(
        amount(traffic[name]["arrivals"]["poisson"]) * _size(runs, case, name) for name in names
    )
    return packets * PACKET_BITS / 1e5


@claim("setup.pkt", of=())
def packet(runs: Runs) -> Exact:
    """Check the size of a packet as full-tcp is given it: its payload."""
    return _number(_segment(runs, ONE, "flows"))


@claim("setup.C", of=())
def capacity(runs: Runs) -> Exact:
    """Check the rate of the bottleneck."""
    return _number(amount(_link(runs)["bottleneck"]["rate"]) / 1e6)


@claim("setup.buffer", of=())
def buffer(runs: Runs) -> Exact:
    """Check the buffer of the bottleneck."""
    return _number(amount(_link(runs)["bottleneck"]["buffer"]))


@claim("setup.d", of=())
def mean_size(runs: Runs) -> Exact:
    """Check the mean size of flows."""
    return _number(_size(runs, ONE, "flows"))


@claim("setup.rtt", of=())
def round_trip(runs: Runs) -> Exact:
    """Check the two-way propagation delay."""
    link = _link(runs)
    seconds = 4 * amount(link["access"]["delay"]) + 2 * amount(link["bottleneck"]["delay"])
    return _number(1e3 * seconds)


@claim("setup.dur", of=())
def duration(runs: Runs) -> Exact:
    """Check how long a run takes."""
    return _number(amount(runs.effective.of(ONE)["duration"]))


def _thresholds(runs: Runs, policy: str) -> tuple[float, float, float]:
    red = _queue(runs, at(1.2, policy))
    return red["min_th"], red["max_th"], red["max_p"]


@claim("setup.{policy}", of=(), policy=("gr1", "gr2", "gr3"))
def red(runs: Runs, policy: str) -> Exact:
    """Check the thresholds and the share of a setting of RED."""
    return Exact(",".join(f"{each:g}" for each in _thresholds(runs, policy)))


@claim("setup.{policy}", of=(), policy=("p1", "p2", "p3"))
def curve(runs: Runs, policy: str) -> Exact:
    """Check the triple of a policy, and that its queues are drop-tail (Figure 2a)."""
    dual = _queue(runs, at(1.2, policy))
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
    return _number(_load(runs, MIXED, BOTH))


@claim("setup.light", of=())
def light_loads(runs: Runs) -> Exact:
    """Check the light loads."""
    loads = [round(_load(runs, two(rho, 5, "gr2"), BOTH), 4) for rho in LIGHT]
    return Exact("; ".join(f"{each:g}" for each in loads))


@claim("setup.multi_rho", of=())
def load_of_many(runs: Runs) -> Exact:
    """Check the load of a congested link of the row."""
    return _number(_load(runs, "tandem/gr2", ("first", "third")))


@claim("setup.multi_dur", of=())
def duration_of_many(runs: Runs) -> Exact:
    """Check how long a run of the row takes."""
    return _number(amount(runs.effective.of("tandem/gr2")["duration"]))


@claim("setup.multi_routers", of=())
def routers(runs: Runs) -> Exact:
    """Check the number of routers in a row."""
    links = runs.effective.of("tandem/gr2")["topology"]["tandem"]["links"]
    return _number(len(links) + 1)
