"""What no row of `claims.csv` can say: what follows from printed numbers, and ranks."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz import measures as m
from tidegate.papers.blitz.cases import CONTROLS, NETS, PACKET, PAPER, PAYLOAD

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Parts, Runs


LOADS = np.arange(0.01, 1.0, 0.01)
"""Loads of a bottleneck at which the estimates below are made."""
TENFOLD = 10.0
"""1 MB over 100 kB (blitz, 2.2)."""


def _response(size: float, mbit: float, delay_s: float) -> Floats:
    """Return how long a file takes at each load: a delay, and a queue of files of one size (M/D/1).

    Nothing is lost: what a lost burst costs comes on top.
    """
    alone = 8.0 * size / (1e6 * mbit)
    return np.asarray(delay_s + alone * (1.0 + LOADS / (2.0 * (1.0 - LOADS))))


def fall(mbit: float) -> float:
    """Return by how much the greatest power falls where files are ten times as large, as log10."""
    net = NETS["ref"]
    powers = [
        float(np.max(LOADS / _response(size, mbit, 1e-3 * net.delay_ms)))
        for size in (net.size, TENFOLD * net.size)
    ]
    return log10(powers[0] / powers[1])


def times_as_long(mbit: float, load: float) -> float:
    """Return how much longer a file of ten times the size takes, at the same load.

    R(F) = delay + F g, where g is what a byte waits for and takes: R(10 F) < 10 R(F). At
    the same load the power of large files is then more than a tenth.
    """
    net = NETS["ref"]
    place = int(np.argmin(np.abs(LOADS - load)))
    one, ten = (
        float(_response(size, mbit, 1e-3 * net.delay_ms)[place])
        for size in (net.size, TENFOLD * net.size)
    )
    return ten / one


def rounds(size: float) -> int:
    """Return how many round trips a window that begins with a packet and doubles needs."""
    packets, sent, window, found = -(-int(size) // PAYLOAD), 0, 1, 0
    while sent < packets:
        sent, window, found = sent + window, 2 * window, found + 1
    return found


def _alone(size: float, mbit: float) -> float:
    """Return how long TCP takes for a file on an idle path of the reference network, s.

    Each window that still doubles waits for its acknowledgements; the last packet has half a
    round trip.
    """
    packets = -(-int(size) // PAYLOAD)
    last_s = (packets - (1 << (rounds(size) - 1)) + 1) * PACKET * 8.0 / (1e6 * mbit)
    return (rounds(size) - 0.5) * 1e-3 * NETS["ref"].delay_ms + last_s


def least_rise(size: float, mbit: float, faster: float) -> float:
    """Return by how much TCP's power rises with a faster bottleneck at the same load.

    Files are alone on the path: what waits in queues is sent sooner at the faster one, so
    that with others the rise is larger.
    """
    return faster / mbit * _alone(size, mbit) / _alone(size, faster)


def idle_gap(size: float, mbit: float) -> float:
    """Return TCP's response time over that of Blitz on an idle path of the reference network.

    Both have half a round trip for the last packet; a burst leaves at the rate of the bottleneck.
    """
    trip_s = 1e-3 * NETS["ref"].delay_ms
    packets = -(-int(size) // PAYLOAD)
    burst_s = packets * PACKET * 8.0 / (1e6 * mbit)
    return _alone(size, mbit) / (0.5 * trip_s + burst_s)


def _at_low_rate(runs: Runs, net: str, mbit: int) -> Floats:
    """Return Blitz' power over TCP's at a tenth of what fills the bottleneck."""
    one, other = (m.curve(runs, net, mbit, control)[0] for control in CONTROLS)
    return np.asarray(one / other, dtype=np.float64)


def narrower(runs: Runs) -> Parts:
    """Check that Blitz gains less with larger files, and that most at a low rate."""
    found: Parts = {}
    for mine, theirs in m.pairs("big", "ref"):
        top = m.advantage(runs, "ref", theirs) / m.advantage(runs, "big", mine)
        bottom = _at_low_rate(runs, "ref", theirs) / _at_low_rate(runs, "big", mine)
        found[f"{mine}: smaller at the maximum (by {np.mean(top):.3g})"] = top - 1.0
        found[f"{mine}: more so at a low rate (by {np.mean(bottom):.3g})"] = bottom - top
    return found


def ratio_of_ranks(runs: Runs) -> Parts:
    """Check that the advantage falls with F/BDP: the correlation of their ranks."""
    points = [(net, mbit) for net in PAPER for mbit in NETS[net].bottlenecks()]
    ratios = np.array([NETS[net].ratio(mbit) for net, mbit in points])
    gains = np.array([m.advantage(runs, net, mbit) for net, mbit in points])
    ranks = _ranks(ratios)
    found = np.array([np.corrcoef(ranks, _ranks(each))[0, 1] for each in gains.T])
    return {f"rank correlation of gain and F/BDP {np.mean(found):.2f}, under -0.5": -found - 0.5}


def _ranks(values: Floats) -> Floats:
    """Return ranks, equal values sharing theirs (Spearman)."""
    order = np.sort(values)
    low, high = np.searchsorted(order, values, "left"), np.searchsorted(order, values, "right")
    return np.asarray((low + high - 1) / 2.0, dtype=np.float64)
