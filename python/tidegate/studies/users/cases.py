"""What users load, how they come, the gates, and tide by clients without each of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from tidegate.papers.case import Case
from tidegate.scenario.real_gate import in_toml
from tidegate.studies.users import stay, visits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.scenario.document import Setting

PAGE = '{ document = "12kB", objects = 10, connections = 6, persistent = true }'
BROWSERS: dict[str, Setting] = {
    "six": ("traffic.{}.pages", PAGE),
    "each": ("traffic.{}.pages", PAGE.replace("true", "false")),
    "one": ("traffic.{}.pages", PAGE.replace("6", "1")),
    "file": ("traffic.{}.size", "102kB"),
}
"""What a user does, as a setting of a class of traffic."""
SAYS = {
    "six": "six connections that stay open (HTTP/1.1)",
    "each": "a connection for each object, six at once",
    "one": "one connection (HTTP/2)",
    "file": "a download of one file of the same size",
}


@dataclass(frozen=True)
class Load:
    """How users come."""

    says: str
    settings: tuple[Setting, ...] = ()
    variants: tuple[str, ...] = ()
    beside: str = ""
    """Another class of users of the same kind."""


def _arriving(rate: float) -> Setting:
    return ("traffic.web.arrivals.poisson", f"{rate:g}/s")


BURSTS = ", ".join(
    f'{{ what = "traffic.web.arrivals", at = "{at}s", pulse = "10s", to = "40/s" }}'
    for at in (20, 60, 100, 140)
)
STEADY = {
    "half": Load("3 users/s, half of what the link carries", (_arriving(3),)),
    "nine tenths": Load("5.2 users/s, nine tenths", (_arriving(5.2),)),
    "twice": Load("12 users/s, twice"),
    "five times": Load("28 users/s, five times", (_arriving(28),)),
}
SPECIAL = {
    "bursts": Load(
        "3 users/s; four times 40 users/s for 10 s",
        (_arriving(3), ("change", f"[{BURSTS}]")),
    ),
    "impatient": Load("12 users/s who wait for 8 s", (("traffic.web.patience", "8s"),)),
    "patient": Load(
        "11.4 users/s, and 0.6 users/s who never give up (in brackets: these)",
        (_arriving(11.4),),
        ("patient",),
        "patient",
    ),
    "one address": Load(
        "10.8 users/s, and 1.2 users/s behind one address (in brackets: these)",
        (_arriving(10.8),),
        ("behind",),
        "behind",
    ),
    "greedy client": Load(
        "12 users/s, and one client with 60 connections/s of 9 kB", (), ("greedy",)
    ),
    "forged": Load(
        "4.3 users/s, three quarters of what the link carries, and 300 forged SYNs/s",
        (_arriving(4.3),),
        ("forged",),
    ),
    "twice, forged": Load("12 users/s, and 300 forged SYNs/s", (), ("forged",)),
}
LOADS = STEADY | SPECIAL
ONSET = in_toml("onset")
CLIENTS = 'law = "tide", admit = "clients"'
PROBE = f'law = "close-probe", relief = true, limiter = "token-bucket", tokens_keep = 2, {ONSET}'
GATES = {
    "none": '{ law = "none" }',
    "close-probe": f"{{ {PROBE} }}",
    "close-probe by clients": f'{{ {PROBE}, eligibility = true, admit = "clients" }}',
    "tide": f'{{ law = "tide", admit = "connections", {ONSET} }}',
    "tide by clients": f"{{ {CLIENTS}, {ONSET} }}",
}
"""The gates, with the onset of a real gate, and tokens that keep as there."""
WHOLE = "tide by clients"
PARTS = {
    "without onset": "",
    "without the reserve": 'clients = { wait = "1h" }',
    "without the share": "clients = { share = 1e6 }",
    "tokens keep for an epoch": 'clients = { keep = "0s" }',
    "idle after 5 s": 'clients = { idle = "5s" }',
    "idle after 60 s": 'clients = { idle = "60s" }',
    "window over a client for 5 s": 'clients = { dwell = "5s" }',
    "window over a client for 60 s": 'clients = { dwell = "60s" }',
    "window as narrow as it gets": 'clients = { turn = "24h" }',
    "256 cells": "clients = { cells = 256 }",
    "a lost opener gives its token back": 'charge = "queued"',
}
"""Tide by clients without a part or with another value, as settings of its table."""
TRIED = tuple(
    product(
        ("six", "each"),
        (
            "nine tenths",
            "twice",
            "five times",
            "bursts",
            "patient",
            "greedy client",
            "twice, forged",
        ),
    )
)
"""What each part is tried on."""


@dataclass(frozen=True)
class PageLink:
    """A link and the pages that its users load."""

    mbit: int
    page_kb: int

    @property
    def says(self) -> str:
        """As a heading of the report."""
        return f"{self.mbit} Mbit/s, pages of {self.page_kb} kB"

    def settings(self, browser: str, over: float) -> tuple[Setting, ...]:
        """Return a load of so many times what the link carries, a tenth of it headers."""
        size, fits = self.page_kb / 102, self.mbit * 1e6 / (8e3 * 1.09 * self.page_kb)
        pages = f'document = "{12e3 * size:.0f}B", objects = 10'
        connections = {"six": 6, "one": 1}[browser]
        return (
            ("topology.dumbbell.bottleneck.rate", f"{self.mbit}Mbit"),
            ("topology.dumbbell.bottleneck.buffer", f"{max(50, 8 * self.mbit)}packets"),
            ("traffic.web.size", f"{9e3 * size:.0f}B"),
            ("traffic.web.pages", f"{{ {pages}, connections = {connections} }}"),
            _arriving(round(over * fits, 4)),
        )


LINKS = (PageLink(1, 102), PageLink(50, 2000), PageLink(1000, 2000))
OVER = (0.5, 0.9, 2.1)
"""Loads of these links, as multiples of what they carry."""


def at(link: PageLink, browser: str, over: float, gate: str) -> str:
    """Return the key of a case of another link."""
    return name(browser, f"{link.mbit} Mbit {link.page_kb} kB, {over:g}", gate)


def name(browser: str, load: str, gate: str) -> str:
    """Return the key of a case."""
    return f"{browser}/{load}:{gate}".replace(" ", "-")


def cells() -> list[tuple[str, str]]:
    """Return what users do and how they come: the steady loads for all, the rest for pages."""
    pages = tuple(browser for browser in BROWSERS if browser != "file")
    return [*product(BROWSERS, STEADY), *product(pages, SPECIAL)]


def cases() -> Iterator[Case]:
    """Yield every case."""
    for (browser, load), (gate, law) in product(cells(), GATES.items()):
        yield _case(browser, load, gate, law)
    for (browser, load), (part, own) in product(TRIED, PARTS.items()):
        onset = "" if part == "without onset" else f", {ONSET}"
        yield _case(browser, load, part, f"{{ {CLIENTS}{onset}{own and ', '}{own} }}")

    for link, browser, over, (gate, law) in product(LINKS, ("six", "one"), OVER, GATES.items()):
        settings = (*link.settings(browser, over), ("port.bottleneck.gate", law))
        key, weight = at(link, browser, over, gate), 1.0 + link.mbit / 20
        shorter = () if link.mbit < 1000 else (("duration", "30s"),)
        yield Case(key, "users.toml", (), (*settings, *shorter), weight=weight)
    yield from stay.cases()
    yield from visits.cases()


def _case(browser: str, load: str, gate: str, law: str) -> Case:
    what = LOADS[load]
    classes = ["web", what.beside] if what.beside else ["web"]
    key, value = BROWSERS[browser]
    settings = (
        *((key.format(each), value) for each in classes),
        *what.settings,
        ("port.bottleneck.gate", law),
    )
    return Case(name(browser, load, gate), "users.toml", what.variants, settings)
