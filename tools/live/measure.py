"""The same measures of sessions in the lab and in the simulator."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

import tidegate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PORT = "bottleneck"


@dataclass(frozen=True)
class Flow:
    """The outcome of a flow; times in seconds since the run began, NaN: it did not happen."""

    start: float
    admitted: float
    closed: float
    sent: float
    again: float
    delivered: float
    size: float
    """In bytes; NaN: without end."""

    @property
    def size_known(self) -> bool:
        """Whether it has an end."""
        return not math.isnan(self.size)

    @property
    def fct(self) -> float:
        """From the first SYN to the close."""
        return self.closed - self.start


COLUMNS = (
    "start_s",
    "admitted_s",
    "closed_s",
    "sent_packets",
    "retransmitted_packets",
    "delivered_bytes",
    "size_bytes",
)
"""Columns of the fields of a flow, in their order."""


def read(table: Path) -> list[Flow]:
    """Read a table of flows that `tidegated traffic` wrote."""
    with table.open(encoding="utf-8", newline="") as text:
        rows = csv.DictReader(text)
        return [Flow(*(_number(row[name]) for name in COLUMNS)) for row in rows]


def _number(text: str) -> float:
    return float(text) if text else math.nan


def simulate(
    scenario: Path | Mapping[str, Any], seed: int, settings: dict[str, object]
) -> tuple[list[Flow], float]:
    """Run the simulator; return its flows and the mean queue of the bottleneck."""
    result = tidegate.run(scenario, seed=seed, settings=settings)
    columns = [
        [math.nan if value is None else float(value) for value in result.flows[name]]
        for name in COLUMNS
    ]
    [port] = [each for each in result.summary["ports"] if each["name"] == PORT]
    flows = [Flow(*row) for row in zip(*columns, strict=True)]
    return flows, float(port["queue_mean_packets"])


def mean_and_spread(values: Sequence[float]) -> str:
    """Return mean and standard deviation of runs as text."""
    return f"{fmean(values):.2f} ± {stdev(values) if len(values) > 1 else 0.0:.2f}"


@dataclass(frozen=True)
class Measures:
    """What is compared."""

    offered_per_s: float
    completed_per_s: float
    fct_mean_s: float
    fct_p95_s: float
    fct_admitted_mean_s: float
    never_admitted_share: float
    retransmitted_share: float
    retransmitted: float
    goodput_mbit_s: float


def of_flows(flows: Sequence[Flow], seconds: float) -> Measures:
    """Measure sessions; times are of those that completed."""
    over = [flow for flow in flows if not math.isnan(flow.closed)]
    fct = [flow.fct for flow in over]
    sent = sum(flow.sent for flow in flows)
    again = sum(flow.again for flow in flows)
    return Measures(
        offered_per_s=len(flows) / seconds,
        completed_per_s=len(over) / seconds,
        fct_mean_s=fmean(fct) if fct else math.nan,
        fct_p95_s=float(np.percentile(fct, 95)) if fct else math.nan,
        fct_admitted_mean_s=fmean(flow.closed - flow.admitted for flow in over)
        if over
        else math.nan,
        never_admitted_share=sum(math.isnan(flow.admitted) for flow in flows) / max(1, len(flows)),
        retransmitted_share=again / max(1, sent),
        retransmitted=again,
        goodput_mbit_s=sum(flow.delivered for flow in flows) * 8e-6 / seconds,
    )
