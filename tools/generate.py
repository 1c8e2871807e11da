"""Write the reference pages that are made from the code.

`python -m tools.generate` writes them; `tools.lint` refuses stale ones.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tools.pages import cli, columns, gate, linux_hosts, scenario

PAGES: Mapping[str, Callable[[], str]] = {
    "docs/cli.md": cli.page,
    "docs/columns.md": columns.page,
    "docs/gate-keys.md": gate.page,
    "docs/linux-hosts.md": linux_hosts.page,
    "docs/scenario.schema.json": scenario.schema,
    "docs/scenario-keys.md": scenario.page,
}
"""Path of each page, and what makes its text."""


def stale(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the pages that differ from what the code says, each with its right text."""
    for name, text in PAGES.items():
        path, right = root / name, text()
        if not path.exists() or path.read_text(encoding="utf-8") != right:
            yield path, right


def main() -> None:
    """Bring every page up to date."""
    for path, text in stale(Path.cwd()):
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
