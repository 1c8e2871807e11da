"""The checks of the single bottleneck: Table I, Figures 5 and 6."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm.cases import CONGESTED, POLICIES, REDS, RHOS, at
from tidegate.papers.dqm.measures import (
    connection_loss,
    data_loss,
    queue,
    setup_time,
    throughput,
    utilisation,
)
from tidegate.papers.finders import Of, Side, close, descending, number, ordering, parts, ratio
from tidegate.papers.study import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Floats, Measure, Runs
    from tidegate.papers.study import Check

    Parts = dict[str, np.ndarray | list[float]]

RTX, N, DONE = "retransmitted_packets", "open_mean", "completed_per_s"
D, DA = "fct_admitted_mean_s", "fct_mean_s"
TABLE1 = {"dt": "Drop-tail", "gr1": "G-R1", "gr2": "G-R2", "gr3": "G-R3"}
MEASURES: dict[str, Measure] = {"T": throughput, "D": D, "Pd": data_loss, "Pc": connection_loss}
EQUAL = 0.15
"""What passes for about equal."""
SAME = 0.05
"""What passes for the same, or for not more."""
SHOWN = {"dt": "DT", "gr2": "G-RED", "p1": "P1", "p2": "P2", "p3": "P3"}


def mean_over(
    runs: Runs, policy: str, measure: Measure, rhos: Sequence[float] = CONGESTED
) -> Floats:
    """Return a measure of a policy, averaged over loads, for each seed."""
    values = np.array([runs.values(at(rho, policy), measure) for rho in rhos])
    return np.asarray(values.mean(axis=0), dtype=np.float64)


def more(
    runs: Runs, measure: Measure, high: str, low: str, factor: float = 1.0
) -> tuple[str, Floats]:
    """Return that one policy has more of a measure than `factor` times another, above rho 1."""
    top, bottom = mean_over(runs, high, measure), mean_over(runs, low, measure)
    times = "" if factor == 1.0 else f"{factor:g} "
    text = f"{SHOWN[high]} > {times}{SHOWN[low]} ({np.mean(top):.3g} to {np.mean(bottom):.3g})"
    return text, top - factor * bottom


def _above(
    policies: Sequence[str] = POLICIES, rhos: Sequence[float] = CONGESTED
) -> tuple[str, ...]:
    return tuple(at(rho, policy) for rho in rhos for policy in policies)


def chain(measure: Measure, *steps: tuple[str, str, float]) -> Check:
    """Check, above rho 1, that each policy has more than the factor times another."""
    names = tuple(dict.fromkeys(name for high, low, _ in steps for name in (high, low)))
    return parts(_above(names), lambda runs: dict(more(runs, measure, *step) for step in steps))


def _table1() -> dict[str, Check]:
    found = {
        f"table1.{policy}.{name}": number(Of(at(1.2, policy), measure))
        for policy in TABLE1
        for name, measure in MEASURES.items()
    }

    def cell(policy: str, name: str) -> Of:
        return Of(at(1.2, policy), MEASURES[name])

    def reds(name: str) -> list[tuple[str, Of]]:
        return [(policy, cell(policy, name)) for policy in ("gr1", "gr2", "gr3")]

    worst = [Side(f"T of {TABLE1[red]} above DT", cell(red, "T"), cell("dt", "T")) for red in REDS]
    worst += [Side(f"D of DT above {TABLE1[red]}", cell("dt", "D"), cell(red, "D")) for red in REDS]
    worst += [
        Side(f"P_c of {TABLE1[red]} above DT", cell(red, "Pc"), cell("dt", "Pc")) for red in REDS
    ]
    losses = [Side(f"{TABLE1[red]}: P_c > P_d", cell(red, "Pc"), cell(red, "Pd")) for red in REDS]
    losses.append(Side("DT: P_d > P_c", cell("dt", "Pd"), cell("dt", "Pc")))
    return found | {
        "table1.pd_up": descending("P_d", *reds("Pd")[::-1]),
        "table1.pc_down": descending("P_c", *reds("Pc")),
        "table1.dt_worst": ordering(*worst),
        "table1.pc_gt_pd": ordering(*losses),
    }


def _throughputs(runs: Runs) -> Parts:
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


def _linear(runs: Runs) -> Parts:
    values = np.array([runs.values(at(rho, "dt"), RTX) for rho in (1.0, *CONGESTED)])
    xs = np.array((1.0, *CONGESTED))
    fits = [np.polyfit(xs, each, 1) for each in values.T]
    residues = [
        1.0 - np.var(each - np.polyval(fit, xs)) / np.var(each)
        for each, fit in zip(values.T, fits, strict=True)
    ]
    return {
        f"a line explains 95 % (r2 {np.mean(residues):.3f})": np.array(residues) - 0.95,
        "and it rises": np.array([fit[0] for fit in fits]),
    }


def _like(runs: Runs) -> Parts:
    found: Parts = {}
    for name, measure in (("T", throughput), ("rtx", RTX), ("N", N), ("queue", queue)):
        one, other = mean_over(runs, "p1", measure), mean_over(runs, "gr2", measure)
        text = f"{name} within 15 % ({np.mean(one):.3g} to {np.mean(other):.3g})"
        found[text] = EQUAL * other - np.abs(one - other)
    return found


def _inside(runs: Runs) -> Parts:
    found: Parts = {}
    for name, measure, up in (
        ("T", throughput, 1.0),
        ("rtx", RTX, -1.0),
        ("N", N, -1.0),
        ("queue", queue, -1.0),
    ):
        values = {each: mean_over(runs, each, measure) for each in ("gr2", "p1", "p2", "p3")}
        for middle in ("p1", "p2"):
            near = up * (values[middle] - values["gr2"]) + SAME * values["gr2"]
            far = up * (values["p3"] - values[middle]) + SAME * values["p3"]
            found[f"{name}: {SHOWN[middle]} on P3's side of G-RED"] = near
            found[f"{name}: {SHOWN[middle]} on G-RED's side of P3"] = far
    return found


def _figure5() -> dict[str, Check]:
    return {
        "fig5a.p3": parts(_above(rhos=(1.2, *CONGESTED)), _throughputs),
        "fig5b.dt_linear": parts(_above(("dt",), (1.0, *CONGESTED)), _linear),
        "fig5b.order": chain(
            RTX,
            ("dt", "gr2", 1.0),
            ("gr2", "p1", 1.0 - SAME),
            ("p1", "p2", 1.0),
            ("p2", "p3", 1.0),
            ("gr2", "p3", 10.0),
        ),
        "fig5c.order": chain(N, ("gr2", "p3", 2.0)),
        "fig5d": chain(queue, ("gr2", "p3", 1.0), ("dt", "p3", 1.0)),
        "fig5.p1_like_gred": parts(_above(("gr2", "p1")), _like),
        "fig5.p12_between": parts(_above(("gr2", "p1", "p2", "p3")), _inside),
        "fig5.t1_consistency": ordering(
            Side(
                "P_c of G-RED above DT's at rho 1.2",
                Of(at(1.2, "gr2"), connection_loss),
                Of(at(1.2, "dt"), connection_loss),
            )
        ),
    }


def _completions() -> dict[str, Check]:
    below = tuple(rho for rho in RHOS if rho < 1.0)
    growing = [
        Side(
            f"{SHOWN[policy]}: at {high:g} more than at {low:g}",
            Of(at(high, policy), DONE),
            Of(at(low, policy), DONE),
        )
        for policy in POLICIES
        for low, high in pairwise(below)
    ]

    def near(runs: Runs) -> Parts:
        one, other = (
            np.array([runs.values(at(rho, policy), DONE) for rho in RHOS])
            for policy in ("p2", "gr2")
        )
        return {
            "P2 within 5 % of G-RED, over all loads": SAME - np.mean(np.abs(one / other - 1), 0)
        }

    def best(runs: Runs) -> Parts:
        return {
            f"P3 above {SHOWN[policy]} at rho 1": runs.values(at(1.0, "p3"), DONE)
            - runs.values(at(1.0, policy), DONE)
            for policy in POLICIES
            if policy != "p3"
        }

    equal = [
        side
        for policy in ("p1", "p2", "p3")
        for rho in (1.2, 1.6, 2.0)
        for side in close(
            f"{SHOWN[policy]} and G-RED at rho {rho:g}",
            Of(at(rho, policy), utilisation),
            Of(at(rho, "gr2"), utilisation),
            SAME,
        )
    ]
    return {
        "fig6a.grow": ordering(*growing),
        "fig6a.dt_fall": ordering(
            Side("DT: less at 2 than at 1.2", Of(at(1.2, "dt"), DONE), Of(at(2.0, "dt"), DONE))
        ),
        "fig6a.gred_rise": ordering(
            Side("G-RED: more at 2 than at 1", Of(at(2.0, "gr2"), DONE), Of(at(1.0, "gr2"), DONE))
        ),
        "fig6a.p2": parts(_above(("gr2", "p2"), RHOS), near),
        "fig6a.p3_at1": parts(_above(POLICIES, (1.0,)), best),
        "fig6a.util": ordering(*equal),
    }


def _figure6() -> dict[str, Check]:
    def of(policy: str, measure: Measure, scale: float = 1.0, rho: float = 1.6) -> Of:
        return Of(at(rho, policy), measure, scale)

    widening = [(f"rho {rho:g}", of("p3", setup_time, rho=rho)) for rho in (2.0, 1.6, 1.2, 1.0)]
    return {
        "fig6c.D_p3": number(of("p3", D)),
        "fig6c.D_ratio": ratio(of("p3", D, 100.0), of("gr2", D)),
        "fig6c.Da_ratio": ratio(of("p3", DA, 100.0), of("gr2", DA)),
        "fig6c.gap": descending("P3: D_a - D at", *widening),
        "fig6b.pd": chain(data_loss, ("gr2", "p3", 2.0)),
        "fig6b.pc": chain(connection_loss, ("p3", "gr2", 1.0), ("p2", "gr2", 1.0)),
        "text.tradeoff": _tradeoff(),
    }


def _tradeoff() -> Check:
    def find(runs: Runs) -> Parts:
        never = "never_admitted_share"
        texts = [
            ("throughput higher: ", more(runs, throughput, "p3", "gr2")),
            ("latency lower: ", more(runs, D, "gr2", "p3")),
            ("flows never admitted: ", more(runs, never, "p3", "gr2")),
        ]
        return {before + text: values for before, (text, values) in texts}

    return parts(_above(("gr2", "p3")), find)


def checks() -> dict[str, Check]:
    """Return the checks, by the short id of the claim."""
    return _table1() | _figure5() | _completions() | _figure6()


def grid() -> Grid:
    """Return Table I as it is printed."""
    names = {"T": "T [bit/s]", "D": "D [s]", "Pd": "P_d", "Pc": "P_c"}
    rows = tuple(
        (shown, tuple(f"table1.{policy}.{name}" for policy in TABLE1))
        for name, shown in names.items()
    )
    return Grid("Table I: drop-tail and gentle RED alone, rho 1.2", tuple(TABLE1.values()), rows)
