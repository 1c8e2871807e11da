"""The measures of a run, by the names that conditions.toml gives them; units as given there."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.results.run_files import SavedRun

DARK_S = (21.0, 40.0)
"""The outage, without its first second, in which feedback of before still arrives."""
AFTER_S = (40.0, 50.0)
BUFFER_S = 1.0
"""What the buffer of the condition `bufferbloat` holds."""
MUCH = 0.1
"""The share of packets whose loss is much, for a circuit breaker."""


def measure(record: SavedRun, name: str, of: str) -> float:
    """Return a measure of a class, of `all` classes, or of a port; NaN where it is undefined."""
    if name in _OF_CLASS:
        key, factor = _OF_CLASS[name]
        found = _of(record, of)
        return factor * _number(found.get(key))
    if name not in _MEASURES:
        raise LookupError(f"there is no measure {name}")
    return _MEASURES[name](record, of)


_OF_CLASS: dict[str, tuple[str, float]] = {
    "rate": ("throughput_bps", 1e-6),
    "sent-again": ("retransmitted_share", 100.0),
    "jain": ("flow_rate_jain", 1.0),
    "fct": ("fct_p95_s", 1.0),
    "median": ("fct_p50_s", 1.0),
    "completions": ("completed_per_s", 1.0),
    "refused": ("never_admitted_share", 100.0),
    "pages": ("pages_loaded_share", 100.0),
    "page-load": ("page_load_p95_s", 1.0),
    "least-rtt": ("rtt_min_s", 1e3),
    "packet-loss": ("lost_share", 100.0),
    "packet-delay": ("delay_p95_s", 1e3),
}
"""The name in the summary of a class, and the factor to the unit of the limit."""


def _least(record: SavedRun, of: str) -> float:
    found = _of(record, of)
    return _ratio(found.get("flow_rate_min_bps"), found.get("flow_rate_mean_bps"))


def _advantage(record: SavedRun, of: str) -> float:
    own, others = (_number(record.traffic(each)["throughput_bps"]) for each in (of, "other"))
    return own / max(others, 1e3)


def _queue_delay(record: SavedRun, of: str) -> float:
    return 1e3 * _number(record.port(of)["queue_delay_p95_s"])


def _room(record: SavedRun, of: str) -> float:
    return 100 * (1 - _number(record.port(of)["queue_delay_mean_s"]) / BUFFER_S)


def _lost(record: SavedRun, of: str) -> float:
    port = record.port(of)
    return 100 * _ratio(port["data_dropped"], port["data_arrived"])


def _overload(record: SavedRun, of: str) -> float:
    """Return the longest time in which much is lost in every interval."""
    series = record.ports(of)
    time = series["time_s"]  # the end of each interval
    much = series["data_dropped"] > MUCH * series["data_arrived"]
    begun, longest = float(time[0]), 0.0
    for end, is_much in zip(time, much, strict=True):
        if not is_much:
            begun = float(end)
        longest = max(longest, float(end) - begun)
    return longest


def _in_the_dark(record: SavedRun, of: str) -> float:
    flows = max(float(record.all["flows"]), 1.0)
    return _within(record.ports(of), "data_arrived", DARK_S) / flows


def _after(record: SavedRun, of: str) -> float:
    seconds = AFTER_S[1] - AFTER_S[0]
    return _within(record.ports(of), "departed_bytes", AFTER_S) * 8 / 1e6 / seconds


_MEASURES: dict[str, Callable[[SavedRun, str], float]] = {
    "least": _least,
    "advantage": _advantage,
    "queue-delay": _queue_delay,
    "room": _room,
    "lost": _lost,
    "overload": _overload,
    "in-the-dark": _in_the_dark,
    "after": _after,
}


def _of(record: SavedRun, name: str) -> dict[str, Any]:
    return record.all if name == "all" else record.traffic(name)


def _number(value: float | None) -> float:
    return nan if value is None else float(value)


def _ratio(part: float | None, whole: float | None) -> float:
    return _number(part) / float(whole) if whole else nan


def _within(series: dict[str, Any], column: str, span: tuple[float, float]) -> float:
    time = series["time_s"]  # the end of each interval
    inside = (time > span[0]) & (time <= span[1])
    return float(np.sum(series[column][inside]))
