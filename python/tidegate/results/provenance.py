"""What made a run: version, commit, and a digest of the code that its numbers hang on."""

from __future__ import annotations

import hashlib
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tidegate import _native

COMMIT = "commit.txt"
"""File in the package that says its commit; `make wheel` writes it."""


def digest(content: bytes) -> str:
    """Return a digest as manifests hold it."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


@cache
def commit_id() -> str | None:
    """Return the commit that this package is run from, or was made from as a wheel.

    None where nobody knows: outside of a checkout, in a package that was built by hand.
    """
    here = Path(__file__).resolve()
    top = here.parents[3]
    if not (top / ".git").exists() or not (top / "crates" / "py").is_dir():
        with suppress(OSError):
            return (here.parents[1] / COMMIT).read_text(encoding="ascii").strip() or None
        return None
    with suppress(OSError, subprocess.SubprocessError):
        command = ["git", "-C", str(top), "rev-parse", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
        return done.stdout.strip() or None
    return None


@cache
def code_hash() -> str:
    """Return a digest of what makes the numbers: the native module, and this room.

    Whatever is worked out from a run before it is kept, and what is kept of it,
    is done in the modules beside this one: a changed one makes other runs. A
    commit does not tell what was built and not committed, and changes with
    every page.
    """
    found = hashlib.blake2b(digest_size=20)
    here = Path(__file__).parent
    for path in (Path(_native.__file__), *sorted(here.glob("*.py"))):
        found.update(path.name.encode() + b"\0")
        found.update(path.read_bytes())
    return found.hexdigest()


def provenance(command: str, effective: str) -> dict[str, Any]:
    """Return what every manifest opens with."""
    return {
        "tidegate": _native.__version__,
        "commit": commit_id(),
        "code_hash": code_hash(),
        "command": command,
        "effective_scenario": effective,
        "scenario_hash": digest(effective.encode()),
    }
