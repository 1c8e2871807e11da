"""`tidegate show`."""

from __future__ import annotations

import typer

from tidegate.cli.options import File, Set, colour, document


def show(file: File, settings: Set = None) -> None:
    """Print the effective scenario: everything spelled out, ready to run."""
    typer.echo(document(file, settings).load(colour=colour()).show(), nl=False)
