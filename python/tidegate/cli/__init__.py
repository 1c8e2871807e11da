"""The command line. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import codecs
import os
import signal
import sys
import warnings
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated, NoReturn, TextIO

import typer

from tidegate.cli.advise import advise
from tidegate.cli.against_linux import against_linux
from tidegate.cli.attack import attack
from tidegate.cli.bench import bench
from tidegate.cli.certify import certify
from tidegate.cli.check import check
from tidegate.cli.compare import compare
from tidegate.cli.console import FAILED, HUNG_UP, INTERRUPTED, REFUSED, TERMINATED, guarded, say
from tidegate.cli.convert import convert
from tidegate.cli.examples import examples
from tidegate.cli.flows import flows
from tidegate.cli.merge import merge
from tidegate.cli.once import Once
from tidegate.cli.paper import paper
from tidegate.cli.plot import plot
from tidegate.cli.report import report
from tidegate.cli.run import run
from tidegate.cli.schema import schema
from tidegate.cli.show import show
from tidegate.cli.study import study
from tidegate.cli.sweep import sweep
from tidegate.cli.trace import trace

app = typer.Typer(
    help="A laboratory for congestion control in the network.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    run,
    check,
    show,
    compare,
    sweep,
    advise,
    merge,
    report,
    plot,
    paper,
    study,
    certify,
    attack,
    against_linux,
    bench,
    flows,
    convert,
    trace,
    examples,
    schema,
)


def _version(asked: bool) -> None:
    if asked:
        from tidegate._native import __version__
        from tidegate.results.provenance import commit_id

        commit = commit_id()
        typer.echo(f"tidegate {__version__}{f' (commit {commit[:12]})' if commit else ''}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show version and commit."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


class _Stopped(KeyboardInterrupt):
    """Ctrl-C, as a class of its own.

    The interpreter marks a plain KeyboardInterrupt that passes through `exec`
    of a text (as importing a dataclass does) and in the end kills the process
    by the signal, though the exception was handled; it does not mark a subclass.
    """


def _interrupted(_signal: int, _frame: object) -> None:
    raise _Stopped


def _take_over() -> None:
    """Let Ctrl-C unwind a command from here on, so that it removes partial files."""
    # It stays ignored under `nohup` or in the background of a shell.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupted)


def _terminated(_signal: int, _frame: object) -> None:
    raise SystemExit(TERMINATED)


def _hung_up(_signal: int, _frame: object) -> None:
    # a shell that ends sends it once more, which must not disturb what is removed on the way out
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise SystemExit(HUNG_UP)


def _swallowed(lost: sys.UnraisableHookArgs) -> None:
    """Raise a stop again where the interpreter swallowed it.

    A signal may come while a destructor or the callback of a weak reference runs
    (importing a module has one). What is raised there does not reach the command.
    """
    if isinstance(lost.exc_value, _Stopped):
        handler = _interrupted
    elif isinstance(lost.exc_value, SystemExit):
        handler = _hung_up if lost.exc_value.code == HUNG_UP else _terminated
    else:
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, AGAIN)


AGAIN = 0.01
"""Seconds until a swallowed stop is raised again: the callback has returned by then."""


for _command in COMMANDS:
    app.command(cls=Once)(guarded(_command, _take_over))


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of our own like any other message."""
    from tidegate.errors import TidegateWarning

    if issubclass(category, TidegateWarning):
        say(f"tidegate: warning: {message}.")
    else:
        (file or sys.stderr).write(
            warnings.formatwarning(message, category, filename, lineno, line)
        )


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for a letter that the output cannot show."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, "?") for letter in letters), error.end


_PLAIN = {"±": "+-", "…": "...", "─": "-", "━": "-", "│": "|", "█": "#", "µ": "u"}


def main() -> None:
    """Run the command line."""
    codecs.register_error("plain", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # an output in ASCII ends no command
            stream.reconfigure(errors="plain")
    # As an exception, so that temporary folders are removed on the way out.
    signal.signal(signal.SIGTERM, _terminated)
    # the terminal is closed; under `nohup` it stays ignored
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _hung_up)
    sys.unraisablehook = _swallowed
    warnings.showwarning = _warned
    from tidegate.errors import TidegateError, TidegateWarning, UsageError

    # whatever PYTHONWARNINGS says: it is a message of the command
    warnings.simplefilter("always", TidegateWarning)

    try:
        app()
    except KeyboardInterrupt:
        say("Interrupted; nothing was written.")
        raise SystemExit(INTERRUPTED) from None
    except TidegateError as error:
        # an argument was refused while it was parsed, before its command began
        say(f"tidegate: {error}")
        raise SystemExit(REFUSED if isinstance(error, UsageError) else FAILED) from None
    except OSError as error:
        # standard output failed under --help or --version, which belong to no command
        _unprinted(error)
    finally:
        # the command is complete: Ctrl-C must not disturb the end of the interpreter
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _flush()


def _flush() -> None:
    """Flush standard output here, where an error can be reported."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        _unprinted(error)


def _unprinted(error: OSError) -> NoReturn:
    """Report that standard output cannot be written, and keep the interpreter from retrying."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not isinstance(error, BrokenPipeError):  # the reader has closed it
        say(f"tidegate: Could not write to standard output: {error.strerror or error}.")
    raise SystemExit(FAILED) from None
