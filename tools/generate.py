"""Write the reference pages that are made from the code.

`python -m tools.generate` writes those that are kept here, and `tools.lint` refuses stale ones.
`--all` also writes those that are only in the site, which its build makes anew.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.pages import (
    cli,
    columns,
    foreign_hosts,
    gate,
    lessons,
    linux_hosts,
    matrix,
    papers,
    scenario,
    validation,
)

PAGES: Mapping[str, Callable[[], str]] = {
    "docs/cli.md": cli.page,
    "docs/columns.md": columns.page,
    "docs/foreign-hosts.md": foreign_hosts.page,
    "docs/gate-keys.md": gate.page,
    "docs/linux-hosts.md": linux_hosts.page,
    "docs/scenario.schema.json": scenario.schema,
}
"""Path of each page, and what makes its text."""


@dataclass(frozen=True)
class OfTheSite:
    """A page that is made for the site and that git ignores."""

    data: str
    """The file that it shows. Pages link to that, with an anchor of the page that is made."""
    text: Callable[[], str]


OF_THE_SITE: Mapping[str, OfTheSite] = {
    "docs/scenario-keys.md": OfTheSite("docs/scenario.schema.json", scenario.page),
    "docs/matrix-cells.md": OfTheSite("tools/live/measured/cells.csv", matrix.page),
    "docs/validation-tables.md": OfTheSite("tools/validate/measured.csv", validation.page),
    **{
        f"docs/papers/{key}/claims.md": OfTheSite(
            f"docs/papers/{key}/verdicts.csv", papers.claims(key)
        )
        for key in papers.there()
    },
    **{name: OfTheSite(data, text) for name, (data, text) in lessons.pages().items()},
}


def stale(root: Path, pages: Mapping[str, Callable[[], str]] = PAGES) -> Iterator[tuple[Path, str]]:
    """Yield the pages that differ from what the code says, each with its right text."""
    for name, text in pages.items():
        path, right = root / name, text()
        if not path.exists() or path.read_text(encoding="utf-8") != right:
            yield path, right


def write(root: Path, pages: Mapping[str, Callable[[], str]] = PAGES) -> Iterator[Path]:
    """Bring pages up to date, and yield those that were not."""
    for path, text in stale(root, pages):
        path.write_text(text, encoding="utf-8")
        yield path


def write_site(root: Path) -> Iterator[Path]:
    """Bring the pages up to date that only the site has, and yield those that were not."""
    return write(root, {name: page.text for name, page in OF_THE_SITE.items()})


def main() -> None:
    """Bring every page up to date."""
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description=__doc__)
    parser.add_argument("--all", action="store_true", help="those that are only in the site too")
    given = parser.parse_args()
    here = Path.cwd()
    for path in (*write(here), *(write_site(here) if given.all else ())):
        print(f"wrote {path.relative_to(here)}")


if __name__ == "__main__":
    main()
