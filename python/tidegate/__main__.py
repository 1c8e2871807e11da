"""Where the command line begins, `tidegate` as well as `python -m tidegate`.

Whoever presses Ctrl-C at once does so while libraries are being loaded: until
the command line is there and knows what to say, this module answers. It loads
nothing that the interpreter has not loaded by itself.
"""

import os

# `signal` itself loads a dozen modules, for its names alone
from _signal import (  # type: ignore[import-not-found]
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)

INTERRUPTED = 130


def _at_once(_signal: int, _frame: object) -> None:
    """Leave without unwinding: a library that is half loaded may say anything."""
    os.write(2, b"Interrupted; nothing was written.\n")
    os._exit(INTERRUPTED)


def main() -> None:
    """Run the command line."""
    # Left alone where it is ignored, as under `nohup` or in the background of a shell.
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _at_once)
    from tidegate.cli import main as command_line

    command_line(at_once=_at_once)


if __name__ == "__main__":
    main()
