"""Links in the documentation lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.lint.files import text_of, tracked

_LINK = re.compile(r"\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def problems(root: Path) -> Iterator[str]:
    """Yield relative links to files or headings that do not exist."""
    for path in tracked(root, ".md"):
        text = _without_code(text_of(path) or "")
        for found in _LINK.finditer(text):
            target = found["target"]
            if "://" in target or target.startswith("mailto:"):
                continue
            if not leads_somewhere(path, target):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{path.relative_to(root)}:{line}: dead link: {target}"


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether a link from a page leads to a file, and to a heading of it if it names one."""
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    if not file.exists():
        return False
    return not anchor or file.suffix != ".md" or anchor in anchors(text_of(file) or "")


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings: lower case, no punctuation, hyphens for spaces."""
    headings = _HEADING.findall(_without_code(text))
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def _without_code(text: str) -> str:
    return _FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
