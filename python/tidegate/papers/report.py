"""REPORT.md: what holds, what does not, and why; generated from the outcomes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from tidegate import _native
from tidegate.papers.claims import APART, matches
from tidegate.papers.verdicts import (
    CALIBRATED,
    CHOSEN_ON,
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
    from collections.abc import Iterable, Sequence

    from tidegate.papers.request import PaperResult, SensitivityRow
    from tidegate.papers.study import PaperPicture, PaperStudy, PaperTable, Section

MARKS = {
    MET: "✓",
    CALIBRATED: "≈",
    UNRESOLVED: "?",
    NOT_MET: "✗",
    CONTRADICTED: "⇄",
    UNCHECKED: "○",
}
MARKS_SAY = (
    "✓ met, ≈ calibrated, ? unresolved, ✗ not met,"
    " ⇄ contradicted by the paper itself, ○ cannot be checked"
)
SENSITIVITY, ERAS = "sensitivity.md", "eras.md"
CHOSEN = "†"
"""Marks a row that a setting was chosen on."""
RULES = """\
A number is *met* within 20 % of the paper's (or within two standard deviations of the seeds where
one of these is under 20 %), an approximate number within 30 %, a ratio within 25 %; of "at least
so much" no less is met. An ordering is
met when the 95 % interval of the paired difference over the seeds lies on the claimed side, *not
met* when it lies on the other, *unresolved* when it straddles; of several parts every one has to
hold. *Calibrated*: it would be met, but hangs on a number that the paper withholds and that was
chosen here. *Contradicted*: the paper says otherwise elsewhere. Set-up rows have to be exactly
equal, and are counted apart. ± is the standard deviation over the seeds.
"""


def pages(done: PaperResult, pictures: Sequence[PaperPicture]) -> dict[str, bytes]:
    """Return the report and its pictures, as file name and content."""
    files = {f"pictures/{each.name}.png": drawn(done, each) for each in pictures}
    names = {each.name: each for each in pictures}
    files["REPORT.md"] = _report(done, names).encode()
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


def number(value: float) -> str:
    """Return three significant digits, all digits of what is a thousand or more."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"
    return f"{value:.3g}"


def measured(outcome: ClaimResult) -> str:
    """Return what was measured, with its spread or interval."""
    value = outcome.measured
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if outcome.claim.kind == "ordering" or outcome.spread is None:
        if outcome.low is None or outcome.high is None:
            return number(value)
        return f"{number(value)} [{number(outcome.low)}, {number(outcome.high)}]"
    return f"{number(value)} ± {number(outcome.spread)}"


def said(outcome: ClaimResult) -> str:
    """Return what the paper says."""
    if isinstance(outcome.paper, float | int):
        return number(float(outcome.paper))
    return str(outcome.paper or outcome.claim.value)


def _report(done: PaperResult, pictures: dict[str, PaperPicture]) -> str:
    study, outcomes = done.study, done.outcomes
    lines = [f"# {study.title}", ""]
    lines += [f"<!-- Made by `{_made_by(done)}`: change the code, not this page. -->", ""]
    if not done.asked.whole(study):
        lines += [_provisional(done), ""]
    lines += [study.summary(outcomes, done.runs), "", _counted(outcomes), ""]
    lines += [f"In the tables: {MARKS_SAY}. The rules stand [below](#every-claim).", ""]
    lines += [_beside(study.key), ""]
    for section in study.sections:
        lines += _section(done, section, pictures)
    lines += _departures(done)
    lines += _every_claim(done)
    lines += _made(done)
    return "\n".join(lines).rstrip() + "\n"


def _beside(key: str) -> str:
    """Return where a checkout has what the report was made from; the page lies in its docs."""
    home = f"../../../python/tidegate/papers/{key}"
    return (
        f"Made from [the claims]({home}/claims.csv), [what was guessed]({home}/deviations.toml),"
        f" [the scenarios]({home}/scenarios) and [one check for each claim]({home}/checks);"
        f" `tidegate paper {key} --explain ID` says of any claim how its verdict comes about."
    )


def _made_by(done: PaperResult) -> str:
    asked = done.asked
    words = ["tidegate paper", done.study.key, *(f"--only {each}" for each in asked.only)]
    return " ".join([*words, *(["--quick"] if asked.quick else [])])


def _provisional(done: PaperResult) -> str:
    claims = len(done.outcomes)
    return (
        f"**Not the whole paper:** {claims} of {len(done.study.claims())} claims over"
        f" {done.runs.seeds} seeds (`{_made_by(done)}`). Verdicts of a full run rest on"
        f" {done.study.scale.seeds} seeds; with fewer, intervals are wide and little is resolved."
    )


def _counted(outcomes: Sequence[ClaimResult]) -> str:
    """Return how many rows of each kind have which verdict."""
    found = by_group(outcomes)
    verdicts = [each for each in VERDICTS if any(rows[each] for rows in found.values())]
    lines = [f"| rows | {' | '.join(verdicts)} |", "|---|" + "---|" * len(verdicts)]
    for name, rows in found.items():
        lines.append(f"| {name} | {' | '.join(str(rows[each] or '') for each in verdicts)} |")
    if CHOSEN_ON in found:
        lines += ["", f"Rows *{CHOSEN_ON}* settings by ({CHOSEN}) predict nothing; all others do."]
    return "\n".join(lines)


def _section(done: PaperResult, section: Section, pictures: dict[str, PaperPicture]) -> list[str]:
    mine = [each for each in done.outcomes if _of(section.claims, each)]
    shown = [pictures[name] for name in section.pictures if name in pictures]
    text = section.text if done.asked.whole(done.study) else None
    if not mine and not shown and text is None:
        return []
    lines = [f"## {section.title}", ""]
    if text is not None:
        lines += [text(done.runs), ""]
    for picture in shown:
        lines += [f"![{picture.title}](pictures/{picture.name}.png)", "", f"*{picture.title}*", ""]
    notes = _Notes()
    for grid in section.grids:
        lines += _grid(grid, mine, notes)
    in_grids = {cell for grid in section.grids for _, row in grid.rows for cell in row}
    rest = [each for each in mine if each.claim.id not in in_grids and not each.apart]
    return lines + _table(rest, notes) + notes.lines()


class _Notes:
    """Explanations of a section: each stands once, and claims refer to it by a letter."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, outcome: ClaimResult) -> str:
        """Return the letter of an outcome's explanation, or nothing."""
        text = outcome.explanation
        if not text:
            return ""
        if text not in self.texts:
            self.texts.append(text)
        return f" ({chr(ord('a') + self.texts.index(text))})"

    def lines(self) -> list[str]:
        """Return the explanations."""
        notes = [f"- ({chr(ord('a') + place)}) {text}" for place, text in enumerate(self.texts)]
        return ["Why not:", "", *notes, ""] if notes else []


def _of(patterns: Iterable[str], outcome: ClaimResult) -> bool:
    return any(matches(pattern, outcome.claim.id) for pattern in patterns)


def _grid(grid: PaperTable, outcomes: Sequence[ClaimResult], notes: _Notes) -> list[str]:
    """Return a table of the paper as printed there: what it says, what was measured."""
    found = {each.claim.id: each for each in outcomes}
    if not any(cell in found for _, row in grid.rows for cell in row):
        return []
    lines = [f"**{grid.title}**: paper → measured ± deviation over the seeds", ""]
    lines += [f"| {' | '.join(grid.columns)} |", "|" + "---|" * len(grid.columns)]
    for label, row in grid.rows:
        cells = [_cell(found[each], notes) if each in found else "" for each in row]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return [*lines, ""]


def _cell(outcome: ClaimResult, notes: _Notes) -> str:
    mark = f"{MARKS[outcome.verdict]}{_chosen(outcome)}{notes.mark(outcome)}"
    return f"{said(outcome)} → {measured(outcome)} {mark}"


def _table(outcomes: Sequence[ClaimResult], notes: _Notes) -> list[str]:
    if not outcomes:
        return []
    lines = ["| claim | paper | measured | verdict | |", "|---|---|---|---|---|"]
    for each in outcomes:
        claim = each.claim
        unit = f" [{claim.counted_in}]" if claim.counted_in not in ("", "1", "difference") else ""
        what = f"`{claim.short}` {claim.metric}{unit}, {claim.scenario}"
        verdict = f"{each.verdict} {MARKS[each.verdict]}{_chosen(each)}{notes.mark(each)}"
        cells = [what, said(each), measured(each), verdict, each.reason]
        lines.append(f"| {' | '.join(map(_safe, cells))} |")
    return [*lines, ""]


def _chosen(outcome: ClaimResult) -> str:
    return CHOSEN if outcome.chosen_on else ""


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _departures(done: PaperResult) -> list[str]:
    """Return what was guessed, and what the choice hangs on."""
    deviations = done.study.deviations().deviations
    if not deviations:
        return []
    lines = ["## What the paper leaves unsaid, and what was taken", ""]
    lines += ["| what | taken | why | alternatives |", "|---|---|---|---|"]
    for each in deviations:
        others = "; ".join(other.says for other in each.alternatives)
        cells = [each.what, each.taken, " ".join(each.why.split()), others]
        lines.append(f"| {' | '.join(map(_safe, cells))} |")
    if done.study.choice is not None:
        made = f"`tidegate paper {done.study.key} --search`"
        there = (done.runs.folder.target / ERAS).exists()
        eras = f" every row under each of them: [{ERAS}]({ERAS})," if there else ""
        lines += ["", f"How the settings were chosen: [search.md](search.md),{eras} by {made}."]
    if done.study.scale.sensitive:
        made = f"`tidegate paper {done.study.key} --sensitivity`"
        lines += ["", f"What each alternative changes: [{SENSITIVITY}]({SENSITIVITY}), by {made}."]
    return [*lines, ""]


def _every_claim(done: PaperResult) -> list[str]:
    """Return the list of all claims, by which each line can be repeated."""
    lines = ["## Every claim", "", RULES]
    lines += [
        f"Any line again: `tidegate paper {done.study.key} --only ID`, with the ID of its first"
        " column. Of an ordering, the measured value is the paired difference of the part that"
        " decides, with its 95 % interval, in the unit of what that part compares; shares are"
        " numbers up to 1.",
        "",
    ]
    heads = ["ID", "kind", "where", "paper", "measured", "unit", "verdict", "why"]
    lines += [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for each in done.outcomes:
        claim = each.claim
        cells = [f"`{claim.short}`", claim.kind, claim.where, said(each), measured(each)]
        cells += [claim.counted_in, f"{each.verdict}{_chosen(each)}", each.reason]
        lines.append(f"| {' | '.join(map(_safe, cells))} |")
    return [*lines, ""]


def _made(done: PaperResult) -> list[str]:
    cost = done.runs.cost
    commits = sorted({record.commit[:12] for record in done.runs.noted.values()} - {""})
    by = f", runs of commit {' and '.join(commits)}" if commits else ""
    made = f"tidegate {_native.__version__}{by}"
    hops = cost["packet_hops"] / 1e6
    return [
        "## Cost",
        "",
        f"{cost['runs']:.0f} runs, {cost['cpu_s']:.0f} s of CPU time in the simulator,"
        f" {hops:,.0f} million packet-hops; {made}.",
    ]


def sensitivity(study: PaperStudy, table: Sequence[SensitivityRow], seeds: int) -> str:
    """Return the table of some claims under every alternative."""
    claims = [outcome.claim for outcome in table[0].outcomes]
    lines = [f"# Sensitivity: {study.title}", ""]
    lines += [f"<!-- Made by `tidegate paper {study.key} --sensitivity`. -->", ""]
    lines += [
        f"One setting at a time is changed to its alternative, {seeds} seeds."
        f" Verdicts by the rules alone: {MARKS_SAY}.",
        "",
    ]
    heads = [f"`{claim.short}`" for claim in claims]
    lines += [f"| setting | value | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    lines += [f"| paper | | {' | '.join(_safe(said(each)) for each in table[0].outcomes)} |"]
    for row in table:
        cells = [f"{_short(each)} {MARKS[each.verdict]}" for each in row.outcomes]
        lines.append(f"| {_safe(row.what)} | {_safe(row.says)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _short(outcome: ClaimResult) -> str:
    value = outcome.measured
    return number(value) if isinstance(value, float) else str(value or "")


__all__ = ["APART", "drawn", "measured", "number", "pages", "said", "sensitivity"]
