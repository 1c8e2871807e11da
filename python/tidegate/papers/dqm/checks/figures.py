"""The checks of Figures 5 to 7: policies over the load, and short and long flows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.check_builders import (
    Greater,
    Value,
    between,
    close,
    descending,
    number,
    ordering,
    ratio,
)
from tidegate.papers.dqm import measures as m
from tidegate.papers.dqm.cases import CONGESTED, POLICIES, RATIOS, RHOS, at, two
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Floats, Measure, Parts, Runs

EQUAL = 0.15
"""What passes for about equal."""
SAME = 0.05
"""What passes for the same, or for not more."""
ALMOST = 0.10
"""The largest difference that counts as slight."""
TWO_CLASSES = tuple(two(2.0, ratio, policy) for ratio in RATIOS for policy in ("gr2", "p3"))


def _chain(runs: Runs, measure: Measure, *steps: tuple[str, str, float]) -> Parts:
    """Return that, above rho 1, each policy has more than the factor times another."""
    return dict(m.more(runs, measure, *step) for step in steps)


# Figure 5


@claim("fig5a.p3", of=m.above(rhos=(1.2, *CONGESTED)))
def throughputs(runs: Runs) -> Parts:
    """Check the order of throughputs, and that P3 keeps its own as the load grows."""
    first, second = (m.mean_over(runs, policy, m.throughput) for policy in ("gr2", "p1"))
    kept = [
        runs.values(at(2.0, policy), m.throughput) / runs.values(at(1.2, policy), m.throughput)
        for policy in ("p3", "gr2")
    ]
    return dict(
        [
            m.more(runs, m.throughput, "p3", "p2"),
            m.more(runs, m.throughput, "p2", "gr2"),
            m.more(runs, m.throughput, "gr2", "dt"),
            m.more(runs, m.throughput, "p1", "dt"),
            ("P1 within 15 % of G-RED", EQUAL * first - np.abs(first - second)),
            (
                f"from rho 1.2 to 2 P3 keeps more than G-RED ({np.mean(kept[0]):.2g} to"
                f" {np.mean(kept[1]):.2g})",
                kept[0] - kept[1],
            ),
        ]
    )


@claim("fig5b.dt_linear", of=m.above(("dt",), (1.0, *CONGESTED)))
def linear(runs: Runs) -> Parts:
    """Check that under drop-tail retransmissions grow along a line."""
    xs = np.array((1.0, *CONGESTED))
    values = np.array([runs.values(at(rho, "dt"), m.RTX) for rho in (1.0, *CONGESTED)])
    fits = [np.polyfit(xs, each, 1) for each in values.T]
    residues = [
        1.0 - np.var(each - np.polyval(fit, xs)) / np.var(each)
        for each, fit in zip(values.T, fits, strict=True)
    ]
    return {
        f"a line explains 95 % (r2 {np.mean(residues):.3f})": np.array(residues) - 0.95,
        "and it rises": np.array([fit[0] for fit in fits]),
    }


@claim("fig5b.order", of=m.above(("dt", "gr2", "p1", "p2", "p3")))
def retransmissions(runs: Runs) -> Parts:
    """Check the order of retransmissions, and that P3 has a tenth of G-RED's."""
    return _chain(
        runs,
        m.RTX,
        ("dt", "gr2", 1.0),
        ("gr2", "p1", 1.0 - SAME),
        ("p1", "p2", 1.0),
        ("p2", "p3", 1.0),
        ("gr2", "p3", 10.0),
    )


@claim("fig5c.order", of=m.above(("gr2", "p3")))
def flows_inside(runs: Runs) -> Parts:
    """Check that G-RED has over twice as many flows under way."""
    return _chain(runs, m.N, ("gr2", "p3", 2.0))


@claim("fig5d", of=m.above(("gr2", "p3", "dt")))
def queues(runs: Runs) -> Parts:
    """Check that P3's queue is the shortest."""
    return _chain(runs, m.queue, ("gr2", "p3", 1.0), ("dt", "p3", 1.0))


FOUR: tuple[tuple[str, Measure, float], ...] = (
    ("T", m.throughput, 1.0),
    ("rtx", m.RTX, -1.0),
    ("N", m.N, -1.0),
    ("queue", m.queue, -1.0),
)
"""The measures of Figure 5, and whether P3 has more of them."""


@claim("fig5.p1_like_gred", of=m.above(("gr2", "p1")))
def like(runs: Runs) -> Parts:
    """Check that P1 is about as G-RED."""
    found: Parts = {}
    for name, measure, _ in FOUR:
        one, other = m.mean_over(runs, "p1", measure), m.mean_over(runs, "gr2", measure)
        text = f"{name} within 15 % ({np.mean(one):.3g} to {np.mean(other):.3g})"
        found[text] = EQUAL * other - np.abs(one - other)
    return found


@claim("fig5.p12_between", of=m.above(("gr2", "p1", "p2", "p3")))
def inside(runs: Runs) -> Parts:
    """Check that P1 and P2 lie between G-RED and P3."""
    found: Parts = {}
    for name, measure, up in FOUR:
        values = {each: m.mean_over(runs, each, measure) for each in ("gr2", "p1", "p2", "p3")}
        for middle in ("p1", "p2"):
            near = up * (values[middle] - values["gr2"]) + EQUAL * values["gr2"]
            far = up * (values["p3"] - values[middle]) + EQUAL * values["p3"]
            found[f"{name}: {m.SHOWN[middle]} on P3's side of G-RED"] = near
            found[f"{name}: {m.SHOWN[middle]} on G-RED's side of P3"] = far
    return found


# Figure 6


@claim("fig6a.p2", of=m.above(("gr2", "p1", "p2", "p3"), RHOS))
def near(runs: Runs) -> Parts:
    """Check that P2 completes as much as G-RED, and that P1 and P3 go up and down around it."""
    done = {
        policy: np.array([runs.values(at(rho, policy), m.DONE) for rho in RHOS])
        for policy in ("gr2", "p1", "p2", "p3")
    }
    off = {name: np.mean(np.abs(each / done["gr2"] - 1), 0) for name, each in done.items()}
    found: Parts = {f"P2 within 5 % of G-RED ({100 * np.mean(off['p2']):.2g} %)": SAME - off["p2"]}
    for policy in ("p1", "p3"):
        text = f"{m.SHOWN[policy]} further off than P2 ({100 * np.mean(off[policy]):.2g} %)"
        found[text] = off[policy] - off["p2"]
        found[f"{m.SHOWN[policy]}: slightly, under 10 %"] = ALMOST - off[policy]
    return found


@claim("fig6a.p3_at1", of=m.above(POLICIES, (1.0,)))
def best(runs: Runs) -> Parts:
    """Check that P3 completes the most at rho 1."""
    return {
        f"P3 above {m.SHOWN[policy]} at rho 1": runs.values(at(1.0, "p3"), m.DONE)
        - runs.values(at(1.0, policy), m.DONE)
        for policy in POLICIES
        if policy != "p3"
    }


@claim("fig6b.pd", of=m.above(("gr2", "p3")))
def data_losses(runs: Runs) -> Parts:
    """Check that G-RED loses over twice the data."""
    return _chain(runs, m.data_loss, ("gr2", "p3", 2.0))


@claim("fig6b.pc", of=m.above(("p3", "gr2", "p2")))
def connection_losses(runs: Runs) -> Parts:
    """Check that P2 and P3 lose more connection packets."""
    return _chain(runs, m.connection_loss, ("p3", "gr2", 1.0), ("p2", "gr2", 1.0))


@claim("fig6c.{name}_ratio", name=("D", "Da"))
def latency_ratio(name: str) -> Check:
    """Check the latency under P3 in per cent of G-RED's, without and with the set-up."""
    measure = {"D": m.D, "Da": m.DA}[name]
    return ratio(Value(at(1.6, "p3"), measure, 100.0), Value(at(1.6, "gr2"), measure))


# Figure 7


def _over(runs: Runs, policy: str, measure: Measure) -> Floats:
    """Return a measure at rho 2, averaged over R, for each seed."""
    values = np.array([runs.values(two(2.0, ratio, policy), measure) for ratio in RATIOS])
    return np.asarray(values.mean(axis=0), dtype=np.float64)


def _difference(
    runs: Runs, what: str, measure: Measure, high: str, low: str, factor: float = 1.0
) -> tuple[str, Floats]:
    top, bottom = _over(runs, high, measure), _over(runs, low, measure)
    return f"{what} ({np.mean(top):.3g} to {np.mean(bottom):.3g})", top - factor * bottom


@claim("fig7a.unfair", of=TWO_CLASSES)
def unfair(runs: Runs) -> Parts:
    """Check that long flows get more than short ones under P3."""
    return {
        f"R = {ratio}: long above short": runs.values(two(2.0, ratio, "p3"), m.LONG)
        - runs.values(two(2.0, ratio, "p3"), m.SHORT)
        for ratio in RATIOS
    }


@claim("fig7a.gred_fair", of=TWO_CLASSES)
def fair(runs: Runs) -> Parts:
    """Check that G-RED is fairer, and that both classes get far more under P3."""
    dual, red = (
        _over(runs, policy, m.LONG) / _over(runs, policy, m.SHORT) for policy in ("p3", "gr2")
    )
    found: Parts = {
        f"long over short: P3 {np.mean(dual):.3g}, G-RED {np.mean(red):.3g}": dual - red
    }
    for name, measure in (("short", m.SHORT), ("long", m.LONG)):
        high, low = _over(runs, "p3", measure), _over(runs, "gr2", measure)
        text = f"{name}: P3 far above G-RED ({np.mean(high):.3g} to {np.mean(low):.3g})"
        found[text] = high - 1.5 * low
    return found


@claim("fig7b", of=TWO_CLASSES)
def pattern(runs: Runs) -> Parts:
    """Check that G-RED has over twice as many flows, in the same pattern over R."""
    found: Parts = {
        f"R = {ratio}: G-RED has over twice as many": runs.values(two(2.0, ratio, "gr2"), m.N)
        - 2.0 * runs.values(two(2.0, ratio, "p3"), m.N)
        for ratio in RATIOS
    }
    curves = [
        np.array([runs.values(two(2.0, ratio, policy), m.N) for ratio in RATIOS]).T
        for policy in ("gr2", "p3")
    ]
    together = [np.corrcoef(one, other)[0, 1] for one, other in zip(*curves, strict=True)]
    found[f"the curves over R rise and fall together (r {np.mean(together):.2f})"] = together
    return found


@claim("fig7.pd", of=TWO_CLASSES)
def losses(runs: Runs) -> Parts:
    """Check that G-RED loses and sends again over twice as much."""
    return dict(
        [
            _difference(runs, "P_d: G-RED over twice P3", m.data_loss, "gr2", "p3", 2.0),
            _difference(runs, "retransmissions: over twice", m.RTX, "gr2", "p3", 2.0),
        ]
    )


@claim("fig7cd", of=TWO_CLASSES)
def queue_and_connections(runs: Runs) -> Parts:
    """Check that G-RED has the longer queue, and P3 loses more connection packets."""
    return dict(
        [
            _difference(runs, "queue: G-RED above P3", m.queue, "gr2", "p3"),
            _difference(runs, "P_c: P3 above G-RED", m.connection_loss, "p3", "gr2"),
        ]
    )


def _more_at(what: str, policy: str, high: float, low: float) -> Greater:
    """Return that more complete at one load than at another."""
    return Greater(what, Value(at(high, policy), m.DONE), Value(at(low, policy), m.DONE))


# use: as many completions as G-RED has, the paper's measure
CHECKS = {
    "fig5.t1_consistency": ordering(
        between("P_c of G-RED above DT's at rho 1.2", at(1.2, "{}"), "gr2", "dt", m.connection_loss)
    ),
    "fig6a.grow": ordering(
        *(
            _more_at(f"{m.SHOWN[policy]}: at {high:g} more than at {low:g}", policy, high, low)
            for policy in POLICIES
            for low, high in pairwise(rho for rho in RHOS if rho < 1.0)
        )
    ),
    "fig6a.dt_fall": ordering(_more_at("DT: less at 2 than at 1.2", "dt", 1.2, 2.0)),
    "fig6a.gred_rise": ordering(_more_at("G-RED: more at 2 than at 1", "gr2", 2.0, 1.0)),
    "fig6a.util": ordering(
        *(
            close(
                f"{m.SHOWN[policy]} and G-RED at rho {rho:g}",
                at(rho, "{}"),
                policy,
                "gr2",
                m.DONE,
                SAME,
            )
            for policy in ("p1", "p2", "p3")
            for rho in (1.2, 1.6, 2.0)
        )
    ),
    "fig6c.D_p3": number(Value(at(1.6, "p3"), m.D)),
    "fig6c.gap": descending(
        "P3: D_a - D at",
        *((f"rho {rho:g}", Value(at(rho, "p3"), m.setup_time)) for rho in (2.0, 1.6, 1.2, 1.0)),
    ),
}
