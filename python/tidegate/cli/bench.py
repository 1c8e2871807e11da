"""`tidegate bench`."""

from __future__ import annotations

import functools
from typing import Annotated

import typer

from tidegate.cli.console import Json, flag, print_json, stderr


def bench(
    flows: Annotated[int, typer.Option(min=1, help="Number of long-lived flows.")] = 100,
    many_delays: Annotated[
        bool, flag("Give every access link a delay of its own.", "--many-delays")
    ] = False,
    red: Annotated[bool, flag("RED at the bottleneck.", "--red")] = False,
    bbr: Annotated[bool, flag("The flows have BBR and SACK, and are paced.", "--bbr")] = False,
    pages: Annotated[int, typer.Option(min=0, help="Pages that are loaded beside the flows.")] = 0,
    as_json: Json = False,
) -> None:
    """Measure the simulator's speed on its yardstick: packet-hops per CPU second."""
    from tidegate.results.yardstick import DURATION_S, Kind, measure
    from tidegate.show import progress

    with progress.bar(stderr(), "yardstick", 1, DURATION_S, threaded=False) as meter:
        tick = functools.partial(meter.report, 0)
        figures = measure(flows, tick=tick, kind=Kind(many_delays, red, bbr, pages))
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        text = f"{value:,.2f}" if isinstance(value, float) else str(value)
        typer.echo(f"{name:20} {text:>16}")
