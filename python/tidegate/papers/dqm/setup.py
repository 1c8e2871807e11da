"""Rows of the set-up: what the scenarios themselves say, held to the paper."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, Any

from tidegate.papers.dqm.cases import LIGHT, PACKET_BITS, at, two
from tidegate.papers.effective import Effective
from tidegate.papers.finders import exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.study import Check, Study


class Setup(Effective):
    """The effective scenarios of the cases."""

    def queue(self, case: str, port: str = "bottleneck") -> dict[str, Any]:
        """Return the queue of a port."""
        found: dict[str, Any] = self.of(case)["port"][port]["queue"]
        return found

    def red(self, policy: str) -> tuple[float, float, float]:
        """Return the thresholds and the share of a setting of RED."""
        red = self.queue(at(1.2, policy))
        return red["min_th"], red["max_th"], red["max_p"]

    def curve(self, policy: str) -> tuple[float, float, float]:
        """Return the triple of a policy, which lies over G-R2."""
        dual = self.queue(at(1.2, policy))
        over = dual["over"]
        if (over["min_th"], over["max_th"], over["max_p"]) != self.red("gr2"):
            raise ValueError(f"{policy} does not lie over G-R2")
        return dual["x_m"], dual["x_M"], dual["P_M"]

    def round_trip_ms(self) -> float:
        """Return the two-way propagation delay."""
        link = self.of(at(1.2, "dt"))["topology"]["dumbbell"]
        return 4 * _ms(link["access"]["delay"]) + 2 * _ms(link["bottleneck"]["delay"])

    def size(self, case: str, name: str) -> float:
        """Return the mean size of the flows of a class, in packets."""
        traffic = self.of(case)["traffic"][name]
        return _bytes(traffic["size"]["exponential"]["mean"]) / self.segment(case, name)

    def segment(self, case: str, name: str = "flows") -> float:
        """Return the payload of a packet."""
        return _bytes(self.of(case)["traffic"][name]["transport"]["tcp"]["mss"])

    def load(self, case: str, names: tuple[str, ...]) -> float:
        """Return rho of the classes together."""
        traffic = self.of(case)["traffic"]
        packets = sum(
            float(traffic[name]["arrivals"]["poisson"].removesuffix("/s")) * self.size(case, name)
            for name in names
        )
        return packets * PACKET_BITS / 1e5


def checks(study: Callable[[], Study]) -> dict[str, Check]:
    """Return the checks of the set-up, by the short id of the claim."""
    setup = Setup(study)
    one = at(1.2, "dt")

    def row(found: Callable[[], object], said: object) -> Check:
        def find() -> tuple[str, bool]:
            there = found()
            if isinstance(there, float) and isinstance(said, float | int):
                return f"{there:g}", isclose(there, said, rel_tol=1e-4)
            text = "; ".join(f"{each:g}" for each in there) if isinstance(there, tuple) else there
            return str(text), there == said

        return exact(find)

    def bottleneck(what: str) -> object:
        return setup.of(one)["topology"]["dumbbell"]["bottleneck"][what]

    def packet() -> float:
        tcp = setup.of(one)["traffic"]["flows"]["transport"]["tcp"]
        return _bytes(tcp["mss"]) + _bytes(tcp["header"])

    def links() -> float:
        return float(len(setup.of("tandem/gr2")["topology"]["tandem"]["links"]) + 1)

    mixed = two(2.0, 5, "gr2")
    light = tuple(two(rho, 5, "gr2") for rho in LIGHT)
    found = {
        "pkt": row(packet, 576),
        "C": exact(lambda: ("0.1", bottleneck("rate") in ("100kbit", "0.1Mbit"))),
        "buffer": exact(lambda: ("90", bottleneck("buffer") == "90packets")),
        "d": row(lambda: setup.size(one, "flows"), 20),
        "rtt": row(setup.round_trip_ms, 50),
        "dur": row(lambda: _seconds(setup.of(one)["duration"]), 1500),
        "gr1": row(lambda: setup.red("gr1"), (15, 60, 0.1)),
        "gr2": row(lambda: setup.red("gr2"), (15, 45, 0.1)),
        "gr3": row(lambda: setup.red("gr3"), (15, 30, 0.4)),
        "p1": row(lambda: setup.curve("p1"), (45, 90, 0.4)),
        "p2": row(lambda: setup.curve("p2"), (45, 90, 0.7)),
        "p3": row(lambda: setup.curve("p3"), (45, 45, 1)),
        "hetero": row(lambda: (setup.size(mixed, "short"), setup.size(mixed, "long")), (20, 100)),
        "hetero_rho": row(lambda: setup.load(mixed, ("short", "long")), 2.0),
        "light": row(
            lambda: tuple(round(setup.load(case, ("short", "long")), 4) for case in light), LIGHT
        ),
        "multi_rho": row(lambda: setup.load("tandem/gr2", ("first", "third")), 1.2),
        "multi_dur": row(lambda: _seconds(setup.of("tandem/gr2")["duration"]), 700),
        "multi_routers": row(links, 3),
    }
    stateless = exact(lambda: _state(setup))
    return {f"setup.{name}": check for name, check in found.items()} | {"text.stateless": stateless}


def _state(setup: Setup) -> tuple[str, bool]:
    """Say what a port's law is told: nothing of it names flows or counts them."""
    settings = setup.queue(at(1.2, "p3"))
    told = [name for name in settings if "flow" in name or "session" in name]
    return "an average, the packets waiting of either sort, and no flow", not told


def _bytes(text: str) -> float:
    for unit, factor in (("kB", 1000.0), ("B", 1.0)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(f"{text} is not in bytes")


def _ms(text: str) -> float:
    if not text.endswith("ms"):
        raise ValueError(f"{text} is not in milliseconds")
    return float(text.removesuffix("ms"))


def _seconds(text: str) -> float:
    if text.endswith("min"):
        return float(text.removesuffix("min")) * 60.0
    return float(text.removesuffix("s"))
