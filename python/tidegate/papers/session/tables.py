"""The checks of Tables I to VI: each cell, and what the text says of them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.finders import (
    Of,
    Side,
    between,
    close,
    descending,
    number,
    ordering,
    parts,
    ratio,
)
from tidegate.papers.session.cases import ARRIVALS, LOADS
from tidegate.papers.session.measures import fct
from tidegate.papers.study import Grid

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs
    from tidegate.papers.study import Check

NAMES = {"nosc": "none", "gssga": "gssga", "cp": "cp"}
"""The controls in the ids of claims, and in the keys of cases."""
SHOWN = {"nosc": "none", "gssga": "GSS+GA", "cp": "CP"}
TABLE1 = (1000, 250, 150, 100, 65)
TABLE2 = (1000, 200, 150, 100, 65)
FCT, FLOWS = "fct_mean_s", "completed"
EQUAL = 0.25
"""What Table VI calls about equal spans 5.64 to 6.98 s."""


def admit(rate: int) -> str:
    """Return the case of an admit rate; 1000 is no control at all, which also lets retries pass."""
    return "static/10k-1000/none" if rate == 1000 else f"admit/{rate}"


def _first() -> dict[str, Check]:
    """Return the checks of Tables I and II."""
    found = {}
    for rate in TABLE1:
        row = f"table1.admit{rate}"
        found[f"{row}.completion_rate"] = number(Of(admit(rate), "completed_per_s"))
        found[f"{row}.fct"] = number(Of(admit(rate), FCT))
        found[f"{row}.goodput"] = number(Of(admit(rate), "goodput_mean_bps", 1e-3))
    for rate in TABLE2:
        row = f"table2.admit{rate}"
        found[f"{row}.mean_size"] = number(Of(admit(rate), "size_mean_bytes"))
        found[f"{row}.pct10000"] = number(Of(admit(rate), "share_le_10kB", 100.0))

    def chain(rates: tuple[int, ...], measure: str) -> list[tuple[str, Of]]:
        return [(str(rate), Of(admit(rate), measure)) for rate in rates]

    flat = Of("admit/65", "size_mean_bytes"), Of("admit/100", "size_mean_bytes")
    rising = [
        Side(
            f"size at {low} > at {high}",
            Of(admit(low), "size_mean_bytes"),
            Of(admit(high), "size_mean_bytes"),
        )
        for high, low in itertools.pairwise(TABLE2)
    ]
    return found | {
        "table1.fct_monotone": descending("FCT at", *chain(TABLE1, FCT)),
        "table1.goodput_monotone": descending(
            "goodput at", *chain(TABLE1[::-1], "goodput_mean_bps")
        ),
        "table1.knee": ratio(Of("admit/150", FCT), Of("admit/100", FCT), 25.001 / 4.053),
        "table2.size_monotone": ordering(*rising, *close("size at 65 and 100", *flat, 0.10)),
        "text.input_percentile": number(Of("static/10k-100/none", "share_le_10kB", 100.0)),
        "text.nc_small_share": number(Of(admit(1000), "share_le_10kB", 100.0)),
        "text.admit100_pct": number(Of("admit/100", "share_le_10kB", 100.0)),
    }


def _third() -> dict[str, Check]:
    found = {
        f"table3.{load}.{name}.fct": number(Of(f"arrivals/{load}/{control}", FCT))
        for load in LOADS
        for name, control in NAMES.items()
    }
    sides = [
        between(
            f"FCT {load}: {SHOWN[high]} > {SHOWN[low]}",
            f"arrivals/{load}/{{}}",
            NAMES[high],
            NAMES[low],
            FCT,
        )
        for load in LOADS
        for high, low in (("nosc", "gssga"), ("gssga", "cp"))
    ]
    return found | {"table3.order": ordering(*sides)}


def _of(family: str, load: str, name: str, measure: str) -> Of:
    return Of(f"{family}/{load}/{NAMES[name]}", measure)


def _over(
    rate: int, measure: str, pairs: tuple[tuple[str, str], ...], loads: tuple[str, ...] = LOADS
) -> list[Side]:
    """Return, for each load of the size, which control has more than which."""
    what = "flows" if measure == FLOWS else "FCT"
    return [
        Side(
            f"{what} {rate}/s {load}: {SHOWN[more]} > {SHOWN[less]}",
            _of(f"size/{rate}", load, more, measure),
            _of(f"size/{rate}", load, less, measure),
        )
        for load in loads
        for more, less in pairs
    ]


def _fourth_and_fifth() -> dict[str, Check]:
    found: dict[str, Check] = {}
    for rate in ARRIVALS:
        for load in LOADS:
            for name in NAMES:
                flows, times = (_of(f"size/{rate}", load, name, each) for each in (FLOWS, FCT))
                found[f"table4.arr{rate}.{load}.{name}.flows"] = number(flows)
                found[f"table5.arr{rate}.{load}.{name}.fct"] = number(times)
    for load in LOADS:
        for short, name in (("gss", "gssga"), ("cp", "cp")):
            mine, none = (_of("size/1000", load, each, FLOWS) for each in (name, "nosc"))
            found[f"table4.arr1000.{load}.ratio_{short}"] = ratio(mine, none)
    lowest = [
        side for rate in ARRIVALS for side in _over(rate, FCT, (("nosc", "cp"), ("gssga", "cp")))
    ]
    trend = [
        Side(
            f"FCT 100/s {SHOWN[name]}: {high} > {low}",
            _of("size/100", high, name, FCT),
            _of("size/100", low, name, FCT),
        )
        for name in NAMES
        for high, low in (("load1", "load2"), ("load2", "load3"))
    ]
    worse = (("gssga", "nosc"),)
    return found | {
        "table4.cp_best_100": ordering(*_over(100, FLOWS, (("cp", "gssga"), ("cp", "nosc")))),
        "table4.gss_best_1000": ordering(*_over(1000, FLOWS, (("gssga", "cp"), ("cp", "nosc")))),
        "table5.cp_lowest": ordering(*lowest),
        "table5.gss_worse": ordering(
            *_over(1000, FCT, worse, ("load2", "load3")),
            *_over(100, FCT, worse, ("load1", "load3")),
        ),
        "table5.load_trend": ordering(*trend),
    }


def _sixth() -> dict[str, Check]:
    found: dict[str, Check] = {}
    for rate in ARRIVALS:
        for load in ("load1", "load2"):
            for name in NAMES:
                cell = _of(f"capacity/{rate}", f"down-{load}", name, FCT)
                found[f"table6.arr{rate}.{load}.{name}.fct"] = number(cell)
    equal = [
        side
        for load in ("load1", "load2")
        for one, other in (("nosc", "gssga"), ("nosc", "cp"), ("gssga", "cp"))
        for side in close(
            f"FCT {load}: {SHOWN[one]} and {SHOWN[other]}",
            _of("capacity/100", f"down-{load}", one, FCT),
            _of("capacity/100", f"down-{load}", other, FCT),
            EQUAL,
        )
    ]
    last = fct(200.0, 300.0)
    return found | {
        "table6.cp_1000": _both_loads(),
        "table6.par_100": ordering(*equal),
        "text.last100.nc": number(Of("capacity/100/down-load2/none", last)),
        "text.last100.cp": number(Of("capacity/100/down-load2/cp", last)),
    }


def _both_loads() -> Check:
    """Check the ratio of FCTs under CP and without control, over both loads that are printed."""
    from tidegate.papers.study import Check
    from tidegate.papers.verdicts import Numbers

    cells = {
        load: [f"capacity/1000/down-{load}/{name}" for name in ("cp", "none")]
        for load in ("load1", "load2")
    }

    def find(runs: Runs) -> Numbers:
        each = [runs.values(cp, FCT) / runs.values(none, FCT) for cp, none in cells.values()]
        return Numbers(tuple(np.mean(each, axis=0)), (0.40, 0.41))

    return Check(tuple(case for pair in cells.values() for case in pair), find)


def _congested() -> Check:
    """Check that 100 sessions/s of 10 kB are served as they come, and of 30 kB are not."""
    cases = ("static/10k-100/none", "static/30k-100/none")

    def find(runs: Runs) -> dict[str, np.ndarray | list[float]]:
        small, large = (
            runs.values(case, "completed_per_s") / runs.values(case, "offered_per_s")
            for case in cases
        )
        return {
            f"at 10 kB more than 98 % complete ({100 * np.mean(small):.1f} %)": small - 0.98,
            f"at 30 kB less than 80 % ({100 * np.mean(large):.1f} %)": 0.80 - large,
        }

    return parts(cases, find)


def checks() -> dict[str, Check]:
    """Return the checks of the tables, by the short id of the claim."""
    congested = {"text.size_session_load": _congested()}
    return _first() | _third() | _fourth_and_fifth() | _sixth() | congested


def grids() -> dict[str, Grid]:
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
        "table1": Grid(
            "Table I, performance at different admit rates",
            ("admit rate, 1/s", "completions, 1/s", "FCT, s", "goodput, kbit/s"),
            admits("table1", TABLE1, ("completion_rate", "fct", "goodput")),
        ),
        "table2": Grid(
            "Table II, fairness between short and long sessions",
            ("admit rate, 1/s", "mean size completed, B", "10 kB is percentile"),
            admits("table2", TABLE2, ("mean_size", "pct10000")),
        ),
        "table3": Grid(
            "Table III, FCT (s) when the arrival rate changes",
            ("load", *three),
            tuple((load.upper(), row(f"table3.{load}.{{}}.fct")) for load in LOADS),
        ),
        "table4": Grid(
            "Table IV, sessions completed when the size changes",
            of_rate,
            two_rates("table4", "flows", LOADS),
        ),
        "table5": Grid(
            "Table V, FCT (s) when the size changes", of_rate, two_rates("table5", "fct", LOADS)
        ),
        "table6": Grid(
            "Table VI, FCT (s) when the capacity falls",
            of_rate,
            two_rates("table6", "fct", ("load1", "load2")),
        ),
    }
