"""MessagePack, as far as results of Crusader use it (github.com/msgpack/msgpack, `spec.md`)."""

from __future__ import annotations

import struct
from typing import NamedTuple

from tidegate.scenario.tree import Damaged

DEEPEST = 32
_FIXED = dict(zip(range(0xCA, 0xD4), (f">{sign}" for sign in "fdBHIQbhiq"), strict=True))
_PLAIN = {0xC0: None, 0xC2: False, 0xC3: True}
_WIDTHS = (1, 2, 4)
_SIZED = {0xC4 + place: ("bytes", width) for place, width in enumerate(_WIDTHS)}
_SIZED |= {0xD9 + place: ("text", width) for place, width in enumerate(_WIDTHS)}
_SIZED |= {0xDC: ("list", 2), 0xDD: ("list", 4), 0xDE: ("table", 2), 0xDF: ("table", 4)}


class _Read(NamedTuple):
    value: object
    after: int


def read(data: bytes) -> object:
    """Return the first value."""
    return _value(data, 0, 0).value


def _value(data: bytes, place: int, depth: int) -> _Read:
    if place >= len(data):
        raise Damaged(f"byte {place} of what is packed: it ends early")
    tag = data[place]
    if tag < 0x80:
        return _Read(tag, place + 1)
    if tag >= 0xE0:
        return _Read(tag - 0x100, place + 1)
    if tag in _PLAIN:
        return _Read(_PLAIN[tag], place + 1)
    if tag in _FIXED:
        size = struct.calcsize(_FIXED[tag])
        return _Read(struct.unpack(_FIXED[tag], _some(data, place + 1, size))[0], place + 1 + size)
    kind, count, after = _head(data, place, tag)
    if kind in ("bytes", "text"):
        found = _some(data, after, count)
        return _Read(found.decode("utf-8", "replace") if kind == "text" else None, after + count)
    if depth > DEEPEST:
        raise Damaged(f"byte {place} of what is packed: too deep")
    return _several(data, kind, count, after, depth)


def _head(data: bytes, place: int, tag: int) -> tuple[str, int, int]:
    """Return the kind, the count, and where the content begins."""
    if tag < 0x90:
        return "table", tag & 0x0F, place + 1
    if tag < 0xA0:
        return "list", tag & 0x0F, place + 1
    if tag < 0xC0:
        return "text", tag & 0x1F, place + 1
    if tag not in _SIZED:
        raise Damaged(f"byte {place} of what is packed: the unknown kind {tag:#x}")
    kind, width = _SIZED[tag]
    return kind, int.from_bytes(_some(data, place + 1, width), "big"), place + 1 + width


def _several(data: bytes, kind: str, count: int, place: int, depth: int) -> _Read:
    if count > len(data) - place:
        raise Damaged(f"byte {place} of what is packed: it ends early")
    if kind == "list":
        listed: list[object] = []
        for _ in range(count):
            each, place = _value(data, place, depth + 1)
            listed.append(each)
        return _Read(listed, place)
    table: dict[str, object] = {}
    for _ in range(count):
        key, place = _value(data, place, depth + 1)
        table[str(key)], place = _value(data, place, depth + 1)
    return _Read(table, place)


def _some(data: bytes, place: int, size: int) -> bytes:
    found = data[place : place + size]
    if len(found) < size:
        raise Damaged(f"byte {place} of what is packed: it ends early")
    return found
