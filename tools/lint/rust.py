"""Checks of the Rust crates: which uses which, and circles of files inside each."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ALLOWED: Mapping[str, frozenset[str]] = {
    "capture": frozenset(),
    "core": frozenset(),
    "model": frozenset({"core"}),
    "sim": frozenset({"model", "core"}),
    "common": frozenset(),
    "tcx": frozenset(),
    "gate": frozenset({"tcx", "common", "model", "core"}),
    "emulate": frozenset({"common", "capture", "model", "core"}),
    "nodes": frozenset({"common", "model", "core"}),
    "tidegated": frozenset({"gate", "emulate", "nodes", "common", "core"}),
    "stacks": frozenset({"sim", "model", "core"}),
    "py": frozenset({"sim", "stacks", "model", "core", "capture"}),
    "web": frozenset({"sim", "model", "core", "capture"}),
    "benches": frozenset({"sim", "model", "core"}),
    "own-repository": frozenset({"sim", "model", "core"}),
}
"""Folder of a crate, most of them under `crates/`, and the folders of the crates it may use."""
MAX_RE_EXPORTS = 9
"""How many re-exports of one name are followed."""

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"', re.DOTALL)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)
_USE = re.compile(r"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
_PATH = re.compile(r"\b[a-z]\w*(?:::\w+)+")
_NAME = re.compile(r"\b[A-Za-z_]\w*")

Module = tuple[str, ...]


def forbidden_crates(root: Path) -> Iterator[str]:
    """Yield forbidden dependencies between the crates of the checkout, of every kind and target."""
    command = ["cargo", "metadata", "--no-deps", "--format-version=1", "--offline"]
    yield from forbidden(
        json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)
    )


def forbidden(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield forbidden dependencies in the output of `cargo metadata`."""
    for package in metadata["packages"]:
        crate = Path(package["manifest_path"]).parent.name
        above = {"benches": "", "own-repository": "examples/"}.get(crate, "crates/")
        where = f"{above}{crate}/Cargo.toml:1"
        if crate not in ALLOWED:
            yield f"{where}: crate `{crate}` has no row in ALLOWED (tools/lint/rust.py)"
            continue
        for dependency in package["dependencies"]:
            used = Path(dependency["path"]).name if dependency.get("path") else None
            if used is not None and used not in ALLOWED[crate]:
                may = ", ".join(sorted(ALLOWED[crate])) or "no crate of the project"
                yield f"{where}: `{crate}` must not use `{used}`; it may use {may}"


def file_circles(root: Path) -> Iterator[str]:
    """Yield circles of more than two files of a crate."""
    for crate in sorted(path.parent for path in root.glob("crates/*/src")):
        for circle in circles(Crate(crate / "src").edges()):
            names = ", ".join(sorted(circle))
            yield f"crates/{crate.name}/src:1: files use each other in a circle: {names}"


def circles(edges: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """Return the groups of more than two names of which each reaches each."""
    reached = {name: _reached(edges, name) for name in edges}
    groups = {frozenset(each for each in reached[name] if name in reached[each]) for name in edges}
    return sorted((group for group in groups if len(group) > 2), key=sorted)


def _reached(edges: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        new = edges[left.pop()] - found
        found |= new
        left += new
    return found


@dataclass
class _File:
    """The paths that a file uses, and the path of each name that it imports."""

    uses: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)


class Crate:
    """The modules of one crate that have a file of their own, tests left out."""

    def __init__(self, src: Path) -> None:
        self.files: dict[Module, _File] = {}
        for path in sorted(src.rglob("*.rs")):
            parts = path.relative_to(src).with_suffix("").parts
            module = parts[:-1] if parts[-1] in {"lib", "main", "mod"} else parts
            if "tests" not in parts and parts[0] != "bin":
                self.files[module] = _read(path.read_text(encoding="utf-8"))

    def edges(self) -> dict[str, set[str]]:
        """Return which file uses which, by the names of their modules."""
        return {
            "::".join(module) or "lib": {
                "::".join(used) or "lib"
                for path in file.uses
                if (used := self._target(module, path)) != module
            }
            for module, file in self.files.items()
        }

    def _target(self, module: Module, path: str, depth: int = 0) -> Module:
        """Return the file that defines the item of a path, following re-exports.

        For a path out of the crate that is the file itself.
        """
        first, *rest = path.split("::")
        at = module
        if first == "crate":
            at = ()
        elif first == "super":
            at = module[:-1]
            while rest and rest[0] == "super":
                at, rest = at[:-1], rest[1:]
        elif first != "self":
            rest = [first, *rest]
        for index, name in enumerate(rest):
            if (*at, name) in self.files:
                at = (*at, name)
            elif at not in self.files:  # a folder without a file: `#[path]` names what is in it
                return module
            elif name in self.files[at].names and depth < MAX_RE_EXPORTS:
                full = "::".join([self.files[at].names[name], *rest[index + 1 :]])
                return self._target(at, full, depth + 1)
            else:
                break
        return at


def _read(text: str) -> _File:
    """Read the imports of a file; a re-export is a use where the file itself has its name."""
    file = _File()
    code = _TESTS.sub("", _NOT_CODE.sub("", text))
    rest = _USE.sub("", code)
    occurring = set(_NAME.findall(rest))
    for public, tree in _USE.findall(code):
        for path, name in _expanded(" ".join(tree.split())):
            file.names[name] = path
            if not public or name in occurring:
                file.uses.add(path)
    file.uses.update(_PATH.findall(rest))
    return file


def _expanded(tree: str) -> Iterator[tuple[str, str]]:
    """Yield each path of a `use` tree, and the name that it gives."""
    opening = tree.find("{")
    if opening < 0:
        path, _, alias = tree.partition(" as ")
        path = path.removesuffix("::self")
        yield path, alias or path.rpartition("::")[2]
        return
    depth, part = 0, ""
    for sign in tree[opening + 1 : tree.rindex("}")] + ",":
        depth += (sign == "{") - (sign == "}")
        if sign != "," or depth:
            part += sign
        elif part.strip():
            yield from _expanded(tree[:opening] + part.strip())
            part = ""
        else:
            part = ""
