"""The checks of what the text says: what a sender does, what each part of the router is for."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.check_builders import Greater, Value, ordering, unchecked
from tidegate.papers.check_results import Exact
from tidegate.papers.effective import alike
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import BETAS, LOSSES, fct, lossy
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Parts, Runs

NONE = "lossy/qfcp/none"


@claim("text.dupack", of=(NONE, *(lossy("qfcp", "data", share) for share in LOSSES[:4])))
def duplicates(runs: Runs) -> Parts:
    """Check the goodput against what gets through: cut for each loss it would be far below."""
    none = runs.values(NONE, m.goodput)
    found: Parts = {}
    for share in LOSSES[:4]:
        case = lossy("qfcp", "data", share)
        kept = runs.values(case, m.goodput) / none
        what = f"data loss {share:g}: {100 * np.mean(kept):.4g} % of the goodput without"
        found[f"{what}, > 97 % of what gets through"] = kept - 0.97 * (1.0 - share)
    return found


@claim("text.timeout", of=("outage/qfcp", "outage/tcp"))
def timeout(runs: Runs) -> Parts:
    """Check that QFCP is back at its rate right after an outage, TCP not."""
    cut = runs.values("outage/qfcp", m.timeouts)
    qfcp, tcp = (runs.values(f"outage/{name}", m.recovered) for name in ("qfcp", "tcp"))
    return {
        f"timeouts in an outage of 1 s: {np.mean(cut):g}, > 0": cut - 0.5,
        f"utilisation 0.3 to 1.3 s after it: {np.mean(qfcp):.2f}, > 0.9": qfcp - 0.9,
        f"more than TCP's ({np.mean(tcp):.2f})": qfcp - tcp,
    }


@claim("text.redundant", of=(NONE, *(lossy("qfcp", "ack", share) for share in LOSSES)))
def redundant(runs: Runs) -> Parts:
    """Check that lost feedback costs a flow nearly nothing once it is open."""
    none = runs.values(NONE, m.goodput_open)
    found: Parts = {}
    for share in LOSSES:
        kept = runs.values(lossy("qfcp", "ack", share), m.goodput_open) / none
        what = f"ACK loss {share:g}: {100 * np.mean(kept):.4g} % of the goodput without"
        found[f"{what}, > 95 %"] = kept - 0.95
    return found


@claim("text.no_state", of=())
def state(runs: Runs) -> Exact:
    """Check that the router does not know flows: a crowd of them is treated as one would be.

    No more is kept than one rate and a few sums. What a packet costs is not measured.
    """
    apart = runs.effective.treated_differently("fct/qfcp", "bottleneck")
    fields = [
        name
        for kind in (_native.RateKnobs, _native.RateCounts)
        for name in dir(kind)
        if not name.startswith("_") and not callable(getattr(kind, name))
    ]
    text = f"{len(fields)} numbers a port ({', '.join(fields)}); {alike(apart)}"
    return Exact(text, apart == 0 and len(fields) < 10)


@claim("text.same_rate", of=("adapt/qfcp",))
def same_rate(runs: Runs) -> Parts:
    """Check that a newcomer gets the rate of those that are there."""
    values = runs.values("adapt/qfcp", m.newcomer)
    off = np.abs(values - 1.0)
    return {
        f"a newcomer's throughput is {np.mean(values):.3f} of the first flow's, within 20 %": 0.2
        - off
    }


@claim("text.beta")
def drains() -> Check:
    """Check that the queue after the joins of Figure 2 is shorter with each larger beta."""
    sides = [
        Greater(
            f"mean queue in the second after a join [packets]: beta {less:g} > {more:g}",
            Value(f"adapt/beta/{less}", m.after_join),
            Value(f"adapt/beta/{more}", m.after_join),
        )
        for less, more in pairwise(BETAS)
    ]
    return ordering(*sides)


@claim("text.rcp_estimate")
def estimates() -> Check:
    """Check that C/R is further off the number of flows under RCP than under QFCP."""
    return ordering(
        Greater(
            "factor between C/R and the flows under way: rcp > qfcp",
            Value(fct("rcp"), m.count_error),
            Value(fct("qfcp"), m.count_error),
        )
    )


@claim("intro.short_hurt_long")
def short_hurt_long() -> Check:
    """Say why the effect of short flows on long ones is not checked."""
    return unchecked(
        "A result of another paper, whose network and pattern of short flows are not given."
    )


@claim("text.stabilisation")
def averaged() -> Check:
    """Check that the estimate is further off without its average."""
    return ordering(
        Greater(
            "error of the estimate of ten flows: without averaging > with",
            Value("rtt/without/average", m.estimate_error),
            Value("rtt/qfcp", m.estimate_error),
        )
    )


@claim("text.virtual_queue")
def virtual_queue() -> Check:
    """Check that the queue drains later without the virtual queue."""
    return ordering(
        Greater(
            "queue in the two seconds after a crowd: without > with [packets]",
            Value("crowd/without/virtual-queue", m.drained),
            Value("crowd/qfcp", m.drained),
        )
    )
