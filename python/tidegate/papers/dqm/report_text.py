"""The report: its opening, its parts in the paper's order, and what they say of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm.cases import RATIOS, TRIED, TRIED_RHOS, at, two
from tidegate.papers.dqm.measures import (
    AGAIN,
    LATENCY,
    RTX,
    TABLE1,
    D,
    connection_loss,
    connection_loss_in_time,
    longest_pause,
)
from tidegate.papers.report import number
from tidegate.papers.report_text import failing, holds, listed, measured, said
from tidegate.papers.study import PaperTable, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.report_text import Found
    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import ClaimResult


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
        paper = runs.paper.claim(f"table1.{policy}.Pc").value
        lines.append(f"| {shown} | {' | '.join(number(cell) for cell in cells)} | {paper} |")
    return "\n".join(lines)


def _pause(runs: Runs) -> str:
    one = runs.values(at(2.0, "p3"), longest_pause)
    red = runs.values(at(2.0, "p3-gr2"), longest_pause)
    mixed = max(float(np.max(runs.values(two(2.0, each, "p3"), longest_pause))) for each in RATIOS)
    return (
        "**P3 does not lock out.** At rho 2, where nine SYNs of ten are lost, the longest time"
        f" without an admission in 1500 s was {number(float(np.mean(one)))} s (mean over the seeds;"
        f" the longest of all {number(float(np.max(one)))} s), over G-R2"
        f" {number(float(np.max(red)))} s at most, and with two classes {number(mixed)} s."
    )


def _tried(runs: Runs) -> str:
    lines = [
        "What the paper says could be done otherwise, at rho 1.6 (mean over the seeds):",
        "",
        "| P3 | D [s] | D_a [s] | sent again | P_c | completed [1/s] |",
        "|---|---|---|---|---|---|",
    ]
    names = {
        "p3": "over drop-tail, by the average of the data, dropping: as in the figures",
        "p3-gr2": "over G-R2 (Figure 2b)",
        "p3-all": "by the average of data and connection packets",
        "p3-moment": "by the queue at the moment",
        "p3-one-buffer": "one buffer for both sorts of packets",
        "p3-hold": "holding back up to ten instead of dropping",
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
    late, again = (runs.mean("tandem/p3-gr2", each) for each in (LATENCY, AGAIN))
    said_late, said_again = (runs.paper.claim(f"table2.p3.{name}").value for name in ("D", "rtx"))
    lines += [
        "",
        "**Two readings of one sentence.** That the policies are used together with G-R2 for"
        " comparison can mean beside it or over it. Over G-R2, data is lost by G-R2's own curve as"
        f" well: with three routers P3 then takes {number(late)} s and sends {number(again)}"
        f" packets again, where Table II has {said_late} s and {said_again}. The reading was chosen"
        " on Table II alone ([the search](search.md)); everything else is a prediction.",
    ]
    return "\n".join(lines)


TABLE_1 = PaperTable(
    "Table I: drop-tail and gentle RED alone, rho 1.2",
    ("measure", *TABLE1.values()),
    tuple(
        (shown, tuple(f"dqm.table1.{policy}.{name}" for policy in TABLE1))
        for name, shown in {"T": "T [bit/s]", "D": "D [s]", "Pd": "P_d", "Pc": "P_c"}.items()
    ),
)
TABLE_2 = PaperTable(
    "Table II: flows over both congested links, 700 s",
    ("measure", "G-RED", "P3"),
    (
        ("latency D [s]", ("dqm.table2.gred.D", "dqm.table2.p3.D")),
        ("retransmitted packets", ("dqm.table2.gred.rtx", "dqm.table2.p3.rtx")),
    ),
)

SECTIONS = (
    Section(
        "Drop-tail and gentle RED alone (III-A-1; Table I)",
        ("table1",),
        ("readings",),
        (TABLE_1,),
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
            at(2.0, "p3-gr2"),
            *(two(2.0, ratio, "p3") for ratio in RATIOS),
        ),
    ),
    Section("Several congested links (III-B; Table II)", ("table2",), (), (TABLE_2,)),
    Section(
        "What the paper names and does not run (II, IV)",
        (),
        ("tried", "provision"),
        (),
        _tried,
        (
            "tandem/p3-gr2",
            *(at(rho, policy) for rho in TRIED_RHOS for policy in ("p3", *TRIED)),
        ),
    ),
)


def opening(outcomes: Sequence[ClaimResult], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    parts = (_works, _baseline, _classes, _fails)
    return listed(parts, outcomes, runs)


def _works(found: Found) -> str:
    latency, part = (measured(found, f"fig6c.{name}") for name in ("D_p3", "D_ratio"))
    total = measured(found, "fig6c.Da_ratio")
    if latency is None or part is None or total is None:
        return ""
    answer = "holds" if holds(found, "text.tradeoff") else "does not hold"
    return (
        f"**The trade {answer}, by less than the paper says.** At rho 1.6 flows that are admitted"
        f" under P3 take {number(latency)} s (paper: {said(found, 'fig6c.D_p3')}),"
        f" {number(part)} % of what they take under G-RED (paper:"
        f" {said(found, 'fig6c.D_ratio')} %); with their set-up it is {number(total)} % (paper:"
        f" {said(found, 'fig6c.Da_ratio')} %)."
    )


def _baseline(found: Found) -> str:
    latency, lost = (measured(found, f"table1.dt.{name}") for name in ("D", "Pd"))
    if latency is None or lost is None:
        return ""
    return (
        f"**The baseline is less bad here**: drop-tail at rho 1.2 takes {number(latency)} s (paper:"
        f" {said(found, 'table1.dt.D')}) and loses {number(100 * lost)} % of the data (paper:"
        f" {number(100 * (found['table1.dt.Pd'].claim.number or 0.0))} %). ns-2 of today has"
        " 114 s and 28 % with the timers of 2003; 1500 s of overload are a transient, and seeds"
        " differ by a quarter."
    )


def _classes(found: Found) -> str:
    if "fig7a.unfair" not in found:
        return ""
    answer = "holds" if holds(found, "fig7a.unfair") else "is not resolved"
    return (
        f"**Long flows gain more than short ones** under P3, at the cost of fairness: that {answer}"
        " for every mix of the two."
    )


def _fails(found: Found) -> str:
    return failing(found, "Statements that do not hold as they stand", ("ordering", "ratio"))
