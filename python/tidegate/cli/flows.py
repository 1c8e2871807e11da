"""`tidegate flows`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.console import Json, place, say, stderr, stdout, where


def flows(
    file: Annotated[Path, where("CAPTURE", "A packet capture (pcap or pcapng).")],
    csv: Annotated[
        Path | None, place("FILE", "Write the flows as a table to replay.", "--csv")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Number of flows to list.")] = 10,
    as_json: Json = False,
) -> None:
    """List the connections of a packet capture (TCP, QUIC), as a scenario would replay them."""
    from tidegate.results.store import write_over
    from tidegate.scenario import recorded
    from tidegate.show import hints, progress
    from tidegate.show.listing import of_flows

    size = file.stat().st_size if file.is_file() else 0
    with progress.reading(stderr(), file.name, size) as tick:
        found = recorded.read(file, tick)
    if csv is not None:
        write_over(csv, found.csv, "table of flows", b"start_s,")
    if as_json:
        for piece in found.json():
            typer.echo(piece, nl=False)
        typer.echo()
    else:
        stdout().print(of_flows(found, rows))
    if found.broken is not None:
        say(f"tidegate: {file}: {found.broken}.\nThe flows up to there are used.")
    if found.estimated is not None:
        say(f"tidegate: {file}: {found.estimated}.")
    if found.left_out is not None:
        say(f"tidegate: {file}: {found.left_out}.\nA scenario replays connections alone.")
    if csv is not None:
        say(f"Flows as a table: {csv}")
    say(hints.after_flows(found, str(csv or file)))
