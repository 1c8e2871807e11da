"""The aims of the law in each cell, and whether it reaches them."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, log, nan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.results.measures import starved
from tidegate.studies.tide.cells import GATES, MatrixCell, cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

SESSIONS = ("web", "odd")


@dataclass(frozen=True)
class CellResult:
    """The results of one cell under one gate: per second, bit/s, seconds, shares."""

    completed: float
    carried: float
    """Data of the completed sessions, bit/s."""
    fct: float
    fct_admitted: float
    again: float
    starved: float


@dataclass(frozen=True)
class Aim:
    """An aim: the value of a cell must be at most `limit`, or at least with `least`."""

    kind: str
    name: str
    says: str
    limit: float
    least: bool = False

    def reached(self, value: float) -> bool:
        """Tell whether a value reaches the aim; NaN does not."""
        return value >= self.limit if self.least else value <= self.limit


AIMS = (
    Aim("underload", "completions", "completions over those of no gate", 0.99, least=True),
    Aim("underload", "fct", "mean FCT over that of no gate", 1.1),
    Aim("overload", "completions", "completions over those of CP", 0.97, least=True),
    Aim("overload", "fct admitted", "FCT from admission over that of CP", 0.5),
    Aim("overload", "fct", "FCT from the first SYN over that of CP", 1.0),
    Aim("overload", "again", "share of the data sent again", 0.05),
    Aim("greedy flows", "completions", "completions over those of no gate", 0.9, least=True),
    Aim("greedy flows", "fct", "mean FCT over that of no gate", 1.0),
    Aim("unseen FINs", "completions", "completions over those with every FIN seen", 0.98, True),
    Aim("all", "starved", "longest time without an admission, s", 2.0),
)


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of the positive finite values; NaN without any."""
    logs = [log(value) for value in values if isfinite(value) and value > 0]
    return exp(sum(logs) / len(logs)) if logs else nan


def found(runs: Runs, key: str) -> CellResult:
    """Return the results of a case, as means over its seeds."""

    def mean(values: Iterable[float]) -> float:
        return float(np.mean(list(values)))

    records = runs.records(key)
    sessions = [_sessions(record) for record in records]
    sent = [sum(each["completed"] for each in one) for one in sessions]

    def weighed(name: str) -> float:
        return mean(
            sum((each[name] or 0.0) * each["completed"] for each in one) / total if total else nan
            for one, total in zip(sessions, sent, strict=True)
        )

    return CellResult(
        completed=mean(sum(each["completed_per_s"] for each in one) for one in sessions),
        carried=mean(
            sum(8 * each["completed_per_s"] * (each["size_mean_bytes"] or 0.0) for each in one)
            for one in sessions
        ),
        fct=weighed("fct_mean_s"),
        fct_admitted=weighed("fct_admitted_mean_s"),
        again=mean(record.all["retransmitted_share"] or 0.0 for record in records),
        starved=max(starved(record) for record in records),
    )


def _sessions(record: SavedRun) -> list[dict[str, float]]:
    return [each for each in record.summary["classes"] if each["name"] in SESSIONS]


def values(
    cell: MatrixCell, by_gate: dict[str, CellResult], seen: CellResult | None
) -> dict[Aim, float]:
    """Return the value of each aim of a cell."""
    own = by_gate["tide"]
    other = {"overload": by_gate["cp"], "unseen FINs": seen}.get(cell.kind, by_gate["none"])
    ratios = {}
    for aim in AIMS:
        if aim.kind == "all":
            ratios[aim] = own.starved
        elif aim.kind == cell.kind and other is not None:
            ratios[aim] = {
                "completions": _ratio(own.completed, other.completed),
                "fct": _ratio(own.fct, other.fct),
                "fct admitted": _ratio(own.fct_admitted, other.fct_admitted),
                "again": own.again,
            }[aim.name]
    return ratios


def _ratio(one: float, other: float) -> float:
    return one / other if other else nan


@dataclass(frozen=True)
class Scored:
    """One cell: the results under every gate, and the values of its aims."""

    cell: MatrixCell
    by_gate: dict[str, CellResult]
    aims: dict[Aim, float]


def scored(runs: Runs) -> list[Scored]:
    """Return every cell that has its runs under all gates."""
    made = []
    for cell in cells():
        keys = [cell.case(gate) for gate in GATES]
        base = cell.seen.case("tide") if cell.unseen else None
        if not runs.has(*keys) or (base is not None and not runs.has(base)):
            continue
        by_gate = {gate: found(runs, cell.case(gate)) for gate in GATES}
        seen = found(runs, base) if base is not None else None
        made.append(Scored(cell, by_gate, values(cell, by_gate, seen)))
    return made


@dataclass(frozen=True)
class AimScore:
    """How many cells of a half reached an aim, and the worst of them."""

    reached: int
    of: int
    worst: float
    worst_cell: str


def verdict(rows: Sequence[Scored], aim: Aim, half: str) -> AimScore | None:
    """Return the verdict on an aim, or None where the half has no such cell."""
    mine = [
        (row.aims[aim], row.cell.key) for row in rows if aim in row.aims and row.cell.half == half
    ]
    if not mine:
        return None
    reached = sum(aim.reached(value) for value, _ in mine)
    worst, key = (min if aim.least else max)(mine)
    return AimScore(reached, len(mine), worst, key)
