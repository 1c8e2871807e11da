"""The folder of a paper, a study or a certificate: its runs, and the files made from them.

    runs/SCENARIO-HASH/seed-N/   one finished run (see results/run_files.py)
    REPORT.md, pictures/, claims.json, manifest.json

A run is stored under the hash of its effective scenario: cases with the same
scenario share it, and a changed scenario has another folder. Claims are
functions of the saved runs, so that a changed claim needs no new run.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate import _native
from tidegate.grid.executor import Executor
from tidegate.grid.meter import Meter
from tidegate.grid.work import Task, Work
from tidegate.papers.links import placed
from tidegate.results import provenance
from tidegate.results.folder import RunFolder
from tidegate.results.run_files import SavedRun
from tidegate.results.run_output import Wanted
from tidegate.results.store import Occupied, display, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from pathlib import Path

    from tidegate._native import Scenario
    from tidegate.papers.case import Case
    from tidegate.papers.paper import Paper
    from tidegate.results.run_output import RunOutput

    Bar = Callable[[str, int, float], AbstractContextManager[Meter]]


@dataclass(frozen=True)
class Job:
    """One run of one case."""

    case: Case
    seed: int
    scenario: Scenario
    folder: Path
    files: Mapping[str, bytes]
    """The content of the files that the scenario names."""


def _silent(_: str, runs: int, __: float) -> AbstractContextManager[Meter]:
    return nullcontext(Meter(runs, lambda *_: None))


class CaseFolder(RunFolder):
    """The runs of the cases of one paper, study or suite, and who makes the missing ones.

    `bar` shows how far they are; by default nothing does.
    """

    def __init__(
        self,
        target: str | Path,
        paper: Paper,
        bar: Bar = _silent,
        executor: Executor | None = None,
        *,
        mix: bool = False,
    ) -> None:
        super().__init__(target, "paper")
        self.paper, self.bar, self.executor, self.mix = paper, bar, executor or Executor(), mix
        self._loaded: dict[str, tuple[Scenario, str, Mapping[str, bytes]]] = {}
        self._whole: set[Path] = set()
        self._pages: dict[str, str] = {}
        """Pages as they are made: their links are those of docs."""
        self._beside: frozenset[str] = frozenset()
        try:
            self._refuse_others()
            self._manifest()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> CaseFolder:
        return self

    def jobs(self, case: Case, seeds: int, first_seed: int = 1) -> list[Job]:
        """Return the runs of a case, one per seed, from this seed on."""
        scenario, name, files = self._load(case)
        numbers = range(first_seed, first_seed + (case.seeds or seeds))
        return [Job(case, seed, scenario, self.run_folder(name, seed), files) for seed in numbers]

    def has(self, job: Job) -> bool:
        """Tell whether a run is complete and made by this code (by any code with `mix`)."""
        if job.folder not in self._whole and self._is_whole(job):
            self._whole.add(job.folder)
        return job.folder in self._whole

    def _is_whole(self, job: Job) -> bool:
        run = self.find(job.folder, job.seed)
        if run is None:
            return False
        mine = self.mix or run.manifest.get("code_hash") == provenance.code_hash()
        return mine and set(self.paper.keep) <= set(run.manifest.get("columns", []))

    def make(self, jobs: Sequence[Job]) -> None:
        """Make runs; each is saved when it finishes, and stays after a crash."""
        costs = [job.scenario.duration_s * job.case.weight for job in jobs]
        with self.bar(self.paper.key, len(jobs), sum(costs)) as meter:

            def task(place: int) -> Task:
                job = jobs[place]
                return Task(job.scenario, job.seed, job.files)

            def keep(place: int, output: RunOutput) -> None:
                job = jobs[place]
                more = {"case": job.case.key, "columns": list(self.paper.keep)}
                self.keep(job.folder, output, job.scenario.show(), more)
                meter.finished()

            def report(place: int, now_s: float) -> None:
                meter.report(place, now_s * jobs[place].case.weight)

            def named(place: int) -> str:
                return f"{jobs[place].case.key}, seed {jobs[place].seed}"

            wanted = Wanted(study=self.paper.keep)
            work = Work(len(jobs), task, wanted, keep, self.paper.laws, report, named)
            for _ in self.executor.run(work):
                pass

    def publish(self, files: Mapping[str, bytes]) -> list[str]:
        """Write the report and what belongs to it; return the names."""
        self._beside = frozenset(files)
        for name, content in files.items():
            self.write(name, content)
        return list(files)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the whole; the links of a page lead to what exists from there."""
        if name.endswith(".md"):
            self._pages[name] = content.decode()
            content = self._page(name, self.target, self._beside)
        super().write(name, content)

    def _page(self, name: str, place: Path, beside: Container[str]) -> bytes:
        return placed(self._pages[name], name, self.paper, place, beside).encode()

    def copy(self, names: Iterable[str], place: Path) -> None:
        """Copy files of the report to another folder."""
        found = list(names)
        for name in found:
            page = name in self._pages
            content = self._page(name, place, found) if page else (self.target / name).read_bytes()
            write_whole(place / name, content)

    def record(self, job: Job) -> SavedRun:
        """Return a saved run."""
        return SavedRun(job.folder, job.seed)

    def forget(self, names: Iterable[str]) -> None:
        """Drop what was loaded of cases: a search has more of them than memory has room for."""
        for name in names:
            self._loaded.pop(name, None)

    def _load(self, case: Case) -> tuple[Scenario, str, Mapping[str, bytes]]:
        if case.key not in self._loaded:
            document = self.paper.document(case)
            contents = document.contents()
            scenario = document.load(files=contents)
            digest = provenance.digest
            inputs = "".join(f"{name}{digest(contents[name])}" for name in sorted(contents))
            stem = case.scenario.removesuffix(".toml").replace("/", "-")
            name = f"{stem}-{digest((scenario.show() + inputs).encode())[:16]}"
            self._loaded[case.key] = (scenario, name, contents)
        return self._loaded[case.key]

    def _refuse_others(self) -> None:
        if self.former is not None and self.former.get("paper") != self.paper.key:
            raise Occupied(
                f"Will not write into {display(self.target)}: it holds something else than"
                f" runs of {self.paper.key}.",
                "Choose another folder with --out.",
            )

    def _manifest(self) -> None:
        self.write_manifest(
            {
                "tidegate": _native.__version__,
                "command": "paper",
                "paper": self.paper.key,
                "code_hash": provenance.code_hash(),
            }
        )
