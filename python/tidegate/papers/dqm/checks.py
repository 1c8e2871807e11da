"""What no row of `claims.csv` can say: what follows from printed numbers, a line, the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm import measures as m
from tidegate.papers.dqm.cases import CONGESTED, at, rate
from tidegate.papers.effective import stateless_port

if TYPE_CHECKING:
    from tidegate.papers.check_results import Exact
    from tidegate.papers.runs import Parts, Runs


DURATION_S = 1500.0
TRIES_S = np.array((0.0, 6.0, 18.0, 42.0, 90.0, 186.0, 378.0, 762.0))
"""When a connection that is lost again and again sends a SYN (6 s, doubling)."""
ARRIVING = rate(1.2)
"""Connections a second at the load of Table I."""
COMPLETING = 0.96
"""Completions a second that fit the four rows of Table I; the link can carry 1.085 at most."""


def admitted(loss: float) -> float:
    """Return how many connections a second are admitted, of a printed loss of each SYN.

    Those that come late in the run have fewer tries before its end.
    """
    left = DURATION_S - np.linspace(0.0, DURATION_S, 100_001)
    tries = np.searchsorted(TRIES_S, left, "right")
    return ARRIVING * float(np.mean(1.0 - loss**tries))


def implied_latency(loss: float) -> float:
    """Return D that follows from a loss of SYNs: admitted flows that wait for the end of the run.

    Of what is admitted all the time, what does not complete stays for half of the run in
    the mean.
    """
    into = admitted(loss)
    return (into - COMPLETING) / into * DURATION_S / 2.0


def linear(runs: Runs) -> Parts:
    """Check that under drop-tail retransmissions grow along a line."""
    xs = np.array((1.0, *CONGESTED))
    values = np.array([runs.values(at(rho, "dt"), m.RTX) for rho in (1.0, *CONGESTED)])
    fits = [np.polyfit(xs, each, 1) for each in values.T]
    residues = [
        1.0 - np.var(each - np.polyval(fit, xs)) / np.var(each)
        for each, fit in zip(values.T, fits, strict=True)
    ]
    return {
        f"a line explains 95 % (r2 {np.mean(residues):.3f})": np.array(residues) - 0.95,
        "and it rises": np.array([fit[0] for fit in fits]),
    }


def stateless(runs: Runs) -> Exact:
    """Check that the queue does not know flows: a crowd of them is treated as one flow would be."""
    policies = {at(1.2, policy): policy.upper() for policy in ("p1", "p2", "p3")}
    return stateless_port(runs.effective, policies)
