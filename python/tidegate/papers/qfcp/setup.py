"""Rows of the set-up: what the scenarios themselves say, held to the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.effective import Effective
from tidegate.papers.finders import exact
from tidegate.papers.qfcp.cases import LOSSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.study import Check, Study


class Setup(Effective):
    """The effective scenarios of the cases."""

    def web(self) -> dict[str, Any]:
        """Return the traffic of the experiment on completion times."""
        found: dict[str, Any] = self.of("fct/qfcp")["traffic"]["web"]
        return found

    def dumbbell(self) -> dict[str, Any]:
        """Return its network."""
        found: dict[str, Any] = self.of("fct/qfcp")["topology"]["dumbbell"]
        return found

    def links(self, scenario: str) -> dict[str, Any]:
        """Return the links of one of the others."""
        found: dict[str, Any] = self.of(scenario)["topology"]["links"]
        return found

    def round_trip(self, scenario: str, flow: int) -> float:
        """Return the propagation round trip of a flow, in ms."""
        links = self.links(scenario)
        return 2 * sum(_ms(links[name]["delay"]) for name in (f"in{flow}", "middle", f"out{flow}"))

    def flows(self, scenario: str) -> list[dict[str, Any]]:
        """Return the classes of a scenario, in their order."""
        return list(self.of(scenario)["traffic"].values())


def _ms(text: str) -> float:
    if not text.endswith("ms"):
        raise ValueError(f"{text} is not in milliseconds")
    return float(text.removesuffix("ms"))


def _bytes(text: str) -> float:
    number = text.removesuffix("B")
    return 1000.0 * float(number.removesuffix("k")) if number.endswith("k") else float(number)


def _seconds(text: str) -> float:
    return _ms(text) / 1000.0 if text.endswith("ms") else float(text.removesuffix("s"))


def _same(found: Callable[[], object], said: object) -> Check:
    """Check that what is found is what the paper says."""

    def find() -> tuple[str, bool]:
        there = found()
        return _shown(there), there == said

    return exact(find)


def _shown(value: object) -> str:
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    if isinstance(value, list):
        return "; ".join(_shown(each) for each in value)
    return str(value)


def checks(study: Callable[[], Study]) -> dict[str, Check]:
    """Return the checks of the set-up, by the short id of the claim."""
    setup = Setup(study)

    def packet() -> float:
        tcp = setup.web()["transport"]["qfcp"]
        return _bytes(tcp["mss"]) + _bytes(tcp["header"])

    def mean() -> float:
        size = setup.web()["size"]["pareto"]["mean"]
        payload = setup.web()["transport"]["qfcp"]["mss"]
        return _bytes(size) / _bytes(payload)

    def rate() -> float:
        arrivals = setup.web()["arrivals"]
        return float(arrivals["uniform"]) / _seconds(arrivals["within"])

    def mbit(text: str) -> float:
        return float(text.removesuffix("Mbit"))

    def bottleneck() -> float:
        return mbit(setup.dumbbell()["bottleneck"]["rate"])

    def common() -> float:
        links = setup.dumbbell()
        return 4 * _ms(links["access"]["delay"]) + 2 * _ms(links["bottleneck"]["delay"])

    found = {
        "beta": _same(lambda: setup.of("fct/qfcp")["port"]["bottleneck"]["stamp"]["beta"], 0.5),
        "pkt": _same(packet, 1000.0),
        "fct.bw": _same(bottleneck, 150.0),
        "fct.flows": _same(lambda: setup.web()["arrivals"]["uniform"], 60000),
        "fct.rtt": _same(common, 100.0),
        "fct.lambda": _same(rate, 625.0),
        "fct.mean": _same(mean, 30.0),
        "fct.shape": _same(lambda: setup.web()["size"]["pareto"]["shape"], 1.2),
        "fct.load": _same(lambda: 8e-6 * packet() * mean() * rate() / bottleneck(), 1.0),
    }
    return {f"setup.{name}": check for name, check in (found | _others(setup, mbit)).items()}


def _others(setup: Setup, mbit: Callable[[str], float]) -> dict[str, Check]:
    def rate(scenario: str) -> float:
        return mbit(setup.links(scenario)["middle"]["rate"])

    def starts() -> list[float]:
        return [_seconds(flow["arrivals"]["at"][0]) for flow in setup.flows("adapt/qfcp")]

    def stops() -> list[float]:
        return [_seconds(flow["stop"]) for flow in setup.flows("adapt/qfcp")]

    def products() -> list[int]:
        fct = setup.dumbbell()["bottleneck"]["buffer"]
        others = [
            setup.links(name)["middle"]["buffer"] for name in ("adapt/qfcp", "lossy/qfcp/none")
        ]
        return [int(each.removesuffix("packets")) for each in (fct, *others)]

    def shares() -> list[float]:
        found = []
        for share in LOSSES:
            links = setup.links(f"lossy/qfcp/data/{share}")
            found.append(float(links["middle"]["loss"]["data"]))
        return [found[0], found[-1]]

    return {
        "adapt.flows": _same(lambda: len(setup.flows("adapt/qfcp")), 4),
        "adapt.bw": _same(lambda: rate("adapt/qfcp"), 45.0),
        "adapt.rtt": _same(lambda: setup.round_trip("adapt/qfcp", 1), 40.0),
        "adapt.starts": _same(starts, [0.0, 2.0, 4.0, 6.0]),
        "adapt.stops": _same(stops, [14.0, 12.0, 10.0, 8.0]),
        "rtt.flows": _same(lambda: len(setup.flows("rtt/qfcp")), 10),
        "rtt.bw": _same(lambda: rate("rtt/qfcp"), 45.0),
        "rtt.range": _same(
            lambda: [setup.round_trip("rtt/qfcp", k) for k in range(1, 11)],
            [float(rtt) for rtt in range(40, 240, 20)],
        ),
        "lossy.bw": _same(lambda: rate("lossy/qfcp/none"), 100.0),
        "lossy.rtt": _same(lambda: setup.round_trip("lossy/qfcp/none", 1), 40.0),
        "lossy.range": _same(shares, [0.0001, 0.1]),
        "lossy.dur": _same(lambda: _seconds(setup.of("lossy/qfcp/none")["duration"]), 60.0),
        # delay-bandwidth products: 150 Mbit/s x 100 ms, 45 x 40, 100 x 40, in packets of 1000 B
        "buffer": _same(products, [1875, 225, 500]),
        "tcp_aqm": _same(lambda: setup.of("fct/tcp")["port"]["bottleneck"]["queue"]["law"], "red"),
    }
