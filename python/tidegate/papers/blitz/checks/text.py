"""The checks of what abstract, text and conclusion say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz.cases import CONTROLS, NETS, PAPER, STEPS, keys
from tidegate.papers.blitz.measures import (
    LONG_B,
    SHORT_B,
    advantage,
    at_peak,
    curve,
    fairness,
    goodput,
    of_nets,
    response_of,
)
from tidegate.papers.findings import Numbers
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Parts, Runs

MIX = tuple(case for control in CONTROLS for case in keys("ref", 90, control, "-pareto"))
SMALL = tuple(net for net in PAPER if NETS[net].ratio(NETS[net].mbit) < 1.0)
"""Networks in which a file is small beside the path's product."""


@claim("abstract.order", of=of_nets("ref", "fast"))
def order(runs: Runs) -> Numbers:
    """Check the most that Blitz gains in the reference and in the faster network."""
    gains = [
        advantage(runs, net, mbit) for net in ("ref", "fast") for mbit in NETS[net].bottlenecks()
    ]
    return Numbers(tuple(map(float, np.max(gains, axis=0))))


@claim("text.short_priority", of=MIX)
def favoured(runs: Runs) -> Parts:
    """Check that in overload short files gain at the cost of long ones."""
    place = STEPS.index(0.1)
    short, long = (
        {
            control: curve(runs, "ref", 90, control, response_of(*bounds), "-pareto")[place]
            for control in CONTROLS
        }
        for bounds in ((0.0, SHORT_B), (LONG_B, np.inf))
    )
    return {
        "in overload short files are through sooner than under TCP "
        f"({np.mean(short['blitz']):.3g} s, {np.mean(short['reno']):.3g} s)": short["reno"]
        - short["blitz"],
        "and long files wait longer beside them than under TCP": long["blitz"] / short["blitz"]
        - long["reno"] / short["reno"],
    }


@claim("text.tr_claims", of=of_nets("ref"))
def satisfactory(runs: Runs) -> Parts:
    """Check use of the bottleneck and fairness at Blitz' maxima."""
    found: Parts = {}
    for mbit in NETS["ref"].bottlenecks():
        offered = np.array([10.0**step for step in STEPS])[:, None]
        payload = NETS["ref"].saturation(mbit) * NETS["ref"].size * 8.0
        share = curve(runs, "ref", mbit, "blitz", goodput) / (offered * payload)
        top = curve(runs, "ref", mbit, "blitz").argmax(axis=0)
        there = np.array([share[place, seed] for seed, place in enumerate(top)])
        jain = at_peak(runs, "ref", mbit, "blitz", fairness)
        found[f"{mbit}: 95 % of what is offered gets through ({np.mean(there):.3g})"] = there - 0.95
        found[f"{mbit}: Jain's index of at least 0.9 ({np.mean(jain):.3g})"] = jain - 0.9
    return found


@claim("concl.ratio", of=of_nets(*PAPER))
def by_ratio(runs: Runs) -> Parts:
    """Check that the advantage falls with F/BDP: the correlation of their ranks."""
    points = [(net, mbit) for net in PAPER for mbit in NETS[net].bottlenecks()]
    ratios = np.array([NETS[net].ratio(mbit) for net, mbit in points])
    gains = np.array([advantage(runs, net, mbit) for net, mbit in points])
    ranks = _ranks(ratios)
    found = np.array([np.corrcoef(ranks, _ranks(each))[0, 1] for each in gains.T])
    return {f"rank correlation of gain and F/BDP {np.mean(found):.2f}, under -0.5": -found - 0.5}


def _ranks(values: Floats) -> Floats:
    """Return ranks, equal values sharing theirs (Spearman)."""
    order = np.sort(values)
    low, high = np.searchsorted(order, values, "left"), np.searchsorted(order, values, "right")
    return np.asarray((low + high - 1) / 2.0, dtype=np.float64)


@claim(
    "text.aggressiveness",
    of=tuple(
        case
        for net in SMALL
        for control in (*CONTROLS, "wide")
        for case in keys(net, NETS[net].mbit, control)
    ),
)
def aggressive(runs: Runs) -> Parts:
    """Check that an initial window that grows with F/BDP closes part of the gap."""
    found: Parts = {}
    for net in SMALL:
        mbit = NETS[net].mbit
        plain, wide = (advantage(runs, net, mbit, "", over) for over in ("reno", "wide"))
        text = f"{NETS[net].name}: gap {np.mean(plain):.3g} with TCP, {np.mean(wide):.3g}"
        found[f"{text} with a window from F/BDP"] = plain - wide
    return found
