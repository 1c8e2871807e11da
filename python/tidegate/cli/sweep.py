"""`tidegate sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.console import Json, Workers, flag, place, print_json, say, stdout, text
from tidegate.cli.grids import conclude, expected, fill
from tidegate.cli.options import (
    Dask,
    DryRun,
    Every,
    File,
    Formats,
    LawFile,
    Metrics,
    NoPlots,
    Port,
    Set,
    Terminal,
    colour,
    default_folder,
    document,
    named,
    together,
)

if TYPE_CHECKING:
    from tidegate.grid.grid_result import GridResult

Vary = Annotated[
    list[str] | None,
    text(
        "KEY=VALUES", "One axis: KEY=a,b,c or KEY=lo:hi:step, both ends included; may be repeated."
    ),
]
Gate = Annotated[str | None, text("LIST", "One more axis: controls, as in compare.")]
Queue = Annotated[str | None, text("LIST", "One more axis: queue laws, as in compare.")]
Variants = Annotated[
    str | None, text("LIST", "One more axis: variants of the file by name, or all.", "--variant")
]
Shard = Annotated[
    str | None, text("I/N", "Run part I of N, in its own folder; then tidegate merge.")
]
KeepFlows = Annotated[bool, flag("Save flows, ports and events of every run too.", "--keep-flows")]
Mix = Annotated[bool, flag("Use saved runs that other code or another scenario made.", "--mix")]
Out = Annotated[
    Path | None,
    place("DIR", "Folder for results, resumed if interrupted; default out/SCENARIO-sweep."),
]


def sweep(
    file: File,
    vary: Vary = None,
    gate: Gate = None,
    queue: Queue = None,
    variant: Variants = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number of seeds: 1, 2, ...; default the file's, or 10."),
    ] = None,
    port: Port = None,
    settings: Set = None,
    law: LawFile = None,
    workers: Workers = None,
    dask: Dask = None,
    metrics: Metrics = None,
    keep_flows: KeepFlows = False,
    shard: Shard = None,
    mix: Mix = False,
    out: Out = None,
    every: Every = False,
    terminal: Terminal = False,
    no_plots: NoPlots = False,
    formats: Formats = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    r"""Run a grid of settings x seeds on all cores: table with intervals, pictures, data.

    Every complete run is saved at once: after Ctrl-C or a crash, rerun the
    command to resume. Without --vary, --gate and --queue the axes are those of
    the table \[sweep] of the file.
    """
    from tidegate.grid import axes, plan
    from tidegate.grid.grid_folder import GridFolder
    from tidegate.grid.grid_result import chosen
    from tidegate.results.store import display
    from tidegate.scenario.own import laws
    from tidegate.show.look import Look

    together(terminal, as_json)
    look = Look.of(formats)
    own = laws(law)
    asked = document(file, settings)
    planned = plan.sweep(
        asked,
        plan.Controls(named(gate), named(queue), port),
        axes=[axes.given(each) for each in vary or []],
        variants=named(variant),
        seeds=seeds,
        laws=own,
        shard=None if shard is None else plan.shard_of(shard),
        colour=colour(),
    )
    subject = planned.subject
    names = chosen(metrics, subject)
    about = {"dry_run": dry_run, "as_json": as_json, "plots": not no_plots}
    if expected(planned, workers, own, **about):
        return
    part = "" if subject.shard is None else "-{}-of-{}".format(*subject.shard)
    with GridFolder(
        out or default_folder(subject.name, f"sweep{part}"), planned, keep_flows=keep_flows, mix=mix
    ) as folder:
        done = fill(folder, workers, own, dask, names, look=None if no_plots else look)
        saved = display(folder.target)
    drawn = "" if no_plots else look.named
    _end(done, saved, as_json, every=every, terminal=terminal, drawn=drawn)


def _end(
    done: GridResult, saved: Path, as_json: bool, *, every: bool, terminal: bool, drawn: str
) -> None:
    from tidegate.show import finished

    whole = done.subject.shard is None
    if as_json:
        print_json(done.document())
    elif whole:
        finished.show(stdout(), done, terminal=terminal, every=every)
    if whole:
        conclude(done)
        say(f"Data{f', pictures ({drawn})' if drawn else ''} and table: {saved}")
        return
    say(f"All {len(done.rows)} runs of this shard are in {saved}. When all shards are there:")
    say("tidegate merge DIR... --out DIR")
