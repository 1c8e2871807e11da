"""Build the site: `python -m tools.website`, as `make site` does."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools import generate, rust_targets, wasm
from tools.website import gallery, offline, play

HERE = Path(__file__).parent


def rendered(source: Path, out: Path, *, runs: bool = False) -> bool:
    """Make HTML of the pages in a folder; tell whether Sphinx found nothing wrong.

    `runs`: the site has the page that runs scenarios, and others offer to run theirs.
    """
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-n", "-W", "--keep-going", "-q", "-E"]
    command += ["-c", str(HERE), "-d", str(out.parent / "doctrees"), str(source), str(out)]
    command += ["-D", f"tidegate_runs={int(runs)}"]
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, check=False).returncode == 0


def built(root: Path, out: Path, only: Iterable[str] | None = None) -> list[str]:
    """Build the site in `out/html` and return what is wrong with it.

    The gallery runs all scenarios or `only` those of these names; their
    results are kept in `out/gallery`.
    """
    chosen = None if only is None else set(only)
    (out / "gallery").mkdir(parents=True, exist_ok=True)
    module = _module()
    cards = []
    for card in gallery.cards(root):
        # the simulator that `make build` makes has no stacks of QUIC
        run = not card.real and not card.name.startswith("stacks/")
        run = run and (chosen is None or card.slug in chosen)
        cards.append((card, gallery.results(card, root, out / "gallery") if run else []))
    gallery.write(root / "docs" / "gallery", cards)
    list(generate.write_site(root))
    shutil.rmtree(out / "html", ignore_errors=True)
    if not rendered(root / "docs", out / "html", runs=module is not None):
        return ["Sphinx found errors, see above"]
    if module is not None:
        play.write(root, module, out / "html")
    return list(offline.problems(out / "html"))


def _module() -> Path | None:
    """Return the simulator as WebAssembly; without it the site is built, and says so."""
    try:
        return wasm.built()
    except rust_targets.LackingError as lacking:
        print(f"The site is built without the page that runs scenarios: {lacking}", file=sys.stderr)
        return None


def main() -> int:
    """Build the site; the exit status is 1 if anything is wrong with it."""
    parser = argparse.ArgumentParser(prog="python -m tools.website", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/site"), help="folder of the site")
    parser.add_argument("--only", nargs="*", help="run only these scenarios for the gallery")
    given = parser.parse_args()
    wrong = built(Path.cwd(), given.out.resolve(), given.only)
    print(*wrong or [f"The site: {given.out / 'html' / 'index.html'}"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
