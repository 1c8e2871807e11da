"""Run what is missing of a study, judge its claims, and write what came of it."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from tidegate.papers import claims as listed
from tidegate.papers.runs import Runs
from tidegate.papers.verdicts import Circumstances, Outcome, counts, judge
from tidegate.runner import simulate
from tidegate.sweeping.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tidegate.papers.claims import Claim
    from tidegate.papers.deviations import Alternative
    from tidegate.papers.folder import Folder, Job
    from tidegate.papers.study import Case, Picture, Section, Study
    from tidegate.progress import Meter
    from tidegate.scenario import Setting

    Bar = Callable[[str, int, float], AbstractContextManager[Meter]]


@dataclass(frozen=True)
class Asked:
    """What of a paper is to be regenerated, and how thoroughly."""

    only: tuple[str, ...] = ()
    quick: bool = False
    seeds: int | None = None

    def seeds_of(self, study: Study) -> int:
        """Return the number of seeds."""
        return self.seeds or (study.quick_seeds if self.quick else study.seeds)

    def whole(self, study: Study) -> bool:
        """Tell whether this is the whole paper, at full scale."""
        return not self.only and not self.quick and self.seeds_of(study) >= study.seeds

    def claims(self, study: Study) -> list[Claim]:
        """Return the claims that are asked for; UsageError for a name that fits none."""
        names = {picture.name for picture in study.pictures}
        patterns = [each for each in self.only if each not in names or self._claimed(study, each)]
        found = listed.chosen(study.claims(), patterns) if patterns or not self.only else []
        if self.quick and not self.only:
            quick = listed.chosen(study.claims(), study.quick)
            return [claim for claim in found if claim in quick]
        return found

    def pictures(self, study: Study) -> list[Picture]:
        """Return the pictures that are asked for: those named, or those of which all runs are."""
        if self.only:
            return [each for each in study.pictures if each.name in self.only]
        if not self.quick:
            return list(study.pictures)
        known = needed(study, self.claims(study))
        return [each for each in study.pictures if set(each.cases) <= set(known)]

    @staticmethod
    def _claimed(study: Study, name: str) -> bool:
        return any(listed.matches(name, claim.id) for claim in study.claims())


@dataclass
class Done:
    """What came of it."""

    study: Study
    asked: Asked
    outcomes: list[Outcome]
    runs: Runs
    wall_s: float = 0.0
    ran: int = 0
    """Runs that were missing and have been done."""
    files: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return the object that `tidegate paper --json` prints."""
        return {
            "paper": self.study.key,
            "settings": {
                "seeds": self.runs.seeds,
                "quick": self.asked.quick,
                "only": list(self.asked.only),
                "taken": {each.key: each.taken for each in self.study.deviations().deviations},
            },
            "claims": [_line(self.study, outcome) for outcome in self.outcomes],
            "counts": counts(self.outcomes),
        }


def command(study: Study, claim: Claim) -> str:
    """Return the command that repeats one line of the report."""
    return f"tidegate paper {study.key} --only {claim.short}"


def _line(study: Study, outcome: Outcome) -> dict[str, Any]:
    claim = outcome.claim
    return {
        "id": claim.id,
        "kind": claim.kind,
        "where": claim.where,
        "metric": claim.metric,
        "unit": claim.unit,
        "paper": claim.value if outcome.paper is None else outcome.paper,
        "measured": outcome.measured,
        "low": outcome.low,
        "high": outcome.high,
        "verdict": outcome.verdict,
        "reason": " ".join(each for each in (outcome.reason, outcome.explanation) if each),
        "parts": list(outcome.parts),
        "values": list(outcome.values),
        "command": command(study, claim),
    }


def needed(
    study: Study,
    claims: Iterable[Claim],
    pictures: Iterable[Picture] = (),
    sections: Iterable[Section] = (),
) -> list[str]:
    """Return the names of the cases and searches that all this is taken from."""
    names: dict[str, None] = {}
    for section in sections:
        names |= dict.fromkeys(section.cases)
    for claim in claims:
        names |= dict.fromkeys(study.checks[claim.id].cases)
    for picture in pictures:
        names |= dict.fromkeys(picture.cases)
    return list(names)


def fill(runs: Runs, names: Sequence[str], bar: Bar, workers: int | None = None) -> int:
    """Run what is missing, each run kept as soon as it is over; return how many were run.

    Searches go in stages. On KeyboardInterrupt, which is raised on, and on a
    crash, what was kept stays.
    """
    total = 0
    while True:
        jobs = {job.folder: job for job in runs.jobs(names)}
        missing = [job for job in jobs.values() if not runs.folder.has(job)]
        if not missing:
            runs.used(jobs.values())
            return total
        _execute(runs.folder, missing, bar, workers)
        total += len(missing)


def _execute(folder: Folder, jobs: Sequence[Job], bar: Bar, workers: int | None) -> None:
    stop = threading.Event()
    costs = [job.scenario.duration_s * job.case.weight for job in jobs]
    with bar(folder.study.key, len(jobs), sum(costs)) as meter:

        def work(place: int) -> None:
            job = jobs[place]
            outcome = simulate(
                job.scenario,
                job.seed,
                tick=lambda now_s: meter.report(place, now_s * job.case.weight),
                stop=stop,
            )
            folder.keep(job, outcome)
            meter.finished()

        pool = Pool(range(len(jobs)), work, stop)
        for _ in pool.run(workers or os.cpu_count() or 1):
            pass


def assess(study: Study, runs: Runs, claims: Iterable[Claim]) -> list[Outcome]:
    """Judge claims by the runs that are there."""
    departures = study.deviations()
    return [
        judge(claim, study.checks[claim.id].find(runs), departures.beside(claim.id))
        for claim in claims
    ]


def regenerate(
    study: Study, folder: Folder, asked: Asked, bar: Bar, workers: int | None = None
) -> Done:
    """Run what is missing, judge, and write claims, report and pictures into the folder."""
    from tidegate.papers import report

    start = time.perf_counter()
    claims, pictures = asked.claims(study), asked.pictures(study)
    runs = Runs(study, folder, asked.seeds_of(study))
    texts = study.sections if asked.whole(study) else ()
    ran = fill(runs, needed(study, claims, pictures, texts), bar, workers)
    done = Done(study, asked, assess(study, runs, claims), runs, ran=ran)
    done.wall_s = time.perf_counter() - start
    folder.write("claims.json", (json.dumps(done.document(), indent=1) + "\n").encode())
    for name, content in report.pages(done, pictures).items():
        folder.write(name, content)
        done.files.append(name)
    if (folder.target / report.SENSITIVITY).exists():
        done.files.append(report.SENSITIVITY)
    return done


@dataclass(frozen=True)
class Varied:
    """The claims of the sensitivity table under one alternative (None: as everywhere else)."""

    what: str
    says: str
    outcomes: tuple[Outcome, ...]


def sensitivity(
    study: Study, folder: Folder, asked: Asked, bar: Bar, workers: int | None = None
) -> list[Varied]:
    """Judge some claims again under every alternative of `deviations.toml`, and write the table."""
    from tidegate.papers import report

    claims = listed.chosen(study.claims(), asked.only or study.sensitive)
    names, seeds = needed(study, claims), asked.seeds or study.sensitive_seeds
    table = []
    deviations = study.deviations().deviations
    rows: list[tuple[str, str, Alternative | None]] = [("as taken", "", None)]
    rows += [(each.what, other.says, other) for each in deviations for other in each.alternatives]
    for what, says, alternative in rows:
        runs = Runs(study, folder, seeds, _changes(alternative), dict(_measures(alternative)))
        fill(runs, names, bar, workers)
        outcomes = [
            judge(claim, study.checks[claim.id].find(runs), Circumstances()) for claim in claims
        ]
        table.append(Varied(what, says, tuple(outcomes)))
    folder.write(report.SENSITIVITY, report.sensitivity(study, table, seeds).encode())
    return table


def _changes(alternative: Alternative | None) -> Callable[[Case], tuple[Setting, ...]]:
    def change(case: Case) -> tuple[Setting, ...]:
        patterns = alternative.cases if alternative else ()
        fits = any(fnmatchcase(case.key, pattern) for pattern in patterns)
        return alternative.settings if alternative and fits else ()

    return change


def _measures(alternative: Alternative | None) -> tuple[tuple[str, str], ...]:
    return alternative.measures if alternative else ()


def copied(done_files: Sequence[str], folder: Folder, place: Path) -> None:
    """Copy the report and its pictures to where they belong in a checkout."""
    from tidegate.errors import from_os

    for name in done_files:
        target = place / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((folder.target / name).read_bytes())
        except OSError as error:
            raise from_os("write", target, error) from error
