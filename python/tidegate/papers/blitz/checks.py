"""What no row of `claims.csv` can say: two advantages at once, and a correlation of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz import measures as m
from tidegate.papers.blitz.cases import CONTROLS, NETS, PAPER

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Parts, Runs


def _at_low_rate(runs: Runs, net: str, mbit: int) -> Floats:
    """Return Blitz' power over TCP's at a tenth of what fills the bottleneck."""
    one, other = (m.curve(runs, net, mbit, control)[0] for control in CONTROLS)
    return np.asarray(one / other, dtype=np.float64)


def narrower(runs: Runs) -> Parts:
    """Check that Blitz gains less with larger files, and that most at a low rate."""
    found: Parts = {}
    for mine, theirs in m.pairs("big", "ref"):
        top = m.advantage(runs, "ref", theirs) / m.advantage(runs, "big", mine)
        bottom = _at_low_rate(runs, "ref", theirs) / _at_low_rate(runs, "big", mine)
        found[f"{mine}: smaller at the maximum (by {np.mean(top):.3g})"] = top - 1.0
        found[f"{mine}: more so at a low rate (by {np.mean(bottom):.3g})"] = bottom - top
    return found


def ratio_of_ranks(runs: Runs) -> Parts:
    """Check that the advantage falls with F/BDP: the correlation of their ranks."""
    points = [(net, mbit) for net in PAPER for mbit in NETS[net].bottlenecks()]
    ratios = np.array([NETS[net].ratio(mbit) for net, mbit in points])
    gains = np.array([m.advantage(runs, net, mbit) for net, mbit in points])
    ranks = _ranks(ratios)
    found = np.array([np.corrcoef(ranks, _ranks(each))[0, 1] for each in gains.T])
    return {f"rank correlation of gain and F/BDP {np.mean(found):.2f}, under -0.5": -found - 0.5}


def _ranks(values: Floats) -> Floats:
    """Return ranks, equal values sharing theirs (Spearman)."""
    order = np.sort(values)
    low, high = np.searchsorted(order, values, "left"), np.searchsorted(order, values, "right")
    return np.asarray((low + high - 1) / 2.0, dtype=np.float64)
