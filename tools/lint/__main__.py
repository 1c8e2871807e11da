"""Run every check; the exit status is 1 if any of them found a problem."""

import sys
from pathlib import Path

from tools.lint import edges, generated, length, links, places, rooms

CHECKS = (edges, rooms, length, places, links, generated)


def main() -> int:
    """Print every problem of the checkout in the current directory."""
    found = 0
    for check in CHECKS:
        for problem in check.problems(Path.cwd()):
            print(problem)
            found += 1
    print(f"tools.lint: {len(CHECKS)} checks, {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
