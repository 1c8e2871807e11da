"""The reference of the gate's file of configuration, from the lines that define its keys."""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.pages import MARK

SOURCE = Path("crates/gate/src/config.rs")
_TABLE = re.compile(r"^keys! \{\n.*?(\w+):\n(.*?)^\}", re.M | re.S)
_KEY = re.compile(
    r"^ +(?P<key>\w+): [^;\n]*?(?: = (?P<default>\S+?))?"
    r"(?: \[(?P<low>\S+) to (?P<high>\S+)\])?; \"(?P<value>.*?)\", \"(?P<meaning>.*)\";$",
    re.M,
)


def page() -> str:
    """Return every key of the file, as Markdown."""
    tables = dict(_TABLE.findall(SOURCE.read_text(encoding="utf-8")))
    lines = ["# Keys of a gate", "", MARK]
    lines += ["[gate.md](gate.md) explains how a gate is set up.", "", *_rows(tables["File"])]
    lines += ["", "## flood", "", *_rows(tables["FloodFile"])]
    return "\n".join(lines) + "\n"


def _rows(table: str) -> Iterator[str]:
    yield "| key | value | |"
    yield "|---|---|---|"
    for found in _KEY.finditer(table):
        parts = [found["meaning"].replace('\\"', '"').removesuffix(".")]
        if found["default"]:
            parts.append(f"default {_plain(found['default'])}")
        if found["low"]:
            parts.append(f"{_plain(found['low'])} to {_plain(found['high'])}")
        text = "; ".join(parts)
        end = "" if text.endswith("*") else "."
        yield f"| `{found['key']}` | {found['value']} | {text}{end} |"


def _plain(literal: str) -> str:
    return literal.strip('"')
