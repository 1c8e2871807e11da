"""The checks of Tables I and II."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.check_builders import Greater, Value, descending, number, ordering, ratio
from tidegate.papers.dqm.cases import REDS, at
from tidegate.papers.dqm.measures import (
    AGAIN,
    LATENCY,
    RTX,
    TABLE1,
    D,
    connection_loss,
    data_loss,
    throughput,
)
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Measure, Parts, Runs

MEASURES: dict[str, Measure] = {"T": throughput, "D": D, "Pd": data_loss, "Pc": connection_loss}
"""The measures of Table I in the ids of claims."""
ROWS: dict[str, Measure] = {"D": LATENCY, "rtx": AGAIN}
"""Those of Table II."""
COLUMNS = {"gred": "tandem/gr2", "p3": "tandem/p3"}


def _cell(policy: str, name: str) -> Value:
    return Value(at(1.2, policy), MEASURES[name])


@claim("table1.{policy}.{name}", policy=tuple(TABLE1), name=tuple(MEASURES))
def cell(policy: str, name: str) -> Check:
    """Check a cell of Table I."""
    return number(_cell(policy, name))


def _reds(name: str) -> list[tuple[str, Value]]:
    return [(policy, _cell(policy, name)) for policy in REDS]


@claim("table1.pd_up")
def data_losses() -> Check:
    """Check that less data is lost from G-R3 to G-R1."""
    return descending("P_d", *_reds("Pd")[::-1])


@claim("table1.pc_down")
def connection_losses() -> Check:
    """Check that fewer connection packets are lost from G-R1 to G-R3."""
    return descending("P_c", *_reds("Pc"))


@claim("table1.dt_worst")
def worst() -> Check:
    """Check drop-tail against every setting of RED: throughput, latency, connections."""
    sides = [
        Greater(f"T of {TABLE1[red]} above DT", _cell(red, "T"), _cell("dt", "T")) for red in REDS
    ]
    sides += [
        Greater(f"D of DT above {TABLE1[red]}", _cell("dt", "D"), _cell(red, "D")) for red in REDS
    ]
    sides += [
        Greater(f"P_c of {TABLE1[red]} above DT", _cell(red, "Pc"), _cell("dt", "Pc"))
        for red in REDS
    ]
    return ordering(*sides)


@claim("table1.pc_gt_pd")
def which_is_lost() -> Check:
    """Check that RED loses connection packets more than data, and drop-tail data more."""
    sides = [
        Greater(f"{TABLE1[red]}: P_c > P_d", _cell(red, "Pc"), _cell(red, "Pd")) for red in REDS
    ]
    return ordering(*sides, Greater("DT: P_d > P_c", _cell("dt", "Pd"), _cell("dt", "Pc")))


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
    many = runs.values("tandem/gr2", AGAIN) / runs.values("tandem/p3", AGAIN)
    one = runs.values(at(1.2, "gr2"), RTX) / runs.values(at(1.2, "p3"), RTX)
    return {f"G-R2 over P3: {many.mean():.3g} times here, {one.mean():.3g} at one": many - one}
