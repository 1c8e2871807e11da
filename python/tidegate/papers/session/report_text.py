"""The report: its opening, its parts in the paper's order, and what they say of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.report import number
from tidegate.papers.report_text import failing, good, holds, listed, measured, said
from tidegate.papers.session.cases import (
    ARRIVALS,
    LOADS,
    NAMES,
    OPTIMA,
    OTHER_LOADS,
    TABLE1,
    TABLE2,
    TUNED,
    threshold,
)
from tidegate.papers.session.measures import served
from tidegate.papers.study import PaperTable, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.report_text import Found
    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import ClaimResult

SHOWN = {"nosc": "none", "gssga": "GSS+GA", "cp": "CP"}
FURTHER = (
    *(f"paths/{rate}/{way}" for rate in (100, 1000) for way in ("all", "fin5", "fin15")),
    "paths/1000/syn15",
    "opaque/0.15",
)
"""What is in no picture and no claim."""


def _rate(runs: Runs, case: str) -> str:
    return number(runs.mean(case, served) / 250.0)


def _fct(runs: Runs, case: str) -> str:
    values = [record.traffic("web")["fct_mean_s"] for record in runs.records(case)]
    return number(float(np.mean(values)))


def _pair(runs: Runs, case: str) -> str:
    return f"{_rate(runs, case)}/s at {_fct(runs, case)} s"


def _cases(runs: Runs) -> str:
    """Return a line for each case that the paper names and does not run."""

    def pair(case: str) -> str:
        return _pair(runs, case)

    def fins(share: str) -> str:
        both = (_rate(runs, f"paths/{rate}/{share}") for rate in (1000, 100))
        return " and ".join(f"{rate}/s" for rate in both)

    return f"""\
Completions and mean FCT at 1000 arrivals/s of 10 kB, 250 s from an empty network on:

- **Downloads** (footnote 5), gated by their SYN+ACKs at the congested port:
  {pair("downloads/cp")} under CP, {pair("downloads/none")} without.
- **RST instead of a dropped SYN**: {pair("refuse/rst")}; dropping gives
  {pair("static/10k-1000/cp")}. Who is reset gives up: nothing comes again, and nobody waits.
- **Two controlled routers in series**, 10 and 5 Mbit/s: {pair("series/both")} with both gates,
  {pair("series/second")} with that of the second link alone, {pair("series/first")} with that
  of the first alone, {pair("series/none")} with none.
- **UDP takes half of the link**: {pair("udp/cp")} under CP, {pair("udp/none")} without.
- **Encrypted sessions** pass uncounted: with 0.15 % of them {pair("opaque/0.15")}, with 10 %
  {pair("opaque/10")}.
- **FINs that take another way** look like sessions that never end. CP completes {fins("all")}
  of 1000 and of 100 arrivals/s when it sees all FINs, {fins("fin5")} when it misses 5 %, and
  {fins("fin15")} when it misses 15 %: a probe adds 10 %, and a gate that sees less than
  it admits closes step by step. **SYNs that take another way** come in uncounted: with 15 % of
  them CP completes {pair("paths/1000/syn15")} of 1000 arrivals/s.
- **Other SYN timers at the hosts** (see the picture). Alone, longer waits help:
  {pair("hosts/15s/none")} with waits from 15 s on, {pair("hosts/1s/none")} from 1 s on.
  Together with CP it matters whether they are multiples of the epoch:
  {pair("hosts/1s/cp")} from 1 s on, {pair("hosts/15s/cp")} from 15 s on, but
  {pair("hosts/jitter/cp")} with waits up to half as long again at random, by which a retry
  comes at another phase of an epoch and old sessions get in.

**Thresholds**, tuned at 1000 arrivals/s of 10 kB on 10 Mbit/s (the most completions of those
tried), then used elsewhere: completions and mean FCT.
"""


def beyond(runs: Runs) -> str:
    """Return what came of the cases beyond the paper, and of the baselines."""

    def pair(case: str) -> str:
        return _pair(runs, case)

    lines = [
        _cases(runs),
        f"| load | optimum | {' | '.join(f'{law} {value:g}' for law, value in TUNED.items())}"
        " | GSS+GA | CP |",
        "|---|---|---|---|---|---|",
    ]
    names = {"30k": "30 kB", "300": "300 arrivals/s", "5M": "5 Mbit/s", "100": "100 arrivals/s"}
    for load in OTHER_LOADS:
        _, best = runs.best(f"optimum/{OPTIMA[load]}")
        cells = [f"{number(runs.mean(best, 'completed') / 250)}/s"]
        cells += [pair(threshold(law, value, load).key) for law, value in TUNED.items()]
        cells += [pair(f"other/{load}/{name}") for name in ("gssga", "cp")]
        lines.append(f"| {names[load]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def grids() -> dict[str, PaperTable]:
    """Return the tables as they are printed."""
    three = tuple(SHOWN.values())

    def row(template: str) -> tuple[str, ...]:
        return tuple(f"session.{template.format(name)}" for name in NAMES)

    def two_rates(
        table: str, what: str, loads: tuple[str, ...]
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        rows = []
        for rate in ARRIVALS:
            for load in loads:
                cells = row(f"{table}.arr{rate}.{load}.{{}}.{what}")
                rows.append((f"{rate} | {load.upper()}", cells))
        return tuple(rows)

    def admits(
        table: str, rates: tuple[int, ...], columns: tuple[str, ...]
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        ids = [
            (str(rate), tuple(f"session.{table}.admit{rate}.{each}" for each in columns))
            for rate in rates
        ]
        return tuple(ids)

    of_rate = ("arrivals/s", "load", *three)
    return {
        "table1": PaperTable(
            "Table I, performance at different admit rates",
            ("admit rate, 1/s", "completions, 1/s", "FCT, s", "goodput, kbit/s"),
            admits("table1", TABLE1, ("completion_rate", "fct", "goodput")),
        ),
        "table2": PaperTable(
            "Table II, fairness between short and long sessions",
            ("admit rate, 1/s", "mean size completed, B", "10 kB is percentile"),
            admits("table2", TABLE2, ("mean_size", "pct10000")),
        ),
        "table3": PaperTable(
            "Table III, FCT (s) when the arrival rate changes",
            ("load", *three),
            tuple((load.upper(), row(f"table3.{load}.{{}}.fct")) for load in LOADS),
        ),
        "table4": PaperTable(
            "Table IV, sessions completed when the size changes",
            of_rate,
            two_rates("table4", "flows", LOADS),
        ),
        "table5": PaperTable(
            "Table V, FCT (s) when the size changes", of_rate, two_rates("table5", "fct", LOADS)
        ),
        "table6": PaperTable(
            "Table VI, FCT (s) when the capacity falls",
            of_rate,
            two_rates("table6", "fct", ("load1", "load2")),
        ),
    }


_GRIDS = grids()

_STATIC = (
    Section(
        "Fixed admit rates (III; Figure 2, Tables I and II)",
        (
            "table1",
            "table2",
            "fig2",
            "text.input_percentile",
            "text.nc_small_share",
            "text.admit100_pct",
            "text.qiu",
            "text.syn_backoff",
        ),
        ("fig2",),
        (_GRIDS["table1"], _GRIDS["table2"]),
    ),
    Section(
        "Traffic that does not change (V-C; Figures 3 to 5)",
        (
            "fig3",
            "fig4",
            "fig5",
            "text.size_session_load",
            "text.cp_slow_start",
            "text.no_worse",
            "text.cp_overall",
        ),
        ("fig3", "fig4", "fig5"),
    ),
)

_CHANGING = (
    Section("Loads that change (V-D; Figure 6)", ("fig6",), ("fig6",)),
    Section(
        "The arrival rate changes (V-E; Figures 7 and 8, Table III)",
        ("fig7", "fig8", "table3", "text.input_independence"),
        ("fig7", "fig8"),
        (_GRIDS["table3"],),
    ),
    Section(
        "The size changes (V-F; Tables IV and V)",
        ("table4", "table5"),
        (),
        (_GRIDS["table4"], _GRIDS["table5"]),
    ),
    Section(
        "The capacity changes (V-G; Figure 9, Table VI)",
        ("fig9", "table6", "text.last100", "text.optimal_vs_capacity"),
        ("fig9", "capacity-up", "optima"),
        (_GRIDS["table6"],),
    ),
    Section("Pulses (V-D)", ("text.pulse",), ("pulses",)),
)

_FURTHER = (
    Section(
        "Reasons that the text gives, each part taken away (IV)",
        (
            "text.gss_alone",
            "text.ga_alone",
            "text.cp_smoothing",
            "text.linear_range",
            "text.starvation",
            "text.stateless",
        ),
        ("ablations",),
    ),
    Section(
        "Beyond the paper's own cases (II, VI, VII)",
        ("text.threshold_degrades", "text.skew", "text.ipsec_share"),
        ("beyond",),
        (),
        beyond,
        FURTHER,
    ),
)

SECTIONS = (*_STATIC, *_CHANGING, *_FURTHER)


def opening(outcomes: Sequence[ClaimResult], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    parts = (_works, _time, _shapes, _exact, _fails)
    return listed(parts, outcomes, runs)


def _works(found: Found) -> str:
    """Return whether session control works."""
    none, ratio = (
        measured(found, "table1.admit1000.completion_rate"),
        measured(found, "fig3.ratio17"),
    )
    level = measured(found, "table1.admit100.completion_rate")
    if none is None or ratio is None or level is None:
        return ""
    answer = (
        "**Session control works**"
        if holds(found, "fig3.congested_gain10k")
        else "**Session control does not do what the paper says**"
    )
    return (
        f"{answer} where too many sessions meet on a link: of 1000 sessions/s of 10 kB on"
        f" 10 Mbit/s {number(none)}/s complete without it (paper:"
        f" {said(found, 'table1.admit1000.completion_rate')}), and {number(level)}/s when the"
        f" router admits 100/s (paper: {said(found, 'table1.admit100.completion_rate')}). With"
        f" 30 kB the schemes complete {number(ratio)} times as many or more (paper:"
        f" about {said(found, 'fig3.ratio17')})."
    )


def _time(found: Found) -> str:
    """Return what it does to the completion time."""
    none, cp = (
        measured(found, "table5.arr1000.load3.nosc.fct"),
        measured(found, "table5.arr1000.load3.cp.fct"),
    )
    gss = measured(found, "table5.arr1000.load3.gssga.fct")
    if none is None or cp is None or gss is None:
        return ""
    lowest = (
        "lowest everywhere"
        if holds(found, "table5.cp_lowest")
        else "lowest in most cells, not in all"
    )
    return (
        "**Close-and-probe keeps sessions short, GSS+GA does not**: in Table V (1000/s, LOAD3)"
        f" {number(cp)} s under CP, {number(gss)} s under GSS+GA, {number(none)} s without"
        f" control; CP's are {lowest}."
    )


def _shapes(found: Found) -> str:
    """Return what the time lines and the histograms show."""
    names = {
        "fig4.cp_best": "more short sessions under CP than under GSS+GA, and there than without",
        "fig5.cp_track": "CP's admissions follow its completions",
        "fig5.cp_spikes": "with regular probes",
        "fig8.nc_dip": "completions dip in the overload without control",
        "fig8.cp_floor": "and stay above 100/s under CP",
    }
    there = [name for name in names if name in found]
    if len(there) < len(names):
        return ""
    good = "; ".join(names[name] for name in there if holds(found, name))
    bad = "; ".join(names[name] for name in there if not holds(found, name))
    return f"**The shapes are the paper's**: {good}." + (f" Not so: {bad}." if bad else "")


def _exact(found: Found) -> str:
    """Return how the tables fare, with and without control."""
    numbers = [each for each in found.values() if each.claim.kind == "exact-number"]
    cells = [each for each in numbers if not each.chosen_on]
    none = [
        each
        for each in cells
        if ".nosc." in each.claim.id
        or ".admit1000." in each.claim.id
        or each.claim.id.endswith(".nc")
    ]
    if not none or len(none) == len(cells):
        return ""
    rest = [each for each in cells if each not in none]

    def share(some: Sequence[ClaimResult]) -> str:
        return f"{sum(good(each) for each in some)} of {len(some)}"

    return (
        f"**Numbers**: of the cells of the tables that nothing was chosen on {share(rest)} with"
        f" control are within a fifth of the paper's, and {share(none)} without."
        " **Two details that the paper leaves unsaid decide them**: the age of the simulator, of"
        " which only the one before March 2002 makes the overload without control as deep as"
        " printed; and whether a session that the gate lets in and the full queue then loses has"
        " used up its place, which decides how long sessions take where more are let in than fit."
        " Both were chosen on Tables I and II alone ([the search](search.md))."
    )


def _fails(found: Found) -> str:
    """Return how the statements of the text and of the figures fare."""
    return failing(found, "Statements that do not hold as they stand", ("ordering",))
