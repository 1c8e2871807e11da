"""Files that one has of a link, each read into facts; its content says what it is."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from tidegate.advise.readers import (
    autorate,
    capture,
    crusader,
    flent,
    irtt,
    lines,
    qdisc,
    quality,
)
from tidegate.advise.readers.qdisc import Interfaces
from tidegate.errors import TidegateError, from_os, path_of
from tidegate.scenario.tree import Damaged, of_json

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate.advise.facts import Fact

__all__ = ["Interfaces", "read"]

MOST = 256 << 20
"""A larger file, other than a capture, is refused."""
_GZIP = b"\x1f\x8b"
KINDS = (
    "tc -s qdisc (text, or tc -s -j qdisc), ping, ss -ti, networkQuality -c, goresponsiveness,"
    " Flent (.flent.gz), Crusader (.crr), a log of cake-autorate, irtt -o, a capture (pcap)"
)


def read(path: str | Path, interfaces: Interfaces | None = None) -> list[Fact]:
    """Read one file; TidegateError with place and remedy where it is not understood."""
    path = path_of(path, "a measurement")
    names = interfaces or Interfaces()
    source = path.name
    try:
        with path.open("rb") as file:
            data = file.read(MOST + 1)
    except OSError as error:
        raise from_os("read", path, error) from error
    if capture.knows(data):
        return capture.read(path, source)
    try:
        return facts_of(data, source, names)
    except Damaged as error:
        raise TidegateError(f"Could not read {path}: {error}.", _remedy(data)) from error


def facts_of(data: bytes, source: str, names: Interfaces) -> list[Fact]:
    """Read the bytes of a file; Damaged where they are not understood."""
    if len(data) > MOST:
        raise Damaged(f"it is larger than {MOST >> 20} MiB")
    if data.startswith(_GZIP):
        data = _unpacked(data)
    if crusader.knows(data):
        return crusader.read(data, source)
    if not data.strip():
        raise Damaged("it is empty")
    text = _text(data)
    if text.lstrip()[:1] in ("{", "["):
        return _of_json(text, source, names)
    for knows, reader in (
        (qdisc.knows, lambda text, source: qdisc.read(text, source, names)),
        (autorate.knows, autorate.read),
        (quality.knows_go, quality.go),
        (lines.knows_ss, lines.ss),
        (lines.knows_ping, lines.ping),
    ):
        if knows(text):
            return reader(text, source)
    raise Damaged(f"line 1: nothing that is known begins so: {text.split(chr(10))[0][:60]!r}")


def _of_json(text: str, source: str, names: Interfaces) -> list[Fact]:
    tree = of_json(text)
    if qdisc.knows_json(tree):
        return qdisc.read_json(text, source, names)
    for knows, reader in (
        (quality.knows, quality.read),
        (flent.knows, flent.read),
        (crusader.knows_json, crusader.read_json),
        (irtt.knows, irtt.read),
    ):
        if knows(tree):
            return reader(text, source)
    raise Damaged("it is JSON of none of the programs that are known")


def _unpacked(data: bytes) -> bytes:
    try:
        engine = zlib.decompressobj(wbits=31)
        found = engine.decompress(data, MOST + 1)
    except zlib.error as error:
        raise Damaged(f"it is compressed, and damaged ({error})") from error
    if len(found) > MOST:
        raise Damaged(f"it holds more than {MOST >> 20} MiB")
    if not engine.eof:
        raise Damaged("it is compressed, and ends early")
    return found


def _text(data: bytes) -> str:
    # PowerShell writes what a program prints in UTF-16, other shells of Windows by its code page
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" not in data:
            return data.decode("latin-1")
        raise Damaged(f"byte {error.start}: it is neither text in UTF-8 nor a known file") from None


def _remedy(data: bytes) -> str:
    if not data.strip():
        return "Record it again; nothing was written into it."
    return f"Give one of these, as the program writes it: {KINDS}."
