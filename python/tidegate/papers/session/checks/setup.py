"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount
from tidegate.papers.registry import claim
from tidegate.papers.session.cases import NC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidegate.papers.runs import Runs

LAWS = {"gss": "gssga", "cp": "cp"}
"""The laws in the ids of claims, and their controls in the keys of cases."""
FIELDS = {
    "gss.stepSize": "step_size",
    "gss.threshold": "threshold",
    "cp.stepSize": "step_size",
    "cp.buffer_factor": "buffer_factor",
    "cp.increase_factor": "increase_factor",
}
CONSTANTS = {"GOLD": "gold", "C": "c"}


def _number(value: float) -> Exact:
    return Exact(f"{round(value, 9):g}")


def _several(values: Iterable[float]) -> Exact:
    return Exact("; ".join(f"{each:g}" for each in sorted(values)))


def _link(runs: Runs) -> dict[str, Any]:
    """Return the topology of the static case."""
    found: dict[str, Any] = runs.effective.of(NC)["topology"]["dumbbell"]
    return found


def _gate(runs: Runs, control: str) -> dict[str, Any]:
    """Return the gate of a control, the same in all scenarios."""
    names = ("static/10k-1000", "arrivals/load1", "size/100/load2", "capacity/1000/down-load3")
    ports = (runs.effective.of(f"{name}/{control}")["port"]["bottleneck"] for name in names)
    first, *others = ports
    if any(other != first for other in others):
        raise ValueError(f"the settings of {control} differ between the scenarios")
    found: dict[str, Any] = first["gate"]
    return found


def _web(runs: Runs, case: str) -> dict[str, Any]:
    found: dict[str, Any] = runs.effective.of(case)["traffic"]["web"]
    return found


def _changes(runs: Runs, case: str) -> list[dict[str, Any]]:
    """Return the changes of a case, in their order."""
    found: list[dict[str, Any]] = runs.effective.of(case)["change"]
    return found


@claim("setup.bottleneck_bw", of=())
def bandwidth(runs: Runs) -> Exact:
    """Check the rate of the bottleneck."""
    return _number(amount(_link(runs)["bottleneck"]["rate"]) / 1e6)


@claim("setup.bottleneck_delay", of=())
def delay(runs: Runs) -> Exact:
    """Check the delay from end to end, one way."""
    link = _link(runs)
    seconds = 2 * amount(link["access"]["delay"]) + amount(link["bottleneck"]["delay"])
    return _number(1e3 * seconds)


@claim("setup.sources", of=())
def sources(runs: Runs) -> Exact:
    """Check the number of sources."""
    return _number(_link(runs)["pairs"])


@claim("setup.pareto_shape", of=())
def shape(runs: Runs) -> Exact:
    """Check the shape of the sizes."""
    return _number(_web(runs, NC)["size"]["pareto"]["shape"])


def _mean_bytes(runs: Runs, case: str) -> float:
    return amount(_web(runs, case)["size"]["pareto"]["mean"])


@claim("setup.mean_size", of=())
def mean_size(runs: Runs) -> Exact:
    """Check the mean size."""
    return Exact(f"{_mean_bytes(runs, NC):.0f}")


def _arrivals(runs: Runs, case: str) -> float:
    return amount(_web(runs, case)["arrivals"]["poisson"])


@claim("setup.arrival_rate", of=())
def arrival_rate(runs: Runs) -> Exact:
    """Check the arrival rate."""
    return _number(_arrivals(runs, NC))


@claim("setup.{field}", of=(), field=tuple(FIELDS))
def law(runs: Runs, field: str) -> Exact:
    """Check a setting of a law, which is the same in all scenarios."""
    return _number(_gate(runs, LAWS[field.partition(".")[0]])[FIELDS[field]])


@claim("setup.{law}.epoch", of=(), law=tuple(LAWS))
def epoch(runs: Runs, law: str) -> Exact:
    """Check the epoch of a law."""
    return _number(amount(_gate(runs, LAWS[law])["epoch"]))


@claim("setup.{name}", of=(), name=tuple(CONSTANTS))
def constant(runs: Runs, name: str) -> Exact:
    """Check a constant of golden section search."""
    return _number(_gate(runs, "gssga")[CONSTANTS[name]])


@claim("setup.varying_duration", of=())
def duration(runs: Runs) -> Exact:
    """Check how long the runs under changing loads take."""
    names = ("arrivals/load1", "size/100/load1", "capacity/100/down-load1")
    return _several({amount(runs.effective.of(f"{name}/none")["duration"]) for name in names})


@claim("setup.bw_change_{way}", of=(), way=("down", "up"))
def capacities(runs: Runs, way: str) -> Exact:
    """Check how the capacity changes, and that the buffer follows."""
    case = f"capacity/100/{way}-load3/none"
    change = _changes(runs, case)[0]
    start = runs.effective.of(case)["topology"]["dumbbell"]["bottleneck"]["rate"]
    if change["buffer_follows"] is not True:
        return Exact("the buffer does not follow")
    return Exact(f"{amount(start) / 1e6:g} -> {amount(change['to']) / 1e6:g}")


@claim("setup.arrival_change", of=())
def arrival_rates(runs: Runs) -> Exact:
    """Check between which rates arrivals change, there and back."""
    first = _arrivals(runs, "arrivals/load3/none")
    there, back = (amount(change["to"]) for change in _changes(runs, "arrivals/load3/none"))
    return Exact(f"{first:g} .. {there:g}" if first == back else f"{first:g}, {there:g}, {back:g}")


@claim("setup.size_change", of=())
def sizes(runs: Runs) -> Exact:
    """Check how the mean size changes."""
    case = "size/100/load3/none"
    then = amount(_changes(runs, case)[0]["to"])
    return Exact(f"{_mean_bytes(runs, case):.0f} -> {then:.0f}")


@claim("setup.load3_{way}", of=(), way=("up", "down"))
def step(runs: Runs, way: str) -> Exact:
    """Check when the arrival rate steps up, and down again."""
    change = _changes(runs, "arrivals/load3/none")[("up", "down").index(way)]
    return _number(amount(change["at"]))


CELLS = tuple(f"static/{size}k-{rate}/none" for size in (10, 30) for rate in (100, 1000))


@claim("setup.fig3_arrivals", of=())
def static_rates(runs: Runs) -> Exact:
    """Check the arrival rates of Figure 3."""
    return _several({_arrivals(runs, case) for case in CELLS})


@claim("setup.fig3_sizes", of=())
def static_sizes(runs: Runs) -> Exact:
    """Check the mean sizes of Figure 3."""
    return _several({_mean_bytes(runs, case) for case in CELLS})
