"""The provenance of a run: version, commit, and a digest of the code that produced it."""

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
    """Return a digest for manifests."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


@cache
def commit_id() -> str | None:
    """Return the commit that this package is run from, or was made from as a wheel.

    None if unknown: outside of a checkout, in a package that was built without `make wheel`.
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
    """Return a digest of the code that produces results: the native module and this package.

    All that is computed from a run before it is saved is computed in
    tidegate.results. The commit would not do: it misses uncommitted changes, and
    changes with every page.
    """
    found = hashlib.blake2b(digest_size=20)
    here = Path(__file__).parent
    for path in (Path(_native.__file__), *sorted(here.glob("*.py"))):
        found.update(path.name.encode() + b"\0")
        found.update(path.read_bytes())
    return found.hexdigest()


def provenance(command: str, effective: str) -> dict[str, Any]:
    """Return the first entries of every manifest."""
    return {
        "tidegate": _native.__version__,
        "commit": commit_id(),
        "code_hash": code_hash(),
        "command": command,
        "effective_scenario": effective,
        "scenario_hash": digest(effective.encode()),
    }
