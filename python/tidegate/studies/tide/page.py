"""The report of the matrix: the aims, for both halves; and a file with every cell."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from tidegate.papers.page import table
from tidegate.results.csv_text import csv_text
from tidegate.studies.tide.cells import GATES
from tidegate.studies.tide.combined import combined
from tidegate.studies.tide.parts import parts
from tidegate.studies.tide.rest import rest
from tidegate.studies.tide.score import AIMS, geometric_mean, scored, verdict
from tidegate.studies.tide.settling import settling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Runs
    from tidegate.studies.tide.score import Aim, CellResult, Scored

HALVES = ("chosen", "held out")
CELLS = "cells.csv"
MEASURES = ("completed_per_s", "fct_s", "fct_admitted_s", "sent_again_percent")
"""Of a cell under a gate, in that file."""


def pages(runs: Runs) -> dict[str, bytes]:
    """Return the report."""
    rows = scored(runs)
    chosen = [row for row in rows if row.cell.half == "chosen"]
    lines = [
        "# The matrix of tide",
        "",
        "Made by `tidegate study tide`; [docs/tide.md](../../tide.md) says what it means.",
        "",
        f"{len(runs.declared)} of {len(runs.paper.cases)} cases were run, with {runs.seeds} seed(s)"
        " of 200 s each, the first 20 s left out.",
        f"{len(rows)} cells were run under every gate: {len(chosen)} of the half on which"
        f" constants may be chosen, {len(rows) - len(chosen)} of the half held out.",
        "",
        "## Aims",
        "",
        *_aims(rows),
        "",
        "## Against close-probe, geometric means over cells in overload",
        "",
        *_means(rows),
        *settling(runs),
        *parts(runs),
        *combined(runs),
        *rest(runs),
        "",
        "## Every cell",
        "",
        f"[{CELLS}]({CELLS}) has each cell under each gate: completions, mean FCT from the first"
        " SYN and from admission, data sent again; and the longest time without an admission.",
        "",
    ]
    return {"REPORT.md": "\n".join(lines).encode(), CELLS: every_cell(rows).encode()}


def _aims(rows: Sequence[Scored]) -> list[str]:
    head = ["", "limit", *(f"{half}: reached, worst" for half in HALVES), "worst cell of all"]
    return table(head, (_aim(rows, aim) for aim in AIMS))


def _aim(rows: Sequence[Scored], aim: Aim) -> list[str]:
    found = [verdict(rows, aim, half) for half in HALVES]
    there = [each for each in found if each is not None]
    worst = (min if aim.least else max)(there, key=lambda each: each.worst, default=None)
    bound = f"{'at least' if aim.least else 'at most'} {aim.limit:g}"
    cells = [
        "-" if each is None else f"{each.reached} of {each.of}, {each.worst:.3g}" for each in found
    ]
    return [f"{aim.kind}: {aim.says}", bound, *cells, worst.worst_cell if worst else "-"]


def _means(rows: Sequence[Scored]) -> list[str]:
    made = []
    for half in HALVES:
        mine = [row for row in rows if row.cell.half == half and row.cell.kind == "overload"]
        for gate in ("tide", "relief"):
            made.append([f"{gate}, {half} ({len(mine)} cells)", *_ratios(mine, gate)])
    head = ["", "completions", "bytes of these", "FCT", "FCT from admission", "sent again"]
    return table(head, made)


def _ratios(rows: Sequence[Scored], gate: str) -> list[str]:
    names = ("completed", "carried", "fct", "fct_admitted", "again")
    means = [geometric_mean([_over(row, gate, name) for row in rows]) for name in names]
    return ["-" if isnan(mean) else f"{mean:.2f}" for mean in means]


def _over(row: Scored, gate: str, name: str) -> float:
    one, other = (getattr(row.by_gate[each], name) for each in (gate, "cp"))
    return one / other if other else 0.0


def every_cell(rows: Sequence[Scored]) -> str:
    """Return a table (CSV) of every cell under every gate."""
    head = [f"{gate}_{name}" for gate in GATES for name in MEASURES]
    lines = []
    for row in rows:
        found = [text for gate in GATES for text in _found(row.by_gate[gate])]
        longest = f"{row.by_gate['tide'].starved:.0f}"
        lines.append([row.cell.key, row.cell.half, *found, longest])
    return csv_text(["cell", "half", *head, "longest_without_admission_s"], lines)


def _found(found: CellResult) -> tuple[str, ...]:
    """Return the measures of a cell under a gate."""
    again = f"{100 * found.again:.0f}"
    return f"{found.completed:.1f}", f"{found.fct:.2f}", f"{found.fct_admitted:.2f}", again
