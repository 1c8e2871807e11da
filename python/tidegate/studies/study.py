"""A study: cases to simulate, and pages made from the finished runs."""

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
    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.perform import Bar

    Pages = Callable[["FinishedRuns"], Mapping[str, bytes]]

PAGE = "REPORT.md"


@dataclass(frozen=True)
class FinishedRuns:
    """The cases of a study that have all their runs, and these runs."""

    cases: frozenset[str]
    runs: Runs
    planned: int

    def has(self, *keys: str) -> bool:
        """Tell whether all of these cases have their runs."""
        return self.cases.issuperset(keys)


@dataclass(frozen=True, kw_only=True)
class Study(Paper):
    """A question that is answered by simulation, and the pages with the answer."""

    title: str
    pages: Pages
    """Makes the report and its pictures; runs may be missing."""
    seeds: int = 1

    def chosen(self, only: Sequence[str]) -> list[str]:
        """Return the cases whose keys fit one of the patterns, all without patterns."""
        if not only:
            return list(self.cases)
        found = [key for key in self.cases if any(fnmatchcase(key, each) for each in only)]
        if not found:
            some = ", ".join(list(self.cases)[:3])
            raise UsageError(
                f"No case of the study {self.key} fits {', '.join(only)}.",
                f"Cases are {some}, ...; * matches anything.",
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
    """Run what is missing of the chosen cases, and write the pages from all finished runs."""
    runs = Runs(study, folder, seeds or study.seeds)
    ran = perform.fill(runs, study.chosen(only), bar, executor)
    there = _there(study.cases, folder, runs)
    for name, content in study.pages(there).items():
        folder.write(name, content)
    return ran, there


def _there(keys: Iterable[str], folder: CaseFolder, runs: Runs) -> FinishedRuns:
    found = frozenset(key for key in keys if all(folder.has(job) for job in runs.jobs([key])))
    runs.declared |= found  # the pages also use runs of earlier commands
    return FinishedRuns(found, runs, sum(1 for _ in keys))
