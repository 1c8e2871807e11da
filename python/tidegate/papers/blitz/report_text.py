"""What the text of the report computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz.cases import CLOCK, CONTROLS, NETS, READ, STEPS, key
from tidegate.papers.blitz.measures import advantage, peak
from tidegate.papers.report_text import named, number

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

TEXT_CASES = (
    "{bottleneck}/{control}/{step} middle/{30,90,150}/{control}/{step} "
    "{clocked}/reno/{step} slow-16k/3/reno/{step} "
    "mixed/{pushout,drop-tail}/{0.1,0.5,0.9} {threshold}/reno/{step} {readings}/{control}/{step} "
    "{sooner}/{control}/{step} {announced}/wide/{step}"
)
MAXIMA = (
    *(f"fig4l.ratio{mbit}" for mbit in NETS["ref"].bottlenecks()),
    *(f"fig4r.d{letter}{mbit}" for mbit in NETS["fast"].bottlenecks() for letter in "BT"),
)
"""The nine numbers that the paper prints of the maxima of the reference and the faster network."""


def near_maxima(runs: Runs) -> int:
    """Return how many of these are within a quarter of the paper's."""
    found = 0
    for name in MAXIMA:
        said = runs.paper.claim(name).expected
        place = int("".join(each for each in name.rpartition(".")[2] if each.isdigit()))
        if "ratio" in name:
            mine = float(np.mean(advantage(runs, "ref", place)))
        else:
            control = "blitz" if "dB" in name else "reno"
            net, ref = NETS["fast"].bottlenecks(), NETS["ref"].bottlenecks()
            top, bottom = (
                peak(runs, "fast", place, control),
                peak(runs, "ref", ref[net.index(place)], control),
            )
            mine = float(np.mean(top / bottom))
        found += isinstance(said, float) and abs(mine / said - 1.0) <= 0.25
    return found


def gain(runs: Runs, net: str, mbit: int, kind: str = "", over: str = "reno") -> str:
    """Return the maximum power of Blitz over that of TCP."""
    return number(float(np.mean(advantage(runs, net, mbit, kind, over))))


def fall(runs: Runs, mbit: int, kind: str) -> str:
    """Return by how much TCP's maximum falls from 100 kB to 1 MB, as log10."""
    small, large = (np.mean(peak(runs, net, mbit, "reno", kind)) for net in ("ref", "big"))
    return f"{np.log10(small / large):.2f}"


def gap_at(runs: Runs, net: str, mbit: int, kind: str) -> str:
    """Return Blitz' maximum over TCP's with another end of the first slow start."""
    blitz, reno = peak(runs, net, mbit, "blitz"), peak(runs, net, mbit, "reno", kind)
    return number(float(np.mean(blitz) / np.mean(reno)))


def rise(runs: Runs, place: int, kind: str = "") -> str:
    """Return how many times as high TCP's maximum is in the faster network, by bottleneck."""
    mbits = [NETS[net].bottlenecks()[place] for net in ("fast", "ref")]
    fast, ref = (
        peak(runs, net, mbit, "reno", kind)
        for net, mbit in zip(("fast", "ref"), mbits, strict=True)
    )
    return number(float(np.mean(fast) / np.mean(ref)))


def maxima(runs: Runs, net: str, mbit: int, kind: str = "") -> str:
    """Return the ratio of the maximum power of Blitz and of TCP, and log10 of both."""
    logs = [np.log10(np.mean(peak(runs, net, mbit, each, kind))) for each in CONTROLS]
    return f"**{gain(runs, net, mbit, kind)}** ({logs[0]:.2f}, {logs[1]:.2f})"


TEMPLATE_NAMES = named(
    near_maxima,
    gain,
    maxima,
    fall,
    gap_at,
    key,
    rise,
    CLOCK=CLOCK,
    MAXIMA=MAXIMA,
    NETS=NETS,
    READ=READ,
    STEPS=STEPS,
)
"""What the template of the report uses."""
