"""The part that all commands share: consoles, messages and the handling of errors."""

from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from tidegate.results.location import location

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console
    from typer.models import ArgumentInfo, OptionInfo

    from tidegate.show.forecast import Forecast

P = ParamSpec("P")
R = TypeVar("R")

FAILED, REFUSED, HUNG_UP, INTERRUPTED, TERMINATED = 1, 2, 129, 130, 143


def text(metavar: str, what: str, *names: str) -> OptionInfo:
    """Return an option with a value; without a name it has that of its parameter."""
    option: OptionInfo = typer.Option(*names, metavar=metavar, help=what)
    return option


def flag(what: str, *names: str) -> OptionInfo:
    """Return an option without a value."""
    option: OptionInfo = typer.Option(*names, help=what)
    return option


def place(metavar: str, what: str, *names: str) -> OptionInfo:
    """Return an option whose value is a file or a folder."""
    option: OptionInfo = typer.Option(*names, parser=_lasting, metavar=metavar, help=what)
    return option


def where(metavar: str, what: str) -> ArgumentInfo:
    """Return an argument that is a file or a folder."""
    argument: ArgumentInfo = typer.Argument(parser=location, metavar=metavar, help=what)
    return argument


def _lasting(target: str | Path) -> Path:
    """Return the location that an option names; refuse one that ends with the command.

    A path is the default of the option.
    """
    from tidegate.errors import UsageError

    if isinstance(target, str) and target.lower().startswith("memory://"):
        raise UsageError(
            f"{target} is in the memory of this command, and gone when it ends.",
            "Name a folder, or an object store such as s3://bucket/mine; memory:// is for Python.",
        )
    return location(target)


Json = Annotated[bool, flag("Print one JSON object on standard output, for machines.", "--json")]
Workers = Annotated[int | None, typer.Option(min=1, help="Runs at a time; default one per core.")]


def stderr() -> Console:
    """Return the console for messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def stdout() -> Console:
    """Return the console for results: 120 columns wide unless it is a terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=120)


def say(text: str) -> None:
    """Print a message on standard error."""
    typer.echo(text, err=True)


def guarded(command: Callable[P, R], begins: Callable[[], None]) -> Callable[P, R]:
    """Turn errors into a message with a remedy, and an exit code.

    `begins` is called first.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            begins()
            return command(*args, **kwargs)
        except BrokenPipeError:
            # The reader of our output has closed it; the interpreter must not complain at exit.
            sys.stdout = None
            raise typer.Exit(FAILED) from None
        except BaseException as error:  # a panic in a law's own native module is no Exception
            if isinstance(error, OSError) and _was_printing(error):
                raise  # reported by `main`: the results are written
            text, code = _said(error)
            if text is None:  # a defect keeps its traceback, and an exit its code
                raise
            say(text)
            raise typer.Exit(code) from None

    return run


def _foreign(error: UnicodeEncodeError) -> bool:
    """Tell whether text came from bytes of the command line that are not UTF-8."""
    return all("\udc80" <= each <= "\udcff" for each in error.object[error.start : error.end])


def _was_printing(error: OSError) -> bool:
    """Tell whether the error came from a library that prints; only results go through them."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "") if trace else ""
    return str(module).partition(".")[0] in ("click", "rich", "typer")


def _said(error: BaseException) -> tuple[str | None, int]:
    """Return the message and the exit code of an error; no message for a defect."""
    from tidegate._native import LawFault, ScenarioError
    from tidegate.errors import TidegateError, UsageError
    from tidegate.scenario.own import told

    message: str | None = None
    code = FAILED
    if isinstance(error, ScenarioError):
        message, code = str(error).rstrip(), REFUSED
    elif isinstance(error, LawFault):
        message = f"tidegate: the run failed: {error}"
    elif isinstance(error, TidegateError):
        message = f"tidegate: {error}"
        code = REFUSED if isinstance(error, UsageError) else FAILED
    elif isinstance(error, KeyboardInterrupt):
        message, code = "Interrupted; nothing was written.", INTERRUPTED
    elif isinstance(error, UnicodeEncodeError) and _foreign(error):
        message = "tidegate: an argument has bytes that are no text in UTF-8."
        message += "\nType it in a terminal with UTF-8, or put it into the file."
        code = REFUSED
    elif own := told(error):
        message = f"{own}\ntidegate: the run failed in a law of your own."
    elif isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        message = f"tidegate: {error.strerror or error}{where}.\nNothing was written."
    elif isinstance(error, MemoryError):
        message = "tidegate: out of memory.\nUse fewer --workers, or less traffic."
    return message, code


def forecast(found: Forecast, as_json: bool) -> None:
    """Print a forecast of flows, memory and time."""
    if as_json:
        print_json(found.document())
    else:
        typer.echo(found.text())


def print_json(value: dict[str, Any]) -> None:
    """Print the one object that machines read."""
    typer.echo(json.dumps(value, allow_nan=False))
