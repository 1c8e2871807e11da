"""`tidegate bench`."""

from __future__ import annotations

import functools
from typing import Annotated

import typer

from tidegate.cli.console import Json, print_json, stderr


def bench(
    flows: Annotated[int, typer.Option(min=1, help="Number of long-lived flows.")] = 100,
    as_json: Json = False,
) -> None:
    """Measure the simulator's speed on its yardstick: packet-hops per CPU second."""
    from tidegate.cli import progress
    from tidegate.results.yardstick import DURATION_S, measure

    with progress.bar(stderr(), "yardstick", 1, DURATION_S, threaded=False) as meter:
        figures = measure(flows, tick=functools.partial(meter.report, 0))
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        text = f"{value:,.2f}" if isinstance(value, float) else str(value)
        typer.echo(f"{name:20} {text:>16}")
