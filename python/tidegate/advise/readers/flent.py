"""A data file of Flent (`NAME.flent.gz`): series over time of rates and of round trips."""

from __future__ import annotations

from tidegate.advise.facts import BOTH, DOWN, IP_OF_PAYLOAD, UP, Fact
from tidegate.advise.readers.phases import BIN_S, of_idle, of_phase, of_unknown_load
from tidegate.scenario.tree import Damaged, Tree, of_json

_SUMS = (" avg", " sum", "totals")
"""Endings of series that are made of others."""
_PINGS = ("Ping (ms)",)
_SIGNS = {"TCP download": DOWN, "TCP upload": UP}


def knows(tree: Tree) -> bool:
    """Tell whether this is JSON of Flent."""
    return tree.has("x_values") and tree.has("results")


def read(text: str, source: str) -> list[Fact]:
    """Read the series; samples without a rate, at the begin and the end, are those without load."""
    tree = of_json(text)
    times = [each.number() for each in tree.at("x_values").listed()]
    rates: dict[str, list[list[tuple[float, float]]]] = {}
    trips: list[tuple[float, float]] = []
    for name, series in tree.at("results").items():
        if name.endswith(_SUMS):
            continue
        way = next((way for sign, way in _SIGNS.items() if name.startswith(sign)), None)
        if way is not None:
            points = _points(times, series)
            if points:
                scaled = [(time, value * 1e6 * IP_OF_PAYLOAD) for time, value in points]
                rates.setdefault(way, []).append(scaled)
        elif name.startswith(_PINGS):
            trips += [(time, value * 1e-3) for time, value in _points(times, series)]
    trips.sort()
    loads = {way: _together(flows) for way, flows in rates.items()}
    if not loads:
        if not trips:
            raise Damaged("it has no series `TCP download`, `TCP upload` or `Ping (ms)`")
        return of_unknown_load([value for _, value in trips], source)
    every = [flow for flows in rates.values() for flow in flows]
    begin, end = min(flow[0][0] for flow in every), max(flow[-1][0] for flow in every)
    idle = [value for time, value in trips if time < begin - 0.2 or time > end + 1.0]
    within = [(time, value) for time, value in trips if begin <= time <= end]
    way = BOTH if len(loads) > 1 else next(iter(loads))
    facts = of_idle(idle, source) + of_phase(way, loads, within, idle, source)
    if not facts:
        raise Damaged("no series has a value above 0")
    return facts


def _together(flows: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """Return the sum of connections in each second in which all of them have values."""
    sums: dict[int, list[float]] = {}
    for flow in flows:
        mine: dict[int, list[float]] = {}
        for time, value in flow:
            mine.setdefault(int(time / BIN_S), []).append(value)
        for number, values in mine.items():
            sums.setdefault(number, []).append(sum(values) / len(values))
    most = max(len(each) for each in sums.values())
    return [
        (number * BIN_S, sum(each)) for number, each in sorted(sums.items()) if len(each) == most
    ]


def _points(times: list[float], series: Tree) -> list[tuple[float, float]]:
    values = series.listed()
    if len(values) != len(times):
        raise Damaged(f"`{series.place}` has {len(values)} values, and `x_values` has {len(times)}")
    return [
        (time, each.number(0.0, 1e9))
        for time, each in zip(times, values, strict=True)
        if each.value is not None
    ]
