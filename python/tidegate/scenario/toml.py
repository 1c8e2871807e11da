"""Values and documents as TOML text; reading is tomllib's, checking is the native module's."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def key(*parts: str) -> str:
    """Return a dotted key, its parts quoted where TOML asks for it."""
    return ".".join(part if _BARE_KEY.fullmatch(part) else quoted(part) for part in parts)


def quoted(text: str) -> str:
    """Return a basic string: JSON's escapes are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: object) -> str:
    """Return a value on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | float():
            return repr(value)
        case dict():
            pairs = ", ".join(f"{key(str(name))} = {inline(each)}" for name, each in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(inline(each) for each in value)}]"
    raise TypeError(f"a scenario cannot hold a {type(value).__name__}: {value!r}")


def document(tables: Mapping[str, Any]) -> str:
    """Return a whole document."""
    import tomli_w

    return tomli_w.dumps(tables)
