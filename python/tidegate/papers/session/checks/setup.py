"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount, rounded
from tidegate.papers.registry import claim
from tidegate.papers.session.cases import ARRIVAL_RATE, CAPACITY, MEAN_SIZE, NC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidegate.papers.runs import Runs

STATIC = {
    "bottleneck_bw": (CAPACITY, 1e-6),
    "sources": ("topology.dumbbell.pairs", 1.0),
    "pareto_shape": ("traffic.web.size.pareto.shape", 1.0),
    "mean_size": (MEAN_SIZE, 1.0),
    "arrival_rate": (ARRIVAL_RATE, 1.0),
}
"""Rows of the static case: where the quantity stands, and the factor to the unit of the paper."""
LAWS = {
    "gss.stepSize": ("gssga", "step_size"),
    "gss.threshold": ("gssga", "threshold"),
    "gss.epoch": ("gssga", "epoch"),
    "GOLD": ("gssga", "gold"),
    "C": ("gssga", "c"),
    "cp.stepSize": ("cp", "step_size"),
    "cp.buffer_factor": ("cp", "buffer_factor"),
    "cp.increase_factor": ("cp", "increase_factor"),
    "cp.epoch": ("cp", "epoch"),
}
"""Rows of the laws: the control in the keys of cases, and its setting."""


@claim("setup.{name}", of=(), name=tuple(STATIC))
def static(runs: Runs, name: str) -> Exact:
    """Check a quantity of the static case."""
    return runs.effective.exact(NC, *STATIC[name])


@claim("setup.bottleneck_delay", of=())
def delay(runs: Runs) -> Exact:
    """Check the delay from end to end, one way."""
    link = runs.effective.at(NC, "topology.dumbbell")
    seconds = 2 * amount(link["access"]["delay"]) + amount(link["bottleneck"]["delay"])
    return rounded(1e3 * seconds)


@claim("setup.{name}", of=(), name=tuple(LAWS))
def law(runs: Runs, name: str) -> Exact:
    """Check a setting of a law, which is the same in all scenarios."""
    control, setting = LAWS[name]
    cases = ("static/10k-1000", "arrivals/load1", "size/100/load2", "capacity/1000/down-load3")
    path = f"port.bottleneck.gate.{setting}"
    return _several({runs.effective.amount(f"{case}/{control}", path) for case in cases})


def _several(values: Iterable[float]) -> Exact:
    return Exact("; ".join(f"{each:g}" for each in sorted(values)))


def _changes(runs: Runs, case: str) -> list[dict[str, Any]]:
    """Return the changes of a case, in their order."""
    found: list[dict[str, Any]] = runs.effective.of(case)["change"]
    return found


@claim("setup.varying_duration", of=())
def duration(runs: Runs) -> Exact:
    """Check how long the runs under changing loads take."""
    names = ("arrivals/load1", "size/100/load1", "capacity/100/down-load1")
    return _several({runs.effective.amount(f"{name}/none", "duration") for name in names})


@claim("setup.bw_change_{way}", of=(), way=("down", "up"))
def capacities(runs: Runs, way: str) -> Exact:
    """Check how the capacity changes, and that the buffer follows."""
    case = f"capacity/100/{way}-load3/none"
    change = _changes(runs, case)[0]
    if change["buffer_follows"] is not True:
        return Exact("the buffer does not follow")
    start = runs.effective.amount(case, CAPACITY)
    return Exact(f"{start / 1e6:g} -> {amount(change['to']) / 1e6:g}")


@claim("setup.arrival_change", of=())
def arrival_rates(runs: Runs) -> Exact:
    """Check between which rates arrivals change, there and back."""
    case = "arrivals/load3/none"
    first = runs.effective.amount(case, ARRIVAL_RATE)
    there, back = (amount(change["to"]) for change in _changes(runs, case))
    return Exact(f"{first:g} .. {there:g}" if first == back else f"{first:g}, {there:g}, {back:g}")


@claim("setup.size_change", of=())
def sizes(runs: Runs) -> Exact:
    """Check how the mean size changes."""
    case = "size/100/load3/none"
    then = amount(_changes(runs, case)[0]["to"])
    return Exact(f"{runs.effective.amount(case, MEAN_SIZE):.0f} -> {then:.0f}")


@claim("setup.load3_{way}", of=(), way=("up", "down"))
def step(runs: Runs, way: str) -> Exact:
    """Check when the arrival rate steps up, and down again."""
    change = _changes(runs, "arrivals/load3/none")[("up", "down").index(way)]
    return rounded(amount(change["at"]))


CELLS = tuple(f"static/{size}k-{rate}/none" for size in (10, 30) for rate in (100, 1000))


@claim("setup.fig3_{what}", of=(), what=("arrivals", "sizes"))
def static_cells(runs: Runs, what: str) -> Exact:
    """Check the arrival rates and the mean sizes of Figure 3."""
    path = {"arrivals": ARRIVAL_RATE, "sizes": MEAN_SIZE}[what]
    return _several({runs.effective.amount(case, path) for case in CELLS})
