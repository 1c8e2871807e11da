"""What a study is: cases to simulate, and pages made of the runs that are there."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tidegate.errors import UsageError
from tidegate.papers import perform
from tidegate.papers.paper import Paper
from tidegate.papers.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tidegate.grid.executor import Executor
    from tidegate.papers.case import Case
    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.perform import Bar

    Pages = Callable[["FinishedRuns"], Mapping[str, bytes]]

PAGE = "REPORT.md"


@dataclass(frozen=True)
class FinishedRuns:
    """The cases of a study of which every run is there, and their runs."""

    cases: frozenset[str]
    runs: Runs
    planned: int

    def has(self, *keys: str) -> bool:
        """Tell whether all of these cases were run."""
        return self.cases.issuperset(keys)


@dataclass(frozen=True)
class Study:
    """A question that is answered by simulation, and its answer as pages."""

    key: str
    title: str
    package: str
    cases: Mapping[str, Case]
    pages: Pages
    """The report, which must cope with runs that are missing, and its pictures."""
    seeds: int = 1
    keep: tuple[str, ...] = ()
    """Columns of finished flows that are saved."""

    @property
    def paper(self) -> Paper:
        """What keeps runs for papers keeps them for a study, which has no claims."""
        return Paper(self.key, self.package, self.cases, {}, self.keep)

    def chosen(self, only: Sequence[str]) -> list[str]:
        """Return the cases whose keys fit one of the patterns; without any, all."""
        if not only:
            return list(self.cases)
        found = [key for key in self.cases if any(fnmatchcase(key, each) for each in only)]
        if not found:
            some = ", ".join(list(self.cases)[:3])
            raise UsageError(
                f"No case of the study {self.key} fits {', '.join(only)}.",
                f"Cases are {some}, ...; * stands for anything.",
            )
        return found


def perform_study(
    study: Study,
    folder: CaseFolder,
    only: Sequence[str],
    bar: Bar,
    *,
    seeds: int | None = None,
    executor: Executor | None = None,
) -> tuple[int, FinishedRuns]:
    """Run what is missing of the chosen cases, and write the pages of all that is there."""
    runs = Runs(study.paper, folder, seeds or study.seeds)
    ran = perform.fill(runs, study.chosen(only), bar, executor)
    there = _there(study.cases, folder, runs)
    for name, content in study.pages(there).items():
        folder.write(name, content)
    return ran, there


def _there(keys: Iterable[str], folder: CaseFolder, runs: Runs) -> FinishedRuns:
    found = frozenset(key for key in keys if all(folder.has(job) for job in runs.jobs([key])))
    runs.asked |= found  # the pages are of all that is there, from another day too
    return FinishedRuns(found, runs, sum(1 for _ in keys))
