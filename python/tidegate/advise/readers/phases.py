"""What tests of rate and delay together show, in one phase with load and one without."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate.advise.facts import (
    BOTH,
    Fact,
    What,
    both_loaded,
    least,
    mean_of,
    of_samples,
    quantile,
)
from tidegate.scenario.tree import Damaged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Series = Sequence[tuple[float, float]]
    """Times in seconds, and values."""

BIN_S = 1.0
"""Rates are averaged over this: what is delivered in a burst has waited for a lost packet."""
SETTLED = 0.3
"""The first part of a loaded phase is left out, as senders begin slowly."""
FEWEST = 3
"""Seconds of load that make a rate."""
RISE_S, RISE = 0.005, 0.1
"""The round trip has risen, so that something waits, by more than both: time, and share."""


def binned(series: Series, width: float = BIN_S) -> list[float]:
    """Return the means of a series over bins of time."""
    if not series:
        return []
    first = series[0][0]
    bins: dict[int, list[float]] = {}
    for time, value in series:
        bins.setdefault(int((time - first) / width), []).append(value)
    whole = [sum(values) / len(values) for values in bins.values()]
    return whole[:-1] if len(whole) > 2 else whole


def settled(series: Series) -> Series:
    """Return a loaded phase without its beginning."""
    if not series:
        return series
    begin, end = series[0][0], series[-1][0]
    return [each for each in series if each[0] >= begin + SETTLED * (end - begin)]


def risen(idle_s: float, loaded_s: float) -> bool:
    """Tell whether a round trip shows that packets wait."""
    return loaded_s - idle_s > max(RISE_S, RISE * idle_s)


def of_phase(
    direction: str,
    rates: Mapping[str, Series],
    trips: Series,
    idle: Sequence[float],
    source: str,
) -> list[Fact]:
    """Return the facts of a phase with load: rates of IP packets by direction, and round trips."""
    found: list[Fact] = []
    within = settled(trips)
    if within:
        values = [value for _, value in within]
        found.append(of_samples(What.LOADED, direction, values, source))
        found.append(of_samples(What.PEAK, direction, values, source, share=0.95))
    full = bool(within and idle) and risen(min(idle), found[0].value)
    for way, series in rates.items():
        values = binned(settled(series))
        if len(values) >= FEWEST and max(values) > 0:
            found.append(replace(mean_of(What.RATE, way, values, source), full=full))
    return both_loaded(found) if direction == BOTH else found


def of_idle(trips: Sequence[float], source: str) -> list[Fact]:
    """Return the fact of round trips without load."""
    return [least(What.IDLE, "", trips, source)] if trips else []


def of_unknown_load(trips: Sequence[float], source: str) -> list[Fact]:
    """Return the facts of round trips of which nobody says whether there was load."""
    if not trips:
        raise Damaged("it has no round trip")
    found = of_idle(trips, source)
    ordered = sorted(trips)
    if len(trips) >= 20 and risen(ordered[0], quantile(ordered, 0.95)):
        peak = of_samples(What.PEAK, "", trips, source, share=0.95)
        found.append(peak)
    return found
