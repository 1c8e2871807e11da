"""The part of commands that run a grid: its folder, runs under a progress bar, what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.cli.console import forecast, say, stderr
from tidegate.cli.keeping import keeping, name_damaged
from tidegate.cli.options import default_folder, warn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidegate.grid.grid_folder import GridFolder
    from tidegate.grid.grid_result import GridResult
    from tidegate.grid.plan import Plan
    from tidegate.results.laws import OwnLaw
    from tidegate.show.look import Look

    Laws = Mapping[str, OwnLaw] | None


def expected(
    planned: Plan, workers: int | None, laws: Laws, *, dry_run: bool, as_json: bool, plots: bool
) -> bool:
    """Print the warnings and, in a dry run, what the runs will take; tell whether that is all."""
    import os

    from tidegate.show.forecast import of_grid, pictures_s

    warn(planned.warnings)
    if not dry_run:
        return False

    subject = planned.subject
    cores = len(os.sched_getaffinity(0))
    at_once = min(workers or cores, cores)
    found = of_grid(
        planned.scenarios,
        len(subject.jobs),
        subject.seeds[0],
        at_once,
        subject.name,
        laws,
        pictures_s(subject) if plots and subject.shard is None else 0.0,
    )
    forecast(found, as_json)
    return True


def comparing(out: Path | None, name: str, command: str, planned: Plan) -> GridFolder:
    """Open the folder that is asked for, or one of this name that no other comparison has."""
    from tidegate.grid.grid_folder import GridFolder, opened

    if out is not None:
        return GridFolder(out, planned)
    folder, why = opened(default_folder(name, command), planned)
    if why:
        say(why)
    return folder


def conclude(done: GridResult) -> None:
    """Print what the runs recommend, and what may mislead in them."""
    from tidegate.show import hints
    from tidegate.show.recommendation import recommendation

    say(recommendation(done))
    if (full := hints.fullest(done)) is not None:
        say(f"tidegate: {full}")
    warn(hints.alike(done))


def fill(
    folder: GridFolder,
    workers: int | None,
    laws: Laws,
    dask: str | None = None,
    metrics: tuple[str, ...] = (),
    *,
    look: Look | None = None,
) -> GridResult:
    """Run what is missing under a progress bar, and write the files of the whole.

    `look` is that of the pictures; None: there are none.
    """
    from tidegate.grid.execute import execute
    from tidegate.grid.executor import Executor
    from tidegate.grid.grid_result import GridResult
    from tidegate.show import finished, progress

    planned, subject = folder.plan, folder.plan.subject
    total, missing = len(subject.jobs), folder.missing
    name_damaged(folder)
    with keeping(folder, folder.kept, total):
        if folder.found:
            say(f"{len(folder.found)} of {total} runs are there already; {len(missing)} to go.")
        seconds = planned.simulated_s(missing)
        with (
            Executor(workers, dask) as executor,
            progress.bar(stderr(), subject.name, len(missing), seconds) as meter,
        ):

            def files(done: GridResult) -> dict[str, bytes]:
                meter.stage("drawing pictures" if look else "writing tables")
                return finished.files(done, plots=look is not None, look=look)

            return execute(
                planned,
                GridResult,
                folder,
                executor,
                laws=laws,
                metrics=metrics,
                report=meter.report,
                finished=meter.finished,
                files=files,
            )
