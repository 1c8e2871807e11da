"""Rates and times that advise takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.errors import UsageError
from tidegate.scenario import quantities

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_BPS, MOST_BPS = 64e3, 1e10
LEAST_RTT_S, MOST_S = 1e-6, 10.0


def rate(option: str, text: str | None) -> float | None:
    """Return a rate in bit/s."""
    wanted = "Write a rate from 64kbit to 10Gbit, as in 100Mbit or 1.5Mbit."
    return _read(option, text, quantities.rate_bps, (LEAST_BPS, MOST_BPS), wanted)


def seconds(option: str, text: str | None) -> float | None:
    """Return a time in seconds."""
    wanted = "Write a time up to 10s, as in 25ms."
    return _read(option, text, quantities.time_s, (0.0, MOST_S), wanted)


def round_trip(option: str, text: str | None) -> float | None:
    """Return a round trip in seconds. Nothing is there and back in no time."""
    wanted = "Write a time from 1us to 10s, as in 25ms."
    return _read(option, text, quantities.time_s, (LEAST_RTT_S, MOST_S), wanted)


def _read(
    option: str,
    text: str | None,
    parsed: Callable[[str, str], float],
    between: tuple[float, float],
    wanted: str,
) -> float | None:
    if text is None:
        return None
    value = parsed(option, text)
    if not between[0] <= value <= between[1]:
        raise UsageError(f"{option} {text} is out of range.", wanted)
    return value
