"""The report: its opening, its parts in the paper's order, and what they say of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.blitz.cases import CONTROLS, NETS, OTHER_D, keys
from tidegate.papers.blitz.measures import advantage, peak
from tidegate.papers.report import number
from tidegate.papers.report_text import failing, holds, listed, measured, said
from tidegate.papers.study import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.report_text import Found
    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import ClaimResult


def _row(runs: Runs, name: str, net: str, kind: str = "") -> str:
    cells = []
    for mbit in NETS[net].bottlenecks():
        both = [np.log10(np.mean(peak(runs, net, mbit, each, kind))) for each in CONTROLS]
        gain = float(np.mean(advantage(runs, net, mbit, kind)))
        cells.append(f"{both[0]:.2f}, {both[1]:.2f}: **{number(gain)}**")
    return f"| {name} | {' | '.join(cells)} |"


def _maxima(runs: Runs) -> str:
    lines = [
        "log10 of the maximum power of Blitz and of TCP, and the one over the other, by the"
        " bottleneck's share of the network's bandwidth:",
        "",
        "| network | 1/5 | 3/5 | 1 |",
        "|---|---|---|---|",
    ]
    lines += [_row(runs, net.name, net.key) for net in NETS.values()]
    return "\n".join(lines)


def _readings(runs: Runs) -> str:
    lines = [
        "D is taken as the delay one way. The paper's own numbers fit the other reading at least"
        " as well: its product for 1.8 ms, 35 kB, is 150 Mbit/s times D, and its 170 miles are"
        " 1.8 ms there and back at the speed of light (168 miles; one way it would be 335). So"
        " three networks were run with D there and back too:",
        "",
        "| network, D there and back | 1/5 | 3/5 | 1 |",
        "|---|---|---|---|",
    ]
    lines += [_row(runs, NETS[net].name, net, "-round") for net in OTHER_D]
    return "\n".join(lines)


def _all(kind: str, *nets: str) -> tuple[str, ...]:
    return tuple(
        case
        for net in nets
        for mbit in NETS[net].bottlenecks()
        for control in CONTROLS
        for case in keys(net, mbit, control, kind)
    )


def _window(runs: Runs) -> str:
    lines = [
        "A TCP that knew F and BDP could start with a window that grows with F/BDP. Here it is"
        " BDP x / (1 + x) for x = F/BDP: the whole file where that is small beside the path. The"
        " gap that is left, at the widest bottleneck of each network:",
        "",
        "| network | F/BDP | Blitz over TCP | over TCP with that window |",
        "|---|---|---|---|",
    ]
    for net in NETS.values():
        plain, wide = (
            float(np.mean(advantage(runs, net.key, net.mbit, over=over)))
            for over in ("reno", "wide")
        )
        share = number(net.ratio(net.mbit))
        lines.append(f"| {net.name} | {share} | {number(plain)} | {number(wide)} |")
    return "\n".join(lines)


SECTIONS = (
    Section(
        "The reference network and a faster one (2.2; Figures 3, 4 and 8)",
        ("abstract", "fig3", "fig4l", "fig4r", "fig8"),
        ("fig4", "fig8"),
        (),
        _maxima,
        _all("", *NETS),
    ),
    Section(
        "A smaller and a slower network (2.2; Figure 5)",
        ("fig5l", "fig5r"),
        ("fig5", "middle"),
    ),
    Section(
        "Larger and smaller files (2.2; Figures 6 and 7)",
        ("fig6l", "fig6r", "fig7"),
        ("fig6", "fig7"),
    ),
    Section(
        "Fairness, use of the link, and files of different sizes (2.1, 2.2)",
        ("text.short_priority", "text.tr_claims"),
        ("reference", "pareto"),
    ),
    Section(
        "The conclusion: aggressiveness by F/BDP (3)",
        ("concl", "text.aggressiveness"),
        ("gap",),
        (),
        _window,
        (
            *_all("", *NETS),
            *(case for net in NETS.values() for case in keys(net.key, net.mbit, "wide")),
        ),
    ),
    Section("What D is (2.2)", (), ("round",), (), _readings, _all("-round", *OTHER_D)),
)


_KINDS = ("ordering", "ratio", "approx-number")


def opening(outcomes: Sequence[ClaimResult], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    parts = (_gains, _grows, _ratio, _fails)
    return listed(parts, outcomes, runs)


def _gains(found: Found) -> str:
    names = [f"fig4l.ratio{mbit}" for mbit in (30, 90, 150)]
    known = [gain for gain in (measured(found, name) for name in names) if gain is not None]
    if len(known) < len(names):
        return ""
    low, middle, high = (number(gain) for gain in known)
    one, two, three = (said(found, name) for name in names)
    return (
        f"**Blitz has the higher maximum power**: in the reference network {low}, {middle} and"
        f" {high} times TCP's at bottlenecks of 30, 90 and 150 Mbit/s (paper: {one}, {two} and"
        f" {three})."
    )


def _grows(found: Found) -> str:
    if "fig4r.gap" not in found:
        return ""
    grows = "grows" if holds(found, "fig4r.all") else "does not grow everywhere"
    return (
        f"**Its lead {grows} with bandwidth**: from 150 Mbit/s to 1 Gbit/s it is so many times as"
        f" great: {found['fig4r.gap'].reason.partition('. ')[-1] or found['fig4r.gap'].reason}"
        f" The paper has {said(found, 'fig4r.gap')}. It shrinks with the size of the files."
    )


def _ratio(found: Found) -> str:
    if "concl.ratio" not in found:
        return ""
    answer = "holds" if holds(found, "concl.ratio") else "does not hold"
    return (
        f"**The conclusion {answer}**: what is gained falls with F/BDP (the size of a file over"
        " bandwidth times round trip), in all networks at all bottlenecks."
    )


def _fails(found: Found) -> str:
    return failing(
        found,
        "What does not hold as it stands",
        ("ordering", "ratio", "approx-number", "exact-number"),
    )
