"""Which runs stay when a command is interrupted."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from tidegate.cli.console import INTERRUPTED, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidegate.results.folder import RunFolder


def name_damaged(folder: RunFolder) -> None:
    """Name the damaged files; their runs are repeated."""
    from tidegate.results.store import display

    for path in folder.damaged:
        say(f"Damaged, its run is repeated: {display(path)}")
    folder.damaged.clear()


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
