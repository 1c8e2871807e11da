"""`tidegate plot`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.console import flag, place, say, stdout, text, where
from tidegate.cli.options import Formats, Metrics, refuse_given

if TYPE_CHECKING:
    from tidegate.grid.load import Loaded

Folder = Annotated[Path, where("FOLDER", "Results of run, compare, sweep or merge.")]
Out = Annotated[Path | None, place("DIR", "Folder for the pictures; default FOLDER.")]


InTerminal = Annotated[
    bool, flag("Draw the main figure in the terminal, and write nothing.", "--terminal")
]


Size = Annotated[str | None, text("SIZE", "Size of a whole picture, as in 8.5x6cm or 3.5x2.4in.")]
Style = Annotated[
    str | None, text("FILE", "A style file of matplotlib: letters, colours, strokes.")
]
Lines = Annotated[
    list[str] | None,
    text(
        "NAME",
        "Draw this control, or setting of a sweep; may be repeated, in the order wanted.",
        "--line",
    ),
]
Pictures = Annotated[
    list[str] | None,
    text(
        "NAME",
        "Draw this picture alone, by the name of its file without ending; may be repeated.",
        "--picture",
    ),
]


_OF_RUN = ("folder", "formats", "size", "style", "picture", "out", "terminal")


def plot(
    ctx: typer.Context,
    folder: Folder,
    metrics: Metrics = None,
    formats: Formats = None,
    size: Size = None,
    style: Style = None,
    line: Lines = None,
    picture: Pictures = None,
    out: Out = None,
    terminal: InTerminal = False,
) -> None:
    """Draw the pictures of results again, as PNG, SVG or PDF; nothing is run."""
    from tidegate.errors import UsageError
    from tidegate.grid.grid_result import GridResult, chosen
    from tidegate.grid.load import load
    from tidegate.results.store import display
    from tidegate.show import finished
    from tidegate.show.look import Look

    look = Look.of(formats, size, style, line or (), picture or ())
    found = load(folder)
    if terminal:
        refuse_given(ctx, "pictures in a terminal", ("folder", "metrics", "terminal"))
    if found.command == "run":
        refuse_given(ctx, "the pictures of one run", _OF_RUN)
    if terminal and found.command == "run":
        from tidegate.show import terminal as drawing

        stdout().print(drawing.of_run(found.folder))
        return
    if found.command == "run":
        from tidegate.show.pictures import of_run

        drawn = of_run(found.folder, found.run.summary, look)
        if drawn:
            _said(found, finished.saved(drawn, out or found.folder), out)
            return
        if (found.folder / "flows.parquet").exists():
            say("Nothing was sent in this run: there is nothing to draw.")
            return
    if found.command not in ("compare", "sweep"):
        again = {
            "run": f"The tables of this run were not kept. Make a page of it: tidegate report"
            f" {folder}",
            "paper": f"tidegate paper {found.name} draws its pictures, and runs nothing again.",
        }
        raise UsageError(
            f"{display(folder)} holds no comparison and no sweep.", again[found.command]
        )
    done = found.result(GridResult)
    done.metrics = chosen(metrics, done.subject)
    if terminal:
        from tidegate.show.terminal import of_grid

        stdout().print(of_grid(done))
        return
    paths = finished.plot(done, out, look)
    if not paths:
        say("No axis of this sweep is one of numbers: there is nothing to draw over.")
        return
    _said(found, paths, out)


def _said(found: Loaded, paths: list[Path], out: Path | None) -> None:
    from tidegate.results.store import display

    if out is None:
        found.wrote([path.name for path in paths])
    kinds = ", ".join(dict.fromkeys(path.suffix[1:].upper() for path in paths))
    say(f"{len(paths)} pictures ({kinds}): {display(paths[0].parent)}")
