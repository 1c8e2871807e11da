"""The parts of the report, in the paper's order, and what they say with numbers from the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm import single, tandem
from tidegate.papers.dqm.cases import RATIOS, TRIED, TRIED_RHOS, at, two
from tidegate.papers.dqm.measures import (
    connection_loss,
    connection_loss_in_time,
    longest_pause,
)
from tidegate.papers.dqm.single import RTX, TABLE1, D
from tidegate.papers.report import number
from tidegate.papers.study import Section

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs


def _readings(runs: Runs) -> str:
    lines = [
        "P_c is not defined in the paper. Three readings: the share of the SYNs that the"
        " bottleneck lost, retries counted like first ones (taken for the verdicts); the share of"
        " the flows that were never admitted; and the share that SYNs spread evenly over time"
        " would lose, from the average queue second by second.",
        "",
        "| | SYNs lost | never admitted | over time | paper |",
        "|---|---|---|---|---|",
    ]
    for policy, shown in TABLE1.items():
        case = at(1.2, policy)
        cells = [
            runs.mean(case, connection_loss),
            runs.mean(case, "never_admitted_share"),
            runs.mean(case, connection_loss_in_time(policy)),
        ]
        said = {"dt": 0.30, "gr1": 0.77, "gr2": 0.60, "gr3": 0.57}[policy]
        lines.append(f"| {shown} | {' | '.join(number(cell) for cell in cells)} | {said} |")
    return "\n".join(lines)


def _pause(runs: Runs) -> str:
    one = runs.values(at(2.0, "p3"), longest_pause)
    tail = runs.values(at(2.0, "p3-drop-tail"), longest_pause)
    mixed = max(float(np.max(runs.values(two(2.0, each, "p3"), longest_pause))) for each in RATIOS)
    return (
        "**P3 does not lock out.** At rho 2, where nine SYNs of ten are lost, the longest time"
        f" without an admission in 1500 s was {number(float(np.mean(one)))} s (mean over the seeds;"
        f" the longest of all {number(float(np.max(one)))} s), over drop-tail"
        f" {number(float(np.max(tail)))} s at most, and with two classes {number(mixed)} s."
    )


def _tried(runs: Runs) -> str:
    lines = [
        "What the paper says could be done otherwise, at rho 1.6 (mean over the seeds):",
        "",
        "| P3 | D [s] | D_a [s] | sent again | P_c | completed [1/s] |",
        "|---|---|---|---|---|---|",
    ]
    names = {
        "p3": "over G-R2, by the average, dropping: as in the figures",
        "p3-moment": "by the queue at the moment",
        "p3-one-buffer": "one buffer for both sorts of packets",
        "p3-hold": "holding back up to ten instead of dropping",
        "p3-drop-tail": "over drop-tail (Figure 2a)",
    }
    for policy, name in names.items():
        case = at(1.6, policy)
        cells = [
            runs.mean(case, D),
            runs.mean(case, "fct_mean_s"),
            runs.mean(case, RTX),
            runs.mean(case, connection_loss),
            runs.mean(case, "completed_per_s"),
        ]
        lines.append(f"| {name} | {' | '.join(number(cell) for cell in cells)} |")
    late, again = (
        runs.mean("tandem/p3-drop-tail", each) for each in (tandem.LATENCY, tandem.AGAIN)
    )
    lines += [
        "",
        "Over G-R2, data is lost by G-R2's own curve as well, a tenth of it where P3 begins. The"
        " paper's numbers for P3 look like those over drop-tail: with three routers it gives"
        f" {number(late)} s and {number(again)} retransmissions there (Table II: 27.6 s and 127),"
        " and at rho 1.6 the latency above.",
    ]
    return "\n".join(lines)


SECTIONS = (
    Section(
        "Drop-tail and gentle RED alone (III-A-1; Table I)",
        ("table1",),
        ("readings",),
        (single.grid(),),
        _readings,
        tuple(at(1.2, policy) for policy in TABLE1),
    ),
    Section(
        "Three policies over the load (III-A-1; Figures 5 and 6)",
        ("fig5", "fig5a", "fig5b", "fig5c", "fig5d", "fig6a", "fig6b", "fig6c", "text"),
        ("fig5", "fig6"),
    ),
    Section(
        "Short and long flows (III-A-2; Figure 7)",
        ("fig7", "fig7a", "fig7b", "fig7cd", "light"),
        ("fig7",),
        (),
        _pause,
        (
            at(2.0, "p3"),
            at(2.0, "p3-drop-tail"),
            *(two(2.0, ratio, "p3") for ratio in RATIOS),
        ),
    ),
    Section("Several congested links (III-B; Table II)", ("table2",), (), (tandem.grid(),)),
    Section(
        "What the paper names and does not run (II, IV)",
        (),
        ("tried", "provision"),
        (),
        _tried,
        (
            "tandem/p3-drop-tail",
            *(at(rho, policy) for rho in TRIED_RHOS for policy in ("p3", *TRIED)),
        ),
    ),
)
