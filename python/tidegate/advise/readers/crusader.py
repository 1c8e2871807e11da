"""A result of Crusader: `NAME.crr` from its version 0.0.5 on, or the JSON of `crusader export`."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.advise.facts import BOTH, DOWN, IP_OF_PAYLOAD, UP, Fact, What, share_of
from tidegate.advise.readers import messagepack, snappy
from tidegate.advise.readers.phases import of_idle, of_phase
from tidegate.scenario.tree import Damaged, Tree, of_json

MAGIC = (0x5372AB82AE7C59CB).to_bytes(8, "little")
"""The first eight bytes of a file; the next eight are its version."""
STEP_S = 0.2
"""Counts of bytes become rates over this."""


class Group(NamedTuple):
    """Connections that load the link at the same time, in one direction."""

    way: str
    both: bool
    counts: list[list[tuple[float, float]]]
    """Of each connection the bytes received by a time."""

    @property
    def span(self) -> tuple[float, float]:
        """Return when the first bytes came, and the last."""
        first = [points[number - 1][0] for points in self.counts if (number := _first(points))]
        last = [points[-1][0] for points in self.counts if points]
        return (min(first, default=0.0), max(last, default=0.0))

    def rates(self) -> list[tuple[float, float]]:
        """Return the rate of all together over time."""
        begin, end = self.span
        found = []
        for step in range(int((end - begin) / STEP_S)):
            one, two = begin + step * STEP_S, begin + (step + 1) * STEP_S
            bits = sum(8 * (_at(points, two) - _at(points, one)) for points in self.counts)
            found.append((one, max(0.0, bits) / STEP_S * IP_OF_PAYLOAD))
        return found


def knows(data: bytes) -> bool:
    """Tell whether these are the bytes of a result."""
    return data.startswith(MAGIC)


def knows_json(tree: Tree) -> bool:
    """Tell whether this is a result as JSON."""
    return tree.has("stream_groups") and tree.has("pings")


def read(data: bytes, source: str) -> list[Fact]:
    """Read the file."""
    version = int.from_bytes(data[8:16], "little")
    if version not in (1, 2):
        raise Damaged(
            f"it is of version {version} of the format, and this reads 1 and 2; make JSON of it"
            " with `crusader export FILE`"
        )
    return _facts(Tree(messagepack.read(snappy.unframed(data[16:]))), source)


def read_json(text: str, source: str) -> list[Fact]:
    """Read the exported JSON."""
    return _facts(of_json(text), source)


def _facts(tree: Tree, source: str) -> list[Fact]:
    groups = [_group(each) for each in tree.at("stream_groups").listed()]
    groups = [each for each in groups if each.span[1] - each.span[0] > 2 * STEP_S]
    trips: list[tuple[float, float]] = []
    sent = lost = 0
    for ping in tree.at("pings").listed():
        sent += 1
        total = ping.at("latency").at("total") if ping.has("latency") else None
        if total is None or total.value is None:
            lost += 1
        else:
            trips.append((_seconds(ping.at("sent")), _seconds(total)))
    trips.sort()
    spans = [group.span for group in groups]
    idle = [
        value
        for time, value in trips
        if all(time < begin - 0.2 or time > end + 1.0 for begin, end in spans)
    ]
    facts = of_idle(idle, source)
    for way in (DOWN, UP, BOTH):
        mine = [each for each in groups if (BOTH if each.both else each.way) == way]
        if mine:
            begin, end = min(each.span[0] for each in mine), max(each.span[1] for each in mine)
            within = [(time, value) for time, value in trips if begin <= time <= end]
            rates = {each.way: each.rates() for each in mine}
            facts += of_phase(way, rates, within, idle, source)
    if sent:
        facts.append(share_of(What.LOSS, "", lost, sent, source))
    if not facts:
        raise Damaged("it has no ping and no connection")
    return facts


def _group(tree: Tree) -> Group:
    way = DOWN if tree.at("download").value is True else UP
    counts = [
        sorted(
            (_seconds(point.at("time")), point.at("bytes").number())
            for point in stream.at("data").listed()
        )
        for stream in tree.at("streams").listed()
    ]
    return Group(way, tree.at("both").value is True, counts)


def _seconds(tree: Tree) -> float:
    return tree.at("secs").number(0.0, 1e9) + tree.at("nanos").number(0.0, 1e9) * 1e-9


def _first(points: list[tuple[float, float]]) -> int:
    """Return the number of the first point with bytes; 0: there is none after the first."""
    for number, (_, count) in enumerate(points):
        if count > points[0][1]:
            return number
    return 0


def _at(points: list[tuple[float, float]], time: float) -> float:
    """Return the bytes received by a time."""
    low, high = 0, len(points)
    while low < high:
        middle = (low + high) // 2
        if points[middle][0] <= time:
            low = middle + 1
        else:
            high = middle
    return points[low - 1][1] if low else 0.0
