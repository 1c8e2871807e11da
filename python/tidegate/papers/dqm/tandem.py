"""The checks of three routers in a row: Table II."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.dqm.cases import at
from tidegate.papers.dqm.measures import of_class
from tidegate.papers.dqm.single import RTX
from tidegate.papers.finders import Of, number, parts, ratio
from tidegate.papers.study import Grid

if TYPE_CHECKING:
    import numpy as np

    from tidegate.papers.runs import Runs
    from tidegate.papers.study import Check

    Parts = dict[str, np.ndarray | list[float]]

LATENCY = of_class("third", "fct_admitted_mean_s")
AGAIN = of_class("third", RTX)


def _saving(runs: Runs) -> Parts:
    many = runs.values("tandem/gr2", AGAIN) / runs.values("tandem/p3", AGAIN)
    one = runs.values(at(1.2, "gr2"), RTX) / runs.values(at(1.2, "p3"), RTX)
    return {f"G-R2 over P3: {many.mean():.3g} times here, {one.mean():.3g} at one": many - one}


def checks() -> dict[str, Check]:
    """Return the checks, by the short id of the claim."""
    red, dual = "tandem/gr2", "tandem/p3"
    return {
        "table2.gred.D": number(Of(red, LATENCY)),
        "table2.p3.D": number(Of(dual, LATENCY)),
        "table2.gred.rtx": number(Of(red, AGAIN)),
        "table2.p3.rtx": number(Of(dual, AGAIN)),
        "table2.rtx_ratio": ratio(Of(red, AGAIN), Of(dual, AGAIN)),
        "table2.D_ratio": ratio(Of(red, LATENCY), Of(dual, LATENCY)),
        "table2.more_than_single": parts((red, dual, at(1.2, "gr2"), at(1.2, "p3")), _saving),
    }


def grid() -> Grid:
    """Return Table II as it is printed."""
    rows = (
        ("latency D [s]", ("table2.gred.D", "table2.p3.D")),
        ("retransmitted packets", ("table2.gred.rtx", "table2.p3.rtx")),
    )
    return Grid("Table II: flows over both congested links, 700 s", ("G-RED", "P3"), rows)
