"""Values and documents as TOML text; reading is tomllib's, checking is the native module's."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class Unfit(UsageError):
    """A value that no scenario can hold."""


_FITS = (
    "Give a finite number of 64 bits at most, a text, true or false, a list or a dict; leave a key"
    " out that is to have its default."
)


def _shown(value: object) -> str:
    known = value is None or isinstance(value, int | float)
    return repr(value) if known else f"{value!r} ({type(value).__name__})"


def key(*parts: str) -> str:
    """Return a dotted key, its parts quoted where TOML asks for it."""
    return ".".join(part if _BARE_KEY.fullmatch(part) else quoted(part) for part in parts)


def quoted(text: str) -> str:
    """Return a basic string: JSON's escapes are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: object) -> str:
    """Return a value on one line."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()  # what a loop over an array has
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() if -(1 << 63) <= value < 1 << 63:
            return repr(value)
        case float():
            return repr(value)
        case dict():
            pairs = ", ".join(f"{key(str(name))} = {inline(each)}" for name, each in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(inline(each) for each in value)}]"
    raise Unfit(f"A scenario cannot hold {_shown(value)}.", _FITS)


def given(name: object, value: object) -> str:
    """Return the value of a key as a setting has it: a text as it is."""
    if not isinstance(name, str):
        raise UsageError(
            f"A key is a text, and not {name!r}.",
            'Write {"KEY": VALUE}, as in {"duration": "10s"}.',
        )
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not isfinite(value):
        raise Unfit(f"{name} cannot hold {value!r}.", _FITS)
    try:
        return inline(value)
    except Unfit as error:
        raise Unfit(error.what.replace("A scenario", name, 1), _FITS) from None


def document(tables: Mapping[str, Any]) -> str:
    """Return a whole document."""
    import tomli_w

    try:
        return tomli_w.dumps(tables)
    except (TypeError, AttributeError, ValueError) as error:
        raise Unfit(f"The dicts make no scenario: {error}.", _FITS) from None
