"""The checks of Tables I to VI: each cell, and what the text says of them."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.check_builders import (
    Greater,
    Value,
    between,
    close,
    descending,
    number,
    ordering,
    ratio,
)
from tidegate.papers.check_results import Numbers
from tidegate.papers.registry import claim
from tidegate.papers.session.cases import ARRIVALS, LOADS, NAMES, TABLE1, TABLE2, admit
from tidegate.papers.session.measures import FCT, FLOWS, fct, large_share

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Parts, Runs

SHOWN = {"nosc": "none", "gssga": "GSS+GA", "cp": "CP"}
EQUAL = 0.25
"""What Table VI calls about equal spans 5.64 to 6.98 s."""

# Tables I and II

PERFORMANCE: dict[str, tuple[str, float]] = {
    "completion_rate": ("completed_per_s", 1.0),
    "fct": (FCT, 1.0),
    "goodput": ("goodput_mean_bps", 1e-3),
}


@claim("table1.admit{rate}.{column}", rate=TABLE1, column=tuple(PERFORMANCE))
def performance(rate: int, column: str) -> Check:
    """Check a cell of Table I."""
    return number(Value(admit(rate), *PERFORMANCE[column]))


@claim("table2.admit{rate}.mean_size", rate=TABLE2)
def fairness(rate: int) -> Check:
    """Check a mean size of Table II."""
    return number(Value(admit(rate), "size_mean_bytes"))


@claim("table2.admit{rate}.pct10000", rate=TABLE2)
def large(rate: int) -> Check:
    """Check a share of Table II by what is left of it to 100 %: how many are large."""
    return number(Value(admit(rate), large_share))


def _chain(rates: tuple[int, ...], measure: str) -> list[tuple[str, Value]]:
    return [(str(rate), Value(admit(rate), measure)) for rate in rates]


@claim("text.size_session_load", of=("static/10k-100/none", "static/30k-100/none"))
def congested(runs: Runs) -> Parts:
    """Check that 100 sessions/s of 10 kB are served as they come, and of 30 kB are not."""
    small, large = (
        runs.values(case, "completed_per_s") / runs.values(case, "offered_per_s")
        for case in ("static/10k-100/none", "static/30k-100/none")
    )
    return {
        f"at 10 kB more than 98 % complete ({100 * np.mean(small):.1f} %)": small - 0.98,
        f"at 30 kB less than 80 % ({100 * np.mean(large):.1f} %)": 0.80 - large,
    }


# Table III: the arrival rate changes


@claim("table3.{load}.{name}.fct", load=LOADS, name=tuple(NAMES))
def arrivals(load: str, name: str) -> Check:
    """Check a cell of Table III."""
    return number(Value(f"arrivals/{load}/{NAMES[name]}", FCT))


# Tables IV and V: the size changes


def _of(family: str, load: str, name: str, measure: str) -> Value:
    return Value(f"{family}/{load}/{NAMES[name]}", measure)


def _more(what: str, cell: str, more: str, less: str, measure: str) -> Greater:
    """Return that a control has more than another, of those in the ids of claims."""
    what = f"{what}: {SHOWN[more]} > {SHOWN[less]}"
    return between(what, f"{cell}/{{}}", NAMES[more], NAMES[less], measure)


def _over(
    rate: int, measure: str, pairs: tuple[tuple[str, str], ...], loads: tuple[str, ...] = LOADS
) -> list[Greater]:
    """Return, for each load of the size, which control has more than which."""
    what = "flows" if measure == FLOWS else "FCT"
    return [
        _more(f"{what} {rate}/s {load}", f"size/{rate}/{load}", more, less, measure)
        for load in loads
        for more, less in pairs
    ]


@claim("table4.arr{rate}.{load}.{name}.flows", rate=ARRIVALS, load=LOADS, name=tuple(NAMES))
def flows(rate: int, load: str, name: str) -> Check:
    """Check a cell of Table IV."""
    return number(_of(f"size/{rate}", load, name, FLOWS))


@claim("table5.arr{rate}.{load}.{name}.fct", rate=ARRIVALS, load=LOADS, name=tuple(NAMES))
def times(rate: int, load: str, name: str) -> Check:
    """Check a cell of Table V."""
    return number(_of(f"size/{rate}", load, name, FCT))


@claim("table4.arr1000.{load}.ratio_{law}", load=LOADS, law=("gss", "cp"))
def gain(load: str, law: str) -> Check:
    """Check how many times as many sessions complete under control."""
    mine = {"gss": "gssga", "cp": "cp"}[law]
    return ratio(_of("size/1000", load, mine, FLOWS), _of("size/1000", load, "nosc", FLOWS))


# Table VI: the capacity falls

PRINTED = ("load1", "load2")
"""The loads that Table VI has."""


@claim("table6.arr{rate}.{load}.{name}.fct", rate=ARRIVALS, load=PRINTED, name=tuple(NAMES))
def capacity(rate: int, load: str, name: str) -> Check:
    """Check a cell of Table VI."""
    return number(_of(f"capacity/{rate}", f"down-{load}", name, FCT))


CELLS = {
    load: tuple(f"capacity/1000/down-{load}/{name}" for name in ("cp", "none")) for load in PRINTED
}


@claim("table6.cp_1000", of=tuple(case for pair in CELLS.values() for case in pair))
def both_loads(runs: Runs) -> Numbers:
    """Check FCT under CP over that without control, over both loads that are printed."""
    each = [runs.values(cp, FCT) / runs.values(none, FCT) for cp, none in CELLS.values()]
    return Numbers(tuple(np.mean(each, axis=0)))


@claim("text.last100.{control}", control=("nc", "cp"))
def last(control: str) -> Check:
    """Check how long sessions take in the last 100 s, when the capacity has fallen."""
    name = {"nc": "none", "cp": "cp"}[control]
    return number(Value(f"capacity/100/down-load2/{name}", fct(200.0, 300.0)))


CHECKS = {
    "table1.fct_monotone": descending("FCT at", *_chain(TABLE1, FCT)),
    "table1.goodput_monotone": descending("goodput at", *_chain(TABLE1[::-1], "goodput_mean_bps")),
    "table1.knee": ratio(Value("admit/150", FCT), Value("admit/100", FCT)),
    "table2.size_monotone": ordering(
        *(
            Greater(
                f"size at {low} > at {high}",
                Value(admit(low), "size_mean_bytes"),
                Value(admit(high), "size_mean_bytes"),
            )
            for high, low in pairwise(TABLE2[:-1])
        ),
        close("size at 65 and 100", "admit/{}", "65", "100", "size_mean_bytes", 0.10),
    ),
    "text.input_percentile": number(Value("static/10k-100/none", large_share)),
    "text.nc_small_share": number(Value(admit(1000), large_share)),
    "text.admit100_pct": number(Value("admit/100", large_share)),
    "table3.order": ordering(
        *(
            _more(f"FCT {load}", f"arrivals/{load}", high, low, FCT)
            for load in LOADS
            for high, low in (("nosc", "gssga"), ("gssga", "cp"))
        )
    ),
    "table4.cp_best_100": ordering(*_over(100, FLOWS, (("cp", "gssga"), ("cp", "nosc")))),
    "table4.gss_best_1000": ordering(*_over(1000, FLOWS, (("gssga", "cp"), ("cp", "nosc")))),
    "table5.cp_lowest": ordering(
        *_over(100, FCT, (("nosc", "cp"), ("gssga", "cp"))),
        *_over(1000, FCT, (("nosc", "cp"), ("gssga", "cp"))),
    ),
    "table5.gss_worse": ordering(
        *_over(1000, FCT, (("gssga", "nosc"),), ("load2", "load3")),
        *_over(100, FCT, (("gssga", "nosc"),), ("load1", "load3")),
    ),
    "table5.load_trend": ordering(
        *(
            between(
                f"FCT 100/s {SHOWN[name]}: {high} > {low}",
                f"size/100/{{}}/{NAMES[name]}",
                high,
                low,
                FCT,
            )
            for name in NAMES
            for high, low in pairwise(LOADS)
        )
    ),
    "table6.par_100": ordering(
        *(
            close(
                f"FCT {load}: {SHOWN[one]} and {SHOWN[other]}",
                f"capacity/100/down-{load}/{{}}",
                NAMES[one],
                NAMES[other],
                FCT,
                EQUAL,
            )
            for load in PRINTED
            for one, other in combinations(NAMES, 2)
        )
    ),
}
