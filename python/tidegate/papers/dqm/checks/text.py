"""The checks of what the text says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.check_builders import Greater, Value, between, close, ordering
from tidegate.papers.check_results import Exact
from tidegate.papers.dqm import measures as m
from tidegate.papers.dqm.cases import LIGHT, at, two
from tidegate.papers.effective import alike
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Measure, Parts, Runs

SMALL = 0.10
"""What passes for a very small difference."""
LIGHT_MEASURES: tuple[tuple[str, Measure], ...] = (
    ("completions", m.DONE),
    ("T, short", m.SHORT),
    ("T, long", m.LONG),
    ("N", m.N),
)


@claim("text.stateless", of=())
def stateless(runs: Runs) -> Exact:
    """Check that the queue does not know flows: a crowd of them is treated as one flow would be."""
    policies = ("p1", "p2", "p3")
    apart = sum(
        runs.effective.treated_differently(at(1.2, policy), "bottleneck") for policy in policies
    )
    return Exact(f"under P1, P2 and P3 {alike(apart)}", apart == 0)


@claim("text.tradeoff", of=m.above(("gr2", "p3")))
def tradeoff(runs: Runs) -> Parts:
    """Check that P3 trades flows that are never admitted for throughput and latency."""
    texts = [
        ("throughput higher: ", m.more(runs, m.throughput, "p3", "gr2")),
        ("latency lower: ", m.more(runs, m.D, "gr2", "p3")),
        ("flows never admitted: ", m.more(runs, "never_admitted_share", "p3", "gr2")),
    ]
    return {before + text: values for before, (text, values) in texts}


CHECKS = {
    "text.waste": ordering(
        between(
            "share of data lost at the second link: G-RED over P3",
            "tandem/{}",
            "gr2",
            "p3",
            m.upstream_waste,
        ),
        Greater(
            "over twice as much",
            Value("tandem/gr2", m.upstream_waste),
            Value("tandem/p3", m.upstream_waste, 2.0),
        ),
    ),
    "light.small": ordering(
        *(
            close(f"{name} at rho {rho:g}", two(rho, 5, "{}"), "p3", "gr2", measure, SMALL)
            for rho in LIGHT
            for name, measure in LIGHT_MEASURES
        )
    ),
    "light.dirs": ordering(
        *(
            between(f"{name} at rho {rho:g}: {shown} higher", two(rho, 5, "{}"), high, low, measure)
            for rho in LIGHT
            for name, shown, measure, high, low in (
                ("queue", "G-RED", m.queue, "gr2", "p3"),
                ("N", "G-RED", m.N, "gr2", "p3"),
                ("P_c", "P3", m.connection_loss, "p3", "gr2"),
            )
        )
    ),
}
