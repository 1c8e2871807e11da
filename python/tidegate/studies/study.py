"""A study: cases to simulate, and pages made from the finished runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.papers.case import fitting
from tidegate.papers.paper import Paper
from tidegate.papers.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidegate.papers.folder import CaseFolder

    Pages = Callable[[Runs], Mapping[str, bytes]]

PAGE = "REPORT.md"


@dataclass(frozen=True, kw_only=True)
class Study(Paper):
    """A question that is answered by simulation, and the pages with the answer."""

    title: str
    pages: Pages
    """Makes the report and its pictures; runs may be missing."""
    seeds: int = 1

    def chosen(self, only: Sequence[str]) -> list[str]:
        """Return the cases whose keys fit one of the patterns, all without patterns."""
        return fitting(self.cases, only, f"case of the study {self.key}")


def perform_study(
    study: Study, folder: CaseFolder, only: Sequence[str], seeds: int | None = None
) -> tuple[int, Runs]:
    """Run what is missing of the chosen cases, and write the pages from all finished runs."""
    runs = Runs(study, folder, seeds or study.seeds)
    ran = runs.fill(study.chosen(only))
    runs.declare_finished()
    folder.publish(study.pages(runs))
    return ran, runs
