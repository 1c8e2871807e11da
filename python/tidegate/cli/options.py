"""The part that several commands share: options, the scenario, the default folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tidegate.cli.console import flag, stderr, text, where

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import typer

    from tidegate.scenario.document import Document

File = Annotated[Path, where("FILE", "A scenario (TOML).")]
Set = Annotated[list[str] | None, text("KEY=VALUE", "Override one key; may be repeated.", "--set")]
Port = Annotated[
    str | None,
    text(
        "NAME",
        "The port that --gate and --queue control, or NAME,NAME, or both: the bottleneck in both"
        " directions; default the bottleneck.",
    ),
]
Metrics = Annotated[
    str | None,
    text("LIST", "Metrics to show, as named in --json: fct_p99_s,bottleneck.utilisation."),
]


Formats = Annotated[
    str | None, text("LIST", "Formats of pictures: png, svg, pdf; default png,svg.", "--format")
]


LawFile = Annotated[
    list[str] | None,
    text(
        "FILE.py:NAME",
        'A law of your own, by its class; the scenario names it: { law = "python", name ='
        ' "NAME" }, and a list of gates or queues NAME. May be repeated.',
        "--law",
    ),
]
Dask = Annotated[
    str | None,
    text(
        "ADDRESS", "Run on a cluster of dask.distributed, or on local:N processes of this machine."
    ),
]
Mix = Annotated[bool, flag("Use saved runs that another version of the code made.", "--mix")]
Terminal = Annotated[bool, flag("Draw the main figure in the terminal too.", "--terminal")]
Every = Annotated[
    bool,
    flag("Print all measures, where the first screen has only what people feel.", "--all"),
]
NoPlots = Annotated[
    bool,
    flag("Draw no pictures, which saves seconds; tidegate plot draws them later.", "--no-plots"),
]
DryRun = Annotated[
    bool, flag("Run nothing: print a forecast of flows, memory and time.", "--dry-run")
]


def document(file: Path, settings: list[str] | None) -> Document:
    """Return the scenario with what is set on the command line."""
    from tidegate.errors import UsageError
    from tidegate.scenario.document import read, setting
    from tidegate.scenario.overrides import parts

    found = [setting(each) for each in settings or []]
    keys = [parts(key) for key, _ in found]
    if twice := next((key for key, _ in found if keys.count(parts(key)) > 1), None):
        raise UsageError(f"--set {twice} was given twice.", "Give it once.")
    return read(file).having(*found)


def together(terminal: bool, as_json: bool) -> None:
    """Refuse --terminal together with --json."""
    from tidegate.errors import UsageError

    if terminal and as_json:
        raise UsageError(
            "--terminal draws for people, --json prints for machines.", "Give one of them."
        )


def refuse_alone(given: Mapping[str, object], what: str, names: Sequence[str], usage: str) -> None:
    """Refuse options that were given without the `what` that they are about."""
    from tidegate.errors import UsageError

    for name, value in given.items():
        if value not in (None, False):
            remedy = f"Name one, as in `{usage} {names[0]}`; there are {', '.join(names)}."
            raise UsageError(f"{name} needs a {what}.", remedy)


def warn(found: Iterable[str]) -> None:
    """Print, before anything runs, what may make the results misleading."""
    from tidegate import errors

    errors.warn(found)


def colour() -> bool:
    """Tell whether messages of the native module may have colours."""
    return stderr().is_terminal


def named(text: str | None) -> list[str] | None:
    """Return the names of a list such as `none,close-probe`."""
    from tidegate.scenario.overrides import split

    return None if text is None else split(text)


def default_folder(name: str, command: str) -> Path:
    """Return the folder for results that is called after the scenario."""
    slug = re.sub(r"[\W_]+", "-", name.lower()).strip("-") or "scenario"
    return Path("out") / f"{slug}-{command}"


def refuse_given(command: typer.Context, what: str, effective: Collection[str]) -> None:
    """Refuse options that were given, and have no effect on `what`; `effective` are parameters."""
    from tidegate.errors import UsageError

    for each in command.command.params:
        source = command.get_parameter_source(each.name or "")
        if each.name not in effective and source is not None and source.name == "COMMANDLINE":
            name = max(each.opts, key=len)
            raise UsageError(f"{name} has no effect on {what}.", f"Leave {name} out.")
