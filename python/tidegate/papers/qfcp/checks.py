"""What no row of `claims.csv` can say: curves over sizes, ranges of the set-up, and the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate import _native
from tidegate.papers.check_results import Exact
from tidegate.papers.effective import amount, stateless_port
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import LOSSES, fct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Parts, Runs

FCT, ADAPT, RTT, LOSSY = "fct/qfcp", "adapt/qfcp", "rtt/qfcp", "lossy/qfcp/none"
MIDDLE = "topology.links.middle"


def longer(runs: Runs, name: str, others: Sequence[str], times: float) -> Parts:
    """Check that flows of all sizes take longer under others, as a mean logarithm over sizes."""
    found: Parts = {}
    for other in others:
        ratio = m.by_bins(runs, fct(other)) / m.by_bins(runs, fct(name))
        logs = np.asarray(np.nanmean(np.log(ratio), axis=1))
        mean = float(np.exp(np.mean(logs)))
        what = f"AFCT over all sizes: {other} {mean:.2f} times {name}, over {times:g} times"
        found[what] = logs - np.log(times)
    return found


def stateless(runs: Runs) -> Exact:
    """Check that the router does not know flows: a crowd of them is treated as one would be.

    No more is kept than one rate and a few sums. What a packet costs is not measured.
    """
    kinds = (_native.RateKnobs, _native.RateCounts)
    return stateless_port(runs.effective, {fct("qfcp"): "QFCP"}, kinds, 9)


def _round_trip_s(runs: Runs, case: str, flow: int) -> float:
    """Return the propagation round trip of a flow."""
    links = runs.effective.at(case, "topology.links")
    return 2 * sum(amount(links[name]["delay"]) for name in (f"in{flow}", "middle", f"out{flow}"))


def _common_round_trip_s(runs: Runs) -> float:
    """Return the propagation round trip of Figure 1."""
    links = runs.effective.at(FCT, "topology.dumbbell")
    return 4 * amount(links["access"]["delay"]) + 2 * amount(links["bottleneck"]["delay"])


def _packet_bytes(runs: Runs) -> float:
    sender = runs.effective.at(FCT, "traffic.web.transport.qfcp")
    return amount(sender["mss"]) + amount(sender["header"])


def round_trips(runs: Runs) -> Exact:
    """Check that the round trips of Figure 3 go up in equal steps."""
    count = len(runs.effective.at(RTT, "traffic"))
    found = [1e3 * _round_trip_s(runs, RTT, k) for k in range(1, count + 1)]
    step = found[1] - found[0]
    even = all(abs(each - found[0] - k * step) < 1e-6 for k, each in enumerate(found))
    listed = "; ".join(f"{each:g}" for each in found)
    return Exact(f"{found[0]:g}..{found[-1]:g} step {step:g}" if even else listed)


def losses(runs: Runs) -> Exact:
    """Check the least and the greatest share of losses."""
    cases = (f"lossy/qfcp/data/{share}" for share in LOSSES)
    shares = [runs.effective.amount(case, f"{MIDDLE}.loss.data") for case in cases]
    low, high = (f"{each:.0e}".replace("e-0", "e-") for each in (shares[0], shares[-1]))
    return Exact(f"{low} .. {high}")


def buffers(runs: Runs) -> Exact:
    """Check that buffers are products of bandwidth and delay, in whole packets."""
    links = [(FCT, "topology.dumbbell.bottleneck", _common_round_trip_s(runs))]
    links += [(case, MIDDLE, _round_trip_s(runs, case, 1)) for case in (ADAPT, LOSSY)]
    packets, equal = [], True
    for case, link, seconds in links:
        held = runs.effective.amount(case, f"{link}.buffer")
        bits = runs.effective.amount(case, f"{link}.rate") * seconds
        equal &= abs(held - bits / (8 * _packet_bytes(runs))) < 1e-6
        packets.append(f"{held:g}")
    return Exact("; ".join(packets), equal)
