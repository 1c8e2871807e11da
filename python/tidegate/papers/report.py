"""The pages of a paper, made from judged claims and saved runs.

REPORT.md answers whether the paper holds, verdicts.csv has what was measured of
every claim, claims.md shows that with every guess, sensitivity.md what each guess
changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tidegate import _native
from tidegate.papers import claims_page
from tidegate.papers.claims import matches
from tidegate.papers.page import heading, line, png, table
from tidegate.papers.published import of_text
from tidegate.papers.report_text import Text, environment, in_paper, measured, number
from tidegate.papers.verdicts import (
    CONTRADICTED,
    DEPENDS,
    MET,
    NOT_MET,
    UNCHECKED,
    UNRESOLVED,
    VERDICTS,
    ClaimResult,
    by_group,
)
from tidegate.results.csv_text import csv_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tidegate.papers.report_text import Section
    from tidegate.papers.request import PaperResult, SensitivityRow
    from tidegate.papers.runs import Runs
    from tidegate.papers.study import PaperPicture, PaperStudy, PaperTable

MARKS = {
    MET: "✓",
    DEPENDS: "≈",
    UNRESOLVED: "?",
    NOT_MET: "✗",
    CONTRADICTED: "⇄",
    UNCHECKED: "○",
}
LEGEND = (
    "✓ met, ≈ depends on a guess, ? unresolved, ✗ not met,"
    " ⇄ contradicted by the paper itself, ○ cannot be checked"
)
SENSITIVITY, ERAS = "sensitivity.md", "eras.md"


REPORT, CLAIMS, NUMBERS = "REPORT.md", "claims.md", "verdicts.csv"
BEYOND = "beyond.md"
"""What the paper does not show, where its template has a block for that."""
COLUMNS = (
    "id",
    "kind",
    "paper",
    "measured",
    "low",
    "high",
    "verdict",
    "as_taken",
    "chosen_on",
    "near",
    "shown",
    "reason",
)
"""Of verdicts.csv; `near` is empty unless the row is a printed number that predicts."""


def pages(done: PaperResult, pictures: Sequence[PaperPicture]) -> dict[str, bytes]:
    """Return the report, its pictures and the tables of all claims, as file name and content."""
    files = {f"pictures/{each.name}.png": drawn(done, each) for each in pictures}
    shown = {each.name: each for each in pictures}
    text = _text(done, shown)
    beyond = "\n".join([text.block("beyond"), *_further(done)]).strip()
    files[REPORT] = _page(done, "report.md.j2", text, beyond=bool(beyond)).encode()
    if beyond:
        files[BEYOND] = _beyond(done, beyond).encode()
    verdicts = numbers(done)
    files[NUMBERS] = verdicts.encode()
    files[CLAIMS] = claims_page.page(done.study, of_text(verdicts)).encode()
    return files


TURNS_THERE = " Known from the full run, not from this one."
"""What verdicts.csv adds where a run of few seeds, or of other settings, cannot tell what turns."""


def numbers(done: PaperResult) -> str:
    """Return `verdicts.csv`: one line for each claim."""
    lines, usual = [], done.request.as_usual(done.study)
    for each in done.outcomes:
        ends = ("", "") if each.one_run else (each.low, each.high)
        values = (each.measured, *ends)
        shown = [f"{value:.6g}" if isinstance(value, float) else value for value in values]
        said = each.claim.value if each.paper is None else each.paper
        near = ("yes" if each.near else "no") if each.predicts else ""
        chosen = "yes" if each.chosen_on else ""
        verdicts = (each.verdict, each.as_taken or each.verdict, chosen, near)
        known = "" if usual or each.verdict != DEPENDS else TURNS_THERE
        words = (measured(each), f"{each.reason}{known}")
        lines.append((each.claim.short, each.claim.kind, said, *shown, *verdicts, *words))
    return csv_text(COLUMNS, lines)


def drawn(done: PaperResult, picture: PaperPicture) -> bytes:
    """Render one picture; without a date in it, so that the same data give the same file."""
    import matplotlib as mpl

    from tidegate.papers import panels
    from tidegate.show.style import RULES as LOOK

    with mpl.rc_context(cast("Any", LOOK)):
        figure = picture.draw(done.runs)
        panels.finish(figure)
        return png(figure)


def _text(done: PaperResult, pictures: dict[str, PaperPicture]) -> Text:
    """Return what the template of the paper can call."""

    def write(section: Section, text: Callable[[], str] | None) -> str:
        return _section(done, section, pictures, text)

    return Text(done.study, done.outcomes, done.runs, write)


def _beyond(done: PaperResult, text: str) -> str:
    lines = [
        f"# Beyond the paper: {done.study.title}",
        "",
        f"<!-- Made by `{_command(done)}`: change the code, not this page. -->",
        "",
        "What it names and does not show, and what goes further."
        " [The report](REPORT.md) has what it shows.",
        "",
        text,
    ]
    return "\n".join(lines) + "\n"


def _page(done: PaperResult, template: str, text: Text, *, beyond: bool) -> str:
    study, runs, groups = done.study, done.runs, by_group(done.outcomes)
    page = environment()
    page.filters["blank_zero"] = lambda count: str(count or "")
    return (
        page.get_template(template)
        .render(
            study=study,
            results=done.outcomes,
            runs=runs,
            command=_command(done),
            whole=done.request.whole(study),
            summary=text.block("summary"),
            sections=text.block("sections"),
            beyond=beyond,
            verdicts=[each for each in VERDICTS if any(rows[each] for rows in groups.values())],
            groups=groups,
            predictions=[each for each in done.outcomes if each.predicts],
            chosen_on=[each for each in done.outcomes if each.chosen_number],
            failing=_failing(done)[0],
            aside=len(_failing(done)[1]),
            reasons_of=_reasons_of(done, _failing(done)[0]),
            marks=LEGEND,
            home=f"../../../python/{study.package.replace('.', '/')}",
            deviations=study.deviations().deviations,
            eras=any(each.eras for each in study.choices),
            cost=runs.cost,
            made_by=made_by(runs),
            head=heading,
            row=line,
            some=_some,
            in_paper=in_paper,
            measured=measured,
        )
        .rstrip()
        + "\n"
    )


def made_by(runs: Runs) -> str:
    """Return the version, and the commits of the code that simulated the noted runs."""
    commits = sorted({record.commit[:12] for record in runs.noted.values()} - {""})
    by = f", runs of commit {' and '.join(commits)}" if commits else ""
    return f"tidegate {_native.__version__}{by}"


NO_REASON = "Not known."
"""What a report says of a row without an explanation."""


def _failing(done: PaperResult) -> tuple[dict[str, list[ClaimResult]], ...]:
    """Return the claims that do not hold by their explanation: for the report, and for beyond."""
    aside = {each.whole for each in done.study.deviations().explanations if each.aside}
    found: tuple[dict[str, list[ClaimResult]], ...] = ({}, {})
    for each in done.outcomes:
        if not each.holds and each.verdict != UNCHECKED:
            text = each.explanation or NO_REASON
            found[text in aside].setdefault(text, []).append(each)
    return found


def _reasons_of(done: PaperResult, reasons: Iterable[str]) -> str:
    """Say of which run these reasons are, if any was written of another one."""
    written = any(text != NO_REASON for text in reasons)
    return done.request.reasons_of(done.study) if written else ""


def _further(done: PaperResult) -> list[str]:
    """Return the section with the reasons that the report leaves out."""
    aside = _failing(done)[1]
    reasons = [f"- {text} *Rows: {_some(rows)}.*" for text, rows in aside.items()]
    if said := _reasons_of(done, aside):
        reasons = [said, "", *reasons]
    return ["", "", "## Further rows that do not hold, and why", "", *reasons] if reasons else []


SHOWN = 4
"""So many rows that do not hold are named with each reason; all are in verdicts.csv."""


def _some(rows: Sequence[ClaimResult]) -> str:
    """Return the first claims that do not hold for one reason, and how many more there are."""
    named = "; ".join(map(_short_row, rows[:SHOWN]))
    return named if len(rows) <= SHOWN else f"{named}; and {len(rows) - SHOWN} more"


def _short_row(each: ClaimResult) -> str:
    """Return a claim that does not hold in a few words: id, both numbers and verdict."""
    mark = f"{MARKS[each.verdict]}{'†' if each.chosen_on else ''}"
    if each.claim.kind == "ordering" or not isinstance(each.measured, float):
        return f"`{each.claim.short}` {mark}"
    return f"`{each.claim.short}` {in_paper(each)} → {number(each.measured)} {mark}"


def _command(done: PaperResult) -> str:
    asked = done.request
    words = ["tidegate paper", done.study.key, *(f"--only {each}" for each in asked.only)]
    return " ".join([*words, *(["--quick"] if asked.quick else [])])


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
    counted = [*_counted(mine), ""] if mine else []
    lines = [f"## {section.title}", "", *counted, *([own, ""] if own else [])]
    for picture in shown:
        lines += [f"![{picture.name}](pictures/{picture.name}.png)", "", f"*{picture.title}*", ""]
    for printed in section.tables:
        lines += _printed(printed, mine)
    return "\n".join([*lines, ""])


def _counted(outcomes: Sequence[ClaimResult]) -> list[str]:
    """Return how many rows of a section have which verdict, without rows of the set-up."""
    found = [each.verdict for each in outcomes if not each.is_setup]
    each = (f"{found.count(name)} {MARKS[name]}" for name in VERDICTS if name in found)
    return [f"Rows: {', '.join(each)}."] if found else []


def _printed(printed: PaperTable, outcomes: Sequence[ClaimResult]) -> list[str]:
    """Return a table as the paper prints it, with its numbers and the measured ones."""
    found = {each.claim.id: each for each in outcomes}
    if not any(cell in found for _, row in printed.rows for cell in row):
        return []

    def cell(name: str) -> str:
        if name not in found:
            return ""
        each = found[name]
        chosen = "†" if each.chosen_on else ""
        return f"{in_paper(each)} → {_short(each)} {MARKS[each.verdict]}{chosen}"

    rows = ((label, *map(cell, row)) for label, row in printed.rows)
    return [f"**{printed.title}**: paper → measured", "", *table(printed.columns, rows), ""]


TURNS = "## Rows that turn"


def sensitivity(study: PaperStudy, found: Sequence[SensitivityRow], seeds: int, made: str) -> str:
    """Return the table of some claims under every alternative, and the rows that turn."""
    first, others = found[0].outcomes, list(enumerate(found))[1:]
    rows = []
    for place, taken in enumerate(first):
        each = (row.outcomes[place] for row in found)
        cells = (f"{_short(one)} {MARKS[one.verdict]}" for one in each)
        rows.append((f"`{taken.claim.short}`", in_paper(taken), *cells))
    turned = [line for place, _ in enumerate(first) for line in _turns(found, place)]
    lines = [
        f"# Sensitivity: {study.title}",
        "",
        f"<!-- Made by `tidegate paper {study.key} --sensitivity`. -->",
        "",
        f"One setting at a time is changed to its alternative, {seeds} seeds."
        f" Verdicts by the rules alone: {LEGEND}. Made by {made}.",
        "",
        *(f"- **{number}** {row.what}: {row.label}{_why_not(row)}" for number, row in others),
        "",
        *table(("claim", "paper", "as taken", *(f"{number}" for number, _ in others)), rows),
        *("", TURNS, "", "From met to not met, or from not met to met:", ""),
    ]
    return "\n".join([*lines, *(turned or ["- none"])]) + "\n"


def _why_not(row: SensitivityRow) -> str:
    return f" (no equal guess: {row.rejected})" if row.rejected else ""


def _turns(table: Sequence[SensitivityRow], place: int) -> list[str]:
    """Return, for one claim, the guesses that turn its verdict."""
    taken = table[0].outcomes[place]
    found: dict[str, list[str]] = {}
    for row in table[1:]:
        other = row.outcomes[place]
        if {taken.verdict, other.verdict} == {MET, NOT_MET}:
            found.setdefault(row.what, []).append(f"{row.label}{_why_not(row)}")
    return [
        f"- `{taken.claim.short}`, {taken.verdict} as taken: *{what}*: {'; '.join(labels)}"
        for what, labels in found.items()
    ]


def _short(outcome: ClaimResult) -> str:
    value = outcome.measured
    return number(value) if isinstance(value, float) else str(value or "")
