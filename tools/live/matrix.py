"""Load pages through every control, behind every queue, under every load.

    python -m tools.live.matrix [--queue Q]... [--control C]... [--load L]... [--runs 1] [--jobs 2]
    python -m tools.live.matrix --table                # of what was run; says what was not
    python -m tools.live.matrix --predict              # the simulator, of the same cells

It is the matrix of docs/matrix-figures.md. Each run is a line of `out/matrix.jsonl`, and a cell
that has its runs there is not run again. A run on a machine that was too busy is discarded and
tried again.
`fq_codel` and `cake` need a kernel that has them: `python -m tools.own_clock --seconds 36000 --
.venv/bin/python -m tools.live.matrix --jobs 1 --out /run/result/matrix.jsonl` runs cells in one
whose time stands still while anything computes; `--table --out FILE` takes the file. Loads behind
the first four are not of the matrix and have to be asked for; so is the queue `provider`.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import statistics
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import LabError, interrupted, need
from tools.live.pages import (
    CONTROLS,
    LATE_MS,
    LOADS,
    PROVIDER,
    QUEUES,
    SEVERAL,
    STAY,
    USERS_LATE_MS,
    Cell,
    measure,
)
from tools.live.pages_predicted import LACKS, SEEDS, predict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILE = Path("out/matrix.jsonl")
OF_THE_MATRIX = LOADS[:4]
Rows = dict[Cell, list[dict[str, Any]]]


def cell_of(row: dict[str, Any]) -> Cell:
    """Return the cell of a line."""
    return Cell(**{field.name: row[field.name] for field in fields(Cell) if field.name in row})


def whole(cell: Cell) -> Cell:
    """Return a cell without its seed: what its runs have in common."""
    return Cell(**{**asdict(cell), "seed": 0})


def read(file: Path) -> list[dict[str, Any]]:
    """Read the lines of a file; none: there is no file."""
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"queue"')]


def good(row: dict[str, Any]) -> bool:
    """Whether the machine kept up with a run, and had files for its connections."""
    late = row["late_ms"] > LATE_MS or row["users_late_ms"] > USERS_LATE_MS
    # rows from before the files were counted say nothing of them
    return not late and row["not_read"] == 0 and "files_most" in row


def attempt(cell: Cell) -> dict[str, Any]:
    """Run a cell, and once more if the machine had no room for it or something failed."""
    for left in (1, 0):
        try:
            return measure(cell)
        except LabError as error:
            if not left:
                return {**asdict(cell), "failed": str(error)}
    raise AssertionError("the last try returns")


def run(cells: Sequence[Cell], jobs: int, file: Path) -> None:
    """Run cells, several side by side; append what was measured to a file, and print it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn) as pool, file.open("a", encoding="utf-8") as out:
        try:
            for done in as_completed([pool.submit(attempt, cell) for cell in cells]):
                line = json.dumps(done.result())
                print(line, flush=True)
                out.write(line + "\n")
                out.flush()
        except KeyboardInterrupt:
            # those that run remove their labs
            pool.shutdown(cancel_futures=True)
            raise


def by_cell(rows: Iterable[dict[str, Any]]) -> Rows:
    """Sort good runs by their cells."""
    found: Rows = defaultdict(list)
    for row in rows:
        if "failed" not in row and good(row):
            found[whole(cell_of(row))].append(row)
    return found


def mean(rows: Sequence[dict[str, Any]], name: str) -> float:
    """Return the mean of a measure; NaN: there is no run."""
    values = [float(row[name]) for row in rows if not math.isnan(row[name])]
    return statistics.fmean(values) if values else math.nan


def text(value: float, form: str) -> str:
    """Return a number, or nothing for NaN."""
    return "" if math.isnan(value) else format(value, form)


def seeds_of(rows: Sequence[dict[str, Any]]) -> tuple[int, ...]:
    """Return the seeds of runs."""
    return tuple(sorted(int(row["seed"]) for row in rows))


def pages_table(found: Rows, cells: Sequence[Cell]) -> str:
    """Return pages done by control and load, of one queue; in brackets what was predicted."""
    loads = list(dict.fromkeys(cell.load for cell in cells))
    lines = ["| | " + " | ".join(loads) + " |", "|---|" + "---|" * len(loads)]
    for control in dict.fromkeys(cell.control for cell in cells):
        values = []
        for load in loads:
            [cell] = [each for each in cells if (each.control, each.load) == (control, load)]
            rows = found.get(whole(cell), [])
            said = text(mean(rows, "done"), ".0f") or "not run"
            predicted = predict(cell, seeds_of(rows) or SEEDS[:3])
            values.append(said if predicted is None else f"{said} ({predicted['done']:.0f})")
        lines.append(f"| {control} | " + " | ".join(values) + " |")
    return "\n".join(lines)


COLUMNS = {
    "done": ("pages", 1, ".0f"),
    "page_s": ("their time, s", 1, ".1f"),
    "served": ("connections served", 1, ".0f"),
    "wait_mean_s": ("mean wait, s", 1, ".2f"),
    "wait_most_s": ("longest wait, s", 1, ".1f"),
    "wasted": ("bytes wasted, %", 100, ".0f"),
    "half_open_most": ("half-open at the server", 1, ".0f"),
}
"""Measures of the long table: a head, a factor, and how they are written."""


def long_table(found: Rows, cells: Sequence[Cell]) -> str:
    """Return every measure of the cells of a queue, as means of the runs."""
    heads = [head for head, _, _ in COLUMNS.values()]
    heads = ["load", "control", "runs", heads[0], "least to most", *heads[1:]]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for cell in cells:
        rows = found.get(whole(cell), [])
        if rows:
            values = [text(by * mean(rows, name), form) for name, (_, by, form) in COLUMNS.items()]
            done = [row["done"] for row in rows]
            values.insert(1, f"{min(done)} to {max(done)}")
            lines.append(
                "| " + " | ".join([cell.load, cell.control, str(len(rows)), *values]) + " |"
            )
    return "\n".join(lines)


def stay_table(found: Rows, cells: Sequence[Cell]) -> str:
    """Return what those who stay get, and beside them those who come once: done, p50 and p95."""
    loads = list(dict.fromkeys(cell.load for cell in cells))
    heads = [
        f"{load}: {who}" for load in loads for who in (STAY[0], "once")[: 1 + ("once" in load)]
    ]
    lines = [f"| queue | control | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    for queue, control in dict.fromkeys((cell.queue, cell.control) for cell in cells):
        values = []
        for head in heads:
            load, _, who = head.rpartition(": ")
            mine = [
                each
                for each in cells
                if (each.queue, each.control, each.load) == (queue, control, load)
            ]
            rows = [row[who] for cell in mine for row in found.get(whole(cell), [])]
            times = [text(mean(rows, name), ".1f") for name in ("p50_s", "p95_s")]
            values.append(
                f"{text(mean(rows, 'done'), '.0f')}, {times[0]} s, {times[1]} s" if rows else ""
            )
        lines.append(f"| {queue} | {control} | {' | '.join(values)} |")
    return "\n".join(lines)


def tables(found: Rows, cells: Sequence[Cell]) -> None:
    """Print the tables, and the cells that were not run."""
    if {cell.load for cell in cells} <= set(STAY):
        print(stay_table(found, cells))
        return
    for title, table in (("", pages_table), ("Every measure, ", long_table)):
        for queue in dict.fromkeys(cell.queue for cell in cells):
            of_queue = [cell for cell in cells if cell.queue == queue]
            print(f"\n### {title}{queue}\n\n{table(found, of_queue)}")
    counted = [len(found.get(whole(cell), [])) for cell in cells]
    left = [cell for cell, n in zip(cells, counted, strict=True) if not n]
    print(f"\nruns of a cell: {min(counted)} to {max(counted)}; cells not run: {len(left)}")
    kernels = sorted({row["kernel"] for cell in cells for row in found.get(whole(cell), [])})
    print(f"kernels: {', '.join(kernels)}")
    for cell in left:
        print(f"  {cell.queue}, {cell.load}, {cell.control}")


def print_predicted(cells: Sequence[Cell], runs: int | None, without: tuple[str, ...]) -> int:
    """Print what the simulator says of each cell that it has; 1: it has none."""
    seeds = tuple(range(1, runs + 1)) if runs else SEEDS
    code = 1
    for cell in cells:
        if said := predict(cell, seeds, without):
            print(json.dumps({**asdict(cell), **said}), flush=True)
            code = 0
    if code:
        print("the simulator has none of these cells", file=sys.stderr)
    return code


def options() -> argparse.ArgumentParser:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.live.matrix", description=__doc__)
    parser.add_argument("--queue", action="append", choices=(*QUEUES, PROVIDER))
    parser.add_argument("--control", action="append", choices=CONTROLS)
    parser.add_argument("--load", action="append", choices=LOADS)
    runs = "of each cell, with other users each; seeds count from 1 (default: 1, simulated: 10)"
    parser.add_argument("--runs", type=int, help=runs)
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side")
    parser.add_argument("--seconds", type=float, default=40, help="of each run")
    parser.add_argument("--mbit", type=float, default=5, help="rate of the link")
    parser.add_argument("--users", type=float, default=2, help="a second, of what the link carries")
    parser.add_argument("--gate", default="", help="more settings of the gate, as in its file")
    sysctl = "of the hosts, as NAME=VALUE; may be repeated"
    parser.add_argument("--sysctl", action="append", default=[], help=sysctl)
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--table", action="store_true", help="print the tables of what was run")
    parser.add_argument("--predict", action="store_true", help="ask the simulator instead")
    without = "of the prediction: what its hosts do not do; may be repeated"
    parser.add_argument("--without", action="append", choices=LACKS, default=[], help=without)
    return parser


def main() -> int:
    """Run the cells that are asked for, or print the tables."""
    asked = options()
    given = asked.parse_args()
    if given.without and not given.predict:
        asked.error("--without is of the prediction: add --predict")
    sizes = {"mbit": given.mbit, "seconds": given.seconds, "users": given.users}
    cells = [
        Cell(queue, control, load, **sizes, gate=given.gate, sysctl=SEVERAL.join(given.sysctl))
        for queue in given.queue or QUEUES
        for load in given.load or OF_THE_MATRIX
        for control in given.control or CONTROLS
    ]
    rows = read(given.out)
    if given.predict:
        return print_predicted(cells, given.runs, tuple(given.without))
    if given.table:
        tables(by_cell(rows), cells)
        return 0
    need(gate=True, also=["nft"])
    there = {cell_of(row) for row in rows if "failed" not in row and good(row)}
    seeds = range(1, (given.runs or 1) + 1)
    wanted = [Cell(**{**asdict(cell), "seed": seed}) for seed in seeds for cell in cells]
    run([cell for cell in wanted if cell not in there], given.jobs, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
