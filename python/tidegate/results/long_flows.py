"""Measures of flows that last: their rates in the window, and how evenly they share the link.

A flow without end never completes, so completion times say nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tidegate.results.window import Window

    Floats = NDArray[np.float64]

LONG = 0.1
"""From this share of the window on that it is open, a flow counts as long."""
RTTS = ("rtt_min_s", "rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s")
"""What is measured of the round trips of a class."""


def jain(rates: Floats) -> float | None:
    """Return Jain's index of fairness, (sum x)^2 / (n sum x^2): 1 equal, 1/n one takes all."""
    squares = float(np.sum(rates * rates))
    return float(np.sum(rates)) ** 2 / (rates.size * squares) if squares else None


def rates(flows: Mapping[str, Any], window: Window) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the rate of each flow while it was open in the window (bit/s), and which are long."""
    opened = np.fmax(flows["reached_s"], window.start)
    over = np.fmin(np.fmin(flows["closed_s"], flows["gave_up_s"]), window.end)
    open_s = np.where(np.isnan(flows["reached_s"]), 0.0, np.maximum(over - opened, 0.0))
    long = (open_s > 0.0) & (open_s >= LONG * window.length)
    got = np.asarray(flows["window_bytes"], dtype=float) * 8.0
    return got / np.where(open_s > 0.0, open_s, np.inf), long


def long_flows(flows: Mapping[str, Any], window: Window) -> dict[str, float | int | None]:
    """Return the measures of flows that last, by name.

    `throughput_bps`: what was delivered in order in the window, over its length.
    `long_flows`: flows that were open for at least a tenth of the window;
    `flow_rate_*_bps`: their rates while they were open in it, least, mean and
    most; `flow_rate_jain`: Jain's index of these. `flows`: all flows of the run;
    `endless`: those without end.
    """
    each, long = rates(flows, window)
    mine = each[long]
    known = mine.size > 0
    sizes = np.asarray(flows["size_bytes"], dtype=float)
    return {
        "flows": int(sizes.size),
        "endless": int(np.sum(np.isnan(sizes))),
        "throughput_bps": window.rate(float(np.sum(flows["window_bytes"], dtype=float)) * 8.0),
        "long_flows": int(mine.size),
        "flow_rate_min_bps": float(np.min(mine)) if known else None,
        "flow_rate_mean_bps": float(np.mean(mine)) if known else None,
        "flow_rate_max_bps": float(np.max(mine)) if known else None,
        "flow_rate_jain": jain(mine),
    }


def round_trips(table: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return the round trips that the senders of each class measured, by the class's name."""
    codes, names = table["class"]
    return {
        names[code]: {
            name: None if np.isnan(table[name][row]) else float(table[name][row]) for name in RTTS
        }
        for row, code in enumerate(codes)
    }
