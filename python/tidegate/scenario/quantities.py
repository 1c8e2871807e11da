"""Rates and times of the command line, read as those of a scenario."""

from __future__ import annotations

from tidegate import _native
from tidegate.errors import UsageError


def rate_bps(option: str, text: str) -> float:
    """Return a rate in bit/s; raises UsageError where it is none."""
    try:
        return _native.rate_bps(text)
    except ValueError as error:
        raise _refused(option, text, error) from None


def time_s(option: str, text: str) -> float:
    """Return a time in seconds; raises UsageError where it is none."""
    try:
        return _native.time_s(text)
    except ValueError as error:
        raise _refused(option, text, error) from None


def _refused(option: str, text: str, error: ValueError) -> UsageError:
    what, remedy = error.args
    remedy = f"{remedy[0].upper()}{remedy[1:]}."
    return UsageError(f"Could not understand {option} {text}: {what}.", remedy)
