"""The graph of a network, as a topology of links: GraphML, GML, and JSON of nodes and links.

A link's delay is that of light in fibre over its length (5 us a kilometre): `dist` in kilometres,
as TopoHub has it, or the great circle between the places of its ends. Its rate is
`LinkSpeedRaw` in bit/s, as the Internet Topology Zoo has it.
"""

from __future__ import annotations

import io
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.errors import TidegateError
from tidegate.scenario.toml import inline, key, quoted
from tidegate.scenario.tree import Damaged, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

S_PER_KM = 5e-6
"""Light in glass with a refractive index of 1.5, 3e5 km/s in vacuum."""
EARTH_KM = 6371.0
LEAST_S = 1e-6
MOST_LINKS = 10_000
MOST_PLACE = 1e9


@dataclass(frozen=True)
class LinkDefaults:
    """What links have of which the file does not say it, as a scenario writes it."""

    rate: str | None = None
    delay: str | None = None


@dataclass(frozen=True)
class Edge:
    """A link: its ends, and what the file says of it."""

    ends: tuple[str, str]
    rate_bps: float | None
    delay_s: float | None
    back: tuple[float | None, float | None] = (None, None)
    """Rate and delay from the second end to the first, where the file has that way too."""


@dataclass(frozen=True)
class Graph:
    """A network."""

    nodes: list[str]
    edges: list[Edge]


def of_graphml(data: bytes) -> Graph:
    """Read GraphML."""
    return _read(lambda library: library.read_graphml(io.BytesIO(data)))


def of_gml(data: bytes) -> Graph:
    """Read GML."""
    # the Topology Zoo gives several nodes one label
    return _read(lambda library: library.read_gml(io.BytesIO(data), label="id"))


def _read(read: Callable[[Any], Any]) -> Graph:
    try:
        import networkx
    except ModuleNotFoundError as error:
        raise TidegateError(
            "GraphML and GML are read by networkx, which is not there.",
            "Install it: pip install networkx.",
        ) from error
    try:
        found = read(networkx)
    # its parsers raise whatever a damaged file makes them meet
    except Exception as error:
        raise Damaged(str(error).splitlines()[0] if str(error) else repr(error)) from error
    nodes = {str(name): dict(kept) for name, kept in found.nodes(data=True)}
    edges = [(str(one), str(two), dict(kept)) for one, two, kept in found.edges(data=True)]
    return _graph(nodes, edges)


def of_tree(tree: Tree) -> Graph:
    """Read JSON of nodes and links, as networkx and TopoHub write it."""
    nodes: dict[str, dict[str, Any]] = {}
    for node in tree.at("nodes").listed():
        kept = dict(_table(node))
        if node.has("pos"):
            place = node.at("pos").numbers(-MOST_PLACE)
            if len(place) != 2:
                raise Damaged(f"`{node.place}.pos` is not a longitude and a latitude")
            kept["Longitude"], kept["Latitude"] = place
        name = str(node.at("id").value)
        if name in nodes:
            raise Damaged(f"`{node.place}.id`: there are two nodes {name}")
        nodes[name] = kept
    links = tree.at("links" if tree.has("links") else "edges").listed()
    edges = []
    for link in links:
        ends = [str(link.at(end).value) for end in ("source", "target")]
        for end in ends:
            if end not in nodes:
                raise Damaged(f"`{link.place}`: there is no node {end}")
        edges.append((ends[0], ends[1], dict(_table(link))))
    return _graph(nodes, edges)


def _table(tree: Tree) -> Mapping[str, Any]:
    if not isinstance(tree.value, dict):
        raise Damaged(f"`{tree.place}` is no table")
    return tree.value


def _graph(
    nodes: Mapping[str, Mapping[str, Any]],
    edges: Sequence[tuple[str, str, Mapping[str, Any]]],
) -> Graph:
    names = _names(nodes)
    found: dict[tuple[frozenset[str], int], Edge] = {}
    again: Counter[tuple[str, str]] = Counter()
    for one, two, kept in edges:
        if one == two:
            continue
        edge = Edge(
            (names[one], names[two]),
            _number(kept, "LinkSpeedRaw"),
            _delay(kept, nodes[one], nodes[two]),
        )
        # of a directed graph both directions are one link
        again[one, two] += 1
        link = (frozenset((one, two)), again[one, two])
        there = found.setdefault(link, edge)
        if there is not edge:
            found[link] = _both_ways(there, edge)
    return Graph(list(names.values()), list(found.values()))


def _both_ways(there: Edge, back: Edge) -> Edge:
    """Join the two directions of a link; what the file says of one alone holds for both."""
    return Edge(
        there.ends,
        there.rate_bps or back.rate_bps,
        there.delay_s or back.delay_s,
        (back.rate_bps, back.delay_s),
    )


def _names(nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Name nodes by their labels; those of one label by their identity too."""
    labels = {
        node: str(kept.get("label") or kept.get("name") or node) for node, kept in nodes.items()
    }
    often = Counter(labels.values())
    names = [
        label if often[label] == 1 else f"{label} {node}".strip() for node, label in labels.items()
    ]
    return dict(zip(nodes, _apart([_text_of(name) for name in names]), strict=True))


def _text_of(name: str) -> str:
    """Return a name that a file in UTF-8 can hold, and that is not empty."""
    return name.encode("utf-8", "replace").decode() or "?"


def _apart(names: Sequence[str]) -> list[str]:
    """Give a name that is there already a number."""
    taken: dict[str, None] = {}
    for name in names:
        tried = itertools.chain([name], (f"{name} {number}" for number in itertools.count(2)))
        taken[next(each for each in tried if each not in taken)] = None
    return list(taken)


def _number(kept: Mapping[str, Any], name: str) -> float | None:
    try:
        value = float(kept[name])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) and value > 0 else None


def _delay(kept: Mapping[str, Any], one: Mapping[str, Any], two: Mapping[str, Any]) -> float | None:
    length = _number(kept, "dist")
    if length is None:
        places = [_place(one), _place(two)]
        if None in places:
            return None
        length = _great_circle(*places)  # type: ignore[arg-type]
    return max(LEAST_S, length * S_PER_KM)


def _place(node: Mapping[str, Any]) -> tuple[float, float] | None:
    try:
        place = (float(node["Latitude"]), float(node["Longitude"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    # of a drawn graph the places are those of a plane
    return place if abs(place[0]) <= 90 and abs(place[1]) <= 180 else None


def _great_circle(one: tuple[float, float], two: tuple[float, float]) -> float:
    """Return the length in kilometres of the shortest way over a sphere (haversine)."""
    (lat1, lon1), (lat2, lon2) = (map(math.radians, place) for place in (one, two))
    half = math.sin((lat2 - lat1) / 2) ** 2
    half += math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_KM * math.asin(math.sqrt(min(1.0, half)))


def scenario(graph: Graph, name: str, given: LinkDefaults) -> tuple[dict[str, str], list[str]]:
    """Return the scenario by its name, and what is not of the file."""
    if not graph.edges:
        raise Damaged("the graph has no links")
    if len(graph.edges) > MOST_LINKS:
        raise Damaged(f"the graph has {len(graph.edges)} links, and {MOST_LINKS} are allowed")
    said = []
    for what, lacking, option in (
        ("rate", [e for e in graph.edges if e.rate_bps is None], given.rate),
        ("delay", [e for e in graph.edges if e.delay_s is None], given.delay),
    ):
        if lacking and option is None:
            raise TidegateError(
                f"{len(lacking)} of {len(graph.edges)} links have no {what}, as that of"
                f" {' and '.join(lacking[0].ends)}.",
                f"Give one for these links: --{what} {'10Gbit' if what == 'rate' else '1ms'}.",
            )
        if lacking:
            said.append(f"{len(lacking)} of {len(graph.edges)} links have the {what} {option}")
    used = {end for edge in graph.edges for end in edge.ends}
    if alone := len(graph.nodes) - len(used):
        nodes = "1 node without a link is" if alone == 1 else f"{alone} nodes without a link are"
        said.append(f"{nodes} left out")
    said.append("the traffic is an example, between two ends that are far apart in links")
    return {f"{name}.toml": _text(graph, name, given)}, said


def _text(graph: Graph, name: str, given: LinkDefaults) -> str:
    titles = _apart(["-".join(edge.ends) for edge in graph.edges])
    links = [
        f"{key(title)} = {inline(_link(edge, given))}"
        for title, edge in zip(titles, graph.edges, strict=True)
    ]
    far = _farthest(graph)
    return f"""\
# The network of {quoted(name)[1:-1]}: \
{len({e for edge in graph.edges for e in edge.ends})} nodes, {len(graph.edges)} links.
name     = {quoted(name)}
duration = "10s"

[topology.links]
{chr(10).join(links)}

# an example: write yours
[traffic.example]
from     = {quoted(far[0])}
to       = {quoted(far[1])}
arrivals = {{ poisson = "10/s" }}
size     = "20kB"
"""


def _link(edge: Edge, given: LinkDefaults) -> dict[str, Any]:
    """Return a link as a scenario has it; its other direction, where that differs."""
    one, two = edge.ends
    rate, delay = _written(edge.rate_bps, edge.delay_s)
    link = {"from": one, "to": two, "rate": rate or given.rate, "delay": delay or given.delay}
    back = _written(*edge.back)
    ways = zip(("rate", "delay"), back, strict=True)
    reverse = {what: value for what, value in ways if value and value != link[what]}
    return link | ({"reverse": reverse} if reverse else {})


def _written(rate_bps: float | None, delay_s: float | None) -> tuple[str | None, str | None]:
    return (
        None if rate_bps is None else f"{rate_bps:.0f}bit",
        None if delay_s is None else f"{delay_s * 1e6:.0f}us",
    )


def _farthest(graph: Graph) -> tuple[str, str]:
    """Return two ends far apart: the farthest from the first, and the farthest from that one."""
    start = graph.edges[0].ends[0]
    one = _last(graph, start)
    return one, _last(graph, one)


def _last(graph: Graph, start: str) -> str:
    """Return the node that is farthest in links from one."""
    near: dict[str, list[str]] = {}
    for edge in graph.edges:
        near.setdefault(edge.ends[0], []).append(edge.ends[1])
        near.setdefault(edge.ends[1], []).append(edge.ends[0])
    seen, order = {start}, [start]
    for node in order:
        for other in near[node]:
            if other not in seen:
                seen.add(other)
                order.append(other)
    return order[-1]
