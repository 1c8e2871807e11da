"""What the second reading of the papers changed: verdicts before and after, and why.

`first.csv` has every row of the first reports, with its verdict there; where
the verdict is another today, what changed it. Today's are read from the reports.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.pages import MARK

ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "exact-number": "numbers",
    "approx-number": "numbers",
    "ratio": "ratios",
    "ordering": "orderings",
    "setup": "set-up",
    "arithmetic": "set-up",
}
CHOOSE = "used to choose"
GROUPS = ("numbers", "ratios", "orderings", CHOOSE, "set-up")
CHOSEN = "†"
VERDICTS = ("met", "calibrated", "unresolved", "not met", "contradicted", "cannot be checked")
REASONS = {
    "setting": "another setting of hosts or gate",
    "reading": "another reading of what the paper simulates",
    "check": "another check of the same numbers",
    "seeds": "more seeds",
    "code": "a change of the simulator",
}
NAMES = {
    "session": "Session control",
    "qfcp": "QFCP",
    "dqm": "Dual queues",
    "blitz": "Blitz",
    "lgc": "LGC",
}
OPENING = """\
The session control, QFCP, dual-queue and Blitz papers were judged a first time on 21 November
2026, and then read again: what they leave unsaid was searched, some sentences were understood
otherwise, and checks that could not fail, or were too kind or too strict, were made to measure
their sentence. LGC came in between; its first report is of 22 November 2026, 02:20 UTC. Below
stands how many rows of each kind had which verdict in the first report and have it now, then
every row whose verdict changed, with both values and what changed it. A setting was chosen on
rows *used to choose* alone: these predict nothing, before and after, and every other row is a
prediction. Kinds are those of today on both sides. What one change alone makes of a row on session
control is of one seed, the other settings as they were (`tidegate paper session --search` tries
them all); *before* and *now* are the reports' own, over five seeds or more.
"""


@dataclass(frozen=True)
class Row:
    """One row of a report."""

    kind: str
    measured: str
    verdict: str
    chosen: bool = False
    by: str = ""
    why: str = ""


def first() -> dict[str, dict[str, Row]]:
    """Return the rows of the first reports, by paper and id."""
    found: dict[str, dict[str, Row]] = {}
    with (Path(__file__).parent / "first.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row = Row(
                line["kind"], line["measured"], line["verdict"], False, line["by"], line["why"]
            )
            found.setdefault(line["paper"], {})[line["id"]] = row
    return found


def now(report: str) -> dict[str, Row]:
    """Return the rows of a report, from its list of every claim."""
    found = {}
    for line in report.partition("\n| ID | kind |")[2].splitlines():
        cells = [each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 8 and cells[0].startswith("`"):
            name, kind, _, _, measured, _, verdict, _ = cells
            plain = verdict.removesuffix(CHOSEN)
            found[name.strip("`")] = Row(kind, measured, plain, plain != verdict)
    return found


def changed(before: Mapping[str, Row], after: Mapping[str, Row]) -> list[str]:
    """Return the ids whose verdict is another, or that are not judged any more."""
    return [
        name
        for name, row in before.items()
        if name not in after or after[name].verdict != row.verdict
    ]


def page() -> str:
    """Return the page, as Markdown."""
    lines = ["# Verdicts before and after the second reading", "", MARK, OPENING]
    for key, before in first().items():
        report = ROOT / "docs" / "papers" / key / "REPORT.md"
        lines += _paper(key, before, now(report.read_text(encoding="utf-8")))
    return "\n".join(lines).rstrip() + "\n"


def _paper(key: str, before: Mapping[str, Row], after: Mapping[str, Row]) -> Iterator[str]:
    yield from (f"## {NAMES[key]}", "", f"[Its report]({key}/REPORT.md).", "")
    yield from _counts(before, after)
    others = changed(before, after)
    counted = Counter(before[name].by for name in others)
    by = "; ".join(f"{counted[name]} by {text}" for name, text in REASONS.items() if counted[name])
    yield from ("", f"{len(others)} rows have another verdict: {by}.", "")
    yield from ("| row | kind | before | now | changed by | how |", "|" + "---|" * 6)
    for name in others:
        old, new = before[name], after.get(name, Row(before[name].kind, "", "dropped"))
        mark = CHOSEN if new.chosen else ""
        cells = [f"`{name}`", KINDS[new.kind], _said(old), f"{_said(new)}{mark}", old.by, old.why]
        yield f"| {' | '.join(cells)} |"
    same = [name for name, row in before.items() if row.by and name not in others]
    if same:
        names = ", ".join(f"`{name}` ({before[name].why.rstrip('.')})" for name in same)
        yield from ("", f"Judged otherwise, with the same verdict: {names}.")
    yield ""


def _said(row: Row) -> str:
    return f"{row.verdict}: {row.measured}" if row.measured else row.verdict


def _counts(before: Mapping[str, Row], after: Mapping[str, Row]) -> Iterator[str]:
    """Yield the table of kinds and verdicts, `before → now` in each cell."""
    was: Counter[tuple[str, str]] = Counter()
    here: Counter[tuple[str, str]] = Counter()
    for name, row in before.items():
        group = _group(after.get(name, row))
        was[group, row.verdict] += 1
    for row in after.values():
        here[_group(row), row.verdict] += 1
    verdicts = [each for each in VERDICTS if any(there == each for _, there in was | here)]
    yield f"| rows, before → now | {' | '.join(verdicts)} |"
    yield "|---|" + "---|" * len(verdicts)
    for group in GROUPS:
        pairs = [(was[group, each], here[group, each]) for each in verdicts]
        if any(map(any, pairs)):
            cells = [f"{old} → {new}" if old or new else "" for old, new in pairs]
            yield f"| {group} | {' | '.join(cells)} |"


def _group(row: Row) -> str:
    return CHOOSE if row.chosen and KINDS[row.kind] != "set-up" else KINDS[row.kind]
