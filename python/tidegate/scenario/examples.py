"""The scenarios that come with the package."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).resolve().parents[1]
PLACES = (HERE / "examples", HERE.parents[1] / "scenarios")
"""In a wheel they are in the package, in a checkout at its top."""
ELSEWHERE = ("testbed",)
"""Folders for other programs than this one."""


def files() -> dict[str, Path]:
    """Return every file of the ready scenarios, by its path among them."""
    for root in PLACES:
        found = {
            path.relative_to(root).as_posix(): path
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.relative_to(root).parts[0] not in ELSEWHERE
        }
        if found:
            return found
    return {}


def listed(there: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Yield each scenario with the first sentence of the comment that it opens with."""
    for name, path in there.items():
        if path.suffix == ".toml":
            lines = path.read_text(encoding="utf-8").splitlines()
            comment = " ".join(line.strip("# ") for line in takewhile(_said, lines))
            sentence = re.match(r".+?[.?!](?=\s|$)", comment)
            yield name, sentence[0].rstrip(".") if sentence else comment


def _said(line: str) -> bool:
    """Tell whether a line is a comment with words."""
    return line.startswith("#") and line.strip("# ") != ""
