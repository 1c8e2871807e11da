"""The report: how many users get their page, and how soon, under each gate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.page import table
from tidegate.results.measures import known
from tidegate.studies.users import stay, visits
from tidegate.studies.users.cases import (
    BROWSERS,
    GATES,
    LINKS,
    LOADS,
    OVER,
    PARTS,
    SAYS,
    TRIED,
    WHOLE,
    at,
    cells,
    name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun
    from tidegate.studies.users.cases import PageLink


@dataclass(frozen=True)
class Got:
    """What the users of a class get in a run."""

    done: float
    """Share of those who came."""
    mean_s: float
    wait_s: float
    """99th percentile of the waits of admitted connections."""


def got(record: SavedRun, which: str = "web") -> Got:
    """Return what users of a class get: pages, or files where they load no pages."""
    web = record.traffic(which)
    page = web.get("pages") is not None
    return Got(
        done=known(web["pages_loaded_share" if page else "completed_share"]),
        mean_s=known(web["page_load_mean_s" if page else "fct_mean_s"]),
        wait_s=known(web["wait_p99_s"]),
    )


def pages(runs: Runs) -> dict[str, bytes]:
    """Return the report."""
    lines = [
        "# Users of a link, and the gate before it",
        "",
        "Made by `tidegate study users`; [docs/tide.md](../../tide.md#users-not-connections) says"
        " what it means.",
        "",
        f"{len(runs.declared)} of {len(runs.paper.cases)} cases were run, each with {runs.seeds}"
        " seed(s) of 180 s. The link has 5 Mbit/s, an RTT of 40 ms and a queue of 50 packets. Gates"
        " have the `onset` of a real gate, 2 s, and the tokens of close-probe keep for two epochs"
        " as there. A user comes once, loads 102 kB and waits for 30 s at most. A cell has the"
        " share of the users who got all, with the lowest and the highest run, and their mean time."
        " A forged SYN is a flow whose client is gone before the SYN+ACK comes, and sends no second"
        " SYN.",
    ]
    for browser in BROWSERS:
        if any(key.startswith(f"{browser}/") for key in runs.declared):
            lines += ["", f"## {SAYS[browser]}", "", *_gates(runs, browser)]
    lines += ["", *_refused(runs)]
    lines += [
        "",
        "## Slow links, and large pages",
        "",
        "The load is a multiple of what the link carries, less a tenth for headers. The queue has"
        " 50 packets, 400 at 50 Mbit/s and 8000 at 1 Gbit/s, where a run takes 30 s.",
        "",
        *_links(runs),
        "",
        "## Users who stay",
        "",
        "Fifty addresses stay and open connections all the time, and others come once; runs of"
        " 150 s. A cell has the number of those who got all of their page or file, their median"
        " time and the 95th percentile. As at a real gate, `onset` is 2 s, and a session ends with"
        " the FIN of the peer (`ends_of`). [docs/tide.md](../../tide.md#users-who-stay) says what"
        " it means.",
        "",
        *stay.section(runs),
        "",
        "## Visits without each of their parts",
        "",
        "The law with another setting (in two columns users with one), in some of these rows and in"
        " another one. A cell has the number of those who got all of their page or file, and their"
        " median time. [The notes](notes.md#where-visits-lose) say what it means.",
        "",
        *visits.section(runs),
        "",
        "## Tide by clients without each of its parts",
        "",
        "Each row is the law with another setting: the share of the users who got all, and the"
        " wait that one admitted connection of a hundred exceeded (of *patient* that of those who"
        " never give up).",
    ]
    for browser in dict.fromkeys(browser for browser, _ in TRIED):
        lines += ["", f"### {SAYS[browser]}", "", *_parts(runs, browser)]
    return {"REPORT.md": "\n".join([*lines, ""]).encode()}


def _gates(runs: Runs, browser: str) -> list[str]:
    mine = [load for each, load in cells() if each == browser]
    rows = (
        [LOADS[load].says, *(_cell(runs, browser, load, gate) for gate in GATES)] for load in mine
    )
    return table(["users", *GATES], rows)


def _refused(runs: Runs) -> list[str]:
    """Return how many openers were refused at half of the load, whatever users do."""
    said = []
    for gate in GATES:
        keys = [key for browser in BROWSERS if runs.has(key := name(browser, "half", gate))]
        ports = [record.port("bottleneck") for key in keys for record in runs.records(key)]
        refused, asked = (
            sum(port[each] for port in ports) for each in ("syn_refused", "syn_arrived")
        )
        said.append(f"{gate} {refused} of {asked}")
    return [f"Openers refused at half of the load, all kinds of users: {', '.join(said)}."]


def _links(runs: Runs) -> list[str]:
    rows = (
        [
            link.says,
            SAYS[browser],
            f"{over:g}",
            *(_link(runs, link, browser, over, gate) for gate in GATES),
        ]
        for link, browser, over in product(LINKS, ("six", "one"), OVER)
    )
    return table(["link", "users", "load", *GATES], rows)


def _link(runs: Runs, link: PageLink, browser: str, over: float, gate: str) -> str:
    key = at(link, browser, over, gate)
    return _shown([got(record) for record in runs.records(key)]) if runs.has(key) else "-"


def _cell(runs: Runs, browser: str, load: str, gate: str) -> str:
    key = name(browser, load, gate)
    if not runs.has(key):
        return "-"
    records = runs.records(key)
    said = _shown([got(record) for record in records])
    if not LOADS[load].beside:
        return said
    return f"{said} ({_shown([got(record, LOADS[load].beside) for record in records])})"


def _shown(found: Sequence[Got]) -> str:
    shares = sorted(100 * each.done for each in found)
    spread = f" ({shares[0]:.0f} to {shares[-1]:.0f})" if len(shares) > 1 else ""
    return f"{np.mean(shares):.0f} %{spread}, {seconds([each.mean_s for each in found])}"


def seconds(times: Sequence[float]) -> str:
    """Return the mean of the times that are known."""
    known = [time for time in times if not isnan(time)]
    return f"{np.mean(known):.1f} s" if known else "-"


def _parts(runs: Runs, browser: str) -> list[str]:
    loads = [load for each, load in TRIED if each == browser]
    rows = (
        [part, *(_part(runs, name(browser, load, part), LOADS[load].beside) for load in loads)]
        for part in (WHOLE, *PARTS)
    )
    return table(["", *loads], rows)


def _part(runs: Runs, key: str, beside: str) -> str:
    if not runs.has(key):
        return "-"
    records = runs.records(key)
    share = 100 * np.mean([got(record).done for record in records])
    waits = [got(record, beside or "web").wait_s for record in records]
    return f"{share:.0f} %, {seconds(waits)}"
