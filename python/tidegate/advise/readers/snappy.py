"""Snappy, as Crusader packs its results: frames of blocks.

By the two texts of github.com/google/snappy,
`framing_format.txt` and `format_description.txt`. Checksums are not compared.
"""

from __future__ import annotations

from tidegate.scenario.tree import Damaged

MOST = 256 << 20
"""A larger result is refused."""
_PACKED, _PLAIN, _BEGIN = 0x00, 0x01, 0xFF


def unframed(data: bytes) -> bytes:
    """Return what frames hold."""
    found = bytearray()
    place = 0
    while place < len(data):
        if place + 4 > len(data):
            raise Damaged(f"byte {place}: the frame ends early")
        kind, size = data[place], int.from_bytes(data[place + 1 : place + 4], "little")
        body = data[place + 4 : place + 4 + size]
        if len(body) < size:
            raise Damaged(f"byte {place}: the frame ends early")
        if kind == _PACKED:
            found += unpacked(body[4:], place)
        elif kind == _PLAIN:
            found += body[4:]
        elif kind < 0x80:
            raise Damaged(f"byte {place}: a frame of the unknown kind {kind}")
        if len(found) > MOST:
            raise Damaged(f"it holds more than {MOST >> 20} MiB")
        place += 4 + size
    return bytes(found)


def unpacked(block: bytes, where: int = 0) -> bytes:
    """Return what a block holds: literals, and copies of what came before."""
    size, place = _varint(block, where)
    found = bytearray()
    while place < len(block):
        tag = block[place]
        place += 1
        if tag & 3 == 0:
            length, place = _length(tag >> 2, block, place)
            found += block[place : place + length]
            place += length
            continue
        length, back, place = _copy(tag, block, place)
        if not 0 < back <= len(found) or len(found) > size:
            raise Damaged(f"byte {where}: a block copies what is not there")
        if back >= length:
            found += found[len(found) - back : len(found) - back + length]
        else:  # it repeats what it writes
            found += (bytes(found[-back:]) * (length // back + 1))[:length]
    if len(found) != size:
        raise Damaged(f"byte {where}: a block has {len(found)} bytes in place of {size}")
    return bytes(found)


def _varint(block: bytes, where: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(block[:5]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, place + 1
    raise Damaged(f"byte {where}: a block without a length")


def _length(code: int, block: bytes, place: int) -> tuple[int, int]:
    if code < 60:
        return code + 1, place
    width = code - 59
    return int.from_bytes(block[place : place + width], "little") + 1, place + width


def _copy(tag: int, block: bytes, place: int) -> tuple[int, int, int]:
    width = (0, 1, 2, 4)[tag & 3]
    low = int.from_bytes(block[place : place + width], "little")
    if width == 1:
        return ((tag >> 2) & 7) + 4, (tag >> 5) << 8 | low, place + 1
    return (tag >> 2) + 1, low, place + width
