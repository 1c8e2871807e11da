"""What the text of the report computes, and the tables as the paper prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.report_text import named, number
from tidegate.papers.session.cases import (
    ARRIVALS,
    FALLS,
    LOADS,
    MILD,
    NAMES,
    NC,
    OPTIMA,
    STEPS,
    TABLE1,
    TABLE2,
    TRIED_AT,
    TRIED_SETTINGS,
    TUNED,
    admit,
    long_segments,
    mild,
    settling,
    stepping,
    threshold,
    tried,
)
from tidegate.papers.session.measures import FLOWS, once_small, served
from tidegate.papers.study import PaperTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import ClaimResult

TEXT_CASES = (
    "{tabulated} {tried} other-tcp/{tabulated} 250s/{falls} 250s/other-tcp/{falls} "
    "static/10k-1000/gssga settling/{settling} {mild}/{none,cp} mild/{mild}/{none,cp}/1s "
    "mild/{mild}/cp/sooner step/{steps}/{alone,both} ablation/{gss-alone,size-no-way-back} "
    "ablation/{up,down}-load3-no-way-back capacity/1000/{up,down}-load3/gssga "
    "size/1000/load3/gssga segments/1000/{1000,250,150} admit/{250,150} static/10k-1000/none "
    "paths/{arrivals}/{all,fin5,fin15} paths/1000/syn15 opaque/0.15 {said}"
)
_SCHEMES = ("none", "GSS+GA", "CP")


def each_class(runs: Runs, case: str, names: str, measure: str) -> str:
    """Return a measure of some classes of a case."""
    found = (
        np.mean([record.traffic(name)[measure] for record in runs.records(case)])
        for name in names.split()
    )
    return " / ".join(number(float(each)) for each in found)


def with_step(runs: Runs, step: int) -> str:
    """Return the change an epoch once the bracket is small, under golden sections and with GA."""
    found = once_small(runs, stepping(step, "alone"), stepping(step, "both"))
    return " | ".join(number(float(np.mean(each))) for each in found)


def printed(runs: Runs, name: str) -> str:
    """Return the number that a claim expects, for which the paper has another one."""
    expected = runs.paper.claim(name).expected
    assert isinstance(expected, float)
    return number(expected)


def by_seed(runs: Runs, case: str, measure: str) -> str:
    """Return a measure of each run of a case."""
    return ", ".join(f"{each:.0f}" for each in runs.evaluated(case, measure))


def rate(runs: Runs, case: str) -> str:
    """Return the completions per second of a case."""
    return number(runs.mean(case, served) / 250.0)


def pair(runs: Runs, case: str) -> str:
    """Return the completions per second of a case, and its mean FCT in seconds."""
    fct = np.mean([record.traffic("web")["fct_mean_s"] for record in runs.records(case)])
    return f"{rate(runs, case)}/s at {number(float(fct))} s"


def optimum(runs: Runs, load: str) -> str:
    """Return the completions per second at the best admit rate of those tried."""
    _, best = runs.best(f"optimum/{OPTIMA[load]}")
    return number(runs.mean(best, "completed") / 250)


def tuned(runs: Runs, load: str, law: str) -> str:
    """Return `pair` of a threshold that was tuned at another load."""
    return pair(runs, threshold(law, TUNED[law], load).key)


def _rows_beside() -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return what stands beside each other: label, measure, and claims with their cases."""
    rows = [
        (f"Table I, {rate or 'none'}: completions, 1/s; FCT", "", [(claim, case)])
        for rate, claim, case in (
            ("", "table1.admit1000", NC),
            ("250/s", "table1.admit250", "admit/250"),
            ("150/s", "table1.admit150", "admit/150"),
            ("100/s", "table1.admit100", "admit/100"),
        )
    ]
    for name, shown in (("nosc", "none"), ("cp", "CP")):
        control = NAMES[name]
        rows += [
            (
                f"Table III, {shown}",
                "fct_mean_s",
                [(f"table3.{load}.{name}.fct", f"arrivals/{load}/{control}") for load in LOADS],
            ),
            *(
                (
                    f"Table {table}, 1000/s, {shown}{unit}",
                    measure,
                    [
                        (f"{claims}.arr1000.{load}.{name}.{what}", f"size/1000/{load}/{control}")
                        for load in LOADS
                    ],
                )
                for table, claims, what, measure, unit in (
                    ("IV", "table4", "flows", "completed", ", sessions"),
                    ("V", "table5", "fct", "fct_mean_s", ""),
                )
            ),
            *(
                (
                    f"Table VI, {rate}/s, {shown}",
                    "fct_mean_s",
                    [
                        (
                            f"table6.arr{rate}.{load}.{name}.fct",
                            f"capacity/{rate}/down-{load}/{control}",
                        )
                        for load in LOADS[:2]
                    ],
                )
                for rate in ARRIVALS[::-1]
            ),
        ]
    return rows


def beside(runs: Runs) -> list[tuple[str, ...]]:
    """Return the rows of the two settings, each with and without the shorter V-G."""
    found = []
    for label, measure, cells in _rows_beside():
        ways = ["", "other-tcp/"]
        if cells[0][1] in FALLS:
            ways += ["250s/", "250s/other-tcp/"]
        if measure:
            pairs = [(claim, case, measure) for claim, case in cells]
        else:
            pairs = [
                (f"{claim}.{what}", case, each)
                for claim, case in cells
                for what, each in (("completion_rate", "completed_per_s"), ("fct", "fct_mean_s"))
            ]
        said = " / ".join(runs.paper.claim(claim).value for claim, _, _ in pairs)
        here = [
            " / ".join(number(runs.mean(f"{way}{case}", each)) for _, case, each in pairs)
            for way in ways
        ]
        found.append((label, said, *here, *[""] * (4 - len(here))))
    return found


def from_admission(runs: Runs) -> str:
    """Return how far other hosts are off in Tables III and V, counted from admission, in %."""
    off = []
    for load in LOADS:
        for claim, case in (
            (f"table3.{load}.nosc.fct", f"arrivals/{load}/none"),
            (f"table5.arr1000.{load}.nosc.fct", f"size/1000/{load}/none"),
        ):
            said = runs.paper.claim(claim).number
            assert said is not None
            off.append(abs(runs.mean(f"other-tcp/{case}", "fct_admitted_mean_s") / said - 1.0))
    return f"{100 * max(off):.0f}"


def over_table1(runs: Runs, way: str, length: str = "") -> str:
    """Return the FCT of Table VI (1000/s, LOAD1) over that of Table I, both without control."""
    falls = runs.mean(f"{length}{way}{FALLS_NONE}", "fct_mean_s")
    return f"{falls / runs.mean(f'{way}{NC}', 'fct_mean_s'):.2f}"


FALLS_NONE = "capacity/1000/down-load1/none"


def at_fixed_rates(runs: Runs) -> list[tuple[str, ...]]:
    """Return what completes at fixed rates under each setting that was tried: 250, 150, 100/s."""
    names = [f"table1.admit{rate}.completion_rate" for rate in TRIED_AT]
    rows = [("paper", *(f"{runs.paper.claim(name).number:.1f}" for name in names))]
    keys = {"as taken": [f"admit/{rate}" for rate in TRIED_AT]}
    keys |= {
        what: [tried(place, rate) for rate in TRIED_AT] for place, what in enumerate(TRIED_SETTINGS)
    }
    for what, cases in keys.items():
        rows.append((what, *(f"{runs.mean(case, 'completed_per_s'):.1f}" for case in cases)))
    return rows


def is_uncontrolled(result: ClaimResult) -> bool:
    """Tell whether a claim is of a case without control."""
    name = result.claim.id
    return ".nosc." in name or ".admit1000." in name or name.endswith(".nc")


def is_cp(result: ClaimResult) -> bool:
    """Tell whether a claim is of a case under CP."""
    return ".cp." in result.claim.id or result.claim.id.endswith(".cp")


def is_gss(result: ClaimResult) -> bool:
    """Tell whether a claim is of a case under GSS+GA."""
    return ".gssga." in result.claim.id


def gain(runs: Runs, scheme: str) -> str:
    """Return how many times as many sessions of 30 kB complete under a scheme as without."""
    mine, none = (runs.values(f"static/30k-1000/{name}", FLOWS) for name in (scheme, "none"))
    return number(float(np.mean(mine / none)))


def _printed(
    title: str, columns: Sequence[str], rows: Sequence[tuple[str, str]], fields: Iterable[str]
) -> PaperTable:
    """Return a table; each row gives its label and the claim of each field, `{}` in its id."""
    cells = [
        (label, tuple(f"session.{claim.format(field)}" for field in fields))
        for label, claim in rows
    ]
    return PaperTable(title, tuple(columns), tuple(cells))


def _by_load(table: str, what: str, loads: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (f"{rate}, {load.upper()}", f"{table}.arr{rate}.{load}.{{}}.{what}")
        for rate in ARRIVALS
        for load in loads
    ]


_BY_LOAD = ("arrivals/s, load", *_SCHEMES)
TABLES = (
    _printed(
        "Table I, performance at different admit rates",
        ("admit rate, 1/s", "completions, 1/s", "FCT, s", "goodput, kbit/s"),
        [(str(rate), f"table1.admit{rate}.{{}}") for rate in TABLE1],
        ("completion_rate", "fct", "goodput"),
    ),
    _printed(
        "Table II, fairness between short and long sessions",
        ("admit rate, 1/s", "mean size completed, B", "10 kB is percentile"),
        [(str(rate), f"table2.admit{rate}.{{}}") for rate in TABLE2],
        ("mean_size", "pct10000"),
    ),
    _printed(
        "Table III, FCT (s) when the arrival rate changes",
        ("load", *_SCHEMES),
        [(load.upper(), f"table3.{load}.{{}}.fct") for load in LOADS],
        NAMES,
    ),
    _printed(
        "Table IV, sessions completed when the size changes",
        _BY_LOAD,
        _by_load("table4", "flows", LOADS),
        NAMES,
    ),
    _printed(
        "Table V, FCT (s) when the size changes",
        _BY_LOAD,
        _by_load("table5", "fct", LOADS),
        NAMES,
    ),
    _printed(
        "Table VI, FCT (s) when the capacity falls",
        _BY_LOAD,
        _by_load("table6", "fct", ("load1", "load2")),
        NAMES,
    ),
)
"""Tables I to VI."""

TEMPLATE_NAMES = named(
    rate,
    pair,
    by_seed,
    printed,
    with_step,
    long_segments,
    admit,
    mild,
    settling,
    each_class,
    optimum,
    tuned,
    gain,
    beside,
    over_table1,
    from_admission,
    at_fixed_rates,
    is_uncontrolled,
    is_cp,
    is_gss,
    MILD=MILD,
    STEPS=STEPS,
    TABLES=TABLES,
    TUNED=TUNED,
)
"""What the template of the report uses."""
