"""Users who stay, beside those who come once, and whom tide admits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.case import Case
from tidegate.papers.page import table
from tidegate.results.measures import known
from tidegate.scenario.real_gate import in_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun
    from tidegate.scenario.document import Setting

ADMITS = ("connections", "clients", "visits")
NOBODY = "none"
FILE: Setting = ("traffic.web.size", "102kB")
STAY: Setting = ("traffic.web.clients", "50")
LEAVE: Setting = ("traffic.web.patience", "8s")


def _page(more: str = "") -> Setting:
    return ("traffic.web.pages", f'{{ document = "12kB", objects = 10, connections = 6{more} }}')


SIX, EACH = _page(), _page(", persistent = false")
AGAIN = _page(', persistent = false, count = "unlimited", think = "2s"')


def rate(users: float) -> Setting:
    """Return how many users come."""
    return ("traffic.web.arrivals.poisson", f"{users:g}/s")


@dataclass(frozen=True)
class StayingUsers:
    """Users, as settings of the scenario of the study."""

    says: str
    settings: tuple[Setting, ...]
    variants: tuple[str, ...] = ()


ROWS = {
    "once-six": StayingUsers("12/s come once, six connections", (rate(12), SIX)),
    "once-each": StayingUsers("12/s come once, a connection for each object", (rate(12), EACH)),
    "once-file": StayingUsers("12/s come once, a file", (rate(12), FILE)),
    "stay-six": StayingUsers("9/s of those who stay, six connections", (rate(9), SIX, STAY)),
    "stay-each": StayingUsers(
        "9/s of those who stay, a connection for each object", (rate(9), EACH, STAY)
    ),
    "stay-file": StayingUsers("9/s of those who stay, a file", (rate(9), FILE, STAY)),
    "stay-small": StayingUsers(
        "31/s of those who stay, files of 30 kB", (rate(31), (FILE[0], "30kB"), STAY)
    ),
    "leave-each": StayingUsers(
        "12/s who leave after 8 s, a connection for each object", (rate(12), EACH, LEAVE)
    ),
    "leave-stay": StayingUsers(
        "9/s of those who stay and leave after 8 s, a file", (rate(9), FILE, STAY, LEAVE)
    ),
    "greedy-each": StayingUsers(
        "12/s come once, a connection for each object; one client opens 60/s",
        (rate(12), EACH),
        ("greedy",),
    ),
    "greedy-stay": StayingUsers(
        "9/s of those who stay, a file; one client opens 60/s",
        (rate(9), FILE, STAY),
        ("greedy",),
    ),
    "both-each": StayingUsers(
        "6/s come once and 6/s of those who stay, a connection for each object",
        (rate(6), EACH, ("traffic.staying.pages", EACH[1])),
        ("staying",),
    ),
    "long-each": StayingUsers(
        "8/s, a connection for each object, beside downloads of 2 MB",
        (rate(8), EACH),
        ("downloads",),
    ),
    "long-stay": StayingUsers(
        "8/s of those who stay, a file, beside downloads of 2 MB",
        (rate(8), FILE, STAY),
        ("downloads",),
    ),
    "again-each": StayingUsers(
        "50 who load page after page, a connection for each object",
        (("traffic.web.arrivals", '{ uniform = 50, within = "10s" }'), AGAIN),
    ),
}

AS_AT_A_GATE = in_toml()


def _key(row: str, admits: str) -> str:
    return f"stay/{row}:{admits}"


def cases() -> Iterator[Case]:
    """Yield the cases, of 150 s."""
    for (key, row), admits in product(ROWS.items(), (NOBODY, *ADMITS)):
        law = f'law = "tide", admit = "{admits}", {AS_AT_A_GATE}'
        yield case(_key(key, admits), row, 'law = "none"' if admits == NOBODY else law)


def case(key: str, row: StayingUsers, gate: str) -> Case:
    """Return users at a gate with these settings."""
    settings = (*row.settings, ("duration", "150s"), ("port.bottleneck.gate", f"{{ {gate} }}"))
    return Case(key, "users.toml", row.variants, settings)


def got(record: SavedRun, classes: tuple[str, ...]) -> tuple[float, float, float]:
    """Return how many got all of their page or file, and their median and 95th percentile."""
    found = []
    for name in classes:
        web = record.traffic(name)
        page = web.get("pages") is not None
        done, times = ("pages_loaded", "page_load") if page else ("completed", "fct")
        found.append([known(web[each]) for each in (done, f"{times}_p50_s", f"{times}_p95_s")])
    mean = np.mean(found, axis=0)
    return float(mean[0]) * len(classes), float(mean[1]), float(mean[2])


def section(runs: Runs) -> list[str]:
    """Return the table of the report."""
    rows = (
        [row.says, *(_cell(runs, key, row, admits) for admits in (NOBODY, *ADMITS))]
        for key, row in ROWS.items()
    )
    return table(["users", NOBODY, *ADMITS], rows)


def _cell(runs: Runs, key: str, row: StayingUsers, admits: str) -> str:
    if not runs.has(name := _key(key, admits)):
        return "-"
    classes = ("web", "staying") if "staying" in row.variants else ("web",)
    found = [got(record, classes) for record in runs.records(name)]
    done, p50, p95 = np.nanmean(found, axis=0)
    return f"{done:.0f}, {p50:.1f} s, {p95:.1f} s"
