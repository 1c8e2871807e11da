"""Figures 4 to 8 redrawn, and what the paper announces or concludes without a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.papers.blitz import measures as m
from tidegate.papers.blitz.cases import CONTROLS, NETS, PAPER, READ, STEPS
from tidegate.papers.plots import CROSS, bars, legend, panels
from tidegate.papers.plots import curve as draw_curve
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tidegate.papers.runs import Floats, Runs
    from tidegate.results.measures import Measure

HUES = (PALETTE[4], PALETTE[5], PALETTE[0])
STYLES = {"blitz": "-", "reno": "--"}
SHOWN = {"blitz": "Blitz", "reno": "TCP"}
COLOURS = {"blitz": PALETTE[0], "reno": PALETTE[1]}
AXES = {"xlabel": "log10 of files per second", "ylabel": "log10 of the power [bit/s per s]"}


def _rates(net: str, mbit: int) -> Floats:
    return np.log10([NETS[net].saturation(mbit) * 10.0**step for step in STEPS])


def _powers(axes: Axes, runs: Runs, net: str, kind: str = "") -> None:
    """Draw log10 of the power over log10 of the arrival rate, as the paper does."""
    for mbit, hue in zip(NETS[net].bottlenecks(), HUES, strict=True):
        for control in CONTROLS:
            values = np.log10(np.maximum(m.curve(runs, net, mbit, control, kind=kind), 1.0))
            label = f"{SHOWN[control]}, {mbit} Mbit/s"
            draw_curve(axes, _rates(net, mbit), list(values), hue, label, STYLES[control], ddof=0)
    axes.set(title=f"network power, {NETS[net].name}", **AXES)


def _top(runs: Runs, net: str, mbit: int, control: str) -> float:
    return float(np.log10(np.mean(m.peak(runs, net, mbit, control))))


def _printed(axes: Axes, runs: Runs, net: str) -> None:
    """Mark where the paper has a maximum: it gives ratios, so from one of ours."""
    label = f"paper (from our {'TCP' if net == 'ref' else 'reference'})"
    for mbit, theirs in zip(NETS[net].bottlenecks(), NETS["ref"].bottlenecks(), strict=True):
        for control, letter in zip(CONTROLS, "BT", strict=True):
            if net == "ref" and control == "blitz":
                rise = np.log10(_in_paper(runs, f"fig4l.ratio{mbit}"))
                level = _top(runs, net, mbit, "reno") + rise
            elif net == "fast" and mbit in (200, 600, 1000):
                rise = np.log10(_in_paper(runs, f"fig4r.d{letter}{mbit}"))
                level = _top(runs, "ref", theirs, control) + rise
            elif net == "big":
                fall = _in_paper(runs, f"fig6l.{'blitz' if letter == 'B' else 'tcp'}_drop")
                level = _top(runs, "ref", theirs, control) - fall
            else:
                continue
            place = int(np.argmax(m.curve(runs, net, mbit, control).mean(axis=1)))
            axes.plot([_rates(net, mbit)[place]], [level], "x", label=label, **CROSS)
            label = ""


def _in_paper(runs: Runs, name: str) -> float:
    """Return the number of a claim, of a range the end that is nearest."""
    said = runs.paper.claim(name).expected
    return float(said[0] if isinstance(said, tuple) else said or np.nan)


def side_by_side(runs: Runs, *nets: str) -> Figure:
    """Draw the power in networks beside each other."""
    figure, axes = panels(len(nets), 4.8 * len(nets), 4.2)
    for each, net in zip(axes, nets, strict=True):
        _powers(each, runs, net)
        _printed(each, runs, net)
        legend(each, 7.5, ncols=2, loc="lower left")
    low = min(each.get_ylim()[0] for each in axes)
    high = max(each.get_ylim()[1] for each in axes)
    for each in axes:
        each.set_ylim(low - 0.2 * (high - low), high)  # below the curves: the legend
    return figure


def figure8(runs: Runs) -> Figure:
    """Draw Figure 8."""
    figure, (axes,) = panels(1, 6.4, 3.6)
    bottlenecks = NETS["fast"].bottlenecks()
    series = [
        (
            SHOWN[each],
            COLOURS[each],
            [m.peak(runs, "fast", mbit, each) / 1e9 for mbit in bottlenecks],
        )
        for each in ("blitz", "reno")
    ]
    bars(axes, [f"{mbit} Mbit/s" for mbit in bottlenecks], series)
    axes.set_ylabel("maximum power [Gbit/s per s]")
    legend(axes)
    return figure


def gap(runs: Runs) -> Figure:
    """Draw gap."""
    figure, (axes,) = panels(1, 7.8, 4.4)
    wide: dict[str, Any] = {"mfc": "none", "color": PALETTE[1]}
    for name, mark in zip((*PAPER, "middle"), "osv^DPX*", strict=True):
        net = NETS[name]
        xs = [net.ratio(mbit) for mbit in net.bottlenecks()]
        ys = [float(np.mean(m.advantage(runs, name, mbit))) for mbit in net.bottlenecks()]
        axes.plot(xs, ys, mark, color=PALETTE[0], ms=6, label=net.name)
        level = float(np.mean(m.advantage(runs, name, net.mbit, over="wide")))
        axes.plot([net.ratio(net.mbit)], [level], mark, ms=7, **wide)
    axes.plot([], [], "o", label="over TCP, window from F/BDP", **wide)
    axes.axhline(1.0, color=GREY, lw=1, ls=":")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="F/BDP: file size over bandwidth times round trip",
        ylabel="maximum power, Blitz over TCP",
    )
    axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.minorticks_off()
    legend(axes, 7.5)
    return figure


def reference(runs: Runs) -> Figure:
    """Draw reference."""
    figure, axes = panels(3, 12.6, 3.8)
    rows: Sequence[tuple[str, Measure]] = (
        ("Jain's index of the files' rates", m.fairness),
        ("utilisation of the bottleneck", m.utilisation),
        ("useful bits, share of capacity", m.goodput),
    )
    for each, (title, measure) in zip(axes, rows, strict=True):
        for mbit, hue in zip(NETS["ref"].bottlenecks(), HUES, strict=True):
            scale = 1.0 if measure is not m.goodput else 1.0 / (mbit * 1e6)
            for control in CONTROLS:
                means = m.curve(runs, "ref", mbit, control, measure).mean(axis=1) * scale
                label = f"{SHOWN[control]}, {mbit} Mbit/s"
                _line(each, STEPS, means, hue, label, STYLES[control])
        each.set(title=title, ylim=(0, 1.05), xlabel="log10 of the load")
        each.set_ylabel("share, 1 is the most")
    legend(axes[0], 7.5)
    return figure


def _line(
    axes: Axes, xs: Sequence[float] | Floats, ys: Floats, hue: str, label: str, style: str
) -> None:
    axes.plot(xs, ys, style, marker="o", ms=3, lw=1.5, color=hue, label=label)


def mix(runs: Runs) -> Figure:
    """Draw pareto."""
    figure, (power, response) = panels(2, 9.6, 3.8)
    sizes = (((0.0, m.SHORT_B), "up to 40 kB", "-"), ((m.LONG_B, np.inf), "over 200 kB", "--"))
    for control, hue in COLOURS.items():
        values = np.log10(np.maximum(m.curve(runs, "ref", 90, control, kind="-pareto"), 1.0))
        _line(power, _rates("ref", 90), values.mean(axis=1), hue, SHOWN[control], "-")
        for bounds, name, style in sizes:
            times = m.curve(runs, "ref", 90, control, m.response_of(*bounds), "-pareto").mean(
                axis=1
            )
            _line(response, STEPS, times, hue, f"{SHOWN[control]}, {name}", style)
    power.set(title="network power", **AXES)
    response.set(title="response time by size", yscale="log")
    response.set(xlabel="log10 of the load", ylabel="response time [s]")
    legend(power)
    legend(response)
    return figure


def other(runs: Runs) -> Figure:
    """Draw readings."""
    figure, axes = panels(len(READ), 4.6 * len(READ), 4.0)
    for each, net in zip(axes, READ, strict=True):
        _powers(each, runs, net, "-one-way-1s")
        each.set_title(f"{NETS[net].name}, one way, 1 s")
        legend(each, 7.5)
    return figure
