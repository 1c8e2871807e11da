"""The checks of what the text says: what a sender does, what each part of the router is for."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.check_builders import between, ordering, unchecked
from tidegate.papers.check_results import Exact
from tidegate.papers.effective import alike
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import BETAS, LOSSES, fct, lossy
from tidegate.papers.registry import claim

if TYPE_CHECKING:
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


CHECKS = {
    "text.beta": ordering(
        *(
            between(
                f"mean queue in the second after a join [packets]: beta {less:g} > {more:g}",
                "adapt/beta/{}",
                str(less),
                str(more),
                m.after_join,
            )
            for less, more in pairwise(BETAS)
        )
    ),
    "text.rcp_estimate": ordering(
        between(
            "factor between C/R and the flows under way: rcp > qfcp",
            fct("{}"),
            "rcp",
            "qfcp",
            m.count_error,
        )
    ),
    "intro.short_hurt_long": unchecked(
        "A result of another paper, whose network and pattern of short flows are not given."
    ),
    "text.stabilisation": ordering(
        between(
            "error of the estimate of ten flows: without averaging > with",
            "rtt/{}",
            "without/average",
            "qfcp",
            m.estimate_error,
        )
    ),
    "text.virtual_queue": ordering(
        between(
            "queue in the two seconds after a crowd: without > with [packets]",
            "crowd/{}",
            "without/virtual-queue",
            "qfcp",
            m.drained,
        )
    ),
}
