"""Rates and times of the command line, read as those of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate import _native
from tidegate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_BPS, MOST_BPS = 64e3, 1e10
MOST_S = 10.0


def rate(option: str, text: str | None) -> float | None:
    """Return a rate in bit/s."""
    wanted = "Write a rate from 64kbit to 10Gbit, as in 100Mbit or 1.5Mbit."
    return _read(option, text, _native.rate_bps, (LEAST_BPS, MOST_BPS), wanted)


def seconds(option: str, text: str | None) -> float | None:
    """Return a time in seconds."""
    wanted = "Write a time up to 10s, as in 25ms."
    return _read(option, text, _native.time_s, (0.0, MOST_S), wanted)


def _read(
    option: str,
    text: str | None,
    parsed: Callable[[str], float],
    between: tuple[float, float],
    wanted: str,
) -> float | None:
    if text is None:
        return None
    try:
        value = parsed(text)
    except ValueError as error:
        what, remedy = error.args
        remedy = f"{remedy[0].upper()}{remedy[1:]}."
        raise UsageError(f"Could not understand {option} {text}: {what}.", remedy) from None
    if not between[0] <= value <= between[1]:
        raise UsageError(f"{option} {text} is out of range.", wanted)
    return value
