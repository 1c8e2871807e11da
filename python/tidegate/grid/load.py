"""Finished results, read again from their folder: nothing is run."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.errors import TidegateError, TidegateWarning, UsageError
from tidegate.grid.execute import of_kept
from tidegate.grid.grid_result import GridResult
from tidegate.grid.plan import Subject
from tidegate.results.folder import RUNS
from tidegate.results.place import place
from tidegate.results.run_files import Damaged, SavedRun, read_run
from tidegate.results.store import MANIFEST, as_json, display, read_manifest, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tidegate.grid.plan import Job

M = TypeVar("M", bound=GridResult)


@dataclass(frozen=True)
class Loaded:
    """A folder of results: of a run, a comparison, a sweep or a paper."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def command(self) -> str:
        """The command that made it."""
        return str(self.manifest["command"])

    @property
    def name(self) -> str:
        """What the scenario calls itself."""
        if self.command == "run":
            return str(self.run.summary["scenario"])
        return str(self.manifest.get("scenario") or self.manifest.get("paper") or self.folder.name)

    @cached_property
    def run(self) -> SavedRun:
        """The one run of it, if it is of one."""
        try:
            found = read_run(self.folder, int(self.manifest["seed"]))
        except Damaged as damaged:
            raise broken(damaged.file) from None
        if found is None:
            raise broken(self.folder)
        return found

    @cached_property
    def subject(self) -> Subject:
        """What its runs are runs of, if it is of many."""
        try:
            return Subject.of(self.manifest)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise broken(self.folder / "manifest.json") from None

    @cached_property
    def runs(self) -> dict[Job, SavedRun]:
        """Its finished runs, in the order of the grid."""
        found: dict[Job, SavedRun] = {}
        for number, seed in self.subject.jobs:
            mine = self.folder / RUNS / self.subject.points[number].folder / f"seed-{seed}"
            try:
                kept = read_run(mine, seed)
            except Damaged as damaged:
                raise broken(damaged.file) from None
            if kept is not None:
                found[number, seed] = kept
        if not found:
            raise TidegateError(
                f"There is no finished run in {display(self.folder)}.",
                "Let the command that began it come to its end first.",
            )
        return found

    @property
    def gaps(self) -> str | None:
        """What is to be said where runs are not there: averages are then over different flows."""
        missing = len(self.subject.jobs) - len(self.runs)
        if not missing:
            return None
        return (
            f"{missing} of {len(self.subject.jobs)} runs of {display(self.folder)} are not there,"
            " so not all settings met the same flows; the command that made the folder goes on"
        )

    def result(self, into: type[M], *, drawn: bool = True) -> M:
        """Return what its runs measured; `drawn`: with what pictures of a comparison show."""
        if self.gaps:
            warnings.warn(self.gaps, TidegateWarning, stacklevel=2)
        summaries = {job: kept.summary for job, kept in self.runs.items()}
        curves = (
            {job: of_kept(kept) for job, kept in self.runs.items()}
            if drawn and self.command == "compare"
            else None
        )
        done = into.of(self.subject, summaries, (), curves)
        done.folder = self.folder
        done.wall_s = float(self.manifest.get("wall_s", 0.0))
        return done

    def wrote(self, names: Sequence[str]) -> None:
        """Note files that were added to the folder: whoever makes it anew replaces them."""
        listed = list(dict.fromkeys([*self.manifest.get("files", []), *names]))
        if listed == self.manifest.get("files"):
            return
        write_whole(self.folder / MANIFEST, as_json({**self.manifest, "files": listed}))

    @cached_property
    def claims(self) -> dict[str, Any]:
        """The claims of a paper with their verdicts."""
        path = self.folder / "claims.json"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise broken(path) from None
        if not isinstance(found, dict) or not isinstance(found.get("claims"), list):
            raise broken(path)
        return found


def load(folder: str | Path) -> Loaded:
    """Return the results in a folder; UsageError where there are none."""
    found = place(folder)
    manifest = read_manifest(found)
    if not manifest and (found / MANIFEST).is_file() and _ours(found):
        raise broken(found / MANIFEST)
    if manifest.get("command") not in ("run", "compare", "sweep", "paper"):
        raise UsageError(
            f"There are no results of tidegate in {display(found)}.",
            "Name a folder that tidegate run, compare, sweep or paper has written.",
        )
    return Loaded(found, manifest)


def _ours(folder: Path) -> bool:
    """Tell whether other files of a folder are those of tidegate's commands."""
    return any((folder / name).exists() for name in ("summary.json", "claims.json", RUNS))


def broken(path: Path) -> TidegateError:
    """Return what is said of a file that is damaged or gone."""
    return TidegateError(
        f"Could not read {display(path)}: it is damaged or missing.",
        "Run the command that made the folder again: it does anew what is damaged.",
    )
