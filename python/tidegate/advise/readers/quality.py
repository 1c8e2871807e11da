"""Tests of responsiveness under load.

`networkQuality -c` of macOS (JSON), and goresponsiveness (what it prints, and the file of
`--prometheus-stats-filename`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate.advise.facts import (
    BOTH,
    DOWN,
    IP_OF_PAYLOAD,
    UP,
    Fact,
    What,
    both_loaded,
    of_samples,
    quantile,
)
from tidegate.advise.readers.phases import of_idle, risen
from tidegate.scenario.tree import Damaged, Tree, in_range, of_json

if TYPE_CHECKING:
    from collections.abc import Sequence

TLS = 1.005
"""Bytes of TLS and HTTP/2 for a byte of content: 21 B of a record, 9 B of a frame in 16 kB, and
what belongs to control."""
STEADY = 0.08
"""Half of the interval of a rate that stands alone: what two such tests in a row differ by."""
_WAYS = {"dl": DOWN, "ul": UP}
_MOST_MS = 1e6


def knows(tree: Tree) -> bool:
    """Tell whether this is JSON of networkQuality."""
    return tree.has("dl_throughput") or tree.has("ul_throughput")


def read(text: str, source: str) -> list[Fact]:
    """Read JSON of networkQuality; without `-s` it loads both directions at once."""
    tree = of_json(text)
    facts: list[Fact] = []
    idle_ms = _milliseconds(tree, "il_tcp_handshake_443")
    if tree.has("base_rtt"):
        idle_ms.append(tree.at("base_rtt").number(0.0, _MOST_MS))
    idle = [value * 1e-3 for value in idle_ms if value > 0]
    facts += of_idle(idle, source)
    loaded = {
        way: _loaded(tree, sign, source) for sign, way in (("", BOTH), ("dl_", DOWN), ("ul_", UP))
    }
    for way, found in loaded.items():
        facts += [replace(fact, direction=way) for fact in found]
    for sign, way in _WAYS.items():
        if not tree.has(f"{sign}_throughput"):
            continue
        rate = tree.at(f"{sign}_throughput").number() * IP_OF_PAYLOAD * TLS
        trips = loaded[way] or loaded[BOTH]
        full = bool(trips and idle) and risen(min(idle), trips[0].value)
        if rate > 0:
            facts.append(_rate(way, rate, source, full=full))
    if not facts:
        raise Damaged("it has no rate and no round trip")
    return both_loaded(facts) if loaded[BOTH] else facts


def _milliseconds(tree: Tree, key: str) -> list[float]:
    return tree.at(key).numbers(0.0, _MOST_MS) if tree.has(key) else []


def _loaded(tree: Tree, sign: str, source: str) -> list[Fact]:
    """Return round trips under load: of new connections, as those of the load may wait apart."""
    samples = _milliseconds(tree, f"lud_foreign_{sign}tcp_handshake_443")
    samples = samples or _milliseconds(tree, f"lud_self_{sign}h2_req_resp")
    if samples:
        trips = [value * 1e-3 for value in samples]
        return [
            of_samples(What.LOADED, sign, trips, source),
            of_samples(What.PEAK, sign, trips, source, share=0.95),
        ]
    key = f"{sign}responsiveness"
    if not tree.has(key) or (rpm := tree.at(key).number()) <= 0:
        return []
    return [_of_rpm(sign, rpm, source)]


def _of_rpm(way: str, rpm: float, source: str) -> Fact:
    """Return the round trip of so many round trips a minute.

    It is a mean with those of loaded connections, so it may be one and a half times the others.
    """
    trip = 60.0 / in_range(rpm, "responsiveness", 1e-3, 1e9)
    return Fact(What.LOADED, way, trip, trip / 1.5, trip, source, 1, note="from RPM")


def _rate(way: str, rate: float, source: str, *, full: bool) -> Fact:
    low, high = rate * (1 - STEADY), rate * (1 + STEADY)
    return Fact(What.RATE, way, rate, low, high, source, 1, full)


_THROUGHPUT = re.compile(r"^\s*Throughput: ([\d.]+) Mbps", re.MULTILINE)
_RPM = re.compile(r"^\s*RPM:\s+([\d.]+) \(", re.MULTILINE)
_SECTION = re.compile(r"^(Download|Upload):\s*$", re.MULTILINE)
_METRIC = re.compile(
    r"^networkquality_(download|upload)_(bits_per_second|p90_rpm_value|trimmed_rpm_value) (\d+)",
    re.MULTILINE,
)


def knows_go(text: str) -> bool:
    """Tell whether this is of goresponsiveness."""
    return bool(_METRIC.search(text) or (_SECTION.search(text) and _THROUGHPUT.search(text)))


def go(text: str, source: str) -> list[Fact]:
    """Read what goresponsiveness prints; it loads one direction after the other."""
    baseline = re.search(r"Baseline RPM:\s+([\d.]+) \(", text)
    idle: list[float] = []
    facts: list[Fact] = []
    if baseline and (rpm := _positive(baseline[1])):
        trip = 60.0 / in_range(rpm, "Baseline RPM", 1e-3, 1e9)
        idle = [trip]
        facts.append(Fact(What.IDLE, "", trip, trip / 1.5, trip, source, 1, note="from RPM"))
    for way, rates, rpms in _sections(text):
        trips = [60.0 / in_range(each, "RPM", 1e-3, 1e9) for each in rpms]
        if trips:
            middle = quantile(sorted(trips), 0.5)
            facts.append(
                Fact(What.LOADED, way, middle, min(trips) / 1.5, max(trips), source, len(trips))
            )
        full = bool(trips and idle) and risen(min(idle), min(trips))
        facts += [_rate(way, rate * IP_OF_PAYLOAD * TLS, source, full=full) for rate in rates]
    if not facts:
        raise Damaged("it has no rate and no RPM")
    return facts


def _sections(text: str) -> list[tuple[str, list[float], list[float]]]:
    """Return rates (bit/s) and RPM of each direction."""
    found = []
    heads = list(_SECTION.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        part = text[head.end() : end].partition("Final RPM")[0]
        rates = [_positive(value) * 1e6 for value in _THROUGHPUT.findall(part)]
        rpms = [_positive(value) for value in _RPM.findall(part)]
        found.append((_way(head[1]), _above(rates), _above(rpms)))
    for name in ("download", "upload"):
        metrics = [each for each in _METRIC.findall(text) if each[0] == name]
        rates = [_positive(each[2]) for each in metrics if each[1] == "bits_per_second"]
        rpms = [_positive(each[2]) for each in metrics if each[1] != "bits_per_second"]
        if metrics:
            found.append((_way(name), _above(rates), _above(rpms)))
    return found


def _way(name: str) -> str:
    return DOWN if name.lower() == "download" else UP


def _above(values: Sequence[float]) -> list[float]:
    return [value for value in values if value > 0]


def _positive(text: str) -> float:
    try:
        return in_range(float(text), "a number")
    except ValueError as error:
        raise Damaged(f"{text} is no number") from error
