"""The checks of what abstract, text and conclusion say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz import measures as m
from tidegate.papers.blitz.cases import CONTROLS, NETS, OVERLOAD, PAPER, TAIL, beyond, key
from tidegate.papers.check_builders import unchecked
from tidegate.papers.check_results import Numbers
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Parts, Runs

MIX = tuple(key("ref", 90, control, OVERLOAD, "-pareto") for control in CONTROLS)


@claim("abstract.order", of=m.of_nets("ref", "fast"))
def order(runs: Runs) -> Numbers:
    """Check what Blitz gains at the full bandwidth of the reference and of the faster network.

    The lesser of the two counts: the abstract speaks of multi-megabit and gigabit networks.
    """
    gains = [m.advantage(runs, net, NETS[net].mbit) for net in ("ref", "fast")]
    return Numbers(tuple(map(float, np.min(gains, axis=0))))


@claim("text.short_priority", of=MIX)
def favoured(runs: Runs) -> Parts:
    """Check that in overload short files gain at the cost of long ones."""
    short, long = (
        {
            control: m.overload(runs, "ref", 90, control, m.response_of(*bounds), "-pareto")
            for control in CONTROLS
        }
        for bounds in ((0.0, m.SHORT_B), (m.LONG_B, np.inf))
    )
    return {
        "in overload short files are through sooner than under TCP "
        f"({np.mean(short['blitz']):.3g} s, {np.mean(short['reno']):.3g} s)": short["reno"]
        - short["blitz"],
        "and long files wait longer beside them than under TCP": long["blitz"] / short["blitz"]
        - long["reno"] / short["reno"],
    }


NEAR = 0.9
"""What passes for about as fair."""
COLLAPSED = 0.5
"""The share of the best goodput below which the network has collapsed."""


@claim(
    "text.fair",
    of=tuple(
        key("ref", mbit, each, OVERLOAD) for mbit in NETS["ref"].bottlenecks() for each in CONTROLS
    ),
)
def shared(runs: Runs) -> Parts:
    """Check that in overload Blitz is nearly as fair as TCP, by Jain's index."""
    found: Parts = {}
    for mbit in NETS["ref"].bottlenecks():
        mine, theirs = (m.overload(runs, "ref", mbit, each, m.fairness) for each in CONTROLS)
        means = f"({np.mean(mine):.3g}, {np.mean(theirs):.3g})"
        found[f"{mbit}: Jain's index no more than 10 % below TCP's {means}"] = mine - NEAR * theirs
    return found


@claim("text.pushout", of=(*beyond("ref", 90, "blitz"), *beyond("ref", 90, "blitz", TAIL)))
def pushed_out(runs: Runs) -> Parts:
    """Check that in overload goodput collapses without pushout, and not with it."""
    found: Parts = {}
    share, rest = (
        m.overload(runs, "ref", 90, "blitz", m.goodput, kind)
        / m.curve(runs, "ref", 90, "blitz", m.goodput, kind).max(axis=0)
        for kind in ("", TAIL)
    )
    found[f"with pushout over half of the best goodput ({np.mean(share):.3g})"] = share - COLLAPSED
    found[f"without it under half ({np.mean(rest):.3g})"] = COLLAPSED - rest
    fair, unfair = (m.overload(runs, "ref", 90, "blitz", m.fairness, kind) for kind in ("", TAIL))
    means = f"({np.mean(fair):.3g}, {np.mean(unfair):.3g})"
    found[f"Jain's index higher with pushout {means}"] = fair - unfair
    return found


@claim("text.tr_claims", of=m.of_nets("ref"))
def satisfactory(runs: Runs) -> Parts:
    """Check that Blitz at its maxima uses and shares the link about as well as TCP at its own."""
    found: Parts = {}
    for mbit in NETS["ref"].bottlenecks():
        for what, measure in (("useful bits", m.goodput), ("Jain's index", m.fairness)):
            mine, theirs = (m.at_peak(runs, "ref", mbit, each, measure) for each in CONTROLS)
            means = f"({np.mean(mine):.3g}, {np.mean(theirs):.3g})"
            found[f"{mbit}: {what} no more than 10 % below TCP's {means}"] = mine - 0.9 * theirs
    return found


@claim("concl.ratio", of=m.of_nets(*PAPER))
def by_ratio(runs: Runs) -> Parts:
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


CHECKS = {
    "text.aggressiveness": unchecked(
        "The conclusion proposes a window that grows with F/BDP and gives no law: what one such law"
        " does is in the report, which tests that law alone."
    ),
}
