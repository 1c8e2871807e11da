"""Run what is missing of a paper, judge its claims, and write the report."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers import again as again_of
from tidegate.papers import claims as listed
from tidegate.papers import report
from tidegate.papers.request import PaperResult, Request, SensitivityRow, needed
from tidegate.papers.runs import Runs
from tidegate.papers.verdicts import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate.papers.case import Case
    from tidegate.papers.deviations import Alternative
    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.study import PaperStudy
    from tidegate.scenario.document import Setting


def judged(study: PaperStudy, folder: CaseFolder, asked: Request) -> PaperResult:
    """Run what is missing for some claims, and judge them; only runs are written."""
    return _judged(study, folder, asked, needed(study, asked.claims(study)))


def _judged(
    study: PaperStudy, folder: CaseFolder, asked: Request, names: Sequence[str]
) -> PaperResult:
    start = time.perf_counter()
    changed = (lambda _: asked.settings) if asked.settings else None
    runs = Runs(study, folder, asked.seeds_of(study), changed, first_seed=asked.first_seed)
    runs.testbed = asked.testbed
    ran = runs.fill(names)
    departures = study.deviations()
    # what is divided by nothing has no value: its reason says so
    with np.errstate(divide="ignore", invalid="ignore"):
        outcomes = [
            judge(claim, study.checks[claim.id].find(runs), departures.context(claim.id))
            for claim in asked.claims(study)
        ]
    return PaperResult(study, asked, outcomes, runs, time.perf_counter() - start, ran)


def regenerate(study: PaperStudy, folder: CaseFolder, asked: Request) -> PaperResult:
    """Run what is missing, judge, and write claims, report and pictures into the folder."""
    pictures = asked.pictures(study)
    texts = study.text_cases if asked.whole(study) else ()
    names = needed(study, asked.claims(study), pictures, texts)
    done = _judged(study, folder, asked, names)
    folder.write("claims.json", (json.dumps(done.document(), indent=1) + "\n").encode())
    done.files = folder.publish(report.pages(done, pictures))
    if (folder.target / report.SENSITIVITY).exists():
        done.files.append(report.SENSITIVITY)
    return done


def tried(study: PaperStudy, folder: CaseFolder, asked: Request) -> tuple[PaperResult, PaperResult]:
    """Judge claims as taken, and with settings of the user's own; only runs are written."""
    usual, other = (judged(study, folder, each) for each in (replace(asked, settings=()), asked))
    other.wall_s, other.ran = usual.wall_s + other.wall_s, usual.ran + other.ran
    return usual, other


def again(study: PaperStudy, folder: CaseFolder, asked: Request) -> PaperResult:
    """Judge claims with seeds that nothing was chosen by, and write what turns."""
    usual = judged(study, folder, asked)
    other = judged(study, folder, replace(asked, first_seed=again_of.FIRST_SEED))
    other.wall_s, other.ran = usual.wall_s + other.wall_s, usual.ran + other.ran
    other.files = [again_of.AGAIN]
    folder.write(again_of.AGAIN, again_of.page(usual, other).encode())
    return other


def sensitivity(study: PaperStudy, folder: CaseFolder, asked: Request) -> list[SensitivityRow]:
    """Judge some claims under every alternative of `deviations.toml`, and write the table."""
    claims = listed.chosen(study.claims(), asked.only or study.scale.sensitive)
    names, seeds = needed(study, claims), asked.seeds or study.scale.sensitive_seeds
    table = []
    rows: list[tuple[str, str, Alternative | None]] = [("as taken", "", None)]
    rows += [
        (each.what, other.label, other)
        for each in study.deviations().deviations
        for other in each.alternatives
    ]
    for what, label, alternative in rows:
        taken = () if alternative is None else (alternative, *alternative.also)
        instead = dict(alternative.measures if alternative else ())
        runs = Runs(study, folder, seeds, changes(*taken), instead)
        runs.fill(names)
        outcomes = [judge(claim, study.checks[claim.id].find(runs)) for claim in claims]
        rejected = alternative.rejected if alternative else ""
        table.append(SensitivityRow(what, label, tuple(outcomes), rejected))
        made = report.made_by(runs)
    folder.write(report.SENSITIVITY, report.sensitivity(study, table, seeds, made).encode())
    return table


def changes(*alternatives: Alternative) -> Callable[[Case], tuple[Setting, ...]]:
    """Return a function that gives the further settings of a case under these alternatives."""

    def change(case: Case) -> tuple[Setting, ...]:
        return tuple(
            setting
            for each in alternatives
            if any(fnmatchcase(case.key, pattern) for pattern in each.cases)
            for setting in each.settings
        )

    return change
