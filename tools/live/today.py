"""Three cells of `tidegate study today` on real traffic: too many downloads at a venue's link.

The queue and the gate are the emulated link's, which is the port of the simulator; only the
hosts are real. So the same scenario runs in both.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import LATE_MS, Lab, lateness, valid
from tools.live import loads
from tools.live.measure import Flow, mean_and_spread, read, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

MBIT, MEAN_KB = 20, 30
LOAD = round(2 * MBIT * 1e6 / (MEAN_KB * 8e3), 3)
"""Downloads/s: twice what the link carries, headers left out."""
SOON = 10.0
"""Seconds after which a user gives a download up; before, it is in time."""

FQ_CODEL = {"queue": {"law": "fq-codel"}}
TIDE = {"gate": {"law": "tide", "admit": "connections", "opener": "syn-ack"}}
CELLS: dict[str, dict[str, Any]] = {
    "drop-tail": {},
    "fq-codel": FQ_CODEL,
    "tide over fq-codel": {**TIDE, **FQ_CODEL},
}


def document(seconds: float, port: dict[str, Any]) -> dict[str, Any]:
    """Return a cell: 20 Mbit/s, RTT 40 ms, 250 ms of buffer, hosts with CUBIC."""
    size = {"pareto": {"mean": f"{MEAN_KB}kB", "shape": 1.5}}
    pages = {**loads.pages(LOAD), "size": size, "patience": f"{SOON:g}s"}
    link: dict[str, Any] = {"rate": f"{MBIT}Mbit", "buffer": "250ms"}
    return {**loads.document(seconds, {"pages": pages}, **link, port=port), "name": "today"}


@dataclass(frozen=True)
class Served:
    """The service of users."""

    in_time: float
    """Share of the downloads that completed within 10 s of their first SYN."""
    median_s: float
    """Median time of those from the first SYN."""
    per_s: float
    """Downloads completed per second."""
    again: float
    """Share of the data packets of all downloads that were sent again."""


def served(flows: Sequence[Flow], seconds: float) -> Served:
    """Measure a run; downloads that started less than 10 s before its end do not count."""
    judged = [flow for flow in flows if flow.start <= seconds - SOON]
    times = [flow.fct for flow in judged if flow.fct <= SOON]
    return Served(
        len(times) / max(1, len(judged)),
        statistics.median(times) if times else float("nan"),
        sum(flow.closed <= seconds for flow in flows) / seconds,
        sum(flow.again for flow in flows) / max(1.0, sum(flow.sent for flow in flows)),
    )


def in_the_lab(scenario: dict[str, Any], seed: int) -> tuple[list[Flow], float]:
    """Run real hosts; return their flows, and how late the link was in ms."""
    with Lab(late_ms=LATE_MS) as lab:
        path, table = lab.write(scenario)
        link = lab.link(path, seed=seed)
        lab.traffic(path, table, download=True, seed=seed)
        return read(table), lateness(link.report())[0]


def today(seconds: float, runs: int, *, predict: bool = False) -> None:
    """Print each cell, measured and simulated, or simulated alone."""
    print(
        f"\ntoday: {LOAD:.0f} downloads/s of {MEAN_KB} kB over {MBIT} Mbit/s, RTT 40 ms, ", end=""
    )
    print(f"given up after {SOON:.0f} s; {seconds:.0f} s, {runs} runs\n")
    heads = ("in 10 s, %", "median, s", "completed/s", "sent again, %")
    print(f"{'':32}" + "".join(f"{head:>16}" for head in heads), flush=True)
    for name, port in CELLS.items():
        scenario = document(seconds, port)
        found: dict[str, list[Served]] = {"lab": [], "simulator": []}
        for seed in range(1, runs + 1):
            if not predict:
                flows, late = valid(partial(in_the_lab, scenario, seed), print)
                print(f"    {name}, seed {seed}: the link was {late:.2f} ms late (p95)", flush=True)
                found["lab"].append(served(flows, seconds))
            found["simulator"].append(served(simulate(scenario, seed, {})[0], seconds))
        for who, all_runs in found.items():
            if not all_runs:
                continue
            columns = (
                [100 * each.in_time for each in all_runs],
                [each.median_s for each in all_runs],
                [each.per_s for each in all_runs],
                [100 * each.again for each in all_runs],
            )
            values = [mean_and_spread(each) for each in columns]
            print(f"{name + ', ' + who:32}" + "".join(f"{each:>16}" for each in values), flush=True)
