"""The verdicts of the second reading beside those of the reports as they are now.

`before/verdicts.csv` has what the reports said at commit d3a372a, `before/causes.toml`
why rows moved since then.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from tidegate.papers.claims import SETUP_KINDS, matches
from tidegate.papers.page import table
from tidegate.papers.report_text import number
from tidegate.papers.verdicts import CHOSEN_ON, DEPENDS, FIFTH, GROUPS, MET, SET_UP, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.papers.published import Line, Verdicts

PAGE = "moved.md"
COMMIT = "d3a372a"
CALIBRATED = "calibrated"
"""What `depends on a guess` was called, for rows that were met alone."""
SHARED: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    (
        "session control, Tables III to VI with control",
        "session",
        ("table[3-6].*.gssga.*", "table[3-6].*.cp.*", "text.last100.cp"),
        FIFTH,
    ),
    ("dual queues, Table I, T and D", "dqm", ("table1.*.T", "table1.*.D"), FIFTH),
    (
        "Blitz, maxima of the reference network and of the faster one",
        "blitz",
        ("fig4l.ratio*", "fig4r.d?*00"),
        0.25,
    ),
    (
        "LGC, experiments 2 and 3",
        "lgc",
        ("exp2.fwd.s?", "exp2.drop.I?", "exp3.thr_g1", "exp3.thr_g2"),
        FIFTH,
    ),
)
"""Groups of printed numbers: what, the paper, its claims, and how near they are to be."""


@dataclass(frozen=True)
class Before:
    """One row of a report of the second reading."""

    kind: str
    measured: str
    verdict: str
    chosen_on: bool

    @property
    def value(self) -> float | None:
        """What was measured, if it is a number."""
        try:
            return float(self.measured.partition(" ")[0].replace(",", ""))
        except ValueError:
            return None


@cache
def before() -> Mapping[tuple[str, str], Before]:
    """Return the rows of the second reading by paper and claim."""
    text = _file("verdicts.csv")
    return {
        (row["paper"], row["id"]): Before(
            row["kind"],
            row["measured"],
            DEPENDS if row["verdict"] == CALIBRATED else row["verdict"],
            bool(row["chosen_on"]),
        )
        for row in csv.DictReader(io.StringIO(text))
    }


def cause(paper: str, claim: str) -> str:
    """Return why a row moved; empty if no cause names it."""
    for each in tomllib.loads(_file("causes.toml"))["cause"]:
        named = any(matches(pattern, f"{paper}.{claim}") for pattern in each["claims"])
        if each["paper"] == paper and named:
            return str(each["text"])
    return ""


def _file(name: str) -> str:
    return (files("tidegate.papers") / "before" / name).read_text(encoding="utf-8")


def _group(kind: str, chosen_on: bool) -> str:
    if kind in SETUP_KINDS:
        return SET_UP
    if chosen_on:
        return CHOSEN_ON
    return {"ratio": "ratios", "ordering": "orderings"}.get(kind, "numbers")


def by_kind(paper: Verdicts) -> list[tuple[str, list[str]]]:
    """Return, for each kind of rows, each verdict as `before → now`."""
    then = Counter(
        (_group(row.kind, row.chosen_on), row.verdict)
        for (key, _), row in before().items()
        if key == paper.key
    )
    now = Counter((_group(each.kind, each.chosen_on), each.verdict) for each in paper.lines)
    found = []
    for name in GROUPS:
        pairs = [(then[name, verdict], now[name, verdict]) for verdict in VERDICTS]
        if any(sum(pair) for pair in pairs):
            found.append((name, [f"{a or 0} → {b or 0}" if a or b else "" for a, b in pairs]))
    return found


def near(paper: Verdicts) -> tuple[int, int]:
    """Return how many printed numbers that predicted then were within a fifth, and of how many."""
    found = [
        _is_near(row.value, float(each.paper), FIFTH)
        for each in paper.lines
        if (row := before().get((paper.key, each.id)))
        and each.pair
        and not row.chosen_on
        and row.value is not None
    ]
    return sum(found), len(found)


def _value(key: str, each: Line) -> float:
    return before()[key, each.id].value or 0.0


def _is_near(value: float, said: float, within: float) -> bool:
    return abs(value - said) <= within * abs(said)


def shared(papers: Sequence[Verdicts]) -> list[tuple[str, str, str, str, int]]:
    """Return what, how near, `before` and `now` as `n of all`, and how many are chosen on now."""
    found = []
    for what, key, patterns, within in SHARED:
        lines = [
            each
            for paper in papers
            if paper.key == key
            for each in paper.lines
            if each.pair and any(matches(pattern, f"{key}.{each.id}") for pattern in patterns)
        ]
        then = [_is_near(_value(key, each), float(each.paper), within) for each in lines]
        now = [_is_near(float(each.measured), float(each.paper), within) for each in lines]
        counts = f"{sum(then)} of {len(lines)}", f"{sum(now)} of {len(lines)}"
        if lines:
            chosen = sum(each.chosen_on for each in lines)
            found.append((what, f"{100 * within:g} %", *counts, chosen))
    return found


def moved(paper: Verdicts) -> list[tuple[Line, Before]]:
    """Return the rows whose verdict is another one now, or on which a setting is chosen now."""
    return [
        (each, row)
        for each in paper.lines
        if (row := before().get((paper.key, each.id)))
        and (row.verdict, row.chosen_on) != (each.verdict, each.chosen_on)
    ]


def new(paper: Verdicts) -> list[str]:
    """Return the rows that the second reading did not have."""
    return [each.id for each in paper.lines if (paper.key, each.id) not in before()]


def worse(paper: Verdicts) -> list[tuple[Line, Before]]:
    """Return the rows that held and do not hold now."""
    return [
        (each, row)
        for each, row in moved(paper)
        if row.verdict in (MET, DEPENDS) and MET not in (each.verdict, each.as_taken)
    ]


def page(papers: Sequence[Verdicts]) -> str:
    """Return the page of the rows that moved."""
    lines = [
        "# Rows that moved",
        "",
        "<!-- Made by `tidegate paper KEY`: change the code, not this page. -->",
        "",
        f"What the reports said at commit {COMMIT}, before the papers were read a third time, and"
        " what they say now. † marks a row on which a setting was chosen, so that it predicts"
        " nothing. `depends on a guess` was called `calibrated` then, and counted only rows that"
        " were met.",
    ]
    for paper in papers:
        rows = moved(paper)
        if not rows:
            continue
        lines += ["", f"## {paper.title}", ""]
        cells = []
        for each, row in rows:
            then = f"{row.measured}: {row.verdict}{'†' if row.chosen_on else ''}"
            now = f"{_shown(each.measured)}: {each.verdict}{'†' if each.chosen_on else ''}"
            said = _shown(each.paper).replace("<", "&lt;").replace("|", "\\|")
            cells.append((f"`{each.id}`", said, then, now, cause(paper.key, each.id)))
        lines += table(("row", "printed", "before", "now", "cause"), cells)
        fresh = new(paper)
        if fresh:
            lines += ["", f"New rows: {', '.join(f'`{each}`' for each in fresh)}."]
    return "\n".join(lines) + "\n"


def _shown(text: str) -> str:
    try:
        return number(float(text))
    except ValueError:
        return text


def names() -> dict[str, Callable[..., object]]:
    """Return what the template of the page over all papers calls."""
    return {"by_kind": by_kind, "near_before": near, "shared": shared}
