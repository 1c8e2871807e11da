"""The checks of what the text says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.check_builders import Greater, Value, close, ordering
from tidegate.papers.check_results import Exact
from tidegate.papers.dqm.cases import LIGHT, at, two
from tidegate.papers.dqm.measures import (
    DONE,
    LONG,
    SHORT,
    D,
    N,
    above,
    connection_loss,
    more,
    queue,
    throughput,
    upstream_waste,
)
from tidegate.papers.effective import alike
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Measure, Parts, Runs

SMALL = 0.10
"""What passes for a very small difference."""
LIGHT_MEASURES: tuple[tuple[str, Measure], ...] = (
    ("completions", DONE),
    ("T, short", SHORT),
    ("T, long", LONG),
    ("N", N),
)


@claim("text.stateless", of=())
def stateless(runs: Runs) -> Exact:
    """Check that the queue does not know flows: a crowd of them is treated as one flow would be."""
    policies = ("p1", "p2", "p3")
    apart = sum(
        runs.effective.treated_differently(at(1.2, policy), "bottleneck") for policy in policies
    )
    return Exact(f"under P1, P2 and P3 {alike(apart)}", apart == 0)


@claim("text.tradeoff", of=above(("gr2", "p3")))
def tradeoff(runs: Runs) -> Parts:
    """Check that P3 trades flows that are never admitted for throughput and latency."""
    texts = [
        ("throughput higher: ", more(runs, throughput, "p3", "gr2")),
        ("latency lower: ", more(runs, D, "gr2", "p3")),
        ("flows never admitted: ", more(runs, "never_admitted_share", "p3", "gr2")),
    ]
    return {before + text: values for before, (text, values) in texts}


@claim("text.waste")
def wasted() -> Check:
    """Check that under G-RED over twice as much data is lost behind a link that carried it."""
    red, dual = (Value(f"tandem/{policy}", upstream_waste) for policy in ("gr2", "p3"))
    return ordering(
        Greater("share of data lost at the second link: G-RED over P3", red, dual),
        Greater("over twice as much", red, Value("tandem/p3", upstream_waste, 2.0)),
    )


def _of(rho: float, policy: str, measure: Measure) -> Value:
    return Value(two(rho, 5, policy), measure)


@claim("light.small")
def small() -> Check:
    """Check that at light load P3 and G-RED are about equal."""
    return ordering(
        *(
            side
            for rho in LIGHT
            for name, measure in LIGHT_MEASURES
            for side in close(
                f"{name} at rho {rho:g}", _of(rho, "p3", measure), _of(rho, "gr2", measure), SMALL
            )
        )
    )


@claim("light.dirs")
def directions() -> Check:
    """Check in which direction P3 and G-RED differ at light load."""
    sides = []
    for rho in LIGHT:
        for name, measure, high, low in (
            ("queue", queue, "gr2", "p3"),
            ("N", N, "gr2", "p3"),
            ("P_c", connection_loss, "p3", "gr2"),
        ):
            what = f"{name} at rho {rho:g}: {'P3' if high == 'p3' else 'G-RED'} higher"
            sides.append(Greater(what, _of(rho, high, measure), _of(rho, low, measure)))
    return ordering(*sides)
