"""The checks of Tables I to VI: each cell, and what the text says of them."""

from __future__ import annotations

from itertools import pairwise
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


@claim("table1.fct_monotone")
def times_fall() -> Check:
    """Check that completion times fall with the admit rate."""
    return descending("FCT at", *_chain(TABLE1, FCT))


@claim("table1.goodput_monotone")
def goodput_rises() -> Check:
    """Check that goodput rises as the admit rate falls."""
    return descending("goodput at", *_chain(TABLE1[::-1], "goodput_mean_bps"))


@claim("table1.knee")
def knee() -> Check:
    """Check how many times as long sessions take at 150/s as at 100/s."""
    return ratio(Value("admit/150", FCT), Value("admit/100", FCT))


@claim("table2.size_monotone")
def sizes_rise() -> Check:
    """Check that larger sessions complete as the admit rate falls, down to 100/s."""
    size = {rate: Value(admit(rate), "size_mean_bytes") for rate in TABLE2}
    rising = [
        Greater(f"size at {low} > at {high}", size[low], size[high])
        for high, low in pairwise(TABLE2[:-1])
    ]
    return ordering(*rising, *close("size at 65 and 100", size[65], size[100], 0.10))


@claim("text.input_percentile")
def offered_sizes() -> Check:
    """Check how many of the sizes that are offered are large."""
    return number(Value("static/10k-100/none", large_share))


@claim("text.nc_small_share")
def small_without_control() -> Check:
    """Check how many of the sessions that complete without control are large."""
    return number(Value(admit(1000), large_share))


@claim("text.admit100_pct")
def small_at_100() -> Check:
    """Check how many of those at 100/s are."""
    return number(Value("admit/100", large_share))


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


@claim("table3.order")
def order() -> Check:
    """Check that sessions are shortest under CP, then under GSS+GA."""
    return ordering(
        *(
            between(
                f"FCT {load}: {SHOWN[high]} > {SHOWN[low]}",
                f"arrivals/{load}/{{}}",
                NAMES[high],
                NAMES[low],
                FCT,
            )
            for load in LOADS
            for high, low in (("nosc", "gssga"), ("gssga", "cp"))
        )
    )


# Tables IV and V: the size changes


def _of(family: str, load: str, name: str, measure: str) -> Value:
    return Value(f"{family}/{load}/{NAMES[name]}", measure)


def _over(
    rate: int, measure: str, pairs: tuple[tuple[str, str], ...], loads: tuple[str, ...] = LOADS
) -> list[Greater]:
    """Return, for each load of the size, which control has more than which."""
    what = "flows" if measure == FLOWS else "FCT"
    return [
        Greater(
            f"{what} {rate}/s {load}: {SHOWN[more]} > {SHOWN[less]}",
            _of(f"size/{rate}", load, more, measure),
            _of(f"size/{rate}", load, less, measure),
        )
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


@claim("table4.cp_best_100")
def cp_best() -> Check:
    """Check that at 100/s the most complete under CP."""
    return ordering(*_over(100, FLOWS, (("cp", "gssga"), ("cp", "nosc"))))


@claim("table4.gss_best_1000")
def gss_best() -> Check:
    """Check that at 1000/s the most complete under GSS+GA."""
    return ordering(*_over(1000, FLOWS, (("gssga", "cp"), ("cp", "nosc"))))


@claim("table5.cp_lowest")
def lowest() -> Check:
    """Check that sessions are shortest under CP."""
    pairs = (("nosc", "cp"), ("gssga", "cp"))
    return ordering(*(side for rate in ARRIVALS for side in _over(rate, FCT, pairs)))


@claim("table5.gss_worse")
def gss_worse() -> Check:
    """Check where sessions are longer under GSS+GA than without control."""
    worse = (("gssga", "nosc"),)
    return ordering(
        *_over(1000, FCT, worse, ("load2", "load3")),
        *_over(100, FCT, worse, ("load1", "load3")),
    )


@claim("table5.load_trend")
def trend() -> Check:
    """Check that at 100/s sessions are shorter from LOAD1 to LOAD3."""
    return ordering(
        *(
            Greater(
                f"FCT 100/s {SHOWN[name]}: {high} > {low}",
                _of("size/100", high, name, FCT),
                _of("size/100", low, name, FCT),
            )
            for name in NAMES
            for high, low in (("load1", "load2"), ("load2", "load3"))
        )
    )


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


@claim("table6.par_100")
def on_a_par() -> Check:
    """Check that at 100/s all sessions take about as long."""
    return ordering(
        *(
            side
            for load in PRINTED
            for one, other in (("nosc", "gssga"), ("nosc", "cp"), ("gssga", "cp"))
            for side in close(
                f"FCT {load}: {SHOWN[one]} and {SHOWN[other]}",
                _of("capacity/100", f"down-{load}", one, FCT),
                _of("capacity/100", f"down-{load}", other, FCT),
                EQUAL,
            )
        )
    )


@claim("text.last100.{control}", control=("nc", "cp"))
def last(control: str) -> Check:
    """Check how long sessions take in the last 100 s, when the capacity has fallen."""
    name = {"nc": "none", "cp": "cp"}[control]
    return number(Value(f"capacity/100/down-load2/{name}", fct(200.0, 300.0)))
