"""What the text of the report computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz.cases import CONTROLS, NETS, OTHER_D, keys
from tidegate.papers.blitz.measures import advantage, peak
from tidegate.papers.report_text import number

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

__all__ = ["NETS", "OTHER_D", "gain", "maxima"]

TEXT_CASES = tuple(
    case
    for nets, kind in ((NETS, ""), (OTHER_D, "-round"))
    for net in nets
    for mbit in NETS[net].bottlenecks()
    for control in CONTROLS
    for case in keys(net, mbit, control, kind)
) + tuple(case for net in NETS.values() for case in keys(net.key, net.mbit, "wide"))


def gain(runs: Runs, net: str, mbit: int, kind: str = "", over: str = "reno") -> str:
    """Return the maximum power of Blitz over that of TCP."""
    return number(float(np.mean(advantage(runs, net, mbit, kind, over))))


def maxima(runs: Runs, net: str, mbit: int, kind: str = "") -> str:
    """Return log10 of the maximum power of Blitz and of TCP, and their ratio."""
    logs = [np.log10(np.mean(peak(runs, net, mbit, each, kind))) for each in CONTROLS]
    return f"{logs[0]:.2f}, {logs[1]:.2f}: **{gain(runs, net, mbit, kind)}**"
