"""The simulator as WebAssembly, for pages: `python -m tools.wasm` builds it and prints its size."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

from tools import rust_targets

ROOT = Path(__file__).parents[1]
TARGET = "wasm32-unknown-unknown"
MODULE = ROOT / "target" / TARGET / "web" / "tidegate_web.wasm"


def built() -> Path:
    """Build the module, and return its file; LackingError where its target is missing."""
    rust_targets.need(TARGET)
    command = ["cargo", "build", "--locked", "--quiet", "--package", "tidegate-web"]
    command += ["--profile", "web", "--target", TARGET]
    subprocess.run(command, cwd=ROOT, check=True)
    return MODULE


def packed(module: Path) -> bytes:
    """Return the module as pages have it: compressed, the same bytes of the same module."""
    return gzip.compress(stripped(module.read_bytes()), 9, mtime=0)


def stripped(module: bytes) -> bytes:
    """Return a module without the names of its functions and what tools have noted in it."""
    kept, at = module[:_HEAD], _HEAD
    while at < len(module):
        size, content = _number(module, at + 1)
        if module[at] != _CUSTOM:
            kept += module[at : content + size]
        at = content + size
    return kept


_HEAD = 8
"""Bytes before the first section: the magic number and the version."""
_CUSTOM = 0
"""The kind of the sections that do nothing."""


def _number(module: bytes, at: int) -> tuple[int, int]:
    """Read a number (LEB128); return it and the place behind it."""
    number = shift = 0
    while True:
        byte = module[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def main() -> int:
    """Build the module and say how large it is; 1 if it cannot be built."""
    try:
        module = built()
    except rust_targets.LackingError as lacking:
        print(lacking, file=sys.stderr)
        return 1
    size, sent = len(stripped(module.read_bytes())), len(packed(module))
    print(f"{module.relative_to(ROOT)}: {size / 1e6:.2f} MB, {sent / 1e6:.2f} MB compressed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
