"""The saved runs of a paper, as checks, pictures and texts read them."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from tidegate.errors import UsageError
from tidegate.papers.effective import Effective
from tidegate.papers.expression import evaluated, measure_of, parsed
from tidegate.results.measures import Measure, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tidegate.papers.case import Case, OptimumSearch
    from tidegate.papers.folder import CaseFolder, Job
    from tidegate.papers.paper import Paper
    from tidegate.results.run_files import SavedRun
    from tidegate.scenario.document import Setting

    Floats = NDArray[np.float64]
    Parts = dict[str, NDArray[np.float64] | list[float]]
    """The differences of an ordering by the name of each part, one per seed."""


class Runs:
    """The saved runs of a paper, by case.

    `changed` gives further settings of a case; `instead` names measures that
    replace others.
    """

    def __init__(
        self,
        paper: Paper,
        folder: CaseFolder,
        seeds: int,
        changed: Callable[[Case], tuple[Setting, ...]] | None = None,
        instead: Mapping[str, str] | None = None,
        first_seed: int = 1,
    ) -> None:
        self.paper, self.folder, self.seeds = paper, folder, seeds
        self.first_seed = first_seed
        self._changed, self._instead = changed, instead or {}
        self._records: dict[str, list[SavedRun]] = {}
        self._values: dict[tuple[str, object], Floats] = {}
        self.noted: dict[Path, SavedRun] = {}
        self.declared: set[str] = set()
        self.testbed: Path | None = None

    def fill(self, names: Sequence[str]) -> int:
        """Run what is missing of these cases and searches; return how many were run."""
        return fill([(self, names)])

    def declare_finished(self) -> None:
        """Let all cases be read whose runs are there, made by whichever command."""
        self.declared |= {
            key for key in self.paper.cases if all(map(self.folder.has, self.jobs([key])))
        }

    def case(self, key: str) -> Case:
        """Return a case with its further settings."""
        if key not in self.paper.cases:
            near = get_close_matches(key, self.paper.cases, 3, 0.4) or list(self.paper.cases)[:3]
            raise UsageError(
                f"The paper {self.paper.key} has no case {key}.", f"There are {', '.join(near)}."
            )
        return self.adapt(self.paper.cases[key])

    def adapt(self, case: Case) -> Case:
        """Return a case with what `changed` adds to it."""
        settings = self._changed(case) if self._changed else ()
        if not settings:
            return case
        return replace(case.having(*settings), key=f"{case.key}+{settings!r}")

    def jobs(self, names: Iterable[str]) -> list[Job]:
        """Return the runs of these cases and searches.

        The fine grid of a search is included once its coarse grid has run.
        """
        cases: dict[str, Case] = {}
        for name in names:
            for case in self._cases(name):
                cases.setdefault(case.key, case)
        return self._of(cases.values())

    def _of(self, cases: Iterable[Case]) -> list[Job]:
        return [
            job for case in cases for job in self.folder.jobs(case, self.seeds, self.first_seed)
        ]

    def _cases(self, name: str) -> list[Case]:
        if name not in self.paper.searches:
            return [self.case(name)]
        search = self.paper.searches[name]
        coarse = [self.adapt(case) for case in search.grid().values()]
        if not all(map(self.folder.has, self._of(coarse))):
            return coarse
        return coarse + [self.adapt(case) for case in self.fine(name).values()]

    def records(self, case: str | Case) -> list[SavedRun]:
        """Return the runs of a case, in the order of the seeds.

        Raises LookupError for a case that is not declared: its runs may be in this
        folder by chance and be missing in another.
        """
        if isinstance(case, str) and not self.has(case):
            raise LookupError(
                f"a check, picture or text reads the undeclared case {case}; add it to its cases"
            )
        found = self.case(case) if isinstance(case, str) else self.adapt(case)
        if found.key not in self._records:
            self._records[found.key] = [self.folder.record(job) for job in self._of([found])]
        return self._records[found.key]

    def values(self, case: str | Case, measure: Measure) -> Floats:
        """Return a measure of a case, one value per seed; NaN where it is undefined."""
        key = case if isinstance(case, str) else case.key
        if (key, measure) not in self._values:
            found = [measured(record, self._used(measure)) for record in self.records(case)]
            self._values[key, measure] = np.array(found, dtype=np.float64)
        return self._values[key, measure]

    def evaluated(self, case: str, text: str) -> Floats:
        """Return an expression of measures, as in `claims.csv`, of a case: one value per seed."""
        package = self.paper.package
        found: Floats = evaluated(
            parsed(text), lambda node: self.values(case, measure_of(node, package))
        )
        return found

    def _used(self, measure: Measure) -> Measure:
        """Return a measure, or what replaces it: of the summary or of the paper, by name."""
        name = measure if isinstance(measure, str) else getattr(measure, "__name__", "")
        if name not in self._instead:
            return measure
        other = self._instead[name]
        found: Measure = getattr(import_module(f"{self.paper.package}.measures"), other, other)
        return found

    def mean(self, case: str | Case, measure: Measure) -> float:
        """Return the mean of a measure over the seeds."""
        return float(np.mean(self.values(case, measure)))

    def fine(self, search: str) -> dict[float, Case]:
        """Return the fine grid of a search, around the best of its coarse one."""
        what = self.paper.searches[search]
        return what.near(self._best(what.grid(), what))

    def best(self, search: str) -> tuple[float, Case]:
        """Return the optimum of a search: the value, and its case."""
        what, grid = self.paper.searches[search], self.fine(search)
        value = self._best(grid, what)
        return value, grid[value]

    def curve(self, search: str) -> list[tuple[float, float]]:
        """Return what a search has tried: value and metric (mean over its seeds)."""
        what = self.paper.searches[search]
        both = what.grid() | self.fine(search)
        return sorted((value, self.mean(case, what.metric)) for value, case in both.items())

    def _best(self, grid: dict[float, Case], search: OptimumSearch) -> float:
        return max(grid, key=lambda value: self.mean(grid[value], search.metric))

    def has(self, *names: str) -> bool:
        """Tell whether all of these cases are declared, so that they may be read."""
        return self.declared.issuperset(names)

    def used(self, jobs: Iterable[Job]) -> None:
        """Note runs that results depend on, each once: cases may share runs."""
        self.noted |= {job.folder: self.folder.record(job) for job in jobs}

    @cached_property
    def effective(self) -> Effective:
        """The effective scenarios of the cases."""
        return Effective(self.paper)

    @cached_property
    def cost(self) -> dict[str, float]:
        """Number, CPU seconds and packet-hops of the noted runs."""
        summaries = [record.summary for record in self.noted.values()]
        return {
            "runs": len(summaries),
            "cpu_s": sum(each["cpu_s"] for each in summaries),
            "packet_hops": sum(each["packet_hops"] for each in summaries),
        }


def fill(wanted: Sequence[tuple[Runs, Sequence[str]]]) -> int:
    """Run what is missing of several sets of runs of one folder; return how many were run.

    Searches run in stages. Saved runs stay after KeyboardInterrupt and after a crash.
    """
    total, folder = 0, wanted[0][0].folder
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
        folder.make(missing)
        total += len(missing)
