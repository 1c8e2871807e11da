"""The checks of two classes of flows: Figure 7, and light load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm.cases import LIGHT, RATIOS, two
from tidegate.papers.dqm.measures import connection_loss, data_loss, queue, throughput_of
from tidegate.papers.dqm.single import DONE, RTX, N
from tidegate.papers.finders import Of, Side, close, ordering, parts

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Measure, Runs
    from tidegate.papers.study import Check

    Parts = dict[str, np.ndarray | list[float]]

SHORT, LONG = throughput_of(0), throughput_of(1)
LIGHT_MEASURES = (("completions", DONE), ("T, short", SHORT), ("T, long", LONG), ("N", N))
SMALL = 0.10
"""What passes for a very small difference."""
CONGESTED = tuple(two(2.0, ratio, policy) for ratio in RATIOS for policy in ("gr2", "p3"))


def _over(runs: Runs, policy: str, measure: Measure) -> Floats:
    """Return a measure at rho 2, averaged over R, for each seed."""
    values = np.array([runs.values(two(2.0, ratio, policy), measure) for ratio in RATIOS])
    return np.asarray(values.mean(axis=0), dtype=np.float64)


def _unfair(runs: Runs) -> Parts:
    return {
        f"R = {ratio}: long above short": runs.values(two(2.0, ratio, "p3"), LONG)
        - runs.values(two(2.0, ratio, "p3"), SHORT)
        for ratio in RATIOS
    }


def _fair(runs: Runs) -> Parts:
    dual, red = (_over(runs, policy, LONG) / _over(runs, policy, SHORT) for policy in ("p3", "gr2"))
    found: Parts = {
        f"long over short: P3 {np.mean(dual):.3g}, G-RED {np.mean(red):.3g}": dual - red
    }
    for name, measure in (("short", SHORT), ("long", LONG)):
        high, low = _over(runs, "p3", measure), _over(runs, "gr2", measure)
        found[f"{name}: P3 far above G-RED ({np.mean(high):.3g} to {np.mean(low):.3g})"] = (
            high - 1.5 * low
        )
    return found


def _pattern(runs: Runs) -> Parts:
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


def _difference(
    runs: Runs, what: str, measure: Measure, high: str, low: str, factor: float = 1.0
) -> tuple[str, Floats]:
    top, bottom = _over(runs, high, measure), _over(runs, low, measure)
    return f"{what} ({np.mean(top):.3g} to {np.mean(bottom):.3g})", top - factor * bottom


def _losses(runs: Runs) -> Parts:
    return dict(
        [
            _difference(runs, "P_d: G-RED over twice P3", data_loss, "gr2", "p3", 2.0),
            _difference(runs, "retransmissions: over twice", RTX, "gr2", "p3", 2.0),
        ]
    )


def _queue_and_connections(runs: Runs) -> Parts:
    return dict(
        [
            _difference(runs, "queue: G-RED above P3", queue, "gr2", "p3"),
            _difference(runs, "P_c: P3 above G-RED", connection_loss, "p3", "gr2"),
        ]
    )


def _light() -> dict[str, Check]:
    def of(rho: float, policy: str, measure: Measure) -> Of:
        return Of(two(rho, 5, policy), measure)

    small = [
        side
        for rho in LIGHT
        for name, measure in LIGHT_MEASURES
        for side in close(
            f"{name} at rho {rho:g}", of(rho, "p3", measure), of(rho, "gr2", measure), SMALL
        )
    ]
    directions = []
    for rho in LIGHT:
        for name, measure, high, low in (
            ("queue", queue, "gr2", "p3"),
            ("N", N, "gr2", "p3"),
            ("P_c", connection_loss, "p3", "gr2"),
        ):
            what = f"{name} at rho {rho:g}: {'P3' if high == 'p3' else 'G-RED'} higher"
            directions.append(Side(what, of(rho, high, measure), of(rho, low, measure)))
    return {"light.small": ordering(*small), "light.dirs": ordering(*directions)}


def checks() -> dict[str, Check]:
    """Return the checks, by the short id of the claim."""
    return {
        "fig7a.unfair": parts(CONGESTED, _unfair),
        "fig7a.gred_fair": parts(CONGESTED, _fair),
        "fig7b": parts(CONGESTED, _pattern),
        "fig7.pd": parts(CONGESTED, _losses),
        "fig7cd": parts(CONGESTED, _queue_and_connections),
    } | _light()
