"""`tidegate convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.console import place, say, text, where

File = Annotated[
    Path, where("FILE", "A HAR file; or a graph as GraphML, GML or JSON of nodes and links.")
]
Rate = Annotated[str | None, text("RATE", "Rate of links of which a graph has none.")]
Delay = Annotated[str | None, text("TIME", "Delay of links of which a graph has none.")]
Out = Annotated[Path | None, place("FOLDER", "Folder of the scenario; default: the file's name.")]


def convert(file: File, rate: Rate = None, delay: Delay = None, out: Out = None) -> None:
    """Make a scenario of a file of another tool: pages of a browser (HAR), or a network's graph.

    Existing files are not replaced.
    """
    import shlex

    from tidegate.errors import UsageError
    from tidegate.results.store import display, write_whole
    from tidegate.scenario import made, quantities
    from tidegate.scenario.made.graph import LinkDefaults
    from tidegate.show.next_command import program

    if rate is not None:
        quantities.rate_bps("--rate", rate)
    if delay is not None:
        quantities.time_s("--delay", delay)
    found = made.of_file(file, LinkDefaults(rate, delay))
    folder = out or Path(file.stem)
    for name in found.files:
        if (folder / name).exists():
            raise UsageError(f"{folder / name} is there already.", "Name another --out FOLDER.")
    # the scenario last, so that it is nowhere without its tables
    for name, content in reversed(found.files.items()):
        write_whole(folder / name, content.encode())
    for sentence in found.said:
        say(f"{sentence[0].upper()}{sentence[1:]}.")
    first = folder / next(iter(found.files))
    typer.echo(display(first))
    say(f"Try next: {program()} check {shlex.quote(str(display(first)))}")
