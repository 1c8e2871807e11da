"""What no row of `claims.csv` can say: what follows from printed numbers, a line, the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm import measures as m
from tidegate.papers.dqm.cases import ARRIVING, CONGESTED, DURATION_S, admitted, at
from tidegate.papers.effective import stateless_port

__all__ = ["ARRIVING", "implied_latency", "linear", "stateless"]

if TYPE_CHECKING:
    from tidegate.papers.check_results import Exact
    from tidegate.papers.runs import Parts, Runs


COMPLETING = 0.96
"""Completions a second that fit the four rows of Table I; the link can carry 1.085 at most."""


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
