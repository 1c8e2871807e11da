"""The measures of a run, by the names that conditions.toml gives them; units as given there."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tidegate.results.run_files import SavedRun

DARK_S = (21.0, 40.0)
"""The outage, without its first second, in which feedback of before still arrives."""
AFTER_S = (40.0, 50.0)


def measure(record: SavedRun, name: str, of: str) -> float:
    """Return a measure of a class, of `all` classes, or of a port; NaN where it is undefined."""
    if name in _OF_CLASS:
        key, factor = _OF_CLASS[name]
        found = _of(record, of)
        return factor * _number(found.get(key))
    if name == "least":
        found = _of(record, of)
        return _ratio(found.get("flow_rate_min_bps"), found.get("flow_rate_mean_bps"))
    if name == "queue-delay":
        return 1e3 * _number(record.port(of)["queue_delay_p95_s"])
    if name == "lost":
        port = record.port(of)
        return 100 * _ratio(port["data_dropped"], port["data_arrived"])
    series = record.ports(of)
    if name == "in-the-dark":
        return _within(series, "data_arrived", DARK_S) / max(float(record.all["flows"]), 1.0)
    if name == "after":
        seconds = AFTER_S[1] - AFTER_S[0]
        return _within(series, "departed_bytes", AFTER_S) * 8 / 1e6 / seconds
    raise LookupError(f"there is no measure {name}")


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
    "packet-loss": ("lost_share", 100.0),
    "packet-delay": ("delay_p95_s", 1e3),
}
"""The name in the summary of a class, and the factor to the unit of the limit."""


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
