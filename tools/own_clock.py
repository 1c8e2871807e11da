r"""Run a command in a kernel with a clock of its own (`tidegate.hosts.own_clock`).

    python -m tools.own_clock -- .venv/bin/python -m tools.live.matrix --queue cake --jobs 1 \
        --out /run/result/matrix.jsonl

What the command writes to /run/result is in `build/kernels/result-own-clock` behind it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from functools import partial

from tidegate.hosts import own_clock
from tidegate.hosts.archive import Obstacle
from tools.kernels import BUILD, ROOT

RESULT = BUILD / "result-own-clock"


def options() -> argparse.ArgumentParser:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.own_clock", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600, help="end the kernel after so long")
    parser.add_argument(
        "--debian",
        default=own_clock.NEWEST,
        choices=tuple(own_clock.CHANGES_OF),
        help="with the kernel of this release of Debian (default %(default)s)",
    )
    parser.add_argument("command", nargs="+", help="after --")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command in the kernel; its exit code, and 2 where there can be no such kernel."""
    asked = options().parse_args(arguments)
    try:
        program = own_clock.kernel(partial(print, file=sys.stderr), asked.debian)
    except Obstacle as reason:
        print(f"no kernel with a clock of its own: {reason}", file=sys.stderr)
        return 2
    shutil.rmtree(RESULT, ignore_errors=True)
    RESULT.mkdir(parents=True)
    code, printed = own_clock.run(program, asked.command, asked.seconds, RESULT, ROOT)
    print(printed)
    return code


if __name__ == "__main__":
    sys.exit(main())
