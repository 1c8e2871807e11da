"""The folder of a study: its runs by what they are of, and what was made of them.

    runs/SCENARIO-HASH/seed-N/   one finished run (see record.py), moved there when whole
    REPORT.md, pictures/, claims.json, manifest.json

A run lies under the hash of its effective scenario: two cases that come to the
same scenario share it, and one that has changed has another place. Claims are
functions of what lies here, so that no change of a claim runs anything again.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.errors import TidegateError, from_os
from tidegate.papers.record import Record, keep
from tidegate.store import MANIFEST, code_hash, display, umask
from tidegate.sweeping.plan import digest

if TYPE_CHECKING:
    from types import TracebackType

    from tidegate._native import Scenario
    from tidegate.papers.study import Case, Study
    from tidegate.runner import Outcome

RUNS = "runs"


@dataclass(frozen=True)
class Job:
    """One run of one case."""

    case: Case
    seed: int
    scenario: Scenario
    folder: Path


class Folder:
    """A folder of runs; held by one process at a time."""

    def __init__(self, target: str | Path, study: Study, *, mix: bool = False) -> None:
        self.target = Path(target).absolute()
        self.study = study
        self.mix = mix
        self._loaded: dict[str, tuple[Scenario, Path]] = {}
        umask()  # it can only be read by setting it: before there are threads
        self._refuse_strangers()
        try:
            (self.target / RUNS).mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.target, os.O_RDONLY)
        except OSError as error:
            raise from_os("make the folder", display(self.target), error) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise TidegateError(
                f"Another command is at work in {display(self.target)}.",
                "Wait for it, or choose another folder with --out.",
            ) from None
        except OSError:
            pass  # a file system without locks: nothing can be said
        self.write(MANIFEST, _json({"tidegate_paper": study.key, "code_hash": code_hash()}))

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._lock)

    def jobs(self, case: Case, seeds: int) -> list[Job]:
        """Return the runs that a case consists of."""
        scenario, place = self._load(case)
        numbers = range(1, (case.seeds or seeds) + 1)
        return [Job(case, seed, scenario, place / f"seed-{seed}") for seed in numbers]

    def has(self, job: Job) -> bool:
        """Tell whether a run is there, made by this code (or by any, with `mix`)."""
        try:
            manifest = json.loads((job.folder / MANIFEST).read_text(encoding="utf-8"))
            whole = all((job.folder / name).stat().st_size for name in manifest["files"])
            mine = self.mix or manifest["code_hash"] == code_hash()
        except (OSError, ValueError, KeyError, TypeError):
            return False
        kept = set(self.study.keep) <= set(manifest.get("columns", []))
        return whole and mine and kept

    def keep(self, job: Job, outcome: Outcome) -> None:
        """Save a run; any thread may call this."""
        more = {"case": job.case.key, "columns": list(self.study.keep)}
        keep(job.folder, outcome, self.study.keep, more)

    def record(self, job: Job) -> Record:
        """Return a saved run."""
        return Record(job.folder, job.seed)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the whole study, replacing an older one at once."""
        path = self.target / name
        beside = path.with_name(f".{path.name}.partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(content)
            beside.replace(path)
        except OSError as error:
            raise from_os("write", display(path), error) from error

    def _load(self, case: Case) -> tuple[Scenario, Path]:
        if case.key not in self._loaded:
            document = self.study.document(case)
            contents = document.contents()
            scenario = document.load(files=contents)
            inputs = "".join(f"{name}{digest(contents[name])}" for name in sorted(contents))
            stem = case.scenario.removesuffix(".toml")
            name = f"{stem}-{digest((scenario.show() + inputs).encode())[:16]}"
            self._loaded[case.key] = (scenario, self.target / RUNS / name)
        return self._loaded[case.key]

    def _refuse_strangers(self) -> None:
        try:
            entries = list(self.target.iterdir()) if self.target.exists() else []
            if not entries:
                return
            manifest = json.loads((self.target / MANIFEST).read_text(encoding="utf-8"))
            mine = manifest.get("tidegate_paper") == self.study.key
        except (OSError, ValueError, AttributeError):
            mine = False
        if not mine:
            raise TidegateError(
                f"Will not write into {display(self.target)}: it holds something else than"
                f" runs of the paper {self.study.key}.",
                "Choose another folder with --out.",
            )


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()
