"""How a verdict is reached: claim, code, settings, runs, both numbers, and the rule."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tidegate.papers.report_text import measured, number
from tidegate.papers.verdicts import rule
from tidegate.results.store import display

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.papers.case import Case
    from tidegate.papers.claims import Claim
    from tidegate.papers.runs import Runs
    from tidegate.papers.study import PaperStudy
    from tidegate.papers.verdicts import ClaimResult

WIDTH = 96
SHOWN = 12
"""The most cases, or lines, that are listed."""


def explained(study: PaperStudy, runs: Runs, outcome: ClaimResult, reasons_of: str = "") -> str:
    """Return everything that a verdict is based on, for a terminal.

    `reasons_of` says of which run the reason is, if it is of another one.
    """
    claim = outcome.claim
    parts = [
        ("claim", [f"{claim.id} ({claim.kind}), {claim.where}"]),
        ("says", [f"{claim.metric}, {claim.scenario}: {claim.value}{_unit(claim)}"]),
        ("note", [claim.note] if claim.note else []),
        ("code", list(_code(study, claim.id))),
        ("settings", list(_settings(study, runs, claim.id))),
        ("runs", list(_runs(study, runs, claim.id))),
        ("paper", [_said(outcome)]),
        ("measured", list(_measured(outcome))),
        ("rule", [rule(outcome)]),
        ("verdict", [" ".join(each for each in (f"{outcome.verdict}.", outcome.reason) if each)]),
        (
            "why",
            [each for each in (outcome.explanation, reasons_of) if outcome.explanation and each],
        ),
    ]
    lines: list[str] = []
    for name, texts in parts:
        for place, text in enumerate(texts):
            lines += _wrapped(name if place == 0 else "", text)
    return "\n".join(lines)


def _wrapped(name: str, text: str) -> list[str]:
    head = f"{name:9} "
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _unit(claim: Claim) -> str:
    """Return the unit of the number of a claim; a sentence has none."""
    if claim.unit not in ("", "-"):
        return f" [{claim.unit}]"
    if claim.kind in ("ratio", "derived"):
        return " [ratio]"
    return " [no unit]" if claim.number is not None else ""


def _code(study: PaperStudy, name: str) -> Iterator[str]:
    check = study.checks[name]
    if check.place is not None:
        path, line = check.place
        yield f"{display(path)}:{line}"
    yield check.what


def _settings(study: PaperStudy, runs: Runs, name: str) -> Iterator[str]:
    """Yield the guesses that the claim depends on, and the settings of each of its cases."""
    deviations = study.deviations()
    affects = deviations.context(name).depends_on
    for each in deviations.deviations:
        if each.what in affects:
            yield f"turns with {each.what}: {each.taken}"
    names = study.checks[name].cases or _looked_at(study, runs, name)
    known = [study.cases[case] for case in names if case in study.cases]
    if not names:
        yield "no scenario: a calculation, or a law alone"
    for case in known[:SHOWN]:
        yield f"{case.key}: {_case(study, case)}"
    if len(known) > SHOWN:
        yield f"and {len(known) - SHOWN} more cases"
    for search in (case for case in names if case in study.searches):
        yield f"{search}: the largest {study.searches[search].metric}, coarse to fine"


def _looked_at(study: PaperStudy, runs: Runs, name: str) -> tuple[str, ...]:
    """Return the cases whose scenarios a check without runs reads."""
    runs.effective.read_cases.clear()
    study.checks[name].find(runs)
    return tuple(runs.effective.read_cases)


def _case(study: PaperStudy, case: Case) -> str:
    says = [f"scenarios/{case.scenario} of {study.package}", *case.variants]
    return ", ".join([*says, *(f"{key} = {value}" for key, value in case.settings)])


def _runs(study: PaperStudy, runs: Runs, name: str) -> Iterator[str]:
    """Yield the folders of the runs."""
    jobs = runs.jobs(study.checks[name].cases)
    if not jobs:
        yield "none: read from the scenarios, or calculated"
        return
    folders = dict.fromkeys(job.folder.parent for job in jobs)
    seeds = len({job.seed for job in jobs})
    yield f"{len({job.folder for job in jobs})} runs, seeds 1 to {seeds}, in"
    for folder in list(folders)[:SHOWN]:
        yield str(display(folder))
    if len(folders) > SHOWN:
        yield f"and {len(folders) - SHOWN} more folders"


def _said(outcome: ClaimResult) -> str:
    """Return the number of the paper with its unit, and the text that it stands in."""
    claim, paper = outcome.claim, outcome.paper
    text = number(float(paper)) if isinstance(paper, float | int) else str(paper)
    printed = f" for {claim.value}, as printed" if claim.number_or_range else ""
    return f"{claim.number_or_range or text}{_unit(claim)}{printed}"


def _measured(outcome: ClaimResult) -> Iterator[str]:
    """Yield what was measured, with its unit; for an ordering, the deciding part and all parts."""
    if not outcome.decides:
        yield f"{measured(outcome) or 'nothing'}{_unit(outcome.claim)}"
        if outcome.values:
            yield f"by seed: {', '.join(number(each) for each in outcome.values)}"
        return
    yield f"{measured(outcome)} for the part that decides:"
    yield f"{outcome.decides}"
    yield (
        "The value is what is claimed to be more, minus what is claimed to be less: above zero is"
        " as claimed, below zero is against the claim."
    )
    yield f"differences by seed: {', '.join(number(each) for each in outcome.values)}"
    yield from outcome.parts[:SHOWN]
    if len(outcome.parts) > SHOWN:
        yield f"and {len(outcome.parts) - SHOWN} more parts"
