"""Tide by visits without each of its parts: why it serves fewer or later in some rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.page import table
from tidegate.scenario.real_gate import in_toml
from tidegate.studies.users.stay import (
    AS_AT_A_GATE,
    EACH,
    FILE,
    ROWS,
    StayingUsers,
    case,
    got,
    rate,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.papers.case import Case
    from tidegate.papers.runs import Runs
    from tidegate.scenario.document import Setting


@dataclass(frozen=True)
class Ablation:
    """What is taken away, as settings of the law's table or of the traffic."""

    says: str
    clients: str = ""
    gate: str = AS_AT_A_GATE
    traffic: tuple[Setting, ...] = ()
    rows: tuple[str, ...] = ()
    """The rows that it concerns; none: all."""

    @property
    def law(self) -> str:
        """The settings of the gate."""
        own = f", clients = {{ {self.clients} }}" if self.clients else ""
        return f'law = "tide", {self.gate}{own}'


NO_VISIT = 'follow = "1ms", visit = "1ms"'
LONGER = 'follow = "1s", visit = "4s"'
CANCELS = ("traffic.web.pages.cancels", "true")
SIX = ("once-six", "stay-six")
PARTS = {
    "whole": Ablation("visits"),
    "no-visit": Ablation("no visits: `follow` and `visit` 1 ms", NO_VISIT),
    "longer": Ablation("longer visits: `follow` 1 s, `visit` 4 s", LONGER),
    "no-reserve": Ablation("no reserve: `wait` 1 h", 'wait = "1h"'),
    "no-share": Ablation("no share: `least` 65535", "least = 65535"),
    "less": Ablation("a smaller share: `least` 8", "least = 8"),
    "nothing": Ablation(
        "neither visits nor reserve nor share", f'{NO_VISIT}, wait = "1h", least = 65535'
    ),
    "no-onset": Ablation("no `onset`", gate=in_toml("ends_of")),
    "cancels": Ablation(
        "connections that no page needs are given up: `cancels`", traffic=(CANCELS,), rows=SIX
    ),
    "longer-cancels": Ablation("the same with longer visits", LONGER, traffic=(CANCELS,), rows=SIX),
}
"""Visits, and the same without each part."""

MIXED = StayingUsers(
    "2/s of those who stay load pages, a connection for each object, beside 9/s who come once, a"
    " file",
    (
        rate(9),
        FILE,
        ("traffic.staying.arrivals.poisson", "2/s"),
        ("traffic.staying.pages", EACH[1]),
    ),
    ("staying",),
)
USERS = {
    **{
        key: (ROWS[key], "web")
        for key in (
            "once-six",
            "once-each",
            "stay-six",
            "stay-each",
            "stay-small",
            "greedy-each",
            "greedy-stay",
            "long-each",
            "long-stay",
            "again-each",
        )
    },
    "mixed": (MIXED, "staying"),
}
"""The rows of which a reason is looked for, and the class of the users who are counted."""


def _key(row: str, part: str) -> str:
    return f"visits/{row}:{part}"


def cases() -> Iterator[Case]:
    """Yield the cases, of 150 s."""
    for (key, (row, _)), (name, part) in product(USERS.items(), PARTS.items()):
        if not part.rows or key in part.rows:
            yield case(_key(key, name), row, part.law).having(*part.traffic)


def section(runs: Runs) -> list[str]:
    """Return the table of the report."""
    rows = (
        [row.says, *(_cell(runs, _key(key, name), which) for name in PARTS)]
        for key, (row, which) in USERS.items()
    )
    return table(["users", *(part.says for part in PARTS.values())], rows)


def _cell(runs: Runs, key: str, which: str) -> str:
    if not runs.has(key):
        return "-"
    found = [got(record, (which,)) for record in runs.records(key)]
    done, p50, _ = np.nanmean(found, axis=0)
    return f"{done:.0f}, {p50:.1f} s"
