"""What no row of `claims.csv` can say: peaks of curves, searches, and laws themselves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.check_results import Exact, Numbers
from tidegate.papers.effective import amount, stateless_port
from tidegate.papers.row_check import plain
from tidegate.papers.session import measures as m
from tidegate.papers.session.cases import (
    ALMOST,
    CP,
    GSS,
    LOADS,
    NC,
    OPTIMA,
    SCHEMES,
    TRIED,
    TUNED,
    threshold,
)

if TYPE_CHECKING:
    from tidegate.papers.case import Case
    from tidegate.papers.runs import Floats, Parts, Runs

FAR = 1.5
"""The least ratio that counts as far above: Figure 2 has 250 above 110."""
NEIGHBOUR = 100.0
"""Admit rates closer to the peak than this count as the peak, sessions/s."""


WINDOW_S = 250.0
"""What Table I counts over."""


def admitted_not_complete(admits: float, completes: float) -> float:
    """Return the sessions that are inside at the end, of an admit and a completion rate."""
    return (admits - completes) * WINDOW_S


def _peak(runs: Runs) -> tuple[float, Floats]:
    """Return the admit rate with the most completions on average, and its completions."""
    found = m.curve(runs)
    best = max(found, key=lambda rate: float(np.mean(found[rate])))
    return best, found[best]


def peak_rate(runs: Runs) -> Numbers:
    """Check the most completions a second."""
    return Numbers(tuple(_peak(runs)[1]))


def peak_admit(runs: Runs) -> Numbers:
    """Check the admit rate with the most completions."""
    found = m.curve(runs)
    rates = np.array(list(found))
    best = rates[np.argmax(np.array(list(found.values())), axis=0)]
    span = _within(found, 0.95)
    note = f"The curve is flat: from {span[0]:g} to {span[1]:g}/s it is within 5 % of its peak."
    return Numbers(tuple(map(float, best)), note=note)


def _within(found: dict[float, Floats], share: float) -> tuple[float, float]:
    most = max(float(np.mean(each)) for each in found.values())
    near = [rate for rate, each in found.items() if np.mean(each) >= share * most]
    return min(near), max(near)


def lost(runs: Runs) -> Parts:
    """Check that without control under half of the most complete."""
    share = runs.values(NC, m.RATE) / _peak(runs)[1]
    return {f"without control under half of the most ({np.mean(share):.3g})": 0.5 - share}


def unimodal(runs: Runs) -> Parts:
    """Check that completions rise to one maximum, and fall beyond it, up to 1000/s.

    With no gate as many complete as at 1000/s: a gate of 1000/s that counts what the
    queue takes refuses nobody whom the full queue would not lose.
    """
    best, most = _peak(runs)
    found = m.curve(runs) | {best: most}
    # neighbours of the peak differ by less than the seeds do
    rates = (65.0, 100.0, 150.0, 250.0, 400.0, 600.0, 1000.0)
    grid = [rate for rate in rates if abs(rate - best) >= NEIGHBOUR]
    up = [*(rate for rate in grid if rate < best), best]
    down = [best, *(rate for rate in grid if rate > best)]
    steps = list(pairwise(up))
    falls = [(low, high) for high, low in pairwise(down)]
    return {f"{high:g} > {low:g}": found[high] - found[low] for low, high in [*steps, *falls]}


def above_completions(runs: Runs) -> Parts:
    """Check that at the peak more are admitted than complete."""
    best, most = _peak(runs)
    return {f"admit {best:g} > {FAR:g} x complete {np.mean(most):.4g}": best - FAR * most}


def plateau(runs: Runs) -> Parts:
    """Check that nearly the most complete where all complete that are admitted."""
    found, (_, most) = m.curve(runs), _peak(runs)
    kept = {rate: each for rate, each in found.items() if np.mean(each) >= 0.98 * rate}
    rate = max(kept)
    text = f"most {plain(most)}, with as many admitted {plain(kept[rate])}: within 10 %"
    return {text: kept[rate] - (1 - ALMOST) * most}


def loads(runs: Runs) -> Exact:
    """Check that from LOAD1 to LOAD3 the changes get shorter, in each family."""
    found = []
    for family in ("arrivals", "size/100", "capacity/100"):
        way = "down-" if family.startswith("capacity") else ""
        ramps = []
        for load in LOADS:
            change = runs.effective.of(f"{family}/{way}{load}/none")["change"][0]
            ramps.append(amount(change.get("until", change["at"])) - amount(change["at"]))
        found.append((family.partition("/")[0], ramps))
    text = "; ".join(f"{name} over {a:g}, {b:g}, {c:g} s" for name, (a, b, c) in found)
    return Exact(text, all(a > b > c == 0 for _, (a, b, c) in found))


def stateless(runs: Runs) -> Exact:
    """Check that the gate does not know flows: a crowd of them is treated as one flow would be."""
    # with what the limiter keeps for itself 72 bytes: the core asserts it when compiled
    kinds = (_native.Knobs, _native.Counts)
    return stateless_port(runs.effective, {GSS: "GSS+GA", CP: "CP"}, kinds, 9)


RATES = ("optimum/10k-1000", "optimum/10k-300", "optimum/10k-600")


def independence(runs: Runs) -> Parts:
    """Check that the optimum of 1000 arrivals/s serves fewer about as well as their own.

    Where fewer arrive than it would admit it refuses nobody, and nothing is seen.
    """
    rate, _ = runs.best(RATES[0])
    found: Parts = {}
    for name, arrivals in zip(RATES[1:], (300.0, 600.0), strict=True):
        if arrivals <= rate and name != RATES[-1]:
            continue
        curve = dict(runs.curve(name))
        own, best = runs.best(name)
        near = min(curve, key=lambda each: abs(each - rate))
        most = runs.values(best, m.FLOWS)
        there = f"at {near:g} {curve[near]:.0f}, at its own {own:g} {np.mean(most):.0f}"
        text = f"{name[12:]}/s: {there}: within 5 %"
        found[text] = curve[near] - 0.95 * most
        # a rate that admits all is no control, and equals any other such rate
        text = f"{name[12:]}/s: it refuses some ({near:g} of {arrivals:g}/s)"
        found[text] = np.full(runs.seeds, arrivals - near)
    return found


CAPACITIES = {
    "optimum/5M": "5 Mbit/s",
    "optimum/10k-1000": "10 Mbit/s",
    "optimum/20M": "20 Mbit/s",
    "optimum/udp": "10 Mbit/s with 5 Mbit/s of UDP",
}
"""Searches for the optimum, and the capacity that each has."""


def less_capacity(runs: Runs) -> Parts:
    """Check that a smaller capacity has a smaller optimum; UDP takes from it like less of it."""
    pairs = [
        ("optimum/5M", "optimum/10k-1000"),
        ("optimum/10k-1000", "optimum/20M"),
        ("optimum/udp", "optimum/10k-1000"),
    ]

    def shown(search: str) -> str:
        return f"{CAPACITIES[search]} ({runs.best(search)[0]:g}/s)"

    return {
        f"{shown(low)} < {shown(high)}": _best_per_seed(runs, high) - _best_per_seed(runs, low)
        for low, high in pairs
    }


def _best_per_seed(runs: Runs, search: str) -> np.ndarray:
    """Return the best rate of the fine grid, for each seed."""
    grid = runs.fine(search)
    completions = np.array([runs.values(case, "completed") for case in grid.values()])
    best: np.ndarray = np.array(list(grid))[np.argmax(completions, axis=0)]
    return best


def thresholds(runs: Runs) -> Parts:
    """Check that each tuned threshold fails at some other load, and the searches at none."""
    found: Parts = {}
    for law, values in TRIED.items():
        most = {value: runs.mean(threshold(law, value).key, m.FLOWS) for value in values}
        if max(most, key=lambda value: most[value]) != TUNED[law]:
            found[f"{law} is tuned to {TUNED[law]:g}, though another is better: {most}"] = [
                -1.0
            ] * runs.seeds
    best = {load: runs.best(f"optimum/{search}")[1] for load, search in OPTIMA.items()}
    for law, value in TUNED.items():
        cells = {load: threshold(law, value, load).key for load in OPTIMA}
        few, slow = _worst(runs, cells, best)
        text = f"{law}: somewhere under 90 % of the optimum's completions, or half as fast as CP"
        found[f"{text} ({plain(few)}, {plain(slow)} times)"] = np.maximum(0.9 - few, slow - 2.0)
    for name, shown in SCHEMES.items():
        few, _ = _worst(runs, {load: f"other/{load}/{name}" for load in OPTIMA}, best)
        found[f"{shown}: nowhere under 90 % ({plain(few)})"] = few - (1 - ALMOST)
    return found


def _worst(
    runs: Runs, cells: dict[str, str], best: dict[str, Case]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least share of the optimum's completions, and the longest FCT over CP's."""
    few = [runs.values(cells[load], m.FLOWS) / runs.values(best[load], m.FLOWS) for load in OPTIMA]
    slow = [
        runs.values(cells[load], m.FCT) / runs.values(f"other/{load}/cp", m.FCT) for load in OPTIMA
    ]
    return np.min(few, axis=0), np.max(slow, axis=0)


def gss_alone(runs: Runs) -> Parts:
    """Check that with a small bracket golden sections change more from epoch to epoch than GA."""
    golden, climbing = m.once_small(runs, "ablation/gss-alone", GSS)
    means = f"({plain(golden)}, {plain(climbing)})"
    return {f"change an epoch once the bracket is small, GSS > GA {means}": golden - climbing}
