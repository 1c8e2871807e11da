"""The entry point of `tidegate` and of `python -m tidegate`."""

import os
import signal


def _leave(_signal: int, _frame: object) -> None:
    """Answer Ctrl-C while libraries are loaded: exit at once, half-loaded ones cannot unwind."""
    os.write(2, b"Interrupted; nothing was written.\n")
    os._exit(128 + signal.SIGINT)


def main() -> None:
    """Run the command line."""
    # Ctrl-C stays ignored under `nohup` or in the background of a shell.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from tidegate.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
