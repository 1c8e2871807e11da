"""Libraries of Rust for other targets than this machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


class LackingError(Exception):
    """A program cannot be built here; the message says why, and the remedy where there is one."""


def has(target: str) -> bool:
    """Tell whether the compiler has the library of a target."""
    asked = ["rustc", "--print", "target-libdir", "--target", target]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.returncode == 0 and any(Path(found.stdout.strip()).glob("libstd-*"))


def command(target: str) -> str:
    """Return what adds the library of a target."""
    return f"rustup target add {target}"


def need(target: str) -> None:
    """Have rustup add the library of a target where it is missing; LackingError if it cannot."""
    if shutil.which("rustc") is None:
        raise LackingError("no Rust toolchain here: install one as https://rustup.rs says")
    add = command(target)
    if not has(target) and shutil.which("rustup") is not None:
        subprocess.run(add.split(), cwd=ROOT, capture_output=True, check=False)
    if not has(target):
        raise LackingError(f"no {target} here: {add}")
