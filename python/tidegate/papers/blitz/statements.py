"""The checks of Figures 3 to 8 and of what the text concludes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz.cases import CONTROLS, NETS, PAPER, STEPS, keys
from tidegate.papers.blitz.measures import (
    LONG_B,
    SHORT_B,
    advantage,
    at_peak,
    curve,
    fairness,
    goodput,
    peak,
    response,
    response_of,
)
from tidegate.papers.finders import parts
from tidegate.papers.study import Check
from tidegate.papers.verdicts import Numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidegate.papers.runs import Floats, Runs
    from tidegate.papers.verdicts import Finding

    Parts = dict[str, np.ndarray | list[float]]
    Paper = float | tuple[float, float]

SHOWN = {"blitz": "Blitz", "reno": "TCP"}
LOW = STEPS[0]
"""The lowest arrival rate: a tenth of what fills the bottleneck."""
UNIMODAL = 0.05
"""What a curve may fall before its maximum, or rise after it, beside it."""
LIMIT = 1e9
"""Stands for "or more"."""


def _cases(nets: Iterable[str], controls: Iterable[str] = CONTROLS) -> tuple[str, ...]:
    names = tuple(controls)
    return tuple(
        case
        for net in nets
        for mbit in NETS[net].bottlenecks()
        for control in names
        for case in keys(net, mbit, control)
    )


def _number(nets: Iterable[str], paper: Paper, find: Callable[[Runs], Floats]) -> Check:
    def found(runs: Runs) -> Finding:
        return Numbers(tuple(map(float, find(runs))), paper)

    return Check(_cases(nets), found)


def _parts(nets: Iterable[str], find: Callable[[Runs], Parts]) -> Check:
    return parts(_cases(nets), find)


def _ratio(net: str, mbit: int, paper: float) -> Check:
    return _number((net,), paper, lambda runs: advantage(runs, net, mbit))


def _rise(place: int, control: str, paper: float) -> Check:
    """Check how much the maximum power rises from the reference to the faster network (log10)."""
    fast, ref = NETS["fast"].bottlenecks()[place], NETS["ref"].bottlenecks()[place]

    def find(runs: Runs) -> Floats:
        return np.log10(peak(runs, "fast", fast, control) / peak(runs, "ref", ref, control))

    return _number(("fast", "ref"), paper, find)


def _pairs(one: str, other: str) -> list[tuple[int, int]]:
    return list(zip(NETS[one].bottlenecks(), NETS[other].bottlenecks(), strict=True))


def _gaps(one: str, other: str, runs: Runs) -> list[tuple[str, Floats, Floats]]:
    """Return the advantage in two networks, at each share of the bottleneck."""
    return [
        (f"bottleneck {mine}", advantage(runs, one, mine), advantage(runs, other, theirs))
        for mine, theirs in _pairs(one, other)
    ]


def _wider(one: str, other: str) -> Check:
    def find(runs: Runs) -> Parts:
        return {
            f"{text}: {np.mean(mine):.3g} > {np.mean(theirs):.3g}": mine - theirs
            for text, mine, theirs in _gaps(one, other, runs)
        }

    return _parts((one, other), find)


def _reference() -> dict[str, Check]:
    low, middle, high = NETS["ref"].bottlenecks()

    def single(runs: Runs) -> Parts:
        found: Parts = {}
        for mbit in (low, middle, high):
            for control in CONTROLS:
                values = curve(runs, "ref", mbit, control)
                worst = [_detour(each) for each in values.T]
                found[f"{SHOWN[control]} at {mbit}"] = UNIMODAL - np.array(worst)
        return found

    def growing(runs: Runs) -> Parts:
        one, two, three = (advantage(runs, "ref", mbit) for mbit in (low, middle, high))
        return {"90 above 30": two - one, "150 above 90": three - two}

    def rising(runs: Runs) -> Parts:
        found: Parts = {}
        for control in CONTROLS:
            one, two, three = (peak(runs, "ref", mbit, control) for mbit in (low, middle, high))
            found |= {
                f"{SHOWN[control]}: 90 above 30": two - one,
                f"{SHOWN[control]}: 150 above 90": three - two,
            }
        return found

    def above(runs: Runs) -> Parts:
        gains = {mbit: advantage(runs, "ref", mbit) for mbit in (low, middle, high)}
        return {
            f"{mbit}: Blitz over twice TCP ({np.mean(gain):.3g})": gain - 2.0
            for mbit, gain in gains.items()
        }

    def crossed(runs: Runs) -> Parts:
        return {
            "Blitz at 90 above TCP at 150": peak(runs, "ref", middle, "blitz")
            - peak(runs, "ref", high, "reno")
        }

    return {
        "fig3.single_max": _parts(("ref",), single),
        "fig4l.ratio30": _ratio("ref", low, 3.0),
        "fig4l.ratio90": _ratio("ref", middle, 6.0),
        "fig4l.ratio150": _ratio("ref", high, 10.0),
        "fig4l.increasing": _parts(("ref",), growing),
        "fig4l.both_up": _parts(("ref",), rising),
        "fig4l.all_above": _parts(("ref",), above),
        "fig4l.b90_gt_t150": _parts(("ref",), crossed),
    }


def _detour(values: Floats) -> float:
    """Return the largest fall before the maximum, or rise after it, beside the maximum."""
    top = int(np.argmax(values))
    falls = np.maximum.accumulate(values[: top + 1]) - values[: top + 1]
    after = values[top:]
    rises = after - np.minimum.accumulate(after)
    return float(max(np.max(falls), np.max(rises)) / values[top])


def _faster() -> dict[str, Check]:
    found = {
        f"fig4r.d{letter}{mbit}": _rise(place, control, paper)
        for letter, control, said in (
            ("B", "blitz", (1.5, 1.3, 1.1)),
            ("T", "reno", (1.1, 0.8, 0.7)),
        )
        for place, (mbit, paper) in enumerate(zip((200, 600, 1000), said, strict=True))
    }

    def growth(runs: Runs) -> Floats:
        each = [mine / theirs for _, mine, theirs in _gaps("fast", "ref", runs)]
        return np.asarray(np.mean(each, axis=0), dtype=np.float64)

    def bars(runs: Runs) -> Parts:
        return {
            f"{mbit}: Blitz over three times TCP ({np.mean(gain):.3g})": gain - 3.0
            for mbit in NETS["fast"].bottlenecks()
            for gain in [advantage(runs, "fast", mbit)]
        }

    def order(runs: Runs) -> Floats:
        nets = ("ref", "fast")
        gains = [advantage(runs, net, mbit) for net in nets for mbit in NETS[net].bottlenecks()]
        return np.asarray(np.max(gains, axis=0), dtype=np.float64)

    return found | {
        "fig4r.gap": _number(("fast", "ref"), (2.5, 3.5), growth),
        "fig4r.all": _wider("fast", "ref"),
        "fig8": _parts(("fast",), bars),
        "abstract.order": _number(("ref", "fast"), (10.0, 25.0), order),
    }


def _smaller() -> dict[str, Check]:
    def up(runs: Runs) -> Parts:
        return {
            f"{SHOWN[control]} at {mine}": peak(runs, "small", mine, control)
            - peak(runs, "ref", theirs, control)
            for control in CONTROLS
            for mine, theirs in _pairs("small", "ref")
        }

    def still(runs: Runs) -> Parts:
        one, two, three = (advantage(runs, "small", mbit) for mbit in NETS["small"].bottlenecks())
        return {
            f"Blitz above TCP at 30 ({np.mean(one):.3g})": one - 1.0,
            f"the gap grows to 90 ({np.mean(two):.3g})": two - one,
            f"and to 150 ({np.mean(three):.3g})": three - two,
        }

    def narrower(runs: Runs) -> Parts:
        return {
            f"{text}: {np.mean(mine):.3g} < {np.mean(theirs):.3g}": theirs - mine
            for text, mine, theirs in _gaps("small", "ref", runs)
        }

    def down(runs: Runs) -> Floats:
        each = [
            np.log10(peak(runs, "ref", theirs, control) / peak(runs, "slow", mine, control))
            for control in CONTROLS
            for mine, theirs in _pairs("slow", "ref")
        ]
        return np.asarray(np.min(each, axis=0), dtype=np.float64)

    def low(runs: Runs) -> Parts:
        least, _, most = NETS["slow"].bottlenecks()
        values = {
            (mbit, control): curve(runs, "slow", mbit, control)
            for mbit in (least, most)
            for control in CONTROLS
        }
        first = {each: found[0] for each, found in values.items()}
        return {
            "3 Mbit/s, low rate: TCP above Blitz": first[least, "reno"] - first[least, "blitz"],
            "15 Mbit/s, low rate: Blitz above TCP": first[most, "blitz"] - first[most, "reno"],
        }

    def best(runs: Runs) -> Parts:
        return {
            f"{mbit}: Blitz above TCP ({np.mean(gain):.3g})": gain - 1.0
            for mbit in NETS["slow"].bottlenecks()
            for gain in [advantage(runs, "slow", mbit)]
        }

    return {
        "fig5l.power_up": _parts(("small", "ref"), up),
        "fig5l.gap_narrow": _parts(("small", "ref"), narrower),
        "fig5l.still": _parts(("small",), still),
        "fig5r.power_down": _number(("slow", "ref"), (1.0, LIMIT), down),
        "fig5r.tcp_low": _parts(("slow",), low),
        "fig5r.max": _parts(("slow",), best),
    }


def _sizes() -> dict[str, Check]:
    pairs = _pairs("big", "ref")

    def drop(control: str) -> Callable[[Runs], Floats]:
        def find(runs: Runs) -> Floats:
            each = [
                np.log10(peak(runs, "ref", theirs, control) / peak(runs, "big", mine, control))
                for mine, theirs in pairs
            ]
            shown = np.min(each, axis=0) if control == "blitz" else np.mean(each, axis=0)
            return np.asarray(shown, dtype=np.float64)

        return find

    def slower(runs: Runs) -> Floats:
        each = [
            at_peak(runs, "big", mine, "blitz", response)
            / at_peak(runs, "ref", theirs, "blitz", response)
            for mine, theirs in pairs
        ]
        return np.asarray(np.mean(each, axis=0), dtype=np.float64)

    def low(runs: Runs, net: str, mbit: int) -> Floats:
        one, other = (curve(runs, net, mbit, control)[0] for control in CONTROLS)
        return np.asarray(one / other, dtype=np.float64)

    def gap(runs: Runs) -> Parts:
        found: Parts = {}
        for mine, theirs in pairs:
            top = advantage(runs, "ref", theirs) / advantage(runs, "big", mine)
            bottom = low(runs, "ref", theirs) / low(runs, "big", mine)
            found[f"{mine}: smaller at the maximum (by {np.mean(top):.3g})"] = top - 1.0
            found[f"{mine}: more so at a low rate (by {np.mean(bottom):.3g})"] = bottom - top
        return found

    def wide(runs: Runs) -> Parts:
        return {"150, low rate: Blitz above TCP": low(runs, "big", 150) - 1.0}

    def degrades(runs: Runs) -> Parts:
        values = curve(runs, "big", 30, "reno")
        beyond = values[STEPS.index(0.1)]
        return {"30: TCP falls to half its maximum or less": 0.5 * values.max(axis=0) - beyond}

    return {
        "fig6l.blitz_drop": _number(("big", "ref"), (1.0, LIMIT), drop("blitz")),
        "fig6l.tcp_drop": _number(("big", "ref"), 0.5, drop("reno")),
        "fig6l.response": _number(("big", "ref"), 10.0, slower),
        "fig6l.gap": _parts(("big", "ref"), gap),
        "fig6l.bw": _parts(("big",), wide),
        "fig6l.lambda": _parts(("big",), degrades),
        "fig6r.widen": _wider("bigfast", "big"),
        "fig7.widen10k": _wider("tiny", "ref"),
    }


def _conclusions() -> dict[str, Check]:
    mix = tuple(case for control in CONTROLS for case in keys("ref", 90, control, "-pareto"))

    def favoured(runs: Runs) -> Parts:
        place = STEPS.index(0.1)
        short, long = (
            {
                control: curve(runs, "ref", 90, control, response_of(*bounds), "-pareto")[place]
                for control in CONTROLS
            }
            for bounds in ((0.0, SHORT_B), (LONG_B, np.inf))
        )
        return {
            "in overload short files are through sooner than under TCP "
            f"({np.mean(short['blitz']):.3g} s, {np.mean(short['reno']):.3g} s)": short["reno"]
            - short["blitz"],
            "and long files wait longer beside them than under TCP": long["blitz"] / short["blitz"]
            - long["reno"] / short["reno"],
        }

    def satisfactory(runs: Runs) -> Parts:
        found: Parts = {}
        for mbit in NETS["ref"].bottlenecks():
            offered = np.array([10.0**step for step in STEPS])[:, None]
            payload = NETS["ref"].saturation(mbit) * NETS["ref"].size * 8.0
            share = curve(runs, "ref", mbit, "blitz", goodput) / (offered * payload)
            top = curve(runs, "ref", mbit, "blitz").argmax(axis=0)
            there = np.array([share[place, seed] for seed, place in enumerate(top)])
            jain = at_peak(runs, "ref", mbit, "blitz", fairness)
            found[f"{mbit}: 95 % of what is offered gets through ({np.mean(there):.3g})"] = (
                there - 0.95
            )
            found[f"{mbit}: Jain's index of at least 0.9 ({np.mean(jain):.3g})"] = jain - 0.9
        return found

    return {
        "text.short_priority": parts(mix, favoured),
        "text.tr_claims": _parts(("ref",), satisfactory),
        "concl.ratio": _parts(PAPER, _by_ratio),
        "text.aggressiveness": _aggressive(),
    }


def _by_ratio(runs: Runs) -> Parts:
    """Check that the advantage falls with F/BDP: the correlation of their ranks."""
    points = [(net, mbit) for net in PAPER for mbit in NETS[net].bottlenecks()]
    ratios = np.array([NETS[net].ratio(mbit) for net, mbit in points])
    gains = np.array([advantage(runs, net, mbit) for net, mbit in points])
    ranks = _ranks(ratios)
    found = np.array([np.corrcoef(ranks, _ranks(each))[0, 1] for each in gains.T])
    return {f"rank correlation of gain and F/BDP {np.mean(found):.2f}, under -0.5": -found - 0.5}


def _ranks(values: Floats) -> Floats:
    """Return ranks, equal values sharing theirs (Spearman)."""
    order = np.sort(values)
    low, high = np.searchsorted(order, values, "left"), np.searchsorted(order, values, "right")
    return np.asarray((low + high - 1) / 2.0, dtype=np.float64)


def _aggressive() -> Check:
    small = [net for net in PAPER if NETS[net].ratio(NETS[net].mbit) < 1.0]

    def find(runs: Runs) -> Parts:
        found: Parts = {}
        for net in small:
            mbit = NETS[net].mbit
            plain, wide = (advantage(runs, net, mbit, "", over) for over in ("reno", "wide"))
            text = f"{NETS[net].name}: gap {np.mean(plain):.3g} with TCP, {np.mean(wide):.3g}"
            found[f"{text} with a window from F/BDP"] = plain - wide
        return found

    cases = tuple(
        case
        for net in small
        for control in (*CONTROLS, "wide")
        for case in keys(net, NETS[net].mbit, control)
    )
    return parts(cases, find)


def checks() -> dict[str, Check]:
    """Return the checks, by the short id of the claim."""
    return _reference() | _faster() | _smaller() | _sizes() | _conclusions()
