"""The tables of the comparison with other simulators, from tools/validate/measured.csv."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.validate.measured import Line
    from tools.validate.parts import Part

HEAD = """\
# Tables of the comparison

<!-- Made from tools/validate/measured.csv by `python -m tools.generate --all`. -->

Every row of [the comparison with ns-2, ns-3, Linux and quinn](validation.md), which has the rule
and a summary. ± is the standard deviation over the seeds. A row agrees if the mean difference is at
most what is *accepted*. The same rows [as data](../tools/validate/measured.csv).
"""


def page() -> str:
    """Return every table, as Markdown."""
    from tools.validate import measured
    from tools.validate.parts import PARTS

    lines = measured.read()
    text = [HEAD]
    for part in PARTS.values():
        own = [line for line in lines if line.case in part.tables]
        text += ["", f"## {part.title}", ""]
        if reasons := list(_reasons(own)):
            text += ["Why rows differ:", "", *reasons, ""]
        for name, about in part.tables.items():
            rows = [line for line in own if line.case == name]
            text += [f"### {name}", "", *_table(part, about, rows), ""]
    return "\n".join(text).rstrip() + "\n"


def _reasons(lines: Sequence[Line]) -> Iterator[str]:
    """Yield each reason once, with the rows that it is of."""
    from tools.validate.judge import Verdict
    from tools.validate.parts import EXPLANATIONS

    differ = {(line.case, line.measure) for line in lines if line.verdict != Verdict.AGREES.value}
    found: dict[str, dict[str, list[str]]] = {}
    for known in EXPLANATIONS:
        if (known.case, known.measure) in differ:
            found.setdefault(known.why, {}).setdefault(known.case, []).append(known.measure)
    for why, cases in found.items():
        rows = (f"[{case}](#{case}) ({', '.join(names)})" for case, names in cases.items())
        yield f"- {'; '.join(rows)}: {why}"


def _table(part: Part, about: str, rows: Sequence[Line]) -> Iterator[str]:
    from tools.validate.printer import many

    yield f"{about[:1].upper()}{about[1:]}; {many(int(rows[0].seeds))}."
    yield ""
    head = ["", "tidegate", part.peer, "difference", "accepted", ""]
    unchanged = any(row.unchanged for row in rows)
    yield f"| {' | '.join([*head, *([f'{part.peer} unchanged'] if unchanged else [])])} |"
    yield "|---" * (len(head) + unchanged) + "|"
    for row in rows:
        cells = [row.measure, row.tidegate, row.other, row.difference, row.accepted, row.verdict]
        yield f"| {' | '.join([*cells, *([row.unchanged] if unchanged else [])])} |"
