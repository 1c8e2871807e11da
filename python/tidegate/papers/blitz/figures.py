"""Figures 4 to 8 redrawn, and what the paper announces or concludes without a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tidegate.papers.blitz.cases import CONTROLS, NETS, OTHER_D, PAPER, STEPS, keys
from tidegate.papers.blitz.measures import (
    LONG_B,
    SHORT_B,
    advantage,
    curve,
    fairness,
    goodput,
    peak,
    response_of,
    utilisation,
)
from tidegate.papers.study import PaperPicture
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from tidegate.papers.runs import Floats, Measure, Runs
    from tidegate.papers.study import Draw

HUES = (PALETTE[4], PALETTE[5], PALETTE[0])
STYLES = {"blitz": "-", "reno": "--"}
SHOWN = {"blitz": "Blitz", "reno": "TCP"}


def _panels(columns: int, width: float, height: float, rows: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height))
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def _rates(net: str, mbit: int) -> Floats:
    return np.log10([NETS[net].saturation(mbit) * 10.0**step for step in STEPS])


def _powers(axes: Axes, runs: Runs, net: str, kind: str = "") -> None:
    """Draw log10 of the power over log10 of the arrival rate, as the paper does."""
    for mbit, hue in zip(NETS[net].bottlenecks(), HUES, strict=True):
        for control in CONTROLS:
            values = np.log10(np.maximum(curve(runs, net, mbit, control, kind=kind), 1.0))
            means, spread = values.mean(axis=1), values.std(axis=1)
            xs = _rates(net, mbit)
            axes.fill_between(xs, means - spread, means + spread, color=hue, alpha=0.15, lw=0)
            axes.plot(
                xs,
                means,
                STYLES[control],
                marker="o",
                ms=3,
                lw=1.5,
                color=hue,
                label=f"{SHOWN[control]}, {mbit} Mbit/s",
            )
    axes.set_title(f"network power, {NETS[net].name}")
    axes.set_xlabel("log10 of files per second")
    axes.set_ylabel("log10 of the power [bit/s per s]")


def _top(runs: Runs, net: str, mbit: int, control: str) -> float:
    return float(np.log10(np.mean(peak(runs, net, mbit, control))))


def _printed(axes: Axes, runs: Runs, net: str) -> None:
    """Mark where the paper has a maximum, beside ours: it gives ratios, so from one of ours."""
    label = f"paper (from our {'TCP' if net == 'ref' else 'reference'})"
    for mbit, theirs in zip(NETS[net].bottlenecks(), NETS["ref"].bottlenecks(), strict=True):
        for control, letter in zip(CONTROLS, "BT", strict=True):
            if net == "ref" and control == "blitz":
                rise = np.log10(_said(runs, f"fig4l.ratio{mbit}"))
                level = _top(runs, net, mbit, "reno") + rise
            elif net == "fast" and (letter, mbit) in RISES:
                rise = np.log10(_said(runs, f"fig4r.d{letter}{mbit}"))
                level = _top(runs, "ref", theirs, control) + rise
            elif net == "big":
                fall = _said(runs, f"fig6l.{'blitz' if letter == 'B' else 'tcp'}_drop")
                level = _top(runs, "ref", theirs, control) - fall
            else:
                continue
            place = int(np.argmax(curve(runs, net, mbit, control).mean(axis=1)))
            x = _rates(net, mbit)[place]
            axes.plot([x], [level], "x", color="black", ms=8, mew=2, label=label, zorder=4)
            label = ""


RISES = {(letter, mbit) for letter in "BT" for mbit in (200, 600, 1000)}
"""The maxima of the faster network that the text compares: of Blitz and TCP, at a bottleneck."""


def _said(runs: Runs, name: str) -> float:
    """Return the number of a claim, of a range the end that is nearest."""
    said = runs.paper.claim(name).said
    return float(said[0] if isinstance(said, tuple) else said or np.nan)


def _side_by_side(*nets: str) -> tuple[tuple[str, ...], Draw]:
    def draw(runs: Runs) -> Figure:
        figure, axes = _panels(len(nets), 4.8 * len(nets), 4.2)
        for each, net in zip(axes, nets, strict=True):
            _powers(each, runs, net)
            _printed(each, runs, net)
            each.legend(frameon=False, fontsize=7.5, ncols=2, loc="lower left")
        low = min(each.get_ylim()[0] for each in axes)
        high = max(each.get_ylim()[1] for each in axes)
        for each in axes:
            each.set_ylim(low - 0.2 * (high - low), high)  # below the curves: the legend
        return figure

    return _cases(dict.fromkeys((*nets, *(("ref",) if "big" in nets else ())))), draw


def _cases(nets: Iterable[str], kind: str = "") -> tuple[str, ...]:
    return tuple(
        case
        for net in nets
        for mbit in NETS[net].bottlenecks()
        for control in CONTROLS
        for case in keys(net, mbit, control, kind)
    )


def _figure8(runs: Runs) -> Figure:
    figure, (axes,) = _panels(1, 6.4, 3.6)
    bottlenecks = NETS["fast"].bottlenecks()
    for place, mbit in enumerate(bottlenecks):
        for offset, control in ((-0.2, "blitz"), (0.2, "reno")):
            values = peak(runs, "fast", mbit, control) / 1e9
            axes.bar(
                place + offset,
                float(np.mean(values)),
                0.38,
                yerr=float(np.std(values)),
                color=PALETTE[0] if control == "blitz" else PALETTE[1],
                error_kw={"lw": 0.8},
                label=SHOWN[control] if place == 0 else None,
            )
            axes.annotate(
                f"{np.mean(values):.3g}",
                (place + offset, float(np.mean(values) + np.std(values))),
                (0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=8,
            )
    axes.set_axisbelow(True)
    axes.set_xticks(range(3), [f"{mbit} Mbit/s" for mbit in bottlenecks])
    axes.set_ylabel("maximum power [Gbit/s per s]")
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)
    axes.legend(frameon=False)
    return figure


def _gap(runs: Runs) -> Figure:
    figure, (axes,) = _panels(1, 7.8, 4.4)
    nets = (*PAPER, "middle")
    marks = dict(zip(nets, "osv^DPX*", strict=True))
    for net in nets:
        xs = [NETS[net].ratio(mbit) for mbit in NETS[net].bottlenecks()]
        ys = [float(np.mean(advantage(runs, net, mbit))) for mbit in NETS[net].bottlenecks()]
        axes.plot(xs, ys, marks[net], color=PALETTE[0], ms=6, label=NETS[net].name)
        top = NETS[net].mbit
        wide = float(np.mean(advantage(runs, net, top, over="wide")))
        axes.plot([NETS[net].ratio(top)], [wide], marks[net], mfc="none", color=PALETTE[1], ms=7)
    axes.plot([], [], "o", mfc="none", color=PALETTE[1], label="over TCP, window from F/BDP")
    axes.axhline(1.0, color=GREY, lw=1, ls=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_xlabel("F/BDP: file size over bandwidth times round trip")
    axes.set_ylabel("maximum power, Blitz over TCP")
    axes.legend(frameon=False, fontsize=7.5)
    return figure


def _reference(runs: Runs) -> Figure:
    figure, axes = _panels(3, 12.6, 3.8)
    wanted: Sequence[tuple[str, Measure]] = (
        ("Jain's index of the files' rates", fairness),
        ("utilisation of the bottleneck", utilisation),
        ("useful bits, share of capacity", goodput),
    )
    for each, (title, measure) in zip(axes, wanted, strict=True):
        for mbit, hue in zip(NETS["ref"].bottlenecks(), HUES, strict=True):
            scale = 1.0 if measure is not goodput else 1.0 / (mbit * 1e6)
            for control in CONTROLS:
                means = curve(runs, "ref", mbit, control, measure).mean(axis=1) * scale
                label = f"{SHOWN[control]}, {mbit} Mbit/s"
                each.plot(
                    STEPS, means, STYLES[control], marker="o", ms=3, lw=1.5, color=hue, label=label
                )
        each.set_title(title)
        each.set_ylim(0, 1.05)
        each.set_xlabel("log10 of the load")
        each.set_ylabel("share, 1 is the most")
    axes[0].legend(frameon=False, fontsize=7.5)
    return figure


def _mix(runs: Runs) -> Figure:
    figure, axes = _panels(2, 9.6, 3.8)
    for control, hue in (("blitz", PALETTE[0]), ("reno", PALETTE[1])):
        values = np.log10(np.maximum(curve(runs, "ref", 90, control, kind="-pareto"), 1.0))
        axes[0].plot(
            _rates("ref", 90), values.mean(axis=1), "-o", ms=3, color=hue, label=SHOWN[control]
        )
        for bounds, name, style in (
            ((0.0, SHORT_B), "up to 40 kB", "-"),
            ((LONG_B, np.inf), "over 200 kB", "--"),
        ):
            means = curve(runs, "ref", 90, control, response_of(*bounds), "-pareto").mean(axis=1)
            label = f"{SHOWN[control]}, {name}"
            axes[1].plot(STEPS, means, style, marker="o", ms=3, color=hue, label=label)
    axes[0].set_title("network power")
    axes[1].set_title("response time by size")
    axes[0].set_xlabel("log10 of files per second")
    axes[0].set_ylabel("log10 of the power [bit/s per s]")
    axes[1].set_yscale("log")
    axes[1].set_xlabel("log10 of the load")
    axes[1].set_ylabel("response time [s]")
    for each in axes:
        each.legend(frameon=False, fontsize=8)
    return figure


def _round(runs: Runs) -> Figure:
    figure, axes = _panels(len(OTHER_D), 4.6 * len(OTHER_D), 4.0)
    for each, net in zip(axes, OTHER_D, strict=True):
        _powers(each, runs, net, "-round")
        each.set_title(f"{NETS[net].name}, there and back")
        each.legend(frameon=False, fontsize=7.5)
    return figure


def _picture(name: str, title: str, *nets: str) -> PaperPicture:
    cases, draw = _side_by_side(*nets)
    return PaperPicture(name, title, cases, draw)


PICTURES = (
    _picture(
        "fig4",
        "Figure 4: network power in the reference network and in the faster one; bands are one"
        " standard deviation over the seeds.",
        "ref",
        "fast",
    ),
    _picture("fig5", "Figure 5: in the smaller and in the slower network.", "small", "slow"),
    _picture("fig6", "Figure 6: files of 1 MB.", "big", "bigfast"),
    _picture("fig7", "Figure 7: files of 100 kB and of 10 kB.", "ref", "tiny"),
    PaperPicture("fig8", "Figure 8: maximum powers, 1 Gbit/s.", _cases(("fast",)), _figure8),
    _picture("middle", "The delay of 3 ms, which the paper announces and does not show.", "middle"),
    PaperPicture(
        "gap",
        "The conclusion: what Blitz gains, over F/BDP, in all networks at all bottlenecks; and"
        " over a TCP whose initial window grows with F/BDP.",
        (
            *_cases((*PAPER, "middle")),
            *(case for net in NETS.values() for case in keys(net.key, net.mbit, "wide")),
        ),
        _gap,
    ),
    PaperPicture(
        "reference",
        "Fairness and use of the bottleneck in the reference network, of which the paper only"
        " says that they are satisfactory.",
        _cases(("ref",)),
        _reference,
    ),
    PaperPicture(
        "pareto",
        "Pareto sizes (shape 1.5, mean 100 kB) in place of equal ones: the reference network at"
        " 90 Mbit/s.",
        tuple(case for control in CONTROLS for case in keys("ref", 90, control, "-pareto")),
        _mix,
    ),
    PaperPicture(
        "round",
        "The other reading of D: the delay there and back.",
        _cases(OTHER_D, "-round"),
        _round,
    ),
)
