"""The folder of many runs: each is saved when complete, so that none is lost.

    manifest.json          what they are runs of
    runs/NAME/seed-N/      one complete run (see run_files.py)
    tables and pictures    once all runs are there

A comparison, a sweep and a paper each have one. One process at a time holds it;
a run in it is complete, and a damaged one is repeated.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import TidegateError, from_os
from tidegate.results.location import is_remote, location, removed
from tidegate.results.run_files import Damaged, read_run, write_run
from tidegate.results.store import (
    MANIFEST,
    MANY,
    Objects,
    Occupied,
    Store,
    as_json,
    contents,
    display,
    read_manifest,
    umask,
    write_whole,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate.results.run_files import SavedRun
    from tidegate.results.run_output import RunOutput

RUNS = "runs"


class RunFolder:
    """A folder of many runs of one command; held by one process at a time."""

    def __init__(self, target: str | Path, command: str) -> None:
        found = location(target)
        self.remote = is_remote(found)
        self.target = found if self.remote else Path(os.path.realpath(found))
        self.command = command
        self.files: list[str] = []
        self.damaged: list[Path] = []
        """Damaged files; their runs count as missing."""
        umask()  # it can only be read by setting it: before there are threads
        self.former = self._look()
        self._lock: int | None = None
        try:
            self._fresh = not self.target.exists()
            self.target.mkdir(parents=True, exist_ok=True)
            if not self.remote:
                self._lock = os.open(self.target, os.O_RDONLY)
        except OSError as error:
            raise from_os("make the folder", display(self.target), error) from error
        try:
            if self._lock is not None:
                self._hold(self._lock)
                self._clear()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder; remove it if it was created here and holds no run and no result."""
        if self._fresh and not self.files and not self.count():
            self.remove(self.target)
        if self._lock is not None:
            os.close(self._lock)

    def count(self) -> int:
        """Return how many finished runs are there."""
        return sum(1 for _ in (self.target / RUNS).glob(f"*/seed-*/{MANIFEST}"))

    def run_folder(self, name: str, seed: int) -> Path:
        """Return the folder of a run."""
        return self.target / RUNS / name / f"seed-{seed}"

    def find(self, folder: Path, seed: int) -> SavedRun | None:
        """Return the run in its folder if it is there whole; note what is damaged."""
        try:
            return read_run(folder, seed)
        except Damaged as damaged:
            self.damaged.append(damaged.file)
            return None

    def keep(
        self,
        folder: Path,
        output: RunOutput,
        effective: str,
        more: Mapping[str, object],
    ) -> None:
        """Write a run and move it into its place; any thread may call this."""
        self.remove(folder)  # what is there is damaged, or lacks what is asked for now
        with Objects(folder) if self.remote else Store(folder, over=True) as store:
            write_run(store, output, effective, command=self.command, more=more)
            store.commit()

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the whole, replacing an older one at once."""
        write_whole(self.target / name, content)
        if name not in (*self.files, MANIFEST):
            self.files.append(name)

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Rewrite the manifest."""
        listed = list(dict.fromkeys([*self.files, RUNS]))
        self.write(MANIFEST, as_json({**content, "files": listed}))

    def remove(self, folder: Path) -> None:
        """Remove a run, or a file, that is out of date."""
        if self.remote:
            removed(folder)
        elif folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            with suppress(OSError):
                folder.unlink()

    def _look(self) -> dict[str, Any] | None:
        """Return the manifest of the runs in this folder; refuse other contents."""
        present = contents(self.target)
        if not present:
            return None
        manifest = read_manifest(self.target)
        if manifest.get("command") == self.command:
            return manifest
        if not manifest and RUNS in present and self._runs_are_ours():
            self.damaged.append(self.target / MANIFEST)
            return None
        raise Occupied(
            f"Will not write into {display(self.target)}: it holds something other than"
            f" {MANY[self.command]} ({', '.join(sorted(present)[:3])}).",
            "Choose another folder with --out.",
        )

    def _runs_are_ours(self) -> bool:
        """Tell whether at least one run is there and all are of this command."""
        found = [read_manifest(path) for path in (self.target / RUNS).glob("*/seed-*")]
        known = {manifest["command"] for manifest in found if manifest}
        return known == {self.command}

    def _hold(self, lock: int) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._fresh = False
            raise Busy(
                f"Another command is using {display(self.target)}.",
                "Wait for it, or choose another folder with --out.",
            ) from None
        except OSError:
            return  # a file system without locks

    def _clear(self) -> None:
        """Remove what a process left that was killed."""
        for path in [*self.target.glob(".*.partial"), *self.target.glob(f"{RUNS}/*/.seed-*.*")]:
            self.remove(path)


class Busy(TidegateError):
    """A folder for results is in use by another process."""
