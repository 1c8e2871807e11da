"""What no row of `claims.csv` can say: a line through measured points, and the queue itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm import measures as m
from tidegate.papers.dqm.cases import CONGESTED, at
from tidegate.papers.effective import stateless_port

if TYPE_CHECKING:
    from tidegate.papers.check_results import Exact
    from tidegate.papers.runs import Parts, Runs


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
