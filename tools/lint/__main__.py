"""Run every check; the exit status is 1 if any of them found a problem."""

import sys
from pathlib import Path

from tools.lint import rust, text

CHECKS = (
    text.long_files,
    text.machine_paths,
    text.stale_pages,
    text.package_imports,
    rust.forbidden_crates,
    rust.file_circles,
)


def main() -> int:
    """Print every problem of the checkout in the current directory."""
    problems = [problem for check in CHECKS for problem in check(Path.cwd())]
    print(*problems, f"tools.lint: {len(CHECKS)} checks, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
