"""The checks of Tables I and II."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.check_builders import (
    Greater,
    Value,
    between,
    descending,
    number,
    ordering,
    ratio,
)
from tidegate.papers.dqm import measures as m
from tidegate.papers.dqm.cases import REDS, at
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Measure, Parts, Runs

MEASURES: dict[str, Measure] = {
    "T": m.throughput,
    "D": m.D,
    "Pd": m.data_loss,
    "Pc": m.connection_loss,
}
"""The measures of Table I in the ids of claims."""
ROWS: dict[str, Measure] = {"D": m.LATENCY, "rtx": m.AGAIN}
"""Those of Table II."""
COLUMNS = {"gred": "tandem/gr2", "p3": "tandem/p3"}


def _cell(policy: str, name: str) -> Value:
    return Value(at(1.2, policy), MEASURES[name])


@claim("table1.{policy}.{name}", policy=tuple(m.TABLE1), name=tuple(MEASURES))
def cell(policy: str, name: str) -> Check:
    """Check a cell of Table I."""
    return number(_cell(policy, name))


def _reds(name: str) -> list[tuple[str, Value]]:
    return [(policy, _cell(policy, name)) for policy in REDS]


@claim("table2.{column}.{row}", column=tuple(COLUMNS), row=tuple(ROWS))
def cell_of_many(column: str, row: str) -> Check:
    """Check a cell of Table II."""
    return number(Value(COLUMNS[column], ROWS[row]))


@claim("table2.{row}_ratio", row=tuple(ROWS))
def ratio_of_many(row: str) -> Check:
    """Check how many times as much it is under G-RED."""
    return ratio(Value(COLUMNS["gred"], ROWS[row]), Value(COLUMNS["p3"], ROWS[row]))


@claim("table2.more_than_single", of=(*COLUMNS.values(), at(1.2, "gr2"), at(1.2, "p3")))
def saving(runs: Runs) -> Parts:
    """Check that over several links P3 saves more retransmissions than over one."""
    many = runs.values("tandem/gr2", m.AGAIN) / runs.values("tandem/p3", m.AGAIN)
    one = runs.values(at(1.2, "gr2"), m.RTX) / runs.values(at(1.2, "p3"), m.RTX)
    return {f"G-R2 over P3: {many.mean():.3g} times here, {one.mean():.3g} at one": many - one}


def _beside(what: str, name: str, more: str, less: str) -> Greater:
    return between(what, at(1.2, "{}"), more, less, MEASURES[name])


CHECKS = {
    "table1.pd_up": descending("P_d", *_reds("Pd")[::-1]),
    "table1.pc_down": descending("P_c", *_reds("Pc")),
    "table1.dt_worst": ordering(
        *(_beside(f"T of {m.TABLE1[red]} above DT", "T", red, "dt") for red in REDS),
        *(_beside(f"D of DT above {m.TABLE1[red]}", "D", "dt", red) for red in REDS),
        *(_beside(f"P_c of {m.TABLE1[red]} above DT", "Pc", red, "dt") for red in REDS),
    ),
    "table1.pc_gt_pd": ordering(
        *(
            Greater(f"{m.TABLE1[red]}: P_c > P_d", _cell(red, "Pc"), _cell(red, "Pd"))
            for red in REDS
        ),
        Greater("DT: P_d > P_c", _cell("dt", "Pd"), _cell("dt", "Pc")),
    ),
}
