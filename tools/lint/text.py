"""Checks of single files: their length, paths of one machine, generated pages."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools import generate

FILE_LINES = 600
_CODE = {".rs", ".py", ".sh", ".c", ".h"}
_MACHINE_PATH = re.compile(
    r"""
      (?<![\w.~$}/-])/(?:root|home/\w+|Users/\w+|work)\b   # a home or a work folder
    | /tmp/(?:wt|target-|contracts)                                # scratch folders
    | \.\./shared\b                                                # outside the checkout
    | \bregistry\.npmjs\b | \bpypi\.org/simple\b | \bpythonhosted\b | \bstatic\.crates\.io\b
    """,
    re.VERBOSE,
)
# `tidegate._native` is compiled: it is the one name below the package's own __init__.py.
_PACKAGE_IMPORT = re.compile(r"^\s*(?:import tidegate\b(?!\.)|from tidegate import (.+))", re.M)


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the text files that git tracks or would track: path in the checkout, and text."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout
    for name in sorted(filter(None, listed.decode().split("\0"))):
        try:
            yield Path(name), (root / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # not text, or deleted and not yet committed


def long_files(root: Path) -> Iterator[str]:
    """Yield files of code with more than FILE_LINES lines."""
    for path, text in _files(root):
        lines = text.count("\n")
        if path.suffix in _CODE and lines > FILE_LINES:
            yield f"{path}:1: {lines} lines, more than {FILE_LINES}"


def machine_paths(root: Path) -> Iterator[str]:
    """Yield mentions of folders of one machine, or of the host of a package registry."""
    for path, text in _files(root):
        for number, line in enumerate(text.splitlines(), 1):
            found = _MACHINE_PATH.search(line)
            if found and path.name != "Cargo.lock":
                yield f"{path}:{number}: names a path of one machine: {found[0]}"


def stale_pages(root: Path) -> Iterator[str]:
    """Yield generated pages that differ from what the code gives."""
    for path, _ in generate.stale(root):
        yield f"{path.relative_to(root)}:1: is stale: run `make docs`"


def package_imports(root: Path) -> Iterator[str]:
    """Yield imports of the package's own `__init__.py` from inside it.

    import-linter takes `from tidegate import _native` for such an import, so
    its contracts leave them out.
    """
    package = root / "python" / "tidegate"
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for found in _PACKAGE_IMPORT.finditer(text):
            names = re.findall(r"\w+", found[1] or "tidegate")
            inner = [
                (package / name).is_dir() or (package / f"{name}.py").exists() for name in names
            ]
            if names != ["_native"] and not all(inner):
                line = text.count("\n", 0, found.end()) + 1
                yield f"{path.relative_to(root)}:{line}: must not import `tidegate` itself"
