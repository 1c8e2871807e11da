"""Finished results, read again from their folder: nothing is run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.errors import TidegateError, TidegateWarning, UsageError
from tidegate.grid.execute import curves_of
from tidegate.grid.grid_result import GridResult
from tidegate.grid.plan import Subject
from tidegate.results.folder import RUNS
from tidegate.results.location import location
from tidegate.results.run_files import Damaged, SavedRun, read_json, read_run
from tidegate.results.store import MANIFEST, as_json, display, read_manifest, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tidegate.grid.plan import Job

M = TypeVar("M", bound=GridResult)
DEPTH = 3
"""So many folders deep results are looked for that a message names."""


@dataclass(frozen=True)
class Loaded:
    """A folder of results: of a run, a comparison, a sweep or a paper."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def command(self) -> str:
        """The command that made it; of one run inside a folder of many: "run"."""
        return "run" if "seed" in self.manifest else str(self.manifest["command"])

    @property
    def name(self) -> str:
        """What the scenario calls itself."""
        if self.command == "run":
            return str(self.run.summary["scenario"])
        return str(self.manifest.get("scenario") or self.manifest.get("paper") or self.folder.name)

    @cached_property
    def run(self) -> SavedRun:
        """The one run of it, if it is of one."""
        found = read_run(self.folder, int(self.manifest["seed"]))
        if found is None:
            raise Damaged(self.folder)
        return found

    @cached_property
    def subject(self) -> Subject:
        """What its runs are runs of, if it is of many."""
        try:
            return Subject.of(self.manifest)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Damaged(self.folder / MANIFEST) from None

    @cached_property
    def runs(self) -> dict[Job, SavedRun]:
        """Its finished runs, in the order of the grid."""
        found: dict[Job, SavedRun] = {}
        for number, seed in self.subject.jobs:
            mine = self.folder / RUNS / self.subject.points[number].folder / f"seed-{seed}"
            run = read_run(mine, seed)
            if run is not None:
                found[number, seed] = run
        if not found:
            raise TidegateError(
                f"There is no finished run in {display(self.folder)}.",
                "Rerun the command that made the folder: it resumes.",
            )
        return found

    @property
    def gaps(self) -> str | None:
        """A warning if runs are missing: averages are then over different flows."""
        missing = len(self.subject.jobs) - len(self.runs)
        if not missing:
            return None
        return (
            f"{missing} of {len(self.subject.jobs)} runs of {display(self.folder)} are missing,"
            " so not all settings met the same flows; rerun the command that made the folder"
        )

    def result(self, into: type[M], *, drawn: bool = True) -> M:
        """Return the results of its runs; `drawn`: with the curves of a comparison."""
        if self.gaps:
            warnings.warn(self.gaps, TidegateWarning, stacklevel=2)
        summaries = {job: run.summary for job, run in self.runs.items()}
        curves = (
            {job: curves_of(run) for job, run in self.runs.items()}
            if drawn and self.command == "compare"
            else None
        )
        done = into.of(self.subject, summaries, (), curves)
        done.folder = self.folder
        done.wall_s = float(self.manifest.get("wall_s", 0.0))
        return done

    def wrote(self, names: Sequence[str]) -> None:
        """List further files of the folder in its manifest, so that a rerun replaces them."""
        listed = list(dict.fromkeys([*self.manifest.get("files", []), *names]))
        if listed == self.manifest.get("files"):
            return
        write_whole(self.folder / MANIFEST, as_json({**self.manifest, "files": listed}))

    @cached_property
    def claims(self) -> dict[str, Any]:
        """The claims of a paper with their verdicts."""
        path = self.folder / "claims.json"
        found = read_json(path)
        if not isinstance(found.get("claims"), list):
            raise Damaged(path)
        return found


def load(folder: str | Path) -> Loaded:
    """Return the results in a folder; UsageError where there are none."""
    found = location(folder)
    manifest = read_manifest(found)
    if not manifest and (found / MANIFEST).is_file() and _ours(found):
        raise Damaged(found / MANIFEST)
    if manifest.get("command") not in ("run", "compare", "sweep", "paper"):
        if not found.exists():
            raise UsageError(
                f"There is no folder {display(found)}.",
                "Check the spelling, or give the path from the folder you are in.",
            )
        raise UsageError(
            f"There are no results of tidegate in {display(found)}.",
            _below(found)
            or "Name a folder that tidegate run, compare, sweep, paper or study has written.",
        )
    return Loaded(found, manifest)


def _below(folder: Path) -> str:
    """Return a remedy that names results around a folder; empty if there are none.

    They are in its folders, or in theirs, as below `runs`; or it is among the files of results.
    """
    if not folder.is_dir():
        return ""
    inside = [folder]
    below: list[Path] = []
    for _ in range(DEPTH):
        inside = [path for each in inside for path in sorted(each.iterdir(), key=str)]
        inside = [path for path in inside if path.is_dir()]
        below = below or [path for path in inside if read_manifest(path)]
    names = ", ".join(str(display(path)) for path in below[:5])
    said = f"Name one of those in it: {names}{', ...' if len(below) > 5 else ''}." if below else ""
    around = next((each for each in folder.absolute().parents[:DEPTH] if read_manifest(each)), None)
    return said if around is None else f"{said} It is a part of {display(around)}.".strip()


def _ours(folder: Path) -> bool:
    """Tell whether other files of a folder are those of tidegate's commands."""
    return any((folder / name).exists() for name in ("summary.json", "claims.json", RUNS))
