"""Ablations: the law without each of its parts, on some cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate.papers.page import table
from tidegate.studies.tide.cells import GATES, MatrixCell, case
from tidegate.studies.tide.score import found, geometric_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.papers.case import Case
    from tidegate.papers.runs import Runs
    from tidegate.studies.tide.score import CellResult

WITHOUT = {
    "whole": '{ law = "tide", admit = "connections" }',
    "without sigma": '{ law = "tide", admit = "connections", k0 = 0.0, k1 = 0.000001 }',
    "without eligibility": '{ law = "tide", admit = "connections", eligibility = false }',
    "without saving": '{ law = "tide", admit = "connections", limiter = "token-bucket" }',
    "counter for bucket": '{ law = "tide", admit = "connections", limiter = "counter" }',
    "without room": '{ law = "tide", admit = "connections", room = false }',
    "without loss": '{ law = "tide", admit = "connections", w = 0.0, v = 0.0 }',
    "without bypass": '{ law = "tide", admit = "connections", bypass = 2.0 }',
    "one flow in 8": '{ law = "tide", admit = "connections", young = { sample = 8 } }',
    "4096 counters": '{ law = "tide", admit = "connections", young = { cells = 4096 } }',
    "cp, saving bucket": '{ law = "close-probe", relief = true, limiter = "saving-bucket" }',
    "cp, bucket and eligibility": (
        '{ law = "close-probe", relief = true, limiter = "saving-bucket", eligibility = true }'
    ),
    "cp, epoch 970 ms": '{ law = "close-probe", epoch = "970ms" }',
    "gss-ga": '{ law = "gss-ga" }',
}
"""The law without a part, and other laws with its parts, as scenarios write them."""
CELLS = (
    MatrixCell("ns2", 90),
    MatrixCell("linux", 90, rtt_ms=40),
    MatrixCell("ns2", 200),
    MatrixCell("linux", 200),
    MatrixCell("linux", 1000, rtt_ms=40),
    MatrixCell("linux", 200, 30),
    MatrixCell("ns2", 1000, 30),
    MatrixCell("linux", 200, shape="on-off"),
    MatrixCell("ns2", 100, greedy=50),
    MatrixCell("linux", 100, rtt_ms=40, greedy=50),
)


def name(cell: MatrixCell, part: str) -> str:
    """Return the key of the case of a cell without a part."""
    return f"part/{cell.key}:{part}"


def cases() -> Iterator[Case]:
    """Yield each of `CELLS` under each gate of `WITHOUT`, and without a gate."""
    for cell in CELLS:
        for part, gate in {"none": GATES["none"], **WITHOUT}.items():
            yield replace(case(cell, part, gate), key=name(cell, part))


def parts(runs: Runs) -> list[str]:
    """Return the section on the law without each of its parts."""
    kinds = ("underload", "overload", "greedy flows")
    cells = [[cell for cell in CELLS if cell.kind == kind] for kind in kinds]
    rows = [(part, *(_kind(runs, each, part) for each in cells)) for part in ("none", *WITHOUT)]
    head = [
        "",
        *(f"{kind}: completions, FCT, again %" for kind in ("underload", "overload", "greedy")),
    ]
    return [
        "",
        "## The law without each of its parts",
        "",
        "Geometric means over the cells of each kind: completions and FCT relative to the whole law"
        " (first row: absolute), and the share of the data that is sent again.",
        "",
        *table(head, (row for row in rows if any(row[1:]))),
    ]


def _kind(runs: Runs, cells: list[MatrixCell], part: str) -> str:
    mine = [cell for cell in cells if runs.has(name(cell, part), name(cell, "whole"))]
    if not mine:
        return ""
    ones = [found(runs, name(cell, part)) for cell in mine]
    wholes = [found(runs, name(cell, "whole")) for cell in mine]
    again = 100 * sum(one.again for one in ones) / len(ones)
    if part == "whole":
        return f"{_mean(ones, 'completed'):.1f}/s, {_mean(ones, 'fct'):.2f} s, {again:.0f}"
    completed = _mean(ones, "completed") / _mean(wholes, "completed")
    return f"{completed:.2f}, {_mean(ones, 'fct') / _mean(wholes, 'fct'):.2f}, {again:.0f}"


def _mean(rows: list[CellResult], what: str) -> float:
    return geometric_mean(getattr(row, what) for row in rows)
