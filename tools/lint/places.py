"""Places that exist on one machine only have no business in the repository."""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.lint.files import text_of, tracked

_PLACE = re.compile(
    r"""
      (?<![\w.~$}/-])/(?:root|home/\w+|Users/\w+|work)\b   # a home or a work folder
    | /tmp/(?:wt|target-|contracts)                                # scratch folders
    | \.\./shared\b                                                # beside the checkout
    | \bregistry\.npmjs\b | \bpypi\.org/simple\b | \bpythonhosted\b | \bstatic\.crates\.io\b
    """,
    re.VERBOSE,
)
_GENERATED = {"Cargo.lock"}


def problems(root: Path) -> Iterator[str]:
    """Yield mentions of folders of one machine, or of one registry's host."""
    for path in tracked(root):
        text = text_of(path) if path.name not in _GENERATED else None
        for number, line in enumerate((text or "").splitlines(), 1):
            found = _PLACE.search(line)
            if found:
                yield f"{path.relative_to(root)}:{number}: names a place of one machine: {found[0]}"
