"""The report: its opening, its parts in the paper's order, and what they say of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.lgc.cases import AGAINST, EXPERIMENTS, FILTERS, GATED, RATES, TREE, moved, rate
from tidegate.papers.lgc.measures import (
    others_done_s,
    share,
    wasted,
    wasted_share,
    work_at_congested,
)
from tidegate.papers.lgc.outcomes import holds
from tidegate.papers.lgc.processes import side_by_side
from tidegate.papers.lgc.trees import caught, delivered_mb, done_share, hops, upstream_mb
from tidegate.papers.report import number
from tidegate.papers.report_text import failing, good, listed, measured, said
from tidegate.papers.study import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate.papers.report_text import Found
    from tidegate.papers.runs import Measure, Runs
    from tidegate.papers.verdicts import ClaimResult

HARD = (
    "exp1.identified",
    "exp1.first_hop",
    "exp1.no_retrigger",
    "exp1.resp_thr",
    "exp1b.trigger",
    "exp1b.thr",
    "exp1b.loss",
    "exp2.identified",
    "exp2.order",
    "exp3.order",
    "exp3.triggers",
    "exp3.thr_mod",
)
"""What is said without a number that hangs on a rate, and has to be so in every run."""
KINDS = {"mobile": "moves to the first hop", "static": "stays at I3", "red-alone": "RED alone"}


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _mean(runs: Runs, case: str, measure: Measure, scale: float = 1.0) -> str:
    value = scale * float(np.nanmean(runs.values(case, measure)))
    return number(value) if np.isfinite(value) else "not all"


def _service(runs: Runs) -> str:
    rows = []
    for experiment in EXPERIMENTS:
        right = [
            sum(holds(record, experiment) for record in runs.records(rate(experiment, each)))
            for each in RATES
        ]
        rows.append((experiment, *(f"{each}/5" for each in right)))
    table = _lines(("experiment", *(f"{each}/s" for each in RATES)), rows)
    return (
        "The paper gives no service rate, no delays and no Tx; all that it counts hangs on them."
        " In how many of five runs everything holds that it says without a number (who is filtered,"
        " in which order, how often LGC is triggered, that all of the others arrives):\n\n"
        f"{table}\n\n"
        "Only at 30 packets a second does all hold in all four, and that is what was taken:"
        " these claims are *calibrated*. Slower, the sources that give way hold most of the queue;"
        " faster, the greedy one is alone in it, or the queue never fills."
    )


def _waste(runs: Runs) -> str:
    columns: tuple[tuple[Measure, float], ...] = (
        (wasted, 1.0),
        (wasted_share, 1.0),
        (work_at_congested, 1.0),
        (share("s1"), 100.0),
        (others_done_s, 1.0),
    )
    head = (
        "filter", "source 1", "MB upstream for nothing", "of what went there [%]",
        "packets that I3 throws away", "of source 1 arrives [%]", "others are done [s]",
    )  # fmt: skip
    rows = []
    for lasting in (False, True):
        for kind in FILTERS:
            case = moved(kind, lasting=lasting)
            cells = (_mean(runs, case, measure, scale) for measure, scale in columns)
            packets = "4000 packets" if lasting else "250, as in the paper"
            rows.append((KINDS[kind], packets, *cells))
    return (
        "Experiment 2 with the filter that moves, with one that stays at the congested node, and"
        " with RED alone. Upstream are the links I1-I2 and I2-I3; what crosses them and does not"
        " arrive crosses them for nothing:\n\n" + _lines(head, rows)
    )


def _processes(runs: Runs) -> str:
    origin = runs.testbed or "the results that come with the paper"
    return (
        "Nine processes on loopback that forward real datagrams (`tidegated testbed`,"
        " [scenarios/testbed](../../../scenarios/testbed)), with the same rates, delays and bursts."
        f" Processes: {origin}; other results beside the simulation: `tidegate paper lgc --testbed"
        " FOLDER`.\n\n" + side_by_side(runs, runs.testbed)
    )


def _tree(runs: Runs) -> str:
    names = {"mobile": "moves", "static": "stays", "none": "no filter"}
    columns: tuple[Measure, ...] = (caught, upstream_mb, delivered_mb, done_share)
    head = (
        "filter", "hosts filtered, of ten", "MB between routers", "MB over the congested link",
        "sessions of the others done [%]",
    )  # fmt: skip
    rows = [(names[k], *(_mean(runs, f"tree/{k}", each) for each in columns)) for k in TREE]
    far = np.mean([hops(record) for record in runs.records("tree/mobile")], axis=0)
    reached = float(far[-1] / far.sum()) * 100 if far.sum() else 0.0
    return (
        "31 routers in a tree, 68 hosts, a server behind 10 Mbit/s; ten hosts send from 2 to"
        " 20 Mbit/s without regard, and begin 5 s apart, the others send 20 kB now and then."
        f" Of the filters that moved, {number(reached)} % reached the first hop of their"
        " host, four hops up. A filter that stays spares the queue and not the links before it:"
        " these are as full as without, and what the others send does not get that far.\n\n"
        + _lines(head, rows)
    )


def _fct(name: str, field: str) -> Callable[..., float]:
    def measure(record: object) -> float:
        value = record.traffic(name)[field]  # type: ignore[attr-defined]
        return float("nan") if value is None else float(value)

    return measure


def _against(runs: Runs) -> str:
    head = (
        "",
        "traffic",
        "served [%]",
        "FCT, median [s]",
        "FCT, 95 % [s]",
        "greedy: carried [Mbit/s]",
    )
    rows = []
    for load, shown in (
        ("", "20 Mbit/s without a break"),
        ("-moderate", "60 packets twice a second"),
    ):
        for kind in AGAINST:
            case = f"fair/{kind}{load}"
            cells = (
                _mean(runs, case, _fct("rest", "completed_share"), 100.0),
                _mean(runs, case, _fct("rest", "fct_p50_s")),
                _mean(runs, case, _fct("rest", "fct_p95_s")),
                _mean(runs, case, _carried),
            )
            rows.append((kind, shown, *cells))
    return (
        "One link of 10 Mbit/s, 20 sessions of 30 kB a second, and a host that sends UDP. FQ-CoDel"
        " gives it what the others leave and needs no upstream; LGC takes it out altogether, and"
        " frees the links before. What bursts within its share LGC leaves alone, as it should; its"
        " bursts then meet the others in one queue.\n\n" + _lines(head, rows)
    )


def _carried(record: object) -> float:
    """Return what the link carried of the greedy host, Mbit/s."""
    bytes_ = record.traffic("greedy").get("delivered_bytes")  # type: ignore[attr-defined]
    return float("nan") if bytes_ is None else float(bytes_) * 8 / 110e6


def _gated(runs: Runs) -> str:
    names = {
        "none": "nothing",
        "gate": "close-probe",
        "lgc": "LGC",
        "lgc-and-gate": "LGC, then close-probe",
    }
    head = (
        "at the port",
        "completed [1/s]",
        "FCT of those admitted, mean [s]",
        "admitted, unfinished [%]",
    )
    rows = [
        (
            names[kind],
            _mean(runs, f"gated/{kind}", _fct("web", "completed_per_s")),
            _mean(runs, f"gated/{kind}", _fct("web", "fct_admitted_mean_s")),
            _mean(runs, f"gated/{kind}", _fct("web", "unfinished_share"), 100.0),
        )
        for kind in GATED
    ]
    return (
        "200 sessions of 10 kB a second at 10 Mbit/s, 1.7 times what fits, and a host that sends"
        " 8 Mbit/s of UDP from 20 s on. The filter stands before the gate:\n\n" + _lines(head, rows)
    )


SECTIONS = (
    Section("Who is greedy (3.1.1; Figure 2)", ("example", "fig2", "shortcoming.qo"), ("fig2",)),
    Section("Experiment 1: basic operation (5.1; Figure 5)", ("exp1",), ("fig5",)),
    Section("The same with moderate demand (5.1; Figure 6)", ("exp1b",), ("fig6",)),
    Section("Experiment 2: the filter moves (5.2; Figures 8 and 9)", ("exp2",), ("fig8", "fig9")),
    Section("Experiment 3: two greedy sources (5.3; Figure 11)", ("exp3",), ("fig11",)),
    Section(
        "What hangs on the service rate",
        (),
        ("service",),
        (),
        _service,
        tuple(rate(experiment, each) for experiment in EXPERIMENTS for each in RATES),
    ),
    Section(
        "A filter that moves, one that stays, RED alone (5.4)",
        ("text.static_filter",),
        ("waste",),
        (),
        _waste,
        tuple(moved(kind, lasting=lasting) for kind in FILTERS for lasting in (False, True)),
    ),
    Section(
        "What the text says beside (1, 2.2, 3.1, 4.2, 5.1, 5.4)",
        (
            "shortcoming.miss",
            "text.stop",
            "text.many_conns",
            "text.red_fair",
            "text.max_disparity",
            "text.full_red",
            "text.incentive",
            "table1",
        ),
        ("crowds",),
    ),
    Section("Paper, simulation and real processes", (), (), (), _processes, EXPERIMENTS),
    Section(
        "Beyond the paper: a hundred nodes, ten of them greedy",
        (),
        ("tree",),
        (),
        _tree,
        tuple(f"tree/{kind}" for kind in TREE),
    ),
    Section(
        "Beyond the paper: LGC against FQ-CoDel",
        (),
        ("against",),
        (),
        _against,
        tuple(f"fair/{kind}{load}" for kind in AGAINST for load in ("", "-moderate")),
    ),
    Section(
        "Beyond the paper: LGC in front of session control",
        (),
        (),
        (),
        _gated,
        tuple(f"gated/{kind}" for kind in GATED),
    ),
)


def opening(outcomes: Sequence[ClaimResult], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    return listed((_law, _hard, _numbers, _moves, _fails), outcomes, runs)


def _law(found: Found) -> str:
    names = ("example.r", "exp1.r", "fig2.eq", "fig2.n1", "shortcoming.qo")
    if not all(name in found for name in names):
        return ""
    answer = "comes out" if all(good(found[name]) for name in names) else "does not come out"
    return (
        f"**The detection {answer} to the digit**: 41 of 75, 17 of 39, Figure 2, and a connection"
        " alone is never greedy. Five that are greedy alike go unseen, as the paper itself says."
    )


def _hard(found: Found) -> str:
    if not all(name in found for name in HARD):
        return ""
    failed = [name for name in HARD if not good(found[name])]
    if failed:
        return f"**Not everything that is said without a number holds**: {', '.join(failed)}."
    return (
        "**The mechanism does what the paper says, in every run**: one trigger in experiment 1,"
        " none in 1b, two in experiment 3 in the right order; the filter goes I3, I2, I1, and what"
        " each takes begins where the one before ends; everything of those that give way, or ask"
        " for little, arrives. It does so at one service rate, 30 packets a second, which the paper"
        " does not give: at half or twice of it most of this fails."
    )


def _numbers(found: Found) -> str:
    parts = []
    for name, what in (
        ("exp1.greedy_thr", "experiment 1"),
        ("exp3.thr_g1", "experiment 3, the first"),
        ("exp3.thr_g2", "the second"),
    ):
        value = measured(found, name)
        if value is not None:
            parts.append(f"{what} {number(value)} % (paper: {said(found, name)} %)")
    if not parts:
        return ""
    return (
        f"**The numbers are not the paper's**: of the greedy source arrives, in {', '.join(parts)}."
    )


def _moves(found: Found) -> str:
    if "text.static_filter" not in found:
        return ""
    answer = "is worth its way" if good(found["text.static_filter"]) else "saves less than said"
    return (
        f"**A filter that moves {answer}**: one that stays at the congested node lets the greedy"
        " source fill the links before it, see below; among a hundred nodes that starves everybody"
        " behind them."
    )


def _fails(found: Found) -> str:
    return failing(
        found,
        "What does not hold as it stands",
        ("ordering", "ratio", "approx-number", "exact-number"),
    )
