"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.blitz.cases import NETS, PAPER, SHARES, key
from tidegate.papers.check_builders import unchecked
from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidegate.papers.runs import Runs

MILE_M = 1609.344
LIGHT_M_S = 299_792_458.0


def _net(runs: Runs, name: str, place: int = 2) -> dict[str, Any]:
    """Return the scenario of a network, at one of its bottlenecks."""
    return runs.effective.of(key(name, NETS[name].bottlenecks()[place], "blitz", 0.0))


def _link(runs: Runs, name: str, place: int = 2) -> dict[str, Any]:
    """Return the topology of a network."""
    found: dict[str, Any] = _net(runs, name, place)["topology"]["dumbbell"]
    return found


def _size_kb(runs: Runs, name: str) -> float:
    return amount(_net(runs, name)["traffic"]["files"]["size"]["constant"]) / 1e3


def _listed(found: Iterable[float], unit: str) -> str:
    return ", ".join(f"{each:g}{unit}" for each in sorted(found))


@claim("setup.F", of=())
def files(runs: Runs) -> Exact:
    """Check that files have three sizes: 10 kB, 100 kB and 1 MB."""
    found = {_size_kb(runs, name) for name in PAPER}
    return Exact(_listed(found, " kB"), found == {10.0, 100.0, 1000.0})


@claim("setup.pkt", of=())
def packet(runs: Runs) -> Exact:
    """Check the size of a data packet, under Blitz and under TCP."""
    found = set()
    for control, name in (("blitz", "blitz"), ("reno", "tcp")):
        scenario = runs.effective.of(key("ref", 150, control, 0.0))
        transport = scenario["traffic"]["files"]["transport"][name]
        found.add(amount(transport["mss"]) + amount(transport["header"]))
    return Exact(", ".join(f"{each:g}" for each in found))


@claim("setup.D", of=())
def delays(runs: Runs) -> Exact:
    """Check that the networks have three delays, D being there and back."""
    found = {
        round(2e3 * amount(_link(runs, name)["bottleneck"]["delay"]), 9)
        for name in (*PAPER, "middle")
    }
    return Exact(_listed(found, " ms"), found == {30.0, 3.0, 1.8})


@claim("setup.BWN", of=())
def bandwidths(runs: Runs) -> Exact:
    """Check that the networks have three bandwidths."""
    found = {amount(_link(runs, name)["access"]["rate"]) / 1e6 for name in PAPER}
    return Exact(_listed(found, " Mbit/s"), found == {15.0, 150.0, 1000.0})


@claim("setup.BWb", of=())
def shares(runs: Runs) -> Exact:
    """Check that the bottleneck has three shares of the network's bandwidth."""
    found = {
        round(amount(_link(runs, name, place)["bottleneck"]["rate"]) / 1e6 / NETS[name].mbit, 6)
        for name in PAPER
        for place in range(3)
    }
    return Exact(_listed(found, ""), found == set(SHARES))


@claim("setup.arrivals", of=())
def arrivals(runs: Runs) -> Exact:
    """Check that files arrive at exponential intervals."""
    found = {next(iter(_net(runs, name)["traffic"]["files"]["arrivals"])) for name in PAPER}
    return Exact(", ".join(found), found == {"poisson"})


@claim("setup.ref", of=())
def reference(runs: Runs) -> Exact:
    """Check bandwidth, delay and size of the reference network."""
    link = _link(runs, "ref")
    mbit, ms = amount(link["access"]["rate"]) / 1e6, 2e3 * amount(link["bottleneck"]["delay"])
    found = (mbit, ms, _size_kb(runs, "ref"))
    return Exact("{:g} Mbit/s, {:g} ms, {:g} kB".format(*found), found == (150.0, 30.0, 100.0))


@claim("setup.buffer", of=())
def buffer(runs: Runs) -> Exact:
    """Check that every bottleneck can hold the product of its rate and its round trip."""
    found = {
        _link(runs, name, place)["bottleneck"]["buffer"] for name in PAPER for place in range(3)
    }
    return Exact(", ".join(found), found == {"1bdp"})


@claim("setup.bdp_small", of=())
def product(_: Runs) -> Exact:
    """Check the product of the small network as this study reckons it: with the round trip."""
    kilobytes = NETS["small"].bdp(NETS["small"].mbit) / 1e3
    return Exact(f"{kilobytes:g}", within=2.5)


@claim("setup.dist", of=())
def distance(_: Runs) -> Exact:
    """Check the distance at the speed of light, D being there and back."""
    miles = 0.5 * NETS["small"].delay_ms * 1e-3 * LIGHT_M_S / MILE_M
    return Exact(f"{miles:.0f}", within=10.0)


CHECKS = {
    "setup.mtu": unchecked("A size that the text cites for comparison; no packet has it."),
}
