"""What the text of the report computes, and the tables as the paper prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.dqm.cases import (
    LIGHT,
    RATIOS,
    RED_OTHERWISE,
    REDS,
    RETRIES,
    TAIL_OTHERWISE,
    admitted,
    at,
    light,
    red_otherwise,
    retried,
    spared,
    two,
)
from tidegate.papers.dqm.checks import implied_latency
from tidegate.papers.dqm.measures import TABLE1, longest_pause, most_waiting
from tidegate.papers.report_text import named, number
from tidegate.papers.study import PaperTable

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

TEXT_CASES = (
    "otherwise/{otherwise}/{gr1,gr2,gr3} marks/{gr2,p3-gr2} downloads/{dt,gr2,p3} call/{dt,gr2,p3} "
    "otherwise/{tail}/dt spared/{dt,gr1,gr2,gr3} retries/{0,1,2} "
    "light/{light}/{dt,p3-gr2} classes/{light}/5/{gr2,p3} "
    "rho/1.2/{dt,gr1,gr2,gr3} rho/2/{p3,p3-gr2} classes/2/{ratio}/p3 tandem/{gr2,p3,p3-gr2} "
    "{connections,data}-first/{p1,p3} {connections,data}-first-6s/p3 "
    "rho/1.6/{gr2,p1,p2,p3} rho/{1.2,1.6,2}/{p3,p3-gr2,p3-all,p3-moment,p3-one-buffer,p3-hold}"
)


def printed(runs: Runs, name: str) -> str:
    """Return what the paper has for a claim, as printed."""
    return runs.paper.claim(name).value


def admitted_at(loss: float) -> str:
    """Return the connections a second that are admitted at a printed loss of SYNs."""
    return f"{admitted(loss):.2f}"


def implied(loss: float) -> str:
    """Return the D that follows from it, in seconds."""
    return number(implied_latency(loss))


def percent_of_red(runs: Runs, measure: str) -> str:
    """Return a latency under P3 at rho 1.6 in per cent of that under G-RED."""
    both = (runs.evaluated(at(1.6, policy), measure) for policy in ("p3", "gr2"))
    dual, red = both
    return number(100.0 * float(np.mean(dual / red)))


def longest_wait(runs: Runs, case: str) -> str:
    """Return the most packets that waited in a sample of any run, connection packets included."""
    return number(float(np.max(runs.values(case, most_waiting))))


def longest(runs: Runs, case: str) -> str:
    """Return the longest time without an admission, of all seeds, in seconds."""
    return number(float(np.max(runs.values(case, longest_pause))))


def longest_mixed(runs: Runs) -> str:
    """Return the same under P3 with two classes, of all mixes."""
    cases = [two(2.0, ratio, "p3") for ratio in RATIOS]
    return number(max(float(np.max(runs.values(case, longest_pause))) for case in cases))


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

TEMPLATE_NAMES = named(
    at,
    admitted_at,
    implied,
    printed,
    percent_of_red,
    longest_wait,
    longest,
    longest_mixed,
    red_otherwise,
    spared,
    light,
    retried,
    two,
    LIGHT=LIGHT,
    RETRIES=RETRIES,
    TAIL_OTHERWISE=TAIL_OTHERWISE,
    RED_OTHERWISE=RED_OTHERWISE,
    REDS=REDS,
    TABLE1=TABLE1,
    TABLE_1=TABLE_1,
    TABLE_2=TABLE_2,
)
"""What the template of the report uses."""
