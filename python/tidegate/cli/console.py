"""What all commands share: where results and messages go, and what becomes of errors."""

from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from tidegate.show.forecast import Forecast

P = ParamSpec("P")
R = TypeVar("R")

FAILED, REFUSED, INTERRUPTED, TERMINATED = 1, 2, 130, 143

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, for machines.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Runs at a time; default one a core.")]


def stderr() -> Console:
    """Return the console for messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def stdout() -> Console:
    """Return a console that does not squeeze tables where nobody's terminal asks for it."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=120)


def say(text: str) -> None:
    """Print a message on standard error."""
    typer.echo(text, err=True)


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what can go wrong into a message with place and remedy, and an exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        from tidegate._native import LawFault, ScenarioError
        from tidegate.errors import TidegateError, UsageError

        try:
            return command(*args, **kwargs)
        except ScenarioError as error:
            say(str(error).rstrip())
            raise typer.Exit(REFUSED) from None
        except TidegateError as error:
            say(f"tidegate: {error.what}\n{error.remedy}")
            raise typer.Exit(REFUSED if isinstance(error, UsageError) else FAILED) from None
        except LawFault as error:
            say(f"tidegate: the run broke off: {error}")
            raise typer.Exit(FAILED) from None
        except BrokenPipeError:
            # Whoever read our output has seen enough; the interpreter must not complain at exit.
            sys.stdout = None
            raise typer.Exit(FAILED) from None
        except OSError as error:
            place = f" ({error.filename})" if error.filename else ""
            say(f"tidegate: {error.strerror or error}{place}.\nNothing was written.")
            raise typer.Exit(FAILED) from None
        except MemoryError:
            say("tidegate: out of memory.\nTry fewer --workers, or less traffic.")
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            say("Interrupted; nothing was written.")
            raise typer.Exit(INTERRUPTED) from None

    return run


def forecast(found: Forecast, as_json: bool) -> None:
    """Print what a command would take."""
    if as_json:
        print_json(found.document())
    else:
        typer.echo(found.text())


def print_json(value: dict[str, Any]) -> None:
    """Print the one object that machines read."""
    typer.echo(json.dumps(value, allow_nan=False))
