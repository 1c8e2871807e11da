"""Reference pages that are made from the code, and have not been made since it changed."""

from collections.abc import Iterator
from pathlib import Path

from tools import generate


def problems(root: Path) -> Iterator[str]:
    """Yield generated pages that differ from what the code says."""
    for path, _ in generate.stale(root):
        yield f"{path.relative_to(root)}:1: is stale: run `make docs`"
