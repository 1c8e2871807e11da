"""Run what is missing of a paper, judge its claims, and write the report."""

from __future__ import annotations

import json
import time
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from tidegate.grid.executor import Executor
from tidegate.grid.work import Task, Work
from tidegate.papers import claims as listed
from tidegate.papers import report
from tidegate.papers.deviations import ClaimContext
from tidegate.papers.request import PaperResult, Request, SensitivityRow, needed
from tidegate.papers.runs import Runs
from tidegate.papers.verdicts import ClaimResult, judge
from tidegate.results.run_output import Wanted
from tidegate.results.store import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tidegate.grid.meter import Meter
    from tidegate.papers.case import Case
    from tidegate.papers.claims import Claim
    from tidegate.papers.deviations import Alternative
    from tidegate.papers.folder import CaseFolder, Job
    from tidegate.papers.study import PaperStudy
    from tidegate.results.run_output import RunOutput
    from tidegate.scenario.document import Setting

    Bar = Callable[[str, int, float], AbstractContextManager[Meter]]


def fill(
    runs: Runs,
    names: Sequence[str],
    bar: Bar,
    executor: Executor | None = None,
    laws: Mapping[str, Any] | None = None,
) -> int:
    """Run what is missing; each run is saved when it finishes. Return how many were run.

    `laws`: those of the user's own that the cases name.
    """
    return fill_all(runs.folder, [(runs, names)], bar, executor, laws)


def fill_all(
    folder: CaseFolder,
    wanted: Sequence[tuple[Runs, Sequence[str]]],
    bar: Bar,
    executor: Executor | None = None,
    laws: Mapping[str, Any] | None = None,
) -> int:
    """Run what is missing of several sets of runs at once; return how many were run.

    Searches run in stages. Saved runs stay after KeyboardInterrupt and after a crash.
    """
    total = 0
    for runs, names in wanted:
        runs.declared |= set(names)
    while True:
        each = [(runs, runs.jobs(names)) for runs, names in wanted]
        jobs = {job.folder: job for _, mine in each for job in mine}
        missing = [job for job in jobs.values() if not folder.has(job)]
        if not missing:
            for runs, mine in each:
                runs.used(mine)
            return total
        _execute(folder, missing, bar, executor, laws)
        total += len(missing)


def _execute(
    folder: CaseFolder,
    jobs: Sequence[Job],
    bar: Bar,
    executor: Executor | None,
    laws: Mapping[str, Any] | None,
) -> None:
    costs = [job.scenario.duration_s * job.case.weight for job in jobs]
    with bar(folder.paper.key, len(jobs), sum(costs)) as meter:

        def task(place: int) -> Task:
            job = jobs[place]
            return Task(job.scenario, job.seed, job.files)

        def keep(place: int, output: RunOutput) -> None:
            folder.keep_run(jobs[place], output)
            meter.finished()

        def report(place: int, now_s: float) -> None:
            meter.report(place, now_s * jobs[place].case.weight)

        work = Work(len(jobs), task, Wanted(study=folder.paper.keep), keep, laws, report)
        for _ in (executor or Executor()).run(work):
            pass


def assess(study: PaperStudy, runs: Runs, claims: Iterable[Claim]) -> list[ClaimResult]:
    """Judge claims by the saved runs."""
    departures = study.deviations()
    return [
        judge(claim, study.checks[claim.id].find(runs), departures.context(claim.id))
        for claim in claims
    ]


def judged(
    study: PaperStudy,
    folder: CaseFolder,
    asked: Request,
    bar: Bar,
    executor: Executor | None = None,
) -> tuple[Runs, list[ClaimResult]]:
    """Run what is missing for some claims, and judge them; only runs are written."""
    claims = asked.claims(study)
    runs = Runs(study, folder, asked.seeds_of(study))
    fill(runs, needed(study, claims), bar, executor)
    return runs, assess(study, runs, claims)


def regenerate(
    study: PaperStudy,
    folder: CaseFolder,
    asked: Request,
    bar: Bar,
    executor: Executor | None = None,
) -> PaperResult:
    """Run what is missing, judge, and write claims, report and pictures into the folder."""
    start = time.perf_counter()
    claims, pictures = asked.claims(study), asked.pictures(study)
    runs = Runs(study, folder, asked.seeds_of(study))
    runs.testbed = asked.testbed
    texts = study.text_cases if asked.whole(study) else ()
    ran = fill(runs, needed(study, claims, pictures, texts), bar, executor)
    done = PaperResult(study, asked, assess(study, runs, claims), runs, ran=ran)
    done.wall_s = time.perf_counter() - start
    folder.write("claims.json", (json.dumps(done.document(), indent=1) + "\n").encode())
    for name, content in report.pages(done, pictures).items():
        folder.write(name, content)
        done.files.append(name)
    if (folder.target / report.SENSITIVITY).exists():
        done.files.append(report.SENSITIVITY)
    return done


def sensitivity(
    study: PaperStudy,
    folder: CaseFolder,
    asked: Request,
    bar: Bar,
    executor: Executor | None = None,
) -> list[SensitivityRow]:
    """Judge some claims under every alternative of `deviations.toml`, and write the table."""
    claims = listed.chosen(study.claims(), asked.only or study.scale.sensitive)
    names, seeds = needed(study, claims), asked.seeds or study.scale.sensitive_seeds
    table = []
    deviations = study.deviations().deviations
    rows: list[tuple[str, str, Alternative | None]] = [("as taken", "", None)]
    rows += [(each.what, other.label, other) for each in deviations for other in each.alternatives]
    for what, label, alternative in rows:
        taken = () if alternative is None else (alternative, *alternative.also)
        runs = Runs(study, folder, seeds, changes(*taken), dict(_measures(alternative)))
        fill(runs, names, bar, executor)
        outcomes = [
            judge(claim, study.checks[claim.id].find(runs), ClaimContext()) for claim in claims
        ]
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


def _measures(alternative: Alternative | None) -> tuple[tuple[str, str], ...]:
    return alternative.measures if alternative else ()


def copied(done_files: Sequence[str], folder: CaseFolder, place: Path) -> None:
    """Copy the report and its pictures to another folder."""
    for name in done_files:
        write_whole(place / name, (folder.target / name).read_bytes())
