"""The checks of Figures 3 to 8: the maximum power of Blitz and of TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz import measures as m
from tidegate.papers.blitz.cases import CONTROLS, NETS, OVERLOAD, beyond, key
from tidegate.papers.check_results import Numbers
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Parts, Runs

UNIMODAL = 0.05
"""The most that a curve may fall before its maximum or rise after it, relative to the maximum."""
LOW, MIDDLE, HIGH = NETS["ref"].bottlenecks()
CONTROL = {"B": "blitz", "T": "reno"}
"""The controls in the ids of claims."""


def _numbers(values: Floats) -> Numbers:
    return Numbers(tuple(map(float, values)))


def _mean(each: list[Floats]) -> Numbers:
    return _numbers(np.asarray(np.mean(each, axis=0), dtype=np.float64))


def _least(each: list[Floats]) -> Numbers:
    return _numbers(np.asarray(np.min(each, axis=0), dtype=np.float64))


@claim(
    "fig3.single_max",
    of=tuple(
        case
        for mbit in (LOW, MIDDLE, HIGH)
        for name in CONTROLS
        for case in beyond("ref", mbit, name)
    ),
)
def single(runs: Runs) -> Parts:
    """Check that power over the arrival rate has one maximum, but for a twentieth of it."""
    found: Parts = {}
    for mbit in (LOW, MIDDLE, HIGH):
        for control in CONTROLS:
            last = m.overload(runs, "ref", mbit, control)
            values = np.vstack([m.curve(runs, "ref", mbit, control), last])
            worst = [_detour(each) for each in values.T]
            found[f"{m.SHOWN[control]} at {mbit}"] = UNIMODAL - np.array(worst)
    return found


def _detour(values: Floats) -> float:
    """Return the largest fall before the maximum, or rise after it, relative to the maximum."""
    top = int(np.argmax(values))
    falls = np.maximum.accumulate(values[: top + 1]) - values[: top + 1]
    after = values[top:]
    rises = after - np.minimum.accumulate(after)
    return float(max(np.max(falls), np.max(rises)) / values[top])


@claim("fig4l.ratio{mbit}", of=m.of_nets("ref"), mbit=(LOW, MIDDLE, HIGH))
def ratio(runs: Runs, mbit: int) -> Numbers:
    """Check the maximum power of Blitz over that of TCP in the reference network."""
    return _numbers(m.advantage(runs, "ref", mbit))


@claim("fig4l.increasing", of=m.of_nets("ref"))
def growing(runs: Runs) -> Parts:
    """Check that what Blitz gains grows with the bottleneck."""
    one, two, three = (m.advantage(runs, "ref", mbit) for mbit in (LOW, MIDDLE, HIGH))
    return {"90 above 30": two - one, "150 above 90": three - two}


@claim("fig4l.both_up", of=m.of_nets("ref"))
def rising(runs: Runs) -> Parts:
    """Check that the maximum power of both grows with the bottleneck."""
    found: Parts = {}
    for control in CONTROLS:
        one, two, three = (m.peak(runs, "ref", mbit, control) for mbit in (LOW, MIDDLE, HIGH))
        found |= {
            f"{m.SHOWN[control]}: 90 above 30": two - one,
            f"{m.SHOWN[control]}: 150 above 90": three - two,
        }
    return found


@claim("fig4l.all_above", of=m.of_nets("ref"))
def above(runs: Runs) -> Parts:
    """Check that Blitz has over twice TCP's maximum at every bottleneck."""
    gains = {mbit: m.advantage(runs, "ref", mbit) for mbit in (LOW, MIDDLE, HIGH)}
    return {
        f"{mbit}: Blitz over twice TCP ({np.mean(gain):.3g})": gain - 2.0
        for mbit, gain in gains.items()
    }


@claim("fig4l.b90_gt_t150", of=m.of_nets("ref"))
def crossed(runs: Runs) -> Parts:
    """Check that Blitz at the middle bottleneck has more than TCP at the wide one."""
    return {
        "Blitz at 90 above TCP at 150": m.peak(runs, "ref", MIDDLE, "blitz")
        - m.peak(runs, "ref", HIGH, "reno")
    }


@claim(
    "fig4r.d{letter}{mbit}",
    of=m.of_nets("fast", "ref"),
    letter=tuple(CONTROL),
    mbit=NETS["fast"].bottlenecks(),
)
def rise(runs: Runs, letter: str, mbit: int) -> Numbers:
    """Check how many times as high the maximum is in the faster network as in the reference."""
    ref = NETS["ref"].bottlenecks()[NETS["fast"].bottlenecks().index(mbit)]
    control = CONTROL[letter]
    fast = m.peak(runs, "fast", mbit, control)
    return _numbers(np.asarray(fast / m.peak(runs, "ref", ref, control), dtype=np.float64))


@claim("fig4r.gap", of=m.of_nets("fast", "ref"))
def growth(runs: Runs) -> Numbers:
    """Check how many times as much Blitz gains in the faster network: the one furthest off."""
    said = runs.paper.claim("fig4r.gap").expected
    low, high = said if isinstance(said, tuple) else (np.nan, np.nan)
    each = {text: mine / theirs for text, mine, theirs in m.gaps("fast", "ref", runs)}
    middle = 0.5 * (low + high)
    worst = max(each.values(), key=lambda values: abs(float(np.mean(values)) - middle))
    note = ", ".join(f"{text} {np.mean(values):.3g}" for text, values in each.items())
    return Numbers(tuple(map(float, worst)), f"{note}.")


def _wider(runs: Runs, one: str, other: str) -> Parts:
    return {
        f"{text}: {np.mean(mine):.3g} > {np.mean(theirs):.3g}": mine - theirs
        for text, mine, theirs in m.gaps(one, other, runs)
    }


@claim("fig4r.all", of=m.of_nets("fast", "ref"))
def wider_when_fast(runs: Runs) -> Parts:
    """Check that Blitz gains more in the faster network, at every share of the bottleneck."""
    return _wider(runs, "fast", "ref")


@claim("fig8", of=m.of_nets("fast"))
def bars(runs: Runs) -> Parts:
    """Check that Blitz has over three times TCP's maximum in the faster network."""
    return {
        f"{mbit}: Blitz over three times TCP ({np.mean(gain):.3g})": gain - 3.0
        for mbit in NETS["fast"].bottlenecks()
        for gain in [m.advantage(runs, "fast", mbit)]
    }


@claim("fig5l.power_up", of=m.of_nets("small", "ref"))
def up(runs: Runs) -> Parts:
    """Check that both have more power in the smaller network."""
    return {
        f"{m.SHOWN[control]} at {mine}": m.peak(runs, "small", mine, control)
        - m.peak(runs, "ref", theirs, control)
        for control in CONTROLS
        for mine, theirs in m.pairs("small", "ref")
    }


@claim("fig5l.gap_narrow", of=m.of_nets("small", "ref"))
def narrower(runs: Runs) -> Parts:
    """Check that Blitz leads by less in the smaller network."""
    found: Parts = {}
    for text, mine, theirs in m.gaps("small", "ref", runs):
        found[f"{text}: {np.mean(mine):.3g} < {np.mean(theirs):.3g}"] = theirs - mine
        # behind TCP it is no narrower lead
        found[f"{text}: Blitz still ahead"] = mine - 1.0
    return found


@claim("fig5l.still", of=m.of_nets("small"))
def still(runs: Runs) -> Parts:
    """Check that Blitz gains in the smaller network too, more with a wider bottleneck."""
    one, two, three = (m.advantage(runs, "small", mbit) for mbit in NETS["small"].bottlenecks())
    return {
        f"Blitz above TCP at 30 ({np.mean(one):.3g})": one - 1.0,
        f"the gap grows to 90 ({np.mean(two):.3g})": two - one,
        f"and to 150 ({np.mean(three):.3g})": three - two,
    }


@claim("fig5r.power_down", of=m.of_nets("slow", "ref"))
def down(runs: Runs) -> Numbers:
    """Check by how much the maxima are lower in the slower network (log10, the least of them)."""
    return _least(
        [
            np.log10(m.peak(runs, "ref", theirs, control) / m.peak(runs, "slow", mine, control))
            for control in CONTROLS
            for mine, theirs in m.pairs("slow", "ref")
        ]
    )


@claim("fig5r.tcp_low", of=m.of_nets("slow"))
def low(runs: Runs) -> Parts:
    """Check which has more power at a low rate in the slower network, by the bottleneck."""
    least, _, most = NETS["slow"].bottlenecks()
    first = {
        (mbit, control): m.curve(runs, "slow", mbit, control)[0]
        for mbit in (least, most)
        for control in CONTROLS
    }
    return {
        "3 Mbit/s, low rate: TCP above Blitz": first[least, "reno"] - first[least, "blitz"],
        "15 Mbit/s, low rate: Blitz above TCP": first[most, "blitz"] - first[most, "reno"],
    }


@claim("fig5r.max", of=m.of_nets("slow"))
def best(runs: Runs) -> Parts:
    """Check that Blitz has the higher maximum in the slower network too."""
    return {
        f"{mbit}: Blitz above TCP ({np.mean(gain):.3g})": gain - 1.0
        for mbit in NETS["slow"].bottlenecks()
        for gain in [m.advantage(runs, "slow", mbit)]
    }


def _drops(runs: Runs, control: str) -> list[Floats]:
    return [
        np.log10(m.peak(runs, "ref", theirs, control) / m.peak(runs, "big", mine, control))
        for mine, theirs in m.pairs("big", "ref")
    ]


@claim("fig6l.blitz_drop", of=m.of_nets("big", "ref"))
def blitz_drop(runs: Runs) -> Numbers:
    """Check by how much Blitz' maximum falls with larger files (log10, the least of them)."""
    return _least(_drops(runs, "blitz"))


@claim("fig6l.tcp_drop", of=m.of_nets("big", "ref"))
def tcp_drop(runs: Runs) -> Numbers:
    """Check by how much TCP's maximum falls with larger files (log10, their mean)."""
    return _mean(_drops(runs, "reno"))


@claim("fig6l.response", of=m.of_nets("big", "ref"))
def slower(runs: Runs) -> Numbers:
    """Check how many times as long larger files take under Blitz, at its maxima."""
    return _mean(
        [
            m.at_peak(runs, "big", mine, "blitz", m.response)
            / m.at_peak(runs, "ref", theirs, "blitz", m.response)
            for mine, theirs in m.pairs("big", "ref")
        ]
    )


def _at_low_rate(runs: Runs, net: str, mbit: int) -> Floats:
    """Return Blitz' power over TCP's at a tenth of what fills the bottleneck."""
    one, other = (m.curve(runs, net, mbit, control)[0] for control in CONTROLS)
    return np.asarray(one / other, dtype=np.float64)


@claim("fig6l.gap", of=m.of_nets("big", "ref"))
def gap(runs: Runs) -> Parts:
    """Check that Blitz gains less with larger files, and that most at a low rate."""
    found: Parts = {}
    for mine, theirs in m.pairs("big", "ref"):
        top = m.advantage(runs, "ref", theirs) / m.advantage(runs, "big", mine)
        bottom = _at_low_rate(runs, "ref", theirs) / _at_low_rate(runs, "big", mine)
        found[f"{mine}: smaller at the maximum (by {np.mean(top):.3g})"] = top - 1.0
        found[f"{mine}: more so at a low rate (by {np.mean(bottom):.3g})"] = bottom - top
    return found


@claim("fig6l.bw", of=m.of_nets("big"))
def wide(runs: Runs) -> Parts:
    """Check that Blitz is above TCP with larger files where the bottleneck is wide."""
    return {"150, low rate: Blitz above TCP": _at_low_rate(runs, "big", 150) - 1.0}


@claim("fig6l.lambda", of=beyond("big", 30, "reno"))
def degrades(runs: Runs) -> Parts:
    """Check that TCP with larger files falls off beyond its maximum."""
    top = m.peak(runs, "big", 30, "reno")
    last = m.overload(runs, "big", 30, "reno")
    return {"30: TCP falls to half its maximum or less": 0.5 * top - last}


@claim("fig6l.past", of=tuple(key("big", 30, each, OVERLOAD) for each in CONTROLS))
def past_saturation(runs: Runs) -> Parts:
    """Check that past saturation Blitz is above TCP with larger files at the narrow bottleneck."""
    one, other = (m.overload(runs, "big", 30, each) for each in CONTROLS)
    return {f"30: Blitz above TCP ({np.mean(one):.3g}, {np.mean(other):.3g})": one - other}


@claim("fig6r.widen", of=m.of_nets("bigfast", "big"))
def wider_when_big(runs: Runs) -> Parts:
    """Check that Blitz gains more with larger files where the network is faster."""
    return _wider(runs, "bigfast", "big")


@claim("fig7.widen10k", of=m.of_nets("tiny", "ref"))
def wider_when_tiny(runs: Runs) -> Parts:
    """Check that Blitz gains more with smaller files."""
    return _wider(runs, "tiny", "ref")
