"""`tidegate trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.console import place, say
from tidegate.errors import UsageError
from tidegate.scenario.link_traces import KINDS, LONGEST_S


def _kind(name: str) -> str:
    if name not in KINDS:
        raise UsageError(f"There is no link {name}.", f"There are {', '.join(KINDS)}.")
    return name


Which = Annotated[
    str, typer.Argument(parser=_kind, metavar="LINK", help=f"One of {', '.join(KINDS)}.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")]
Seconds = Annotated[int, typer.Option(min=1, max=LONGEST_S, help="Length of the trace.")]
Out = Annotated[Path | None, place("FILE", "Write it there; default: print it.")]


def trace(which: Which, seed: Seed = 1, seconds: Seconds = 60, out: Out = None) -> None:
    """Make a random trace of a link, with the statistics of a measured one.

    lte: opportunities to deliver 1504 bytes, one time in milliseconds on each line, as mahimahi
    has them. starlink and starlink-up: a table of time_s, rate_bit_s and delay_s, towards the
    user and away from the user. docs/links.md says where the numbers are from.
    """
    from tidegate.results.store import display, write_over

    text = KINDS[which](seed, seconds)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_over(out, text.encode(), "trace of a link", rb"\d+\n|time_s,")
    lines = text.count("\n")
    say(f"{lines} lines, {seconds} s of {which}: {display(out)}")
