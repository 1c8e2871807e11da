"""Scenarios made of files that other tools wrote: a browser's pages, the graph of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.errors import TidegateError, from_os, path_of
from tidegate.scenario.made import graph, har
from tidegate.scenario.tree import Damaged, of_json

if TYPE_CHECKING:
    from pathlib import Path

MOST = 64 << 20
"""A larger file is refused."""

_NAMED = {".graphml": graph.of_graphml, ".gml": graph.of_gml}


@dataclass(frozen=True)
class Made:
    """A scenario, and the tables that it names."""

    files: dict[str, str]
    """Text by name; the first is the scenario."""
    said: list[str]
    """What the scenario does not have of the file, in words."""


def of_file(path: str | Path, given: graph.Given | None = None) -> Made:
    """Make a scenario of a HAR file, or of a graph as GraphML, GML or JSON of nodes and links.

    `given` has the rate and delay of links of which the file says nothing. Raises TidegateError
    with place and remedy where the file is not understood, or says too little.
    """
    path = path_of(path, "a HAR file or a graph")
    given = given or graph.Given()
    try:
        with path.open("rb") as file:
            data = file.read(MOST + 1)
    except OSError as error:
        raise from_os("read", path, error) from error
    if len(data) > MOST:
        raise TidegateError(f"{path} is larger than {MOST >> 20} MiB.", "Take a part of it.")
    try:
        files, said = _made(data, path.suffix.lower(), path.stem, given)
    except Damaged as error:
        remedy = (
            "Give a HAR file as browsers save it, or a graph as GraphML, GML or JSON of nodes and"
            " links (TopoHub)."
        )
        raise TidegateError(f"Could not read {path}: {error}.", remedy) from error
    return Made(files, said)


def _made(
    data: bytes, suffix: str, name: str, given: graph.Given
) -> tuple[dict[str, str], list[str]]:
    if suffix in _NAMED:
        return graph.scenario(_NAMED[suffix](data), name, given)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Damaged(f"byte {error.start} is no text in UTF-8") from error
    tree = of_json(text)
    if tree.has("log"):
        return har.scenario(tree, name)
    if tree.has("nodes"):
        return graph.scenario(graph.of_tree(tree), name, given)
    raise Damaged("it has neither a `log`, as a HAR file, nor `nodes`, as a graph")
