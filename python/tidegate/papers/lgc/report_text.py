"""What the text of the report computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.lgc.cases import (
    AGAINST,
    EXPERIMENTS,
    FILTERS,
    GATED,
    LATER_S,
    LIVES_S,
    RATES,
    TREE,
    begins_later,
    lives,
    moved,
    rate,
)
from tidegate.papers.lgc.measures import expired, hops, lag_s, queue_lag_s
from tidegate.papers.lgc.outcomes import holds
from tidegate.papers.lgc.processes import side_by_side
from tidegate.papers.report_text import named, number

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

HARD = (
    "exp1.identified",
    "exp1.first_hop",
    "exp1.no_retrigger",
    "exp1.resp_thr",
    "exp1b.trigger",
    "exp1b.thr",
    "exp1b.loss",
    "exp2.identified",
    "exp2.order",
    "exp3.order",
    "exp3.triggers",
    "exp3.thr_mod",
)
"""Statements without a number that depends on a rate; each has to hold in every run."""
TEXT_CASES = (
    "rate/{experiment}/{rate} 2/{mobile,static,red-alone} 2/{mobile,static,red-alone}/lasting "
    "{experiment} 2/equal processes/{experiment} tree/{mobile,static,none} "
    "fair/{drop-tail,lgc,fq-codel} fair/{drop-tail,lgc,fq-codel}-moderate "
    "2/source-5-later/{later} life/{experiment}/{life} 3/later crowd/{red,gentle}/9 "
    "gated/{none,gate,lgc,lgc-and-gate}"
)


def runs_that_hold(runs: Runs, experiment: str, service: int) -> int:
    """Return in how many runs everything holds, at a service rate in packets/s."""
    return sum(holds(record, experiment) for record in runs.records(rate(experiment, service)))


def with_life(runs: Runs, experiment: str, seconds: float) -> str:
    """Return packets that expired with a time to live, and in how many runs everything holds."""
    records = runs.records(lives(experiment, seconds))
    all_hold = sum(holds(record, experiment) for record in records)
    gone = number(runs.mean(lives(experiment, seconds), expired))
    return f"{gone}, {all_hold}/{len(records)}"


def processes(runs: Runs, *, found: bool = False) -> str:
    """Return the table of paper, simulation and real processes."""
    return side_by_side(runs, runs.testbed, found=found)


def first_hop_percent(runs: Runs) -> float:
    """Return which share of the filters that moved reached the first hop of their host."""
    far = np.mean([hops(record) for record in runs.records("tree/mobile")], axis=0)
    return 100 * float(far[-1] / far.sum()) if far.sum() else 0.0


def spread(runs: Runs, case: str, measure: str) -> str:
    """Return the least and the largest of a measure over the runs of a case."""
    values = runs.evaluated(case, measure)
    return f"{number(float(np.min(values)))} to {number(float(np.max(values)))}"


def longer_than_queue(runs: Runs) -> str:
    """Return in how many runs of experiment 1 the average stays above longer than the queue."""
    longer = runs.values("1", lag_s) > runs.values("1", queue_lag_s)
    return f"{int(np.sum(longer))} of {longer.size}"


TEMPLATE_NAMES = named(
    moved,
    runs_that_hold,
    with_life,
    processes,
    first_hop_percent,
    begins_later,
    spread,
    longer_than_queue,
    LATER_S=LATER_S,
    LIVES_S=LIVES_S,
    AGAINST=AGAINST,
    EXPERIMENTS=EXPERIMENTS,
    FILTERS=FILTERS,
    GATED=GATED,
    HARD=HARD,
    RATES=RATES,
    TREE=TREE,
)
"""What the template of the report uses."""
