"""The folder of a paper or a study: its runs, and the files made from them.

    runs/SCENARIO-HASH/seed-N/   one finished run (see results/run_files.py)
    REPORT.md, pictures/, claims.json, manifest.json

A run is stored under the hash of its effective scenario: cases with the same
scenario share it, and a changed scenario has another folder. Claims are
functions of the saved runs, so that a changed claim needs no new run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate import _native
from tidegate.results import provenance
from tidegate.results.folder import RunFolder
from tidegate.results.run_files import SavedRun
from tidegate.results.store import Occupied, display

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidegate._native import Scenario
    from tidegate.papers.case import Case
    from tidegate.papers.paper import Paper
    from tidegate.results.run_output import RunOutput


@dataclass(frozen=True)
class Job:
    """One run of one case."""

    case: Case
    seed: int
    scenario: Scenario
    folder: Path
    files: Mapping[str, bytes]
    """The content of the files that the scenario names."""


class CaseFolder(RunFolder):
    """The runs of the cases of one paper or study."""

    def __init__(self, target: str | Path, paper: Paper, *, mix: bool = False) -> None:
        super().__init__(target, "paper")
        self.paper = paper
        self.mix = mix
        self._loaded: dict[str, tuple[Scenario, str, Mapping[str, bytes]]] = {}
        self._whole: set[Path] = set()
        try:
            self._refuse_others()
            self._manifest()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> CaseFolder:
        return self

    def jobs(self, case: Case, seeds: int) -> list[Job]:
        """Return the runs of a case, one per seed."""
        scenario, name, files = self._load(case)
        numbers = range(1, (case.seeds or seeds) + 1)
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

    def keep_run(self, job: Job, output: RunOutput) -> None:
        """Save a run; any thread may call this."""
        more = {"case": job.case.key, "columns": list(self.paper.keep)}
        self.keep(job.folder, output, job.scenario.show(), more)

    def record(self, job: Job) -> SavedRun:
        """Return a saved run."""
        return SavedRun(job.folder, job.seed)

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
