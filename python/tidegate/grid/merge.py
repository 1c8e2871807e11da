"""Merge the shards of a sweep: they must be of one sweep, without overlaps and gaps."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.arguments import several
from tidegate.errors import TidegateError, UsageError, from_os
from tidegate.grid.compatibility import made_by, unlike
from tidegate.grid.grid_folder import RUNS, manifest_of, read_grid
from tidegate.grid.grid_result import GridResult, chosen
from tidegate.grid.plan import Subject
from tidegate.results.location import is_remote, location
from tidegate.results.run_files import Damaged, read_run
from tidegate.results.store import MANIFEST, Objects, Store, display, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tidegate.grid.plan import Job
    from tidegate.results.run_files import SavedRun

M = TypeVar("M", bound=GridResult)
SHOWN = 20
"""Runs that a message names."""


def merge(
    parts: Sequence[str | Path],
    out: str | Path,
    into: type[M],
    files: Callable[[M], Mapping[str, bytes]],
    *,
    metrics: Sequence[str] | str = (),
    mix: bool = False,
    partial: bool = False,
) -> M:
    """Merge the folders of shards, and write the files of the whole.

    Raises UsageError if they are parts of different sweeps or made by
    different code (unless `mix` is set), if a run is in two of them, or if one
    is in none (unless `partial` is set).
    """
    folders = [location(part).absolute() for part in several(parts, "parts", "out/sweep-1-of-2")]
    if not folders:
        raise UsageError("No shard is named.", "Name the folders that `tidegate sweep` wrote.")
    target = location(out).absolute()
    if is_remote(target) and target in folders:
        raise UsageError(
            f"{target} is both a shard and the folder for the whole.",
            "Choose another folder with --out.",
        )
    manifests = [_manifest(folder) for folder in folders]
    subjects = [Subject.of(manifest).whole() for manifest in manifests]
    names = chosen(metrics, subjects[0])
    _same_sweep(folders, subjects, mix=mix)
    found = [_runs(folder, subjects[0]) for folder in folders]
    runs = _together(folders, found)
    if not mix:
        _same_code(runs, subjects[0])
    missing = [job for job in subjects[0].jobs if job not in runs]
    if missing and not partial:
        raise UsageError(
            f"{len(missing)} of {len(subjects[0].jobs)} runs are missing:"
            f"{_listed(missing, subjects[0])}",
            "Rerun the incomplete shards, or merge the others with --partial.",
        )
    done = into.of(subjects[0], {job: run.summary for job, run in runs.items()}, names)
    with opened(target, over=True, replaces=_same_as(subjects[0])) as store:
        for (number, seed), run in runs.items():
            _copy(run, store, _place(subjects[0], (number, seed)))
        _finish(store, done, files(done), manifests[0])
        store.commit()
        done.folder = store.target
    return done


def _same_as(subject: Subject) -> Callable[[dict[str, Any]], bool]:
    """Return the test for a former merge of the same sweep, which may be replaced."""

    def same(manifest: dict[str, Any]) -> bool:
        try:
            there = Subject.of(manifest)
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        return there.command == subject.command and there.points == subject.points

    return same


def _manifest(folder: Path) -> dict[str, Any]:
    manifest = read_grid(folder, "sweep")
    if manifest is None:
        raise TidegateError(
            f"{display(folder)} holds no sweep.", "Name folders that `tidegate sweep` wrote."
        )
    return manifest


def _same_sweep(folders: Sequence[Path], subjects: Sequence[Subject], *, mix: bool) -> None:
    """Refuse parts of different sweeps; with `mix` only those with other axes or seeds."""
    first = subjects[0]
    for folder, subject in zip(folders, subjects, strict=True):
        differs = unlike(subject, first)
        if subject.seeds != first.seeds:
            differs.append(f"seeds: there {_seeds(subject)}; here {_seeds(first)}")
        if not differs and not mix and subject.points != first.points:
            differs.append("scenario: a key that is no axis, or a file, differs")
        if not mix and subject.laws != first.laws:
            differs.append("laws in Python differ")
        if differs:
            raise UsageError(
                "\n  ".join(
                    [
                        f"{display(folder)} (there) and {display(folders[0])} (here)"
                        " are not parts of one sweep.",
                        *differs,
                    ]
                ),
                "Merge only shards of the same command.",
            )


def _seeds(subject: Subject) -> str:
    seeds = subject.seeds
    return f"{min(seeds)} to {max(seeds)}" if len(seeds) > 8 else ", ".join(map(str, seeds))


def _runs(folder: Path, subject: Subject) -> dict[Job, SavedRun]:
    found = {}
    for number, seed in subject.jobs:
        with suppress(Damaged):  # counts as missing
            run = read_run(folder / _place(subject, (number, seed)), seed)
            if run is not None:
                found[number, seed] = run
    return found


def _place(subject: Subject, job: Job) -> str:
    """Return the place of a run below the folder of its sweep."""
    return f"{RUNS}/{subject.points[job[0]].folder}/seed-{job[1]}"


def _together(
    folders: Sequence[Path], found: Sequence[Mapping[Job, SavedRun]]
) -> dict[Job, SavedRun]:
    runs: dict[Job, SavedRun] = {}
    for folder, part in zip(folders, found, strict=True):
        twice = [job for job in part if job in runs]
        if twice:
            other = next(each for each, own in zip(folders, found, strict=True) if twice[0] in own)
            raise UsageError(
                f"{len(twice)} runs are both in {display(other)} and in {display(folder)}.",
                "Name every shard once, and none that is contained in another.",
            )
        runs |= part
    return runs


def _same_code(runs: Mapping[Job, SavedRun], subject: Subject) -> None:
    codes = {run.manifest["code_hash"]: made_by(run.manifest) for run in runs.values()}
    if len(codes) > 1:
        raise UsageError(
            "\n  ".join(["Will not mix: the runs were made by different code.", *codes.values()]),
            "Rerun the shards with one build, or accept them with --mix.",
        )
    for (number, _), run in runs.items():
        if run.manifest["scenario_hash"] != subject.points[number].scenario_hash:
            raise UsageError(
                f"Will not mix: {display(run.folder)} is a run of another scenario.",
                "Rerun its shard, or accept it with --mix.",
            )


def _listed(missing: Sequence[Job], subject: Subject) -> str:
    lines = [f"\n  {subject.points[number].label} seed {seed}" for number, seed in missing]
    more = [f"\n  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "".join([*lines[:SHOWN], *more])


def _copy(run: SavedRun, store: Store | Objects, inside: str) -> None:
    """Copy the files of a run; large ones are linked where the file system can."""
    far = is_remote(run.folder) or is_remote(store.temporary)
    try:
        (store.temporary / inside).mkdir(parents=True, exist_ok=True)
        for name in [*run.manifest["files"], MANIFEST]:
            target = store.temporary / inside / name
            if far:
                target.write_bytes((run.folder / name).read_bytes())
                continue
            try:
                os.link(run.folder / name, target)
            except OSError:
                shutil.copy2(run.folder / name, target)
    except OSError as error:
        raise from_os("write", store.target / inside, error) from error


def _finish(
    store: Store | Objects,
    done: GridResult,
    files: Mapping[str, bytes],
    part: Mapping[str, Any],
) -> None:
    for name, content in files.items():
        store.write(name, content)
    effective = part["effective_scenario"]
    manifest = manifest_of(effective, done.subject, complete=done.complete) | {
        "cpu_s": done.cpu_s,
        "packet_hops": sum(row["packet_hops"] for row in done.rows),
        "files": [*store.files, RUNS],
    }
    store.write_json(MANIFEST, manifest)
