"""`tidegate against-linux`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.console import Json, place, print_json, say, stdout, text
from tidegate.cli.options import File, Set, colour, default_folder, document, warn

if TYPE_CHECKING:
    from tidegate.hosts.against import Subject

Seeds = Annotated[int, typer.Option(min=1, help="Number of seeds: 1, 2, ...")]
Class = Annotated[
    list[str] | None,
    text("NAME", "Compare the flows of this class alone; may be repeated.", "--class"),
]
Sysctl = Annotated[
    list[str] | None,
    text(
        "NAME=VALUE",
        "Set this in the kernel of the real hosts, to see what a mechanism of Linux does; may be"
        " repeated.",
        "--sysctl",
    ),
]
OwnClock = Annotated[
    bool,
    typer.Option(
        "--own-clock",
        help="Run the real hosts in a kernel whose time stands still while anything computes, so"
        " that a busy machine changes nothing; it is compiled once (ten minutes).",
    ),
]
Out = Annotated[
    Path | None,
    place("DIR", "Folder for results; default out/SCENARIO-against-linux, or its next number."),
]
GIVE_ANOTHER = (
    "Give one that a network namespace has for itself, and a value that this kernel takes:"
    " sysctl -a lists the names, and the documentation of the kernel (ip-sysctl) the values."
)
SPARE_S = 900
"""Seconds of this machine that a kernel with its own clock may take more than the runs."""
SLOWEST = 20
"""It computes so many times as long as the runs take, at most."""


def against_linux(
    file: File,
    seeds: Seeds = 3,
    classes: Class = None,
    settings: Set = None,
    sysctls: Sysctl = None,
    own_clock: OwnClock = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Run a scenario between real hosts of this machine and simulated ones, side by side.

    The flows, the link and its port are the same; only the hosts differ. Where a
    gate asks for clients, all sessions of an end have one address in both. The
    real ones are network namespaces of this kernel, which needs Linux, root and
    tidegated. They take as long as the scenario lasts, for each seed. What real
    hosts cannot have of a scenario is named with a remedy.
    """
    from tidegate.hosts import against
    from tidegate.results.store import Store
    from tidegate.show.against import table

    asked = document(file, settings)
    subject = against.subject(asked, classes or [], seeds, sysctls or [])
    warn(subject.warnings)
    warn(f"{each.place}: {each.what} ({each.remedy})" for each in subject.lacks)
    target = out or default_folder(subject.scenario.name, "against-linux")
    with Store(target, numbered=out is None) as store, tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        kernel = _real(folder, subject, asked.contents(colour=colour()), own_clock=own_clock)
        there = against.of_real(folder, subject)
        here, tables = against.simulated(subject, say)
        rows = against.rows(there, here)
        found = against.document(subject, kernel, rows)
        against.write(store, folder, subject, tables, found)
        saved = store.commit()
    if as_json:
        print_json(found)
    else:
        many = f"{seeds} seed" if seeds == 1 else f"{seeds} seeds"
        title = f"{subject.scenario.name}: {many} of {subject.seconds:g} s"
        title = ", ".join([title, *subject.asked.sysctls])
        stdout().print(table(title, kernel, rows))
    say(f"Flows of both, and summary: {saved}")


def _real(folder: Path, subject: Subject, files: dict[str, bytes], *, own_clock: bool) -> str:
    """Run real hosts, whose results are left in a folder; return the name of their kernel."""
    from tidegate.errors import TidegateError, UsageError
    from tidegate.hosts import against, real, sysctl
    from tidegate.hosts.lab import LabError, RanOut, obstacle

    if reason := obstacle(gate=False):
        raise UsageError(f"There can be no real hosts here: {reason}.", "Simulate: tidegate run.")
    real.ask(folder, subject.document.text, files, subject.asked)
    total = subject.seconds * subject.asked.seeds
    if own_clock:
        return _elsewhere(folder, total)
    if wrong := sysctl.tried(subject.asked.sysctls):
        raise UsageError(wrong, GIVE_ANOTHER)
    say(f"Real hosts take {total:.0f} s.")
    try:
        real.perform(folder, say)
    except RanOut as reason:
        raise TidegateError(
            f"This machine has no room for the runs: {reason}.",
            "Leave it idle, offer less, or give --own-clock.",
        ) from None
    except LabError as reason:
        raise TidegateError(f"The real hosts failed: {reason}.") from None
    return against.kernel_here()


def _elsewhere(folder: Path, total: float) -> str:
    """Run real hosts in a kernel with a clock of its own; return its name."""
    from tidegate.errors import TidegateError, UsageError
    from tidegate.hosts import own_clock
    from tidegate.hosts.archive import Obstacle

    try:
        program = own_clock.kernel(say)
    except Obstacle as reason:
        raise UsageError(
            f"There can be no kernel with a clock of its own: {reason}.", "Leave --own-clock out."
        ) from None
    say("Real hosts in a kernel with a clock of its own.")
    command = [sys.executable, "-m", "tidegate.hosts.real", "/run/result"]
    code, printed = own_clock.run(program, command, SPARE_S + SLOWEST * total, folder, Path("/"))
    if code:
        raise TidegateError(f"The real hosts failed: {printed.strip()}")
    return f"Linux {own_clock.release(program)}, its own clock"
