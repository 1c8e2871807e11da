"""How long a gate takes to settle after a step of load, size or capacity."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.case import Case
from tidegate.papers.page import table
from tidegate.studies.tide.cells import HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

    Floats = NDArray[np.float64]

AT_S = 100
"""The time of the step; a run takes 200 s."""
SETTLED_S = 50
"""The last seconds of a run, which count as settled."""
WIDE_S = 20
"""Admissions are averaged over the next so many seconds: at 40/s a count of 5 s leaves a band of a
tenth by chance alone in one case of six, one of 20 s in one of a hundred."""
NEAR = 0.1

GATES = {
    "cp": '{ law = "close-probe" }',
    "relief": '{ law = "close-probe", relief = true }',
    "gss-ga": '{ law = "gss-ga" }',
    "tide": '{ law = "tide", admit = "connections" }',
}
STEPS = {
    "load 90 to 1000/s": ("90/s", "10kB", "traffic.web.arrivals", "1000/s"),
    "load 1000 to 90/s": ("1000/s", "10kB", "traffic.web.arrivals", "90/s"),
    "size 10 to 30 kB": ("200/s", "10kB", "traffic.web.size.mean", "30kB"),
    "size 30 to 10 kB": ("200/s", "30kB", "traffic.web.size.mean", "10kB"),
    "rate 10 to 5 Mbit/s": ("200/s", "10kB", "bottleneck.rate", "5Mbit"),
    "rate 10 to 20 Mbit/s": ("400/s", "10kB", "bottleneck.rate", "20Mbit"),
}


def name(step: str, hosts: str, gate: str) -> str:
    """Return the key of a case."""
    return f"settle/{hosts}/{step}:{gate}"


def cases() -> Iterator[Case]:
    """Yield every step with both hosts under every gate."""
    for step, hosts, gate in product(STEPS, HOSTS, GATES):
        load, size, what, to = STEPS[step]
        settings = (
            ("port.bottleneck.gate", GATES[gate]),
            ("traffic.web.arrivals.poisson", load),
            ("traffic.web.size.pareto.mean", size),
            ("traffic.web.transport", HOSTS[hosts]),
            ("change", f'[{{ what = "{what}", at = "{AT_S}s", to = "{to}" }}]'),
        )
        yield Case(name(step, hosts, gate), "matrix.toml", (), settings)


def settled_after(admitted: Floats) -> float:
    """Return after how many seconds of the step admissions stay within 10 % of where they end.

    `admitted` has one count a second, from the beginning of the run. A mean
    that leaves the band once more by chance does not count against it: nine of
    ten of those that are left must be within.
    """
    smooth = np.convolve(admitted, np.ones(WIDE_S) / WIDE_S, mode="valid")[AT_S:]
    end = float(np.mean(admitted[-SETTLED_S:]))
    within = np.abs(smooth - end) <= NEAR * end
    left = np.cumsum(within[::-1])[::-1] / np.arange(len(within), 0, -1)
    fine = np.flatnonzero(within & (left >= 0.9))
    return float(fine[0]) if len(fine) else float("inf")


def _found(record: SavedRun) -> tuple[float, float]:
    admitted = record.rates()["admitted"]
    full = np.concatenate([np.zeros(int(_start(record))), admitted])
    return settled_after(full), float(np.mean(full[-SETTLED_S:]))


def _start(record: SavedRun) -> float:
    return float(record.rates()["time_s"][0]) - 1.0


def settling(runs: Runs) -> list[str]:
    """Return the section on settling times."""
    return [
        "",
        f"## Seconds after a step at {AT_S} s until admissions stay within 10 % of where they end",
        "",
        f"Means of the admissions of the next {WIDE_S} s; in brackets where they end, per second"
        f" (the last {SETTLED_S} s); inf: not within the run.",
        "",
        *table(("step", "hosts", *GATES), (_row(runs, *each) for each in product(STEPS, HOSTS))),
    ]


def _row(runs: Runs, step: str, hosts: str) -> list[str]:
    cells = []
    for key in (name(step, hosts, gate) for gate in GATES):
        after, end = _found(runs.records(key)[0]) if runs.has(key) else (0.0, 0.0)
        cells.append(f"{after:.0f} ({end:.0f})" if runs.has(key) else "-")
    return [step, hosts, *cells]
