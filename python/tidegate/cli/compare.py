"""`tidegate compare`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.console import Json, Workers, place, print_json, say, stdout, text, where
from tidegate.cli.grids import comparing, conclude, expected, fill
from tidegate.cli.options import (
    Dask,
    DryRun,
    Every,
    Formats,
    LawFile,
    Metrics,
    NoPlots,
    Port,
    Set,
    Terminal,
    colour,
    document,
    named,
    refuse_given,
    together,
)

FileOrFolder = Annotated[Path, where("FILE", "A scenario (TOML), or a folder of results.")]
Other = Annotated[Path | None, where("[FOLDER]", "Another folder of results.")]
Gate = Annotated[str | None, text("LIST", "Controls, as in none,fixed-rate:100,close-probe.")]
Queue = Annotated[
    str | None, text("LIST", "Queue laws, as in drop-tail,red; with --gate every pair of both.")
]
Out = Annotated[
    Path | None,
    place(
        "DIR",
        "Folder for results, resumed if interrupted; default out/SCENARIO-compare, suffixed"
        " if taken by another comparison.",
    ),
]


def folders(first: Path, second: Path | None, as_json: bool) -> None:
    """Print two folders of results side by side."""
    from tidegate.errors import UsageError
    from tidegate.grid.diff import diff
    from tidegate.grid.load import load
    from tidegate.show.tables import of_folders

    if second is None:
        raise UsageError(
            f"{first} is a folder, and no second one was given to compare it with.",
            "Name another folder of results, or give a scenario (TOML) instead.",
        )
    both = diff(load(first), load(second))
    if as_json:
        print_json(both.document())
        return
    stdout().print(of_folders(both))
    for what in both.differs:
        say(f"They differ in {what}")


def compare(
    ctx: typer.Context,
    file: FileOrFolder,
    other: Other = None,
    gate: Gate = None,
    queue: Queue = None,
    vary: Annotated[
        str | None, text("KEY=A,B", "Values of one key, as in port.bottleneck.gate.beta=0.2,0.5.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds: 1, 2, ...")] = 5,
    port: Port = None,
    settings: Set = None,
    law: LawFile = None,
    workers: Workers = None,
    dask: Dask = None,
    metrics: Metrics = None,
    out: Out = None,
    every: Every = False,
    terminal: Terminal = False,
    no_plots: NoPlots = False,
    formats: Formats = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    r"""Run the same traffic under several controls: table with intervals, pictures, data.

    Without --gate, --queue and --vary the \[variant.NAME] tables of the file
    are compared. Every complete run is saved at once: after Ctrl-C or a crash,
    rerun the command to resume. Given two folders of results in place of FILE,
    it shows how they differ and runs nothing.
    """
    if other is not None or file.is_dir():
        refuse_given(ctx, "folders of results", ("file", "other", "as_json"))
        folders(file, other, as_json)
        return
    from tidegate.grid import axes
    from tidegate.grid.grid_result import chosen
    from tidegate.grid.plan import Controls, comparison
    from tidegate.results.store import display
    from tidegate.scenario.own import laws
    from tidegate.show import finished, hints
    from tidegate.show.look import Look
    from tidegate.show.next_command import Typed

    together(terminal, as_json)
    look = Look.of(formats)
    asked = document(file, settings)
    controls = Controls(named(gate), named(queue), port)
    own = laws(law)
    planned = comparison(
        asked,
        controls,
        axes=[axes.given(vary)] if vary else [],
        seeds=seeds,
        laws=own,
        colour=colour(),
    )
    names = chosen(metrics, planned.subject)
    about = {"dry_run": dry_run, "as_json": as_json, "plots": not no_plots}
    if expected(planned, workers, own, **about):
        return
    with comparing(out, planned.subject.name, "compare", planned) as folder:
        done = fill(folder, workers, own, dask, names, look=None if no_plots else look)
        shown = display(folder.target)
    if as_json:
        print_json(done.document())
    else:
        finished.show(stdout(), done, terminal=terminal, every=every)
    say(f"Data{'' if no_plots else f', pictures ({look.named})'} and summary: {shown}")
    conclude(done)
    typed = Typed.of(file, settings, law, port)
    if next_step := hints.after(done, typed, tomllib.loads(planned.effective)):
        say(next_step)
