"""Where the law comes to rest, and whether it swings: long runs of some cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.case import Case
from tidegate.studies.tide.cells import GATES, MatrixCell, case

if TYPE_CHECKING:
    from tidegate.results.run_files import SavedRun
    from tidegate.studies.study import FinishedRuns

CELLS = (
    MatrixCell("ns2", 1000),
    MatrixCell("ns2", 1000, 30),
    MatrixCell("linux", 1000),
    MatrixCell("linux", 200, 30),
)
LONGEST_S = 60.0
"""A swing is looked for up to this half period."""
WIDE = 5
"""The autocorrelation is smoothed over so many epochs."""


def name(cell: MatrixCell) -> str:
    """Return the key of a case."""
    return f"rest/{cell.key}:tide"


def cases() -> dict[str, Case]:
    """Return every case."""
    long = (("duration", "1000s"), ("warmup", "200s"))
    made = {}
    for cell in CELLS:
        plain = case(cell, "tide", GATES["tide"]).having(*long)
        made[name(cell)] = Case(name(cell), plain.scenario, (), plain.settings, weight=5)
    return made


def swing(record: SavedRun) -> tuple[float, float]:
    """Return the deepest autocorrelation of the allowance, and after how many seconds that is."""
    events = record.events()
    late = events["time_s"] > 200.0
    times, allowed = events["time_s"][late], events["set"][late]
    epoch = float(times[1] - times[0])
    rest = allowed - allowed.mean()
    lags = np.correlate(rest, rest, "full")[len(rest) - 1 :]
    smooth = np.convolve(lags / lags[0], np.ones(WIDE) / WIDE, "valid")
    deepest = int(np.argmin(smooth[: int(LONGEST_S / epoch)]))
    return float(smooth[deepest]), (deepest + WIDE // 2) * epoch


def rest(there: FinishedRuns) -> list[str]:
    """Return the table of what the equations say and what was found."""
    lines = [
        "",
        "## At rest",
        "",
        "1000 s, the first 200 s left out. The equations say: a saturated link loses 4.5 %, another"
        " one idles as much as it loses. The last column is the deepest autocorrelation of the"
        f" allowance up to {LONGEST_S:g} s, and where it is: a lasting swing would bring it near"
        " -1 after half a period.",
        "",
        "| cell | epochs saturated % | lost % | idle % | T, s | autocorrelation |",
        "|---|---|---|---|---|---|",
    ]
    for cell in CELLS:
        if there.has(name(cell)):
            lines.append(_row(cell, there.runs.records(name(cell))[0]))
    return lines


def _row(cell: MatrixCell, record: SavedRun) -> str:
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
    numbers = (
        f"{100 * saturated:.0f} | {100 * lost / offered:.1f}"
        f" | {100 * (1 - port['utilisation']):.1f} | {stay:.2f} | {depth:.2f} at {at_s:.0f} s"
    )
    return f"| {cell.key} | {numbers} |"
