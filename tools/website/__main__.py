"""Build the site: `python -m tools.website`, as `make site` does."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.website import gallery, offline, pages

HERE = Path(__file__).parent


def written(source: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder hold these files and no others; what is the same is left alone."""
    for path in sorted(source.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(source).as_posix() not in files:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for name, content in files.items():
        path = source / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def laid_out(root: Path, results: Path, only: Iterable[str] | None = None) -> dict[str, bytes]:
    """Return the source tree of the site; of the scenarios all are run, or `only` these."""
    results.mkdir(parents=True, exist_ok=True)
    chosen = None if only is None else set(only)
    every = []
    for card in gallery.cards(root):
        run = not card.real and (chosen is None or card.name.removesuffix(".toml") in chosen)
        every.append((card, gallery.results(card, root, results) if run else []))
    api = {pages.API: (HERE / "api.myst").read_bytes()}
    return {**dict(pages.laid_out(root)), **dict(gallery.laid_out(every)), **api}


def rendered(source: Path, out: Path) -> bool:
    """Make HTML of a source tree, in `out/html`; tell whether all of its links lead somewhere."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    command += ["-c", str(HERE), "-d", str(out / "doctrees"), str(source), str(out / "html")]
    quiet = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(command, env=quiet, check=False).returncode == 0


def built(root: Path, out: Path, results: Path, only: Iterable[str] | None = None) -> list[str]:
    """Build the site in `out/html`; return what is wrong with it."""
    source = out / "source"
    written(source, laid_out(root, results, only))
    if not rendered(source, out):
        return ["Sphinx ended with warnings or errors, see above"]
    return list(offline.problems(out / "html"))


def main() -> int:
    """Build the site; the exit status is 1 if anything is wrong with it."""
    asked = argparse.ArgumentParser(prog="python -m tools.website", description=__doc__)
    asked.add_argument("--out", type=Path, default=Path("build/site"), help="where it is built")
    asked.add_argument("--results", type=Path, help="where results of the gallery are kept")
    asked.add_argument("--only", nargs="*", help="run these scenarios of the gallery alone")
    given = asked.parse_args()
    out = given.out.resolve()
    wrong = built(Path.cwd(), out, (given.results or out / "gallery").resolve(), given.only)
    for each in wrong:
        print(each)
    if not wrong:
        print(f"The site: {given.out / 'html' / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
