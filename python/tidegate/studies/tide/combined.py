"""The law in combination: gates in series, after a filter, on a fast link with sampled flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.case import Case
from tidegate.papers.page import table
from tidegate.studies.tide.cells import GATES, HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

LGC = '{ law = "lgc" }'
FAST = (
    ("duration", "40s"),
    ("warmup", "10s"),
    ("topology.dumbbell.access.rate", "10Gbit"),
    ("topology.dumbbell.bottleneck.rate", "200Mbit"),
    ("topology.dumbbell.bottleneck.delay", "18ms"),
    ("traffic.web.transport", HOSTS["linux"]),
)
SAMPLES = (1, 8, 64)


def cases() -> list[Case]:
    """Return every case."""
    return [*_series(), *_filter(), *_fast()]


def _series() -> Iterator[Case]:
    for gate, law in GATES.items():
        both = (("port.link1.gate", law), ("port.link2.gate", law))
        yield Case(f"series/{gate}", "series.toml", (), both)
    one = (("port.link1.gate", GATES["tide"]),)
    yield Case("series/tide at the first alone", "series.toml", (), one)


def _filter() -> Iterator[Case]:
    for hosts, transport in HOSTS.items():
        for name, own in {
            "none": [],
            "lgc": [("port.bottleneck.filter", LGC)],
            "tide": [("port.bottleneck.gate", GATES["tide"])],
            "lgc and tide": [
                ("port.bottleneck.filter", LGC),
                ("port.bottleneck.gate", GATES["tide"]),
            ],
        }.items():
            settings = (
                ("traffic.web.arrivals.poisson", "100/s"),
                ("traffic.greedy.arrivals.uniform", "50"),
                ("traffic.web.transport", transport),
                ("traffic.greedy.transport", transport),
                *own,
            )
            yield Case(f"greedy/{hosts}/{name}", "matrix.toml", ("greedy",), settings)


def _fast() -> Iterator[Case]:
    law = 'law = "tide", admit = "connections"'
    laws = {"none": GATES["none"]} | {
        f"one flow in {one}": f"{{ {law}, young = {{ sample = {one} }} }}" for one in SAMPLES
    }
    for name, law in laws.items():
        gate = ("port.bottleneck.gate", law)
        alone = (*FAST, ("traffic.web.arrivals.poisson", "4000/s"), gate)
        yield Case(f"fast/{name}", "matrix.toml", (), alone, weight=100)
        shared = (
            *FAST,
            ("traffic.web.arrivals.poisson", "1500/s"),
            ("traffic.greedy.arrivals.uniform", "100"),
            ("traffic.greedy.transport", HOSTS["linux"]),
            gate,
        )
        yield Case(f"fast, shared/{name}", "matrix.toml", ("greedy",), shared, weight=100)


def combined(runs: Runs) -> list[str]:
    """Return the section on the finished cases, with a row for each class."""
    head = ("case", "class", "completions/s", "FCT s", "from admission s", "sent again %")
    done = [case.key for case in cases() if runs.has(case.key)]
    rows = ([key, *row] for key in done for row in _rows(runs.records(key)[0]))
    return [
        "",
        "## In combination",
        "",
        "`series`: two links of 10 Mbit/s, 60/s over both and 120/s over each alone, CUBIC hosts."
        " `greedy`: 100/s and 50 endless transfers, RTT 200 ms. `fast`: 200 Mbit/s, 4000/s of 10 kB"
        " (2300 fit), CUBIC hosts, 40 s; `shared`: 1500/s and 100 endless transfers.",
        "",
        *table(head, rows),
    ]


def _rows(record: SavedRun) -> list[list[str]]:
    found = []
    for each in record.summary["classes"]:
        times = [each["fct_mean_s"], each["fct_admitted_mean_s"]]
        shown = [f"{time:.2f}" if time is not None else "-" for time in times]
        again = 100 * (each["retransmitted_share"] or 0.0)
        found.append([each["name"], f"{each['completed_per_s']:.1f}", *shown, f"{again:.0f}"])
    return found
