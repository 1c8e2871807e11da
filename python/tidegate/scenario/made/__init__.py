"""Scenarios made of files that other tools wrote: a browser's pages, the graph of a network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tidegate import _native
from tidegate.errors import TidegateError, UsageError, from_os, path_of
from tidegate.scenario import document
from tidegate.scenario.made import graph, har
from tidegate.scenario.tree import Damaged, of_json

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


def of_file(path: str | Path, given: graph.LinkDefaults | None = None) -> Made:
    """Make a scenario of a HAR file, or of a graph as GraphML, GML or JSON of nodes and links.

    `given` has the rate and delay of links of which the file says nothing. Raises TidegateError
    with place and remedy where the file is not understood, says too little, or holds what no
    scenario can have.
    """
    path = path_of(path, "a HAR file or a graph")
    given = given or graph.LinkDefaults()
    try:
        with path.open("rb") as file:
            data = file.read(MOST + 1)
    except OSError as error:
        raise from_os("read", path, error) from error
    if len(data) > MOST:
        raise TidegateError(f"{path} is larger than {MOST >> 20} MiB.", "Take a part of it.")
    name = path.stem.encode("utf-8", "replace").decode()
    try:
        files, said = _made(data, path.suffix.lower(), name, given)
    except Damaged as error:
        remedy = (
            "Give a HAR file as browsers save it, or a graph as GraphML, GML or JSON of nodes and"
            " links (TopoHub)."
        )
        raise TidegateError(f"Could not read {path}: {error}.", remedy) from error
    _check(files, path)
    return Made(files, said)


def _check(files: dict[str, str], path: Path) -> None:
    """Hold a scenario and its tables against the format of scenarios."""
    scenario, *tables = files
    contents = {name: files[name].encode() for name in tables}
    try:
        document.Document(files[scenario], scenario, Path()).load(files=contents)
    except _native.ScenarioError as error:
        what = f"The scenario that {path} describes cannot be run."
        raise TidegateError(what, str(error).rstrip()) from error


def _made(
    data: bytes, suffix: str, name: str, given: graph.LinkDefaults
) -> tuple[dict[str, str], list[str]]:
    if suffix in _NAMED:
        return graph.scenario(_NAMED[suffix](data), name, given)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Damaged(f"byte {error.start} is no text in UTF-8") from error
    tree = of_json(text)
    if tree.has("log"):
        if given != graph.LinkDefaults():
            raise UsageError(
                "--rate and --delay are for links of a graph, and this is a HAR file.",
                "Leave them out, and write the link into the scenario.",
            )
        return har.scenario(tree, name)
    if tree.has("nodes"):
        return graph.scenario(graph.of_tree(tree), name, given)
    raise Damaged("it has neither a `log`, as a HAR file, nor `nodes`, as a graph")
