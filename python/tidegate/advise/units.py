"""Rates and times as they are written on the command line."""

from __future__ import annotations

import re

from tidegate.errors import UsageError

_RATE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(bit|kbit|Mbit|Gbit)(?:/s)?\s*")
_RATES = {"bit": 1.0, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9}
_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|s)\s*")
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
LEAST_BPS, MOST_BPS = 64e3, 1e10
MOST_S = 10.0


def rate(option: str, text: str | None) -> float | None:
    """Return a rate in bit/s."""
    if text is None:
        return None
    found = _RATE.fullmatch(text)
    value = float(found[1]) * _RATES[found[2]] if found else 0.0
    if not LEAST_BPS <= value <= MOST_BPS:
        raise UsageError(
            f"Could not understand {option} {text}.",
            "Write a rate from 64kbit to 10Gbit, as in 100Mbit or 1.5Mbit.",
        )
    return value


def seconds(option: str, text: str | None) -> float | None:
    """Return a time in seconds."""
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    value = float(found[1]) * _TIMES[found[2]] if found else -1.0
    if not 0.0 <= value <= MOST_S:
        raise UsageError(
            f"Could not understand {option} {text}.", "Write a time up to 10s, as in 25ms."
        )
    return value
