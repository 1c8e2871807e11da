"""What is measured in a saved run of this paper, and the maxima of its curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz.cases import NETS, STEPS, WARMUP_S, key
from tidegate.results.measures import jain, of_port, of_values

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Runs
    from tidegate.results.measures import Measure
    from tidegate.results.run_files import SavedRun

SHOWN = {"blitz": "Blitz", "reno": "TCP"}
utilisation = of_port("bottleneck", "utilisation")
"""The share of the time in which the bottleneck sends."""
SHORT_B, LONG_B = 40_000.0, 200_000.0
"""Up to the one a file of the Pareto mix counts as short, above the other as long; the least
that there is has 33 kB."""


def _done(record: SavedRun) -> tuple[Floats, Floats]:
    """Return size and response time of the files received after the warm-up."""
    flows = record.flows()
    there = flows["data_done_s"] > WARMUP_S
    return flows["size_bytes"][there], (flows["data_done_s"] - flows["start_s"])[there]


def _span(record: SavedRun) -> float:
    return float(record.summary["duration_s"]) - WARMUP_S


def goodput(record: SavedRun) -> float:
    """Return Theta: useful bits of the files received, per second."""
    sizes, _ = _done(record)
    return float(np.sum(sizes) * 8.0 / _span(record))


def response(record: SavedRun) -> float:
    """Return R: mean time from arrival to the last packet received, s."""
    _, times = _done(record)
    return float(np.mean(times)) if times.size else float("nan")


def power(record: SavedRun) -> float:
    """Return P = Theta / R (blitz, 2.2)."""
    found = goodput(record) / response(record)
    return found if np.isfinite(found) else 0.0


def fairness(record: SavedRun) -> float:
    """Return Jain's index of the rates that the files got, of those received."""
    sizes, times = _done(record)
    rates = sizes / times
    return jain(rates)


@of_values
def response_of(record: SavedRun, least: float, most: float) -> float:
    """Return mean response time of files of these sizes."""
    sizes, times = _done(record)
    mine = (sizes > least) & (sizes <= most)
    return float(np.mean(times[mine])) if np.any(mine) else float("nan")


def curve(
    runs: Runs, net: str, mbit: int, control: str, measure: Measure = power, kind: str = ""
) -> Floats:
    """Return a measure over the arrival rates (rows) and seeds (columns)."""
    return np.array([runs.values(key(net, mbit, control, step, kind), measure) for step in STEPS])


def peak(runs: Runs, net: str, mbit: int, control: str, kind: str = "") -> Floats:
    """Return the maximum power for each seed."""
    return np.asarray(curve(runs, net, mbit, control, power, kind).max(axis=0), dtype=np.float64)


def advantage(runs: Runs, net: str, mbit: int, kind: str = "", over: str = "reno") -> Floats:
    """Return the maximum power of Blitz over that of TCP, for each seed."""
    return np.asarray(
        peak(runs, net, mbit, "blitz", kind) / peak(runs, net, mbit, over, kind), dtype=np.float64
    )


def pairs(one: str, other: str) -> list[tuple[int, int]]:
    """Return the bottlenecks of two networks that have the same share."""
    return list(zip(NETS[one].bottlenecks(), NETS[other].bottlenecks(), strict=True))


def _detour(values: Floats) -> float:
    """Return the largest fall before the maximum, or rise after it, relative to the maximum."""
    top = int(np.argmax(values))
    falls = np.maximum.accumulate(values[: top + 1]) - values[: top + 1]
    after = values[top:]
    rises = after - np.minimum.accumulate(after)
    return float(max(np.max(falls), np.max(rises)) / values[top])


def detour(curves: Floats) -> Floats:
    """Return how far a curve over several cases is from one with a single maximum, by seed."""
    return np.array([_detour(each) for each in curves.T])


OVER_CASES = {"detour": detour}
"""Functions of a measure of several cases, for `claims.csv`."""
