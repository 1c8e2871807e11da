"""The pages of the site: those of the repository, laid out as a source tree for Sphinx.

A page keeps its path, so links between pages stay what they are. What a link
leads to beside pages is taken along: a file as it is, a folder as a page that
lists it. README.md is the start page.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os.path import normpath, relpath
from pathlib import Path

START = "index.md"
GALLERY = "gallery/index.md"
API = "api.md"
NAV: Mapping[str, Sequence[tuple[str, str]]] = {
    "Use it": (
        ("Ready scenarios", GALLERY),
        ("What an installation takes", "docs/installation.md"),
        ("The scenario document", "docs/scenario.md"),
        ("Sweeps and comparisons", "docs/sweep.md"),
        ("Results, looked at again", "docs/results.md"),
        ("A control of your own", "docs/own-law.md"),
    ),
    "What helps": (
        ("On a link of today", "docs/today.md"),
        ("The session law tide", "docs/tide.md"),
        ("Study: today", "docs/studies/today/REPORT.md"),
        ("Study: tide", "docs/studies/tide/REPORT.md"),
    ),
    "Papers, claim by claim": (
        ("Session control", "docs/papers/session/REPORT.md"),
        ("QFCP", "docs/papers/qfcp/REPORT.md"),
        ("Dual queues", "docs/papers/dqm/REPORT.md"),
        ("Blitz", "docs/papers/blitz/REPORT.md"),
        ("LGC", "docs/papers/lgc/REPORT.md"),
    ),
    "Real packets": (
        ("Active nodes", "docs/active-nodes.md"),
        ("The gate", "docs/gate.md"),
        ("An emulated link", "docs/emulate.md"),
        ("Commands of tidegated", "docs/tidegated.md"),
    ),
    "Reference": (
        ("Command line", "docs/cli.md"),
        ("Python", API),
        ("Keys of a scenario", "docs/scenario-keys.md"),
        ("Metrics", "docs/metrics.md"),
        ("Columns", "docs/columns.md"),
    ),
    "The project": (
        ("All pages", "docs/README.md"),
        ("A second opinion", "docs/validation.md"),
        ("Speed", "docs/performance.md"),
        ("Architecture", "ARCHITECTURE.md"),
        ("Contributing", "CONTRIBUTING.md"),
        ("Changes", "CHANGELOG.md"),
    ),
}
"""What stands in the navigation, chapter by chapter: title and page."""
AS_PAGES = {"README.md": START, "scenarios": GALLERY}
"""What is a page of another name here."""

_LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s#]+)(?P<after>(?:#[^)\s]*)?\))")
_FENCE = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
_ORPHAN = "---\norphan: true\n---\n"


def found(root: Path) -> list[str]:
    """Return the pages of the repository, by their paths in it."""
    docs = [path.relative_to(root).as_posix() for path in sorted(root.glob("docs/**/*.md"))]
    return ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", *docs]


def laid_out(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file of the source tree that comes from the repository.

    Raises FileNotFoundError where a link leads nowhere.
    """
    named = {page for chapter in NAV.values() for _, page in chapter}
    more: dict[str, bytes] = {}
    pages = found(root)
    rest = [page for page in pages if page.count("/") == 1 and page not in named]
    for page in pages:
        name = AS_PAGES.get(page, page)
        text = (root / page).read_text(encoding="utf-8")
        text = _relinked(text, partial(_lead, root, page, more))
        if name == START:
            text += "\n" + "\n".join(_navigation(rest))
        elif name not in named and name not in rest:
            text = _ORPHAN + text
        yield name, text.encode()
    yield from sorted(more.items())


def _navigation(rest: Sequence[str]) -> Iterator[str]:
    """Yield the navigation, as Sphinx reads it."""
    chapters = {**NAV, "More": [("", page) for page in rest]}
    for caption, entries in chapters.items():
        if not entries:
            continue
        yield from ("```{toctree}", ":hidden:", f":caption: {caption}", "")
        for title, page in entries:
            path = page.removesuffix(".md")
            yield f"{title} </{path}>" if title else f"/{path}"
        yield from ("```", "")


def _relinked(text: str, lead: Callable[[str], str]) -> str:
    """Return a page with its links leading where `lead` says; code is left alone."""

    def moved(link: re.Match[str]) -> str:
        return link["before"] + lead(link["target"]) + link["after"]

    parts = _FENCE.split(text)
    return "".join(
        part if place % 2 else _LINK.sub(moved, part) for place, part in enumerate(parts)
    )


def _lead(root: Path, page: str, more: dict[str, bytes], target: str) -> str:
    """Return where a link leads in the source tree, and take along what it leads to."""
    if "://" in target or target.startswith("mailto:"):
        return target
    here = Path(AS_PAGES.get(page, page)).parent
    place = Path(normpath(Path(page).parent / target)).as_posix()
    if place in AS_PAGES:
        return relpath(AS_PAGES[place], here)
    if (root / place).is_dir():
        listing = f"files/{place}.md"
        more[listing] = _listing(root, place, more).encode()
        return relpath(listing, here)
    if not place.endswith(".md"):
        more[place] = (root / place).read_bytes()
    return target


def _listing(root: Path, folder: str, more: dict[str, bytes]) -> str:
    """Return a page that lists the files of a folder, and take these along."""
    lines = [_ORPHAN, f"# {folder}", ""]
    for path in sorted((root / folder).iterdir()):
        if path.is_file() and not path.name.startswith("__"):
            place = f"{folder}/{path.name}"
            more[place] = path.read_bytes()
            lines.append(f"- [{path.name}]({relpath(place, Path('files', folder).parent)})")
    return "\n".join(lines) + "\n"
