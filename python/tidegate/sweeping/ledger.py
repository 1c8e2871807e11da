"""The folder of a sweep: it grows run by run, so that no finished run is lost.

    manifest.json              what the sweep is about, and whether it is complete
    runs/SETTING/seed-N/       one finished run, moved there when whole
    table.csv, sweep.parquet, summary.json, pictures: once all runs are there

A run that is there is finished: it is written beside its place and renamed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import TidegateError, UsageError, from_os
from tidegate.store import MANIFEST, Store, circumstances, display, umask, write_run
from tidegate.sweeping.differences import foreign, unlike
from tidegate.sweeping.plan import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from tidegate.results import Result
    from tidegate.sweeping.plan import Job, Plan, Point

RUNS = "runs"
FLOWS = "flows.parquet"


@dataclass(frozen=True)
class Finished:
    """One finished run as it was found: its summary, and what it was made by and of."""

    folder: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]


def run_folder(point: Point, seed: int) -> str:
    """Return the place of a run below the folder of its sweep."""
    return f"{RUNS}/{point.folder}/seed-{seed}"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of the sweep in a folder, or None if there is no such thing."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        Subject.of(manifest)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if manifest.get("command") == "sweep" else None


def read_run(folder: Path, seed: int, *, flows: bool) -> Finished | None:
    """Return the run in a folder, or None if it is not there whole."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        whole = summary["seed"] == seed == manifest["seed"]
        whole = whole and all((folder / name).stat().st_size for name in manifest["files"])
        whole = whole and {"code_hash", "scenario_hash", "settings"} <= manifest.keys()
        kept = FLOWS in manifest["files"] or not flows
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Finished(folder, summary, manifest) if whole and kept else None


class Ledger:
    """The folder of a sweep under way; held by one process at a time."""

    def __init__(self, target: str | Path, plan: Plan, *, keep_flows: bool, mix: bool) -> None:
        self.target = Path(target).absolute()
        self.plan = plan
        self.keep_flows = keep_flows
        self.mix = mix
        self.files: list[str] = []
        umask()  # it can only be read by setting it: before there are threads
        former = self._look()
        try:
            self._fresh = not self.target.exists()
            self.target.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.target, os.O_RDONLY)
        except OSError as error:
            raise from_os("make the folder", display(self.target), error) from error
        try:
            self._hold()
            self.found = self._found()
            self._refuse_others(former)
            self._clear(former)
            self.manifest(complete=False)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder; if it was made for nothing, remove it."""
        if self._fresh and not any((self.target / RUNS).glob("*/seed-*")):
            shutil.rmtree(self.target, ignore_errors=True)
        os.close(self._lock)

    @property
    def missing(self) -> list[Job]:
        """The runs that are still to be done, in their order."""
        return [job for job in self.plan.subject.jobs if job not in self.found]

    def kept(self) -> int:
        """Return how many of the planned runs are there now."""
        subject = self.plan.subject
        folders = (run_folder(subject.points[number], seed) for number, seed in subject.jobs)
        return sum((self.target / folder / MANIFEST).exists() for folder in folders)

    def keep(self, job: Job, result: Result) -> None:
        """Write a run and move it into its place; any thread may call this."""
        number, seed = job
        point = self.plan.subject.points[number]
        with Store(self.target / run_folder(point, seed), over_sweep=True) as store:
            more = {
                "settings": point.says,
                "inputs": point.inputs,
                "laws": self.plan.subject.laws,
            }
            write_run(store, result, frames=self.keep_flows, more=more)
            store.commit()

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the whole sweep, replacing an older one at once."""
        path = self.target / name
        beside = self.target / f".{name}.partial"
        try:
            beside.write_bytes(content)
            beside.replace(path)
        except OSError as error:
            raise from_os("write", display(path), error) from error
        self.files.append(name)

    def manifest(self, *, complete: bool, **costs: float) -> None:
        """Write the manifest anew."""
        listed = [*(name for name in self.files if name != MANIFEST), RUNS]
        content = manifest_of(self.plan.effective, self.plan.subject, listed, complete=complete)
        self.write(MANIFEST, _json(content | costs))

    def _look(self) -> dict[str, Any] | None:
        """Return the manifest of the sweep that lies here; refuse what is something else."""
        try:
            entries = list(self.target.iterdir()) if self.target.exists() else []
        except OSError as error:
            raise from_os("use the folder", display(self.target), error) from error
        present = [path.name for path in entries if not path.name.endswith(".partial")]
        if not present:
            return None
        manifest = read_manifest(self.target)
        if manifest is None:
            raise TidegateError(
                f"Will not write into {display(self.target)}: it holds something else than a sweep"
                f" ({', '.join(sorted(present)[:3])}).",
                "Choose another folder with --out.",
            )
        return manifest

    def _hold(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._fresh = False
            raise TidegateError(
                f"Another sweep is at work in {display(self.target)}.",
                "Wait for it, or choose another folder with --out.",
            ) from None
        except OSError:
            return  # a file system without locks: nothing can be said

    def _found(self) -> dict[Job, Finished]:
        found = {}
        subject = self.plan.subject
        for number, seed in subject.jobs:
            folder = self.target / run_folder(subject.points[number], seed)
            run = read_run(folder, seed, flows=self.keep_flows)
            if run is not None:
                found[number, seed] = run
        return found

    def _refuse_others(self, former: Mapping[str, Any] | None) -> None:
        if self.mix or former is None or not any((self.target / RUNS).glob("*/seed-*")):
            return
        differs = [
            *unlike(Subject.of(former), self.plan.subject),
            *foreign(self.found, self.plan),
        ]
        if differs:
            raise UsageError(
                "\n  ".join(
                    [f"Will not mix: {display(self.target)} holds runs of another sweep.", *differs]
                ),
                "Choose another folder with --out, or take its runs as they are with --mix.",
            )

    def _clear(self, former: Mapping[str, Any] | None) -> None:
        """Remove what a process left that was killed, broken runs, and what is out of date."""
        subject = self.plan.subject
        for path in [*self.target.glob(".*.partial"), *self.target.glob(f"{RUNS}/*/.seed-*.*")]:
            _remove(path)
        for number, seed in subject.jobs:
            folder = self.target / run_folder(subject.points[number], seed)
            if (number, seed) not in self.found and read_run(folder, seed, flows=False) is None:
                _remove(folder)
        for name in (former or {}).get("files", []):
            if name != MANIFEST and Path(name).name == name and (self.target / name).is_file():
                _remove(self.target / name)


def manifest_of(
    effective: str, subject: Subject, files: Sequence[str], *, complete: bool
) -> dict[str, Any]:
    """Return the manifest of a sweep."""
    opening = circumstances("sweep", effective)
    return opening | subject.document() | {"complete": complete, "files": list(files)}


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
