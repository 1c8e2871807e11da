"""Rows of the set-up: what the scenarios themselves say, held to the paper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tidegate.papers.blitz.cases import NETS, PAPER, SHARES, key
from tidegate.papers.effective import Effective
from tidegate.papers.finders import exact, unchecked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.study import Check, Study

MILE_M = 1609.344
LIGHT_M_S = 299_792_458.0


class Setup(Effective):
    """The effective scenarios of the cases."""

    def net(self, name: str, place: int = 2) -> dict[str, Any]:
        """Return the scenario of a network, at one of its bottlenecks."""
        return self.of(key(name, NETS[name].bottlenecks()[place], "blitz", 0.0))

    def link(self, name: str, place: int = 2) -> dict[str, Any]:
        """Return the topology of a network."""
        found: dict[str, Any] = self.net(name, place)["topology"]["dumbbell"]
        return found

    def size(self, name: str) -> float:
        """Return the size of the files of a network, kB."""
        return _kb(self.net(name)["traffic"]["files"]["size"]["constant"])


def checks(study: Callable[[], Study]) -> dict[str, Check]:
    """Return the checks of the set-up, by the short id of the claim."""
    setup = Setup(study)
    rows = (_sizes, _packet, _delays, _bandwidths, _shares, _arrivals, _reference, _buffer)
    names = ("F", "pkt", "D", "BWN", "BWb", "arrivals", "ref", "buffer")
    found = {
        f"setup.{name}": exact(partial(row, setup)) for name, row in zip(names, rows, strict=True)
    }
    return found | {
        "setup.mtu": unchecked("A size that the text cites for comparison; no packet has it."),
        "setup.bdp_small": exact(_product),
        "setup.dist": exact(_distance),
    }


def _sizes(setup: Setup) -> tuple[str, bool]:
    found = {setup.size(name) for name in PAPER}
    return ", ".join(f"{each:g} kB" for each in sorted(found)), found == {10.0, 100.0, 1000.0}


def _packet(setup: Setup) -> tuple[str, bool]:
    found = set()
    for control, name in (("blitz", "blitz"), ("reno", "tcp")):
        transport = setup.of(key("ref", 150, control, 0.0))["traffic"]["files"]["transport"]
        found.add(_kb(transport[name]["mss"]) + _kb(transport[name]["header"]))
    return ", ".join(f"{1000 * each:g}" for each in found), found == {0.5}


def _delays(setup: Setup) -> tuple[str, bool]:
    found = {_ms(setup.link(name)["bottleneck"]["delay"]) for name in (*PAPER, "middle")}
    return ", ".join(f"{each:g} ms" for each in sorted(found)), found == {30.0, 3.0, 1.8}


def _bandwidths(setup: Setup) -> tuple[str, bool]:
    found = {_mbit(setup.link(name)["access"]["rate"]) for name in PAPER}
    return ", ".join(f"{each:g} Mbit/s" for each in sorted(found)), found == {15.0, 150.0, 1000.0}


def _shares(setup: Setup) -> tuple[str, bool]:
    found = {
        round(_mbit(setup.link(name, place)["bottleneck"]["rate"]) / NETS[name].mbit, 6)
        for name in PAPER
        for place in range(3)
    }
    return ", ".join(f"{each:g}" for each in sorted(found)), found == set(SHARES)


def _arrivals(setup: Setup) -> tuple[str, bool]:
    found = {next(iter(setup.net(name)["traffic"]["files"]["arrivals"])) for name in PAPER}
    return ", ".join(found), found == {"poisson"}


def _reference(setup: Setup) -> tuple[str, bool]:
    link = setup.link("ref")
    found = (_mbit(link["access"]["rate"]), _ms(link["bottleneck"]["delay"]), setup.size("ref"))
    return "{:g} Mbit/s, {:g} ms, {:g} kB".format(*found), found == (150.0, 30.0, 100.0)


def _buffer(setup: Setup) -> tuple[str, bool]:
    found = {
        setup.link(name, place)["bottleneck"]["buffer"] for name in PAPER for place in range(3)
    }
    return ", ".join(found), found == {"1bdp"}


def _product() -> tuple[str, bool]:
    kilobytes = NETS["small"].mbit * 1e6 * NETS["small"].delay_ms * 1e-3 / 8e3
    return f"{kilobytes:g}", round(kilobytes / 5.0) * 5 == 35


def _distance() -> tuple[str, bool]:
    # at the speed of light, D being what it takes one way
    miles = NETS["small"].delay_ms * 1e-3 * LIGHT_M_S / MILE_M
    return f"{miles:.0f}", abs(miles - 170.0) < 10.0


def _ms(text: str) -> float:
    for unit, factor in (("ms", 1.0), ("us", 0.001)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(f"{text} is no short time")


def _kb(text: str) -> float:
    for unit, factor in (("MB", 1000.0), ("kB", 1.0), ("B", 0.001)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(f"{text} is not in bytes")


def _mbit(text: str) -> float:
    for unit, factor in (("Gbit", 1000.0), ("Mbit", 1.0), ("kbit", 0.001)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(f"{text} is no rate")
