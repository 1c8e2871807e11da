"""The files that the checks look at: those that git tracks or would track."""

import subprocess
from collections.abc import Iterator
from pathlib import Path


def tracked(root: Path, *suffixes: str) -> Iterator[Path]:
    """Yield files of the checkout with one of these suffixes (all of them if none is given)."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout
    for name in sorted(listed.decode().split("\0")):
        path = root / name
        if name and path.is_file() and (not suffixes or path.suffix in suffixes):
            yield path


def text_of(path: Path) -> str | None:
    """Return the text of a file, or None if it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
