"""The checks of Figures 5 to 7: policies over the load, and short and long flows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.check_builders import (
    Greater,
    Value,
    close,
    descending,
    number,
    ordering,
    ratio,
)
from tidegate.papers.dqm.cases import CONGESTED, POLICIES, RATIOS, RHOS, at, two
from tidegate.papers.dqm.measures import (
    DA,
    DONE,
    LONG,
    RTX,
    SHORT,
    SHOWN,
    D,
    N,
    above,
    connection_loss,
    data_loss,
    mean_over,
    more,
    queue,
    setup_time,
    throughput,
)
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
    return dict(more(runs, measure, *step) for step in steps)


# Figure 5


@claim("fig5a.p3", of=above(rhos=(1.2, *CONGESTED)))
def throughputs(runs: Runs) -> Parts:
    """Check the order of throughputs, and that P3 keeps its own as the load grows."""
    first, second = (mean_over(runs, policy, throughput) for policy in ("gr2", "p1"))
    kept = [
        runs.values(at(2.0, policy), throughput) / runs.values(at(1.2, policy), throughput)
        for policy in ("p3", "gr2")
    ]
    return dict(
        [
            more(runs, throughput, "p3", "p2"),
            more(runs, throughput, "p2", "gr2"),
            more(runs, throughput, "gr2", "dt"),
            more(runs, throughput, "p1", "dt"),
            ("P1 within 15 % of G-RED", EQUAL * first - np.abs(first - second)),
            (
                f"from rho 1.2 to 2 P3 keeps more than G-RED ({np.mean(kept[0]):.2g} to"
                f" {np.mean(kept[1]):.2g})",
                kept[0] - kept[1],
            ),
        ]
    )


@claim("fig5b.dt_linear", of=above(("dt",), (1.0, *CONGESTED)))
def linear(runs: Runs) -> Parts:
    """Check that under drop-tail retransmissions grow along a line."""
    xs = np.array((1.0, *CONGESTED))
    values = np.array([runs.values(at(rho, "dt"), RTX) for rho in (1.0, *CONGESTED)])
    fits = [np.polyfit(xs, each, 1) for each in values.T]
    residues = [
        1.0 - np.var(each - np.polyval(fit, xs)) / np.var(each)
        for each, fit in zip(values.T, fits, strict=True)
    ]
    return {
        f"a line explains 95 % (r2 {np.mean(residues):.3f})": np.array(residues) - 0.95,
        "and it rises": np.array([fit[0] for fit in fits]),
    }


@claim("fig5b.order", of=above(("dt", "gr2", "p1", "p2", "p3")))
def retransmissions(runs: Runs) -> Parts:
    """Check the order of retransmissions, and that P3 has a tenth of G-RED's."""
    return _chain(
        runs,
        RTX,
        ("dt", "gr2", 1.0),
        ("gr2", "p1", 1.0 - SAME),
        ("p1", "p2", 1.0),
        ("p2", "p3", 1.0),
        ("gr2", "p3", 10.0),
    )


@claim("fig5c.order", of=above(("gr2", "p3")))
def flows_inside(runs: Runs) -> Parts:
    """Check that G-RED has over twice as many flows under way."""
    return _chain(runs, N, ("gr2", "p3", 2.0))


@claim("fig5d", of=above(("gr2", "p3", "dt")))
def queues(runs: Runs) -> Parts:
    """Check that P3's queue is the shortest."""
    return _chain(runs, queue, ("gr2", "p3", 1.0), ("dt", "p3", 1.0))


FOUR: tuple[tuple[str, Measure, float], ...] = (
    ("T", throughput, 1.0),
    ("rtx", RTX, -1.0),
    ("N", N, -1.0),
    ("queue", queue, -1.0),
)
"""The measures of Figure 5, and whether P3 has more of them."""


@claim("fig5.p1_like_gred", of=above(("gr2", "p1")))
def like(runs: Runs) -> Parts:
    """Check that P1 is about as G-RED."""
    found: Parts = {}
    for name, measure, _ in FOUR:
        one, other = mean_over(runs, "p1", measure), mean_over(runs, "gr2", measure)
        text = f"{name} within 15 % ({np.mean(one):.3g} to {np.mean(other):.3g})"
        found[text] = EQUAL * other - np.abs(one - other)
    return found


@claim("fig5.p12_between", of=above(("gr2", "p1", "p2", "p3")))
def inside(runs: Runs) -> Parts:
    """Check that P1 and P2 lie between G-RED and P3."""
    found: Parts = {}
    for name, measure, up in FOUR:
        values = {each: mean_over(runs, each, measure) for each in ("gr2", "p1", "p2", "p3")}
        for middle in ("p1", "p2"):
            near = up * (values[middle] - values["gr2"]) + EQUAL * values["gr2"]
            far = up * (values["p3"] - values[middle]) + EQUAL * values["p3"]
            found[f"{name}: {SHOWN[middle]} on P3's side of G-RED"] = near
            found[f"{name}: {SHOWN[middle]} on G-RED's side of P3"] = far
    return found


@claim("fig5.t1_consistency")
def consistent() -> Check:
    """Check that G-RED loses more connection packets than drop-tail, as in Table I."""
    return ordering(
        Greater(
            "P_c of G-RED above DT's at rho 1.2",
            Value(at(1.2, "gr2"), connection_loss),
            Value(at(1.2, "dt"), connection_loss),
        )
    )


# Figure 6


@claim("fig6a.grow")
def growing() -> Check:
    """Check that completions grow with the load below 1."""
    below = tuple(rho for rho in RHOS if rho < 1.0)
    return ordering(
        *(
            Greater(
                f"{SHOWN[policy]}: at {high:g} more than at {low:g}",
                Value(at(high, policy), DONE),
                Value(at(low, policy), DONE),
            )
            for policy in POLICIES
            for low, high in pairwise(below)
        )
    )


@claim("fig6a.dt_fall")
def falling() -> Check:
    """Check that drop-tail completes less in deep overload."""
    more_at, less_at = Value(at(1.2, "dt"), DONE), Value(at(2.0, "dt"), DONE)
    return ordering(Greater("DT: less at 2 than at 1.2", more_at, less_at))


@claim("fig6a.gred_rise")
def rising() -> Check:
    """Check that G-RED completes more in overload."""
    more_at, less_at = Value(at(2.0, "gr2"), DONE), Value(at(1.0, "gr2"), DONE)
    return ordering(Greater("G-RED: more at 2 than at 1", more_at, less_at))


@claim("fig6a.p2", of=above(("gr2", "p1", "p2", "p3"), RHOS))
def near(runs: Runs) -> Parts:
    """Check that P2 completes as much as G-RED, and that P1 and P3 go up and down around it."""
    done = {
        policy: np.array([runs.values(at(rho, policy), DONE) for rho in RHOS])
        for policy in ("gr2", "p1", "p2", "p3")
    }
    off = {name: np.mean(np.abs(each / done["gr2"] - 1), 0) for name, each in done.items()}
    found: Parts = {f"P2 within 5 % of G-RED ({100 * np.mean(off['p2']):.2g} %)": SAME - off["p2"]}
    for policy in ("p1", "p3"):
        text = f"{SHOWN[policy]} further off than P2 ({100 * np.mean(off[policy]):.2g} %)"
        found[text] = off[policy] - off["p2"]
        found[f"{SHOWN[policy]}: slightly, under 10 %"] = ALMOST - off[policy]
    return found


@claim("fig6a.p3_at1", of=above(POLICIES, (1.0,)))
def best(runs: Runs) -> Parts:
    """Check that P3 completes the most at rho 1."""
    return {
        f"P3 above {SHOWN[policy]} at rho 1": runs.values(at(1.0, "p3"), DONE)
        - runs.values(at(1.0, policy), DONE)
        for policy in POLICIES
        if policy != "p3"
    }


@claim("fig6a.util")
def use() -> Check:
    """Check that the policies complete as much as G-RED does: the paper's measure of use."""
    return ordering(
        *(
            side
            for policy in ("p1", "p2", "p3")
            for rho in (1.2, 1.6, 2.0)
            for side in close(
                f"{SHOWN[policy]} and G-RED at rho {rho:g}",
                Value(at(rho, policy), DONE),
                Value(at(rho, "gr2"), DONE),
                SAME,
            )
        )
    )


@claim("fig6b.pd", of=above(("gr2", "p3")))
def data_losses(runs: Runs) -> Parts:
    """Check that G-RED loses over twice the data."""
    return _chain(runs, data_loss, ("gr2", "p3", 2.0))


@claim("fig6b.pc", of=above(("p3", "gr2", "p2")))
def connection_losses(runs: Runs) -> Parts:
    """Check that P2 and P3 lose more connection packets."""
    return _chain(runs, connection_loss, ("p3", "gr2", 1.0), ("p2", "gr2", 1.0))


@claim("fig6c.D_p3")
def latency() -> Check:
    """Check the latency of admitted flows under P3 at rho 1.6."""
    return number(Value(at(1.6, "p3"), D))


@claim("fig6c.{name}_ratio", name=("D", "Da"))
def latency_ratio(name: str) -> Check:
    """Check the latency under P3 in per cent of G-RED's, without and with the set-up."""
    measure = {"D": D, "Da": DA}[name]
    return ratio(Value(at(1.6, "p3"), measure, 100.0), Value(at(1.6, "gr2"), measure))


@claim("fig6c.gap")
def gap() -> Check:
    """Check that the set-up takes P3 longer with the load."""
    widening = [(f"rho {rho:g}", Value(at(rho, "p3"), setup_time)) for rho in (2.0, 1.6, 1.2, 1.0)]
    return descending("P3: D_a - D at", *widening)


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
        f"R = {ratio}: long above short": runs.values(two(2.0, ratio, "p3"), LONG)
        - runs.values(two(2.0, ratio, "p3"), SHORT)
        for ratio in RATIOS
    }


@claim("fig7a.gred_fair", of=TWO_CLASSES)
def fair(runs: Runs) -> Parts:
    """Check that G-RED is fairer, and that both classes get far more under P3."""
    dual, red = (_over(runs, policy, LONG) / _over(runs, policy, SHORT) for policy in ("p3", "gr2"))
    found: Parts = {
        f"long over short: P3 {np.mean(dual):.3g}, G-RED {np.mean(red):.3g}": dual - red
    }
    for name, measure in (("short", SHORT), ("long", LONG)):
        high, low = _over(runs, "p3", measure), _over(runs, "gr2", measure)
        text = f"{name}: P3 far above G-RED ({np.mean(high):.3g} to {np.mean(low):.3g})"
        found[text] = high - 1.5 * low
    return found


@claim("fig7b", of=TWO_CLASSES)
def pattern(runs: Runs) -> Parts:
    """Check that G-RED has over twice as many flows, in the same pattern over R."""
    found: Parts = {
        f"R = {ratio}: G-RED has over twice as many": runs.values(two(2.0, ratio, "gr2"), N)
        - 2.0 * runs.values(two(2.0, ratio, "p3"), N)
        for ratio in RATIOS
    }
    curves = [
        np.array([runs.values(two(2.0, ratio, policy), N) for ratio in RATIOS]).T
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
            _difference(runs, "P_d: G-RED over twice P3", data_loss, "gr2", "p3", 2.0),
            _difference(runs, "retransmissions: over twice", RTX, "gr2", "p3", 2.0),
        ]
    )


@claim("fig7cd", of=TWO_CLASSES)
def queue_and_connections(runs: Runs) -> Parts:
    """Check that G-RED has the longer queue, and P3 loses more connection packets."""
    return dict(
        [
            _difference(runs, "queue: G-RED above P3", queue, "gr2", "p3"),
            _difference(runs, "P_c: P3 above G-RED", connection_loss, "p3", "gr2"),
        ]
    )
