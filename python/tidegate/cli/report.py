"""`tidegate report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tidegate.cli.console import place, say, where

Folders = Annotated[list[Path], where("FOLDER...", "Results of run, compare, sweep or paper.")]
Out = Annotated[
    Path | None,
    place("FILE", "The page; default report.html in the folder, or here if of several."),
]


def report(folders: Folders, out: Out = None) -> None:
    """Make one HTML page of results: it works offline, in any browser, and can be sent on.

    You can zoom pictures, point at them for numbers, hide controls and sort
    tables. Nothing is run.
    """
    from tidegate.grid.load import load
    from tidegate.results.store import display, write_over
    from tidegate.show.page import page

    results = [load(folder) for folder in folders]
    target = out or (folders[0] if len(folders) == 1 else Path()) / "report.html"
    content = page(results)
    write_over(target, content, "page of results", b"(?i)<!doctype html")
    if len(results) == 1 and out is None:
        results[0].wrote([target.name])
    say(f"Page ({len(content) / 1e6:.1f} MB): {display(target)}")
