"""REPORT.md and its pictures, and the sensitivity table; made from judged claims and saved runs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from tidegate import _native
from tidegate.papers.claims import matches
from tidegate.papers.report_text import Text, environment, in_paper, measured, number
from tidegate.papers.verdicts import (
    CALIBRATED,
    CONTRADICTED,
    MET,
    NOT_MET,
    UNCHECKED,
    UNRESOLVED,
    VERDICTS,
    ClaimResult,
    by_group,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tidegate.papers.report_text import Section
    from tidegate.papers.request import PaperResult, SensitivityRow
    from tidegate.papers.study import PaperPicture, PaperStudy, PaperTable

MARKS = {
    MET: "✓",
    CALIBRATED: "≈",
    UNRESOLVED: "?",
    NOT_MET: "✗",
    CONTRADICTED: "⇄",
    UNCHECKED: "○",
}
LEGEND = (
    "✓ met, ≈ calibrated, ? unresolved, ✗ not met,"
    " ⇄ contradicted by the paper itself, ○ cannot be checked"
)
SENSITIVITY, ERAS = "sensitivity.md", "eras.md"


def pages(done: PaperResult, pictures: Sequence[PaperPicture]) -> dict[str, bytes]:
    """Return the report and its pictures, as file name and content."""
    files = {f"pictures/{each.name}.png": drawn(done, each) for each in pictures}
    files["REPORT.md"] = _report(done, {each.name: each for each in pictures}).encode()
    return files


def drawn(done: PaperResult, picture: PaperPicture) -> bytes:
    """Render one picture; without a date in it, so that the same data give the same file."""
    import matplotlib as mpl

    from tidegate.papers import panels
    from tidegate.show.style import RULES as LOOK

    with mpl.rc_context(cast("Any", LOOK)):
        figure = picture.draw(done.runs)
        panels.finish(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


def _report(done: PaperResult, pictures: dict[str, PaperPicture]) -> str:
    study, runs, groups = done.study, done.runs, by_group(done.outcomes)

    def write(section: Section, text: Callable[[], str] | None) -> str:
        return _section(done, section, pictures, text)

    text = Text(study, done.outcomes, runs, write)
    commits = sorted({record.commit[:12] for record in runs.noted.values()} - {""})
    by = f", runs of commit {' and '.join(commits)}" if commits else ""
    page = environment()
    page.filters["blank_zero"] = lambda count: str(count or "")
    return (
        page.get_template("page.md.j2").render(
            study=study,
            results=done.outcomes,
            runs=runs,
            command=_command(done),
            whole=done.request.whole(study),
            summary=text.block("summary"),
            sections=text.block("sections"),
            verdicts=[each for each in VERDICTS if any(rows[each] for rows in groups.values())],
            groups=groups,
            marks=LEGEND,
            home=f"../../../python/tidegate/papers/{study.key}",
            deviations=study.deviations().deviations,
            eras=(runs.folder.target / ERAS).exists(),
            cost=runs.cost,
            made_by=f"tidegate {_native.__version__}{by}",
            head=_head,
            row=_row,
            in_paper=in_paper,
            measured=measured,
        )
        + "\n"
    )


def _command(done: PaperResult) -> str:
    asked = done.request
    words = ["tidegate paper", done.study.key, *(f"--only {each}" for each in asked.only)]
    return " ".join([*words, *(["--quick"] if asked.quick else [])])


def _head(cells: Sequence[str]) -> str:
    return f"{_row(cells)}\n|{'---|' * len(cells)}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_safe, cells))} |"


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _section(
    done: PaperResult,
    section: Section,
    pictures: dict[str, PaperPicture],
    text: Callable[[], str] | None,
) -> str:
    """Return a section; its text only in a report of the whole paper, which has the runs for it."""
    patterns = section.claims.split()
    mine = [each for each in done.outcomes if any(matches(one, each.claim.id) for one in patterns)]
    shown = [pictures[name] for name in section.pictures.split() if name in pictures]
    own = text().strip() if text is not None and done.request.whole(done.study) else ""
    if not mine and not shown and not own:
        return ""
    lines = [f"## {section.title}", "", *([own, ""] if own else [])]
    for picture in shown:
        lines += [f"![{picture.title}](pictures/{picture.name}.png)", "", f"*{picture.title}*", ""]
    notes = _Notes()
    for table in section.tables:
        lines += _printed(table, mine, notes)
    printed = {cell for table in section.tables for _, row in table.rows for cell in row}
    rest = [each for each in mine if each.claim.id not in printed and not each.is_setup]
    return "\n".join([*lines, *_table(rest, notes), *notes.lines()])


class _Notes:
    """The explanations of a section, each once; claims refer to them by letters."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def marks(self, outcome: ClaimResult) -> str:
        """Return the marks after a result: verdict, chosen on, letter of the explanation."""
        chosen, text = "†" if outcome.chosen_on else "", outcome.explanation
        if not text:
            return f"{MARKS[outcome.verdict]}{chosen}"
        if text not in self.texts:
            self.texts.append(text)
        return f"{MARKS[outcome.verdict]}{chosen} ({chr(ord('a') + self.texts.index(text))})"

    def lines(self) -> list[str]:
        """Return the explanations."""
        notes = [f"- ({chr(ord('a') + place)}) {text}" for place, text in enumerate(self.texts)]
        return ["Explanations:", "", *notes, ""] if notes else []


def _printed(table: PaperTable, outcomes: Sequence[ClaimResult], notes: _Notes) -> list[str]:
    """Return a table as the paper prints it, with its numbers and the measured ones."""
    found = {each.claim.id: each for each in outcomes}
    if not any(cell in found for _, row in table.rows for cell in row):
        return []

    def cell(name: str) -> str:
        if name not in found:
            return ""
        each = found[name]
        return f"{in_paper(each)} → {measured(each)} {notes.marks(each)}"

    lines = [f"**{table.title}**: paper → measured ± deviation over the seeds", ""]
    lines.append(_head(table.columns))
    lines += [f"| {label} | {' | '.join(map(cell, row))} |" for label, row in table.rows]
    return [*lines, ""]


def _table(outcomes: Sequence[ClaimResult], notes: _Notes) -> list[str]:
    if not outcomes:
        return []
    lines = [_head(["claim", "paper", "measured", "verdict", ""])]
    for each in outcomes:
        claim = each.claim
        unit = f" [{claim.counted_in}]" if claim.counted_in not in ("", "1", "difference") else ""
        what = f"`{claim.short}` {claim.metric}{unit}, {claim.scenario}"
        verdict = f"{each.verdict} {notes.marks(each)}"
        lines.append(_row([what, in_paper(each), measured(each), verdict, each.reason]))
    return [*lines, ""]


def sensitivity(study: PaperStudy, table: Sequence[SensitivityRow], seeds: int) -> str:
    """Return the table of some claims under every alternative."""
    first = table[0].outcomes
    lines = [
        f"# Sensitivity: {study.title}",
        "",
        f"<!-- Made by `tidegate paper {study.key} --sensitivity`. -->",
        "",
        f"One setting at a time is changed to its alternative, {seeds} seeds."
        f" Verdicts by the rules alone: {LEGEND}.",
        "",
        _head(["setting", "value", *(f"`{each.claim.short}`" for each in first)]),
        _row(["paper", "", *map(in_paper, first)]),
    ]
    for row in table:
        cells = [f"{_short(each)} {MARKS[each.verdict]}" for each in row.outcomes]
        lines.append(_row([row.what, row.label, *cells]))
    return "\n".join(lines) + "\n"


def _short(outcome: ClaimResult) -> str:
    value = outcome.measured
    return number(value) if isinstance(value, float) else str(value or "")
