"""`tidegate attack`."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.console import Workers, flag, place, say, text
from tidegate.cli.keeping import performing
from tidegate.cli.options import Dask, Mix

if TYPE_CHECKING:
    from tidegate.attack.perform import Request

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[CONTROL]",
        help="A sender control, such as bbr; FILE.py:NAME; or a transport as in a scenario.",
    ),
]
Gate = Annotated[str | None, text("LAW", "A gate in place of a sender control, such as tide.")]
Worlds = Annotated[
    str | None,
    text(
        "NAME",
        "Worlds to search for a gate: access (default), or users, who load pages.",
        "--worlds",
    ),
]
Objective = Annotated[
    str | None,
    text("NAME", "What to make worst; default goodput, of gates served: see --list.", "--for"),
]
Part = Annotated[
    list[str] | None,
    text(
        "NAME", "Only worlds of this part, see --list; repeated, of one of them at least.", "--part"
    ),
]
Hold = Annotated[
    list[str] | None,
    text("GENE=NUMBER", "Hold a number of the base, as delay=10; may be repeated.", "--hold"),
]
Against = Annotated[
    list[str] | None,
    text(
        "CONTROL",
        "Compare with this; may be repeated; default reno and cubic, of gates the best static one.",
    ),
]
Runs = Annotated[
    int | None, typer.Option(min=1, help="End the search after so many runs; default 5000.")
]
Draw = Annotated[
    int | None,
    typer.Option(min=1, help="In place of a search, draw so many worlds, and count the worse."),
]
Minutes = Annotated[
    float | None, typer.Option(min=0.0, help="End the search after so many minutes.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the search.")]
Wanted = Annotated[int, typer.Option(min=1, help="How many finds to shrink and save.")]
Listed = Annotated[bool, flag("Show the objectives, and the parts with their bounds.", "--list")]
Out = Annotated[Path, place("DIR", "Folder for runs and finds, resumed if interrupted.")]
RUNS = 5000


def attack(
    control: Name = None,
    gate: Gate = None,
    worlds: Worlds = None,
    objective: Objective = None,
    part: Part = None,
    hold: Hold = None,
    against: Against = None,
    draw: Draw = None,
    runs: Runs = None,
    minutes: Minutes = None,
    seed: Seed = 1,
    finds: Wanted = 10,
    listed: Listed = False,
    workers: Workers = None,
    dask: Dask = None,
    mix: Mix = False,
    out: Out = Path("out/attack"),
) -> None:
    """Search for the path and traffic in which a control does worst.

    Finds are shrunk to the smallest scenario that still shows them, and saved
    as a suite of certify. Runs are saved: rerun to resume.
    """
    from tidegate.attack import listing, perform, trials
    from tidegate.errors import UsageError
    from tidegate.results.store import display

    if listed:
        typer.echo(listing.listed(perform.worlds_of(worlds, gate=gate is not None)))
        return
    asked = perform.Request.of(
        control, gate, objective, against or (), part or (), hold or (), seed, worlds
    )
    if draw is not None:
        if runs is not None or minutes is not None:
            raise UsageError("--draw takes no --runs or --minutes.", "It says how many worlds.")
        _draw(asked, draw, out, mix=mix, workers=workers, dask=dask)
        return
    most = runs or (RUNS if minutes is None else None)
    until = time.monotonic() + 60 * (minutes or 0.0)

    def more(spent: int) -> bool:
        if most is not None and spent >= most:
            return False
        return minutes is None or time.monotonic() < until

    with performing(out, trials.worlds(asked.control), mix=mix, workers=workers, dask=dask) as kept:
        done = perform.perform(asked, kept, more, finds, say)
        suite = display(kept.target / f"{asked.name}.toml")
    typer.echo(listing.found(asked, done))
    if done.finds:
        words = f"{'--gate ' if asked.gate else ''}{shlex.quote(asked.control.name)}"
        say(f"Judge them: tidegate certify {words} --suite {suite}")


def _draw(
    asked: Request, wanted: int, out: Path, *, mix: bool, workers: int | None, dask: str | None
) -> None:
    """Count in how many worlds that are drawn a control is worse."""
    from tidegate.attack import draw, trials
    from tidegate.results.store import display

    with performing(out, trials.worlds(asked.control), mix=mix, workers=workers, dask=dask) as kept:
        found = draw.draw(asked, kept, wanted)
        table = display(kept.target / f"{asked.name}-drawn.csv")
    typer.echo(draw.told(asked, found))
    say(f"All of them: {table}")
