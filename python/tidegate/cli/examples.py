"""`tidegate examples`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.console import say, where

Folder = Annotated[Path | None, where("[FOLDER]", "Where to copy them; without it a list.")]


def examples(folder: Folder = None) -> None:
    """List the scenarios that come with tidegate, or copy them into a folder.

    Existing files are kept.
    """
    from tidegate.errors import TidegateError
    from tidegate.results.store import write_whole
    from tidegate.scenario import examples as ready
    from tidegate.show.next_command import program

    there = ready.files()
    if not there:
        raise TidegateError(
            "This package came without its scenarios.",
            "They are in the folder scenarios of the source.",
        )
    if folder is None:
        listed = dict(ready.listed(there))
        width = max(map(len, listed)) + 2
        for name, sentence in listed.items():
            typer.echo(f"{name:{width}}{sentence}")
        return
    copied = 0
    for name, source in there.items():
        target = folder / name
        if target.exists():
            continue
        write_whole(target, source.read_bytes())
        copied += 1
    left = len(there) - copied
    say(f"{copied} files copied{f', {left} were there already' if left else ''}: {folder}")
    first = shlex.quote(str(folder / "downloads.toml"))
    say(f"Try next: {program()} compare {first} --gate none,tide")
