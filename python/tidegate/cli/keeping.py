"""Which runs stay when a command is interrupted."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import typer

from tidegate.cli.console import INTERRUPTED, say, stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.paper import Paper
    from tidegate.results.folder import RunFolder


def name_damaged(folder: RunFolder) -> None:
    """Name the damaged files; their runs are repeated."""
    from tidegate.results.store import display

    for path in folder.damaged:
        say(f"Damaged, its run is repeated: {display(path)}")
    folder.damaged.clear()


@contextmanager
def performing(
    target: Path, paper: Paper, *, mix: bool, workers: int | None, dask: str | None
) -> Iterator[CaseFolder]:
    """Open the folder of a paper, a study or a certificate, with a bar and who simulates."""
    from tidegate.grid.executor import Executor
    from tidegate.papers.folder import CaseFolder
    from tidegate.show import progress

    with (
        Executor(workers, dask) as executor,
        CaseFolder(target, paper, partial(progress.bar, stderr()), executor, mix=mix) as folder,
        keeping(folder, folder.count),
    ):
        yield folder
        name_damaged(folder)


@contextmanager
def keeping(
    folder: RunFolder, finished: Callable[[], int], total: int | None = None
) -> Iterator[None]:
    """Print which runs are saved if a command is interrupted; exit quietly on Ctrl-C."""
    from tidegate.results.store import display

    try:
        yield
    except BaseException as error:
        number = finished()
        if number:
            runs = f"{number} of {total} runs" if total is not None else f"{number} runs"
            shown = display(folder.target)
            say(f"{runs} are saved in {shown}; rerun to resume.")
        if not isinstance(error, KeyboardInterrupt):
            raise
        if not number:
            say("Interrupted before the first run was complete; nothing was written.")
        raise typer.Exit(INTERRUPTED) from None
