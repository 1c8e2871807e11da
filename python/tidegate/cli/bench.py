"""`tidegate bench`."""

from __future__ import annotations

import functools
from typing import Annotated

import typer

from tidegate.cli.console import Json, print_json, stderr


def bench(
    flows: Annotated[int, typer.Option(min=1, help="Number of long-lived flows.")] = 100,
    many_delays: Annotated[
        bool,
        typer.Option("--many-delays", help="No two access links with the same delay."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure the simulator's speed on its yardstick: packet-hops per CPU second."""
    from tidegate.results.yardstick import DURATION_S, measure
    from tidegate.show import progress

    with progress.bar(stderr(), "yardstick", 1, DURATION_S, threaded=False) as meter:
        tick = functools.partial(meter.report, 0)
        figures = measure(flows, tick=tick, many_delays=many_delays)
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        text = f"{value:,.2f}" if isinstance(value, float) else str(value)
        typer.echo(f"{name:20} {text:>16}")
