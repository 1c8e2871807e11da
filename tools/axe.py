"""What axe-core finds wrong with a page for those who use it with a screen reader or keyboard."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tools.browser import Browser, PageError

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "axe"
SCRIPT = FOLDER / "axe_playwright_python" / "axe.min.js"
PINNED = ROOT / "tools" / "axe.txt"
"""A package that has the script, by version and digest; what it needs besides is not needed."""


def install() -> None:
    """Fetch axe-core, once."""
    if SCRIPT.is_file():
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--target", str(FOLDER), "--requirement", str(PINNED)]
    subprocess.run(command, cwd=ROOT, check=True)


def findings(page: Browser) -> list[str]:
    """Return what is wrong with the page as it stands, each with its place."""
    if not page.value("'axe' in window"):
        if not SCRIPT.is_file():
            raise PageError("no axe-core here: make test-tools")
        page.value(f"{SCRIPT.read_text(encoding='utf-8')}; true")
    found = json.loads(
        page.value("axe.run({ preload: false }).then((done) => JSON.stringify(done.violations))")
    )
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:120]}"
        for rule in found
        for node in rule["nodes"]
    ]
