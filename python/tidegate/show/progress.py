"""A progress bar on standard error, with an estimate of the time left."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidegate.grid.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.progress import Progress, ProgressColumn


def _progress(console: Console, *middle: ProgressColumn, shown: bool, threaded: bool) -> Progress:
    """Return bars with a title, these columns, and the time left; they go when they are done."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *middle,
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=console,
        transient=True,
        auto_refresh=threaded,
        disable=not shown,
    )


@contextmanager
def reading(console: Console, title: str, total_bytes: int) -> Iterator[Callable[[int], None]]:
    """Show a bar for a file that is read; call it with the number of bytes read."""
    from rich.progress import DownloadColumn

    shown = console.is_terminal
    with _progress(console, DownloadColumn(), shown=shown, threaded=True) as progress:
        task = progress.add_task(title, total=total_bytes)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def bar(
    console: Console,
    title: str,
    runs: int,
    total_s: float,
    *,
    threaded: bool = True,
    shown: bool | None = None,
) -> Iterator[Meter]:
    """Show a bar for a number of runs of `total_s` simulated seconds in total.

    Nothing is drawn where standard error is not a terminal. Unless `threaded`,
    it is drawn only within reports, so that it takes no CPU time between them.
    """
    from rich.progress import TaskProgressColumn, TextColumn

    middle = (TaskProgressColumn(), TextColumn("{task.fields[state]}"))
    shown = console.is_terminal if shown is None else shown
    with _progress(console, *middle, shown=shown, threaded=threaded) as progress:
        task = progress.add_task(title, total=total_s, state="")

        def show(simulated_s: float, finished: int) -> None:
            state = f"{finished} of {runs} runs" if runs > 1 else f"{simulated_s:.0f} s simulated"
            progress.update(task, completed=simulated_s, state=state, refresh=not threaded)

        def stage(text: str) -> None:
            progress.update(task, completed=total_s, state=text, refresh=not threaded)

        yield Meter(runs, show, stage)
