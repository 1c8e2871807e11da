"""Which room of the Python package may import which: only those below it, and in no circle."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PACKAGE = "tidegate"
FLOORS = (
    "_native",
    "errors",
    "scenario",
    "results",
    "grid",
    "show",
    "papers",
    "studies",
    "cli",
    "api",
)
"""Modules and rooms of the package from the lowest to the highest; the package itself is above."""
SIDE_BY_SIDE = {("api", "cli"), ("api", "papers"), ("api", "studies")}
"""Pairs of which the first stands higher and must not import the second all the same."""


def problems(root: Path) -> Iterator[str]:
    """Yield imports of the package that run back up, and circles of its modules."""
    folder = root / "python" / PACKAGE
    sources = {
        _module(path.relative_to(folder.parent)): path for path in sorted(folder.rglob("*.py"))
    }
    edges = {name: dict(imports(path, name, sources)) for name, path in sources.items()}
    places = {name: str(path.relative_to(root)) for name, path in sources.items()}
    yield from upward(edges, places)
    yield from circles(edges, places)


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, name: str, known: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """Yield the modules of the package that a file imports, wherever in it, with the line.

    Those for the type checker alone count too: a circle of ideas is a circle.
    """
    here = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = here.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            base = ".".join(each for each in (base, node.module or "") if each)
            wanted = [
                f"{base}.{alias.name}"
                if f"{base}.{alias.name}" in known or f"{base}.{alias.name}" == f"{PACKAGE}._native"
                else base
                for alias in node.names
            ]
        else:
            continue
        for each in wanted:
            if each == PACKAGE or each.startswith(f"{PACKAGE}."):
                yield each, node.lineno


def floor(module: str) -> int | None:
    """Return how high a module stands; None: it has no place in FLOORS."""
    parts = module.split(".")
    if len(parts) == 1 or parts[1] == "__main__":
        return len(FLOORS)
    return FLOORS.index(parts[1]) if parts[1] in FLOORS else None


def upward(edges: Mapping[str, Mapping[str, int]], places: Mapping[str, str]) -> Iterator[str]:
    """Yield imports of what stands higher, and modules without a place."""
    for module, used in edges.items():
        mine = floor(module)
        if mine is None:
            yield f"{places[module]}:1: `{module}` has no room in FLOORS (tools/lint/rooms.py)"
            continue
        for other, line in used.items():
            theirs = floor(other)
            pair = tuple(each.split(".")[1] if "." in each else each for each in (module, other))
            if theirs is not None and (theirs > mine or pair in SIDE_BY_SIDE):
                below = ", ".join(FLOORS[:mine]) or "nothing"
                yield f"{places[module]}:{line}: must not import `{other}`; below it are {below}"


def circles(edges: Mapping[str, Mapping[str, int]], places: Mapping[str, str]) -> Iterator[str]:
    """Yield each group of modules that import each other, at the first of them."""
    for group in components(edges):
        first, others = group[0], ", ".join(group[1:])
        line = next(line for other, line in edges[first].items() if other in group)
        if others:
            yield f"{places[first]}:{line}: `{first}` is in a circle of imports with {others}"
        else:
            yield f"{places[first]}:{line}: `{first}` imports itself"


def components(edges: Mapping[str, Mapping[str, int]]) -> Iterator[Sequence[str]]:
    """Yield the sets of modules of which each reaches each, sorted."""
    reached = {module: _reached(edges, module) for module in edges}
    seen: set[str] = set()
    for module in sorted(edges):
        if module in reached[module] and module not in seen:
            group = sorted(each for each in reached[module] if module in reached.get(each, ()))
            seen.update(group)
            yield group


def _reached(edges: Mapping[str, Mapping[str, int]], start: str) -> set[str]:
    """Return what can be reached from a module over at least one import."""
    found: set[str] = set()
    left = list(edges[start])
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += edges.get(module, ())
    return found
