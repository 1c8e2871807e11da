"""`tidegate compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.console import Json, Workers, print_json, say, stdout
from tidegate.cli.grids import expected, fill
from tidegate.cli.options import (
    DryRun,
    File,
    Port,
    Set,
    colour,
    default_folder,
    document,
    named,
)

Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for results, gone on with; default out/SCENARIO-compare, numbered where"
        " another comparison is there.",
    ),
]


def compare(
    file: File,
    gate: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Controls, as in none,fixed-rate:100,close-probe."),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Queue laws, as in drop-tail,red; with --gate every pair of the two.",
        ),
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=A,B", help="Values of one key, as in port.bottleneck.gate.beta=0.2,0.5."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds: 1, 2, ...")] = 5,
    port: Port = None,
    settings: Set = None,
    workers: Workers = None,
    out: Out = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    r"""Run the same traffic under several controls: table with intervals, pictures, data.

    Without --gate, --queue and --vary the \[variant.NAME] tables of the file
    are compared. Every finished run is kept at once: after Ctrl-C or a crash
    the same command runs only what is missing.
    """
    from tidegate.grid.ledger import Ledger, opened
    from tidegate.grid.plan import Controls, comparison
    from tidegate.results.store import display
    from tidegate.show import finished, hints

    asked = document(file, settings)
    controls = Controls(named(gate), named(queue), port)
    planned = comparison(asked, controls, vary=vary, seeds=seeds, colour=colour())
    if expected(planned, workers, dry_run, as_json):
        return
    if out is None:
        ledger, why = opened(default_folder(planned.subject.name, "compare"), planned)
        if why:
            say(why)
    else:
        ledger = Ledger(out, planned)
    with ledger:
        done = fill(ledger, workers)
        place = display(ledger.target)
    if as_json:
        print_json(done.document())
    else:
        stdout().print(finished.table(done))
    say(f"Data, pictures (PNG, SVG) and summary: {place}")
    for warning in hints.alike(done):
        say(f"tidegate: {warning}")
    say(hints.after(done, str(file), asked.tables()))
