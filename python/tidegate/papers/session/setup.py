"""Rows of the set-up: what the scenarios themselves say, held to the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.effective import Effective
from tidegate.papers.finders import exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.study import Check, Study


class Setup(Effective):
    """The effective scenarios of the cases."""

    def link(self) -> dict[str, Any]:
        """Return the bottleneck of the static case."""
        found: dict[str, Any] = self.of("static/10k-1000/none")["topology"]["dumbbell"]
        return found

    def gate(self, control: str) -> dict[str, Any]:
        """Return the gate of a control, the same in all scenarios."""
        names = ("static/10k-1000", "arrivals/load1", "size/100/load2", "capacity/1000/down-load3")
        first, *others = (self.of(f"{name}/{control}")["port"]["bottleneck"] for name in names)
        if any(other != first for other in others):
            raise ValueError(f"the settings of {control} differ between the scenarios")
        found: dict[str, Any] = first["gate"]
        return found

    def pareto(self, case: str) -> dict[str, Any]:
        """Return the distribution of sizes of a case."""
        found: dict[str, Any] = self.of(case)["traffic"]["web"]["size"]["pareto"]
        return found

    def change(self, case: str) -> list[dict[str, Any]]:
        """Return the changes of a case, in their order."""
        found: list[dict[str, Any]] = self.of(case)["change"]
        return found


def _same(
    found: Callable[[], object], said: object, shown: Callable[[], object] | None = None
) -> Check:
    """Check that what is found is what the paper says; `shown` puts it in the paper's unit."""

    def find() -> tuple[str, bool]:
        there = found()
        return str(shown() if shown else there), there == said

    return exact(find)


def checks(study: Callable[[], Study]) -> dict[str, Check]:
    """Return the checks of the set-up, by the short id of the claim."""
    setup = Setup(study)
    nc = "static/10k-1000/none"

    def one_way() -> float:
        link = setup.link()
        return 2 * _ms(link["access"]["delay"]) + _ms(link["bottleneck"]["delay"])

    found = {
        "bottleneck_bw": _same(lambda: setup.link()["bottleneck"]["rate"], "10Mbit", lambda: 10),
        "bottleneck_delay": _same(one_way, 100.0),
        "sources": _same(lambda: setup.link()["pairs"], 10),
        "pareto_shape": _same(lambda: setup.pareto(nc)["shape"], 1.5),
        "mean_size": _same(lambda: setup.pareto(nc)["mean"], "10kB", lambda: 10000),
        "arrival_rate": _same(
            lambda: setup.of(nc)["traffic"]["web"]["arrivals"]["poisson"], "1000/s", lambda: 1000
        ),
        "varying_duration": _same(
            lambda: {
                setup.of(f"{name}/none")["duration"]
                for name in ("arrivals/load1", "size/100/load1", "capacity/100/down-load1")
            },
            {"300s"},
            lambda: 300,
        ),
        "fig3_arrivals": _same(
            lambda: _static(setup, "arrivals"), {"100/s", "1000/s"}, lambda: "100; 1000"
        ),
        "fig3_sizes": _same(
            lambda: _static(setup, "size"), {"10kB", "30kB"}, lambda: "10000; 30000"
        ),
    }
    return {
        f"setup.{name}": check for name, check in (found | _laws(setup) | _changes(setup)).items()
    }


def _laws(setup: Setup) -> dict[str, Check]:
    def of(control: str, field: str, said: object, shown: object = None) -> Check:
        return _same(
            lambda: setup.gate(control)[field], said, None if shown is None else lambda: shown
        )

    return {
        "gss.stepSize": of("gssga", "step_size", 20),
        "gss.threshold": of("gssga", "threshold", 100),
        "gss.epoch": of("gssga", "epoch", "2s", 2),
        "cp.stepSize": of("cp", "step_size", 40),
        "cp.buffer_factor": of("cp", "buffer_factor", 1.05),
        "cp.increase_factor": of("cp", "increase_factor", 1.1),
        "cp.epoch": of("cp", "epoch", "1s", 1),
        "GOLD": of("gssga", "gold", 1.618),
        "C": of("gssga", "c", 0.3819),
    }


def _changes(setup: Setup) -> dict[str, Check]:
    def arrivals() -> list[dict[str, Any]]:
        return setup.change("arrivals/load3/none")

    def capacity(way: str) -> tuple[object, object, object]:
        change = setup.change(f"capacity/100/{way}-load3/none")[0]
        start = setup.of(f"capacity/100/{way}-load3/none")["topology"]["dumbbell"]["bottleneck"]
        return start["rate"], change["to"], change["buffer_follows"]

    def size() -> tuple[object, object]:
        return setup.pareto("size/100/load3/none")["mean"], setup.change("size/100/load3/none")[0][
            "to"
        ]

    def rates() -> tuple[object, ...]:
        first = setup.of("arrivals/load3/none")["traffic"]["web"]["arrivals"]["poisson"]
        return first, *(change["to"] for change in arrivals())

    return {
        "bw_change_down": _same(
            lambda: capacity("down"), ("10Mbit", "5Mbit", True), lambda: "10 -> 5"
        ),
        "bw_change_up": _same(
            lambda: capacity("up"), ("10Mbit", "20Mbit", True), lambda: "10 -> 20"
        ),
        "arrival_change": _same(rates, ("100/s", "1000/s", "100/s"), lambda: "100 .. 1000"),
        "size_change": _same(size, ("10kB", "30kB"), lambda: "10000 -> 30000"),
        "load3_up": _same(lambda: arrivals()[0]["at"], "125s", lambda: 125),
        "load3_down": _same(lambda: arrivals()[1]["at"], "175s", lambda: 175),
    }


def _static(setup: Setup, what: str) -> set[object]:
    cells = [setup.of(f"static/{size}k-{rate}/none") for size in (10, 30) for rate in (100, 1000)]
    traffic = [cell["traffic"]["web"] for cell in cells]
    if what == "size":
        return {each["size"]["pareto"]["mean"] for each in traffic}
    return {each["arrivals"]["poisson"] for each in traffic}


def _ms(text: str) -> float:
    number = float(text.removesuffix("ms"))
    if not text.endswith("ms"):
        raise ValueError(f"{text} is not in milliseconds")
    return number
