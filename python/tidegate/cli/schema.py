"""`tidegate schema`."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON schema of scenarios, for editors."""
    from tidegate._native import schema as text

    typer.echo(text())
