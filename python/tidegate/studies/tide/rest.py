"""The steady state of the law, and whether it oscillates: long runs of some cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.page import table
from tidegate.studies.tide.cells import GATES, MatrixCell, case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.papers.case import Case
    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

CELLS = (
    MatrixCell("ns2", 1000),
    MatrixCell("ns2", 1000, 30),
    MatrixCell("linux", 1000),
    MatrixCell("linux", 200, 30),
)
LONGEST_S = 60.0
"""The longest half period of an oscillation that is searched for."""
WIDE = 5
"""Epochs that the autocorrelation is smoothed over."""


def name(cell: MatrixCell) -> str:
    """Return the key of a case."""
    return f"rest/{cell.key}:tide"


def cases() -> Iterator[Case]:
    """Yield every case."""
    for cell in CELLS:
        long = case(cell, "tide", GATES["tide"]).having(("duration", "1000s"), ("warmup", "200s"))
        yield replace(long, key=name(cell), weight=5)


def swing(record: SavedRun) -> tuple[float, float]:
    """Return the lowest autocorrelation of the allowance, and its lag in seconds."""
    events = record.events()
    late = events["time_s"] > 200.0
    times, allowed = events["time_s"][late], events["set"][late]
    epoch = float(times[1] - times[0])
    rest = allowed - allowed.mean()
    lags = np.correlate(rest, rest, "full")[len(rest) - 1 :]
    smooth = np.convolve(lags / lags[0], np.ones(WIDE) / WIDE, "valid")
    deepest = int(np.argmin(smooth[: int(LONGEST_S / epoch)]))
    return float(smooth[deepest]), (deepest + WIDE // 2) * epoch


def rest(runs: Runs) -> list[str]:
    """Return the section that compares the steady state with the equations."""
    head = ("cell", "epochs saturated %", "lost %", "idle %", "T, s", "autocorrelation")
    done = [cell for cell in CELLS if runs.has(name(cell))]
    rows = (_row(cell, runs.records(name(cell))[0]) for cell in done)
    return [
        "",
        "## Steady state",
        "",
        "1000 s, without the first 200 s. By the equations a saturated link loses 4.5 %, and any"
        " other link idles as much as it loses. The last column is the lowest autocorrelation of"
        f" the allowance up to a lag of {LONGEST_S:g} s, and its lag: a lasting oscillation would"
        " bring it near -1 after half a period.",
        "",
        *table(head, rows),
    ]


def _row(cell: MatrixCell, record: SavedRun) -> list[str]:
    port, every = record.port("bottleneck"), record.all
    events = record.events()
    phases = [
        phase for phase, at in zip(events["phase"], events["time_s"], strict=True) if at > 200
    ]
    saturated = sum(phase == "saturated" for phase in phases) / len(phases)
    lost = sum(count for why, count in port["drops"].items() if why != "session_refused")
    offered = port["departed"] + lost
    stay = every["open_mean"] / every["completed_per_s"]
    depth, at_s = swing(record)
    shares = f"{100 * lost / offered:.1f}", f"{100 * (1 - port['utilisation']):.1f}"
    swings = f"{depth:.2f} at {at_s:.0f} s"
    return [cell.key, f"{100 * saturated:.0f}", *shares, f"{stay:.2f}", swings]
