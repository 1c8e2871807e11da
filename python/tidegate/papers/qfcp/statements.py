"""The checks of what the text says: what a sender does, what each part of the router is for."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.finders import Of, Side, exact, ordering, parts, unchecked
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import BETAS, LOSSES
from tidegate.papers.qfcp.shapes import lossy

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs
    from tidegate.papers.study import Check

    Parts = dict[str, np.ndarray | list[float]]

NONE = "lossy/qfcp/none"


def _dupack(runs: Runs) -> Parts:
    """Hold the goodput to what gets through: a window cut for each loss would be far below."""
    none = runs.values(NONE, m.goodput)
    found: Parts = {}
    for share in LOSSES[:4]:
        case = lossy("qfcp", "data", share)
        kept = runs.values(case, m.goodput) / none
        what = f"data loss {share:g}: {100 * np.mean(kept):.4g} % of the goodput without"
        found[f"{what}, > 97 % of what gets through"] = kept - 0.97 * (1.0 - share)
    return found


def _timeout(runs: Runs) -> Parts:
    cut = runs.values("outage/qfcp", m.timeouts)
    qfcp, tcp = (runs.values(f"outage/{name}", m.recovered) for name in ("qfcp", "tcp"))
    return {
        f"timeouts in an outage of 1 s: {np.mean(cut):g}, > 0": cut - 0.5,
        f"utilisation 0.3 to 1.3 s after it: {np.mean(qfcp):.2f}, > 0.9": qfcp - 0.9,
        f"more than TCP's ({np.mean(tcp):.2f})": qfcp - tcp,
    }


def _redundant(runs: Runs) -> Parts:
    none = runs.values(NONE, m.goodput)
    found: Parts = {}
    for share in LOSSES:
        kept = runs.values(lossy("qfcp", "ack", share), m.goodput) / none
        what = f"ACK loss {share:g}: {100 * np.mean(kept):.4g} % of the goodput without"
        found[f"{what}, > 98 %"] = kept - 0.98
    return found


def _state() -> tuple[str, bool]:
    """Count what a port keeps beside its queue: one rate and a few sums, whatever the flows."""
    fields = [
        name
        for kind in (_native.RateKnobs, _native.RateCounts)
        for name in dir(kind)
        if not name.startswith("_") and not callable(getattr(kind, name))
    ]
    return f"{len(fields)} numbers a port ({', '.join(fields)}), none a flow", len(fields) < 10


def _same_rate(runs: Runs) -> Parts:
    values = runs.values("adapt/qfcp", m.newcomer)
    off = np.abs(values - 1.0)
    return {
        f"a newcomer's throughput is {np.mean(values):.3f} of the first flow's, within 20 %": 0.2
        - off
    }


def _beta() -> Check:
    """How long the queue of the joins of Figure 2 takes to drain: longer with each smaller beta."""
    sides = [
        Side(
            f"seconds from the peak after a join to 5 % of the buffer: beta {less:g} > {more:g}",
            Of(f"adapt/beta/{less}", m.drain_time),
            Of(f"adapt/beta/{more}", m.drain_time),
        )
        for less, more in pairwise(BETAS)
    ]
    return ordering(*sides)


def checks() -> dict[str, Check]:
    """Return all of them, by the short id of the claim."""
    acks = tuple(lossy("qfcp", "ack", share) for share in LOSSES)
    return {
        "text.dupack": parts(
            (NONE, *(lossy("qfcp", "data", share) for share in LOSSES[:4])), _dupack
        ),
        "text.timeout": parts(("outage/qfcp", "outage/tcp"), _timeout),
        "text.redundant": parts((NONE, *acks), _redundant),
        "text.no_state": exact(_state),
        "text.same_rate": parts(("adapt/qfcp",), _same_rate),
        "intro.short_hurt_long": unchecked(
            "A result of another paper, whose network and pattern of short flows are not given."
        ),
        "text.beta": _beta(),
        "text.stabilisation": ordering(
            Side(
                "error of the estimate of ten flows: without averaging > with",
                Of("rtt/without/average", m.estimate_error),
                Of("rtt/qfcp", m.estimate_error),
            )
        ),
        "text.virtual_queue": ordering(
            Side(
                "queue in the two seconds after a crowd: without > with [packets]",
                Of("crowd/without/virtual-queue", m.drained),
                Of("crowd/qfcp", m.drained),
            )
        ),
    }
