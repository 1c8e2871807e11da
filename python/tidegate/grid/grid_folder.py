"""The folder of a comparison or a sweep: which of its runs are there, and which are missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError
from tidegate.grid.compatibility import foreign, unlike
from tidegate.grid.plan import Subject
from tidegate.results.folder import RUNS, Busy, RunFolder
from tidegate.results.provenance import provenance
from tidegate.results.store import MANY, Occupied, display, numbered, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate.grid.plan import Job, Plan
    from tidegate.results.run_files import SavedRun
    from tidegate.results.run_output import RunOutput

FLOWS = "flows.parquet"


class Unlike(UsageError):
    """A folder holds incompatible runs."""


class GridFolder(RunFolder):
    """The folder of a grid under way."""

    def __init__(
        self, target: str | Path, plan: Plan, *, keep_flows: bool = True, mix: bool = False
    ) -> None:
        super().__init__(target, plan.subject.command)
        self.plan = plan
        self.keep_flows = keep_flows
        try:
            former = _subject(self.former)
            self.found = self._found()
            if not mix:
                self._refuse_others(former)
            self._clear_out_of_date()
            self.manifest(complete=False)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> GridFolder:
        return self

    @property
    def missing(self) -> list[Job]:
        """The runs that are still to be done, in their order."""
        return [job for job in self.plan.subject.jobs if job not in self.found]

    def kept(self) -> int:
        """Return how many of the planned runs are there now."""
        jobs = self.plan.subject.jobs
        return sum((self._folder(job) / "manifest.json").exists() for job in jobs)

    def keep_run(self, job: Job, output: RunOutput) -> None:
        """Save a run; any thread may call this."""
        point = self.plan.subject.points[job[0]]
        more = {"settings": point.says, "inputs": point.inputs, "laws": self.plan.subject.laws}
        self.keep(self._folder(job), output, self.plan.scenarios[job[0]].show(), more)

    def finish(self, files: Mapping[str, bytes], **costs: float) -> Path:
        """Write the files of the whole, and that it is complete; return where that is."""
        for name, content in files.items():
            self.write(name, content)
        self.manifest(complete=True, **costs)
        return display(self.target)

    def manifest(self, *, complete: bool, **costs: float) -> None:
        """Rewrite the manifest."""
        content = manifest_of(self.plan.effective, self.plan.subject, complete=complete)
        self.write_manifest(content | costs)

    def _folder(self, job: Job) -> Path:
        return self.run_folder(self.plan.subject.points[job[0]].folder, job[1])

    def _found(self) -> dict[Job, SavedRun]:
        found = {}
        for job in self.plan.subject.jobs:
            run = self.find(self._folder(job), job[1])
            if run is not None and (FLOWS in run.manifest["files"] or not self.keep_flows):
                found[job] = run
        return found

    def _refuse_others(self, former: Subject | None) -> None:
        if not self.count():
            return
        differs = foreign(self.found, self.plan)
        if former is not None:
            differs = [*unlike(former, self.plan.subject), *differs]
        if differs:
            what = MANY[self.command]
            raise Unlike(
                "\n  ".join(
                    [
                        f"Will not mix: {display(self.target)} holds runs of"
                        f" {what.replace('a ', 'another ', 1)}.",
                        *differs,
                    ]
                ),
                "Choose another folder with --out"
                + (
                    ", or accept its runs with --mix."
                    if self.command == "sweep"
                    else ", or remove that one first."
                ),
            )

    def _clear_out_of_date(self) -> None:
        """Remove tables and pictures of the whole: they will be rewritten."""
        for name in (self.former or {}).get("files", []):
            path = self.target / str(name)
            if name != "manifest.json" and path.parent == self.target and path.is_file():
                self.remove(path)


def _subject(manifest: Mapping[str, Any] | None) -> Subject | None:
    """Read the subject from a manifest; None if it has none."""
    try:
        return None if manifest is None else Subject.of(manifest)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def opened(wanted: Path, plan: Plan) -> tuple[GridFolder, str]:
    """Return the first resumable folder of NAME, NAME-2, ..., and why others were skipped.

    A folder that holds something else, or is in use, is skipped.
    """
    why = ""
    for folder in numbered(Path(wanted).absolute()):
        try:
            return GridFolder(folder, plan), why
        except (Occupied, Busy, Unlike) as error:
            why = f"{error.what}\nThe results go to another folder."
    raise AssertionError("the last one is free")


def read_grid(folder: Path, command: str) -> dict[str, Any] | None:
    """Return the manifest of the grid in a folder, or None if there is no such thing."""
    manifest = read_manifest(folder)
    is_one = manifest.get("command") == command and _subject(manifest) is not None
    return manifest if is_one else None


def manifest_of(effective: str, subject: Subject, *, complete: bool) -> dict[str, Any]:
    """Return what the manifest of a grid holds in addition to the list of its files."""
    opening = provenance(subject.command, effective)
    return opening | subject.document() | {"complete": complete}


__all__ = ["FLOWS", "RUNS", "GridFolder", "Unlike", "manifest_of", "opened", "read_grid"]
