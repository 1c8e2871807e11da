"""The reference of the gate's file of configuration, from the lines that declare its keys."""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.pages import MARK

SOURCES = [
    *(Path("crates/gate/src") / name for name in ("config.rs", "flood.rs", "hook.rs")),
    Path("crates/core/src/law/session/ingress.rs"),
]
_TABLE = re.compile(r"^(?:keys|settings)! \{\n.*?struct (\w+):\n(.*?)^\}", re.M | re.S)
_KEY = re.compile(
    r"^ +(?P<key>\w+): (?:Option<)?(?P<type>Vec<\w+>|[\w:]+)>? = (?P<default>\{.*?\}|\S+)"
    r"(?: quiet)?(?: \[(?P<range>.*?)\])? \"(?P<what>(?:[^\"\\]|\\.)*)\""
    r"(?: \+ \"(?P<more>(?:[^\"\\]|\\.)*)\")?;$",
    re.M,
)
_NAMES = re.compile(r"^pub enum (\w+) \{\n(.*?)^\}", re.M | re.S)
_VALUES = {
    "String": "text", "PathBuf": "path", "Rate": "rate", "Size": "size", "Time": "time",
    "f64": "number", "u32": "number", "bool": "`true` or `false`", "Vec<String>": "list of texts",
}  # fmt: skip
"""What a value of a type looks like; of others that are no choice of names: a table."""


def page() -> str:
    """Return every key of the file, as Markdown."""
    code = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    tables = dict(_TABLE.findall(code))
    values = _VALUES | {name: _choice(arms) for name, arms in _NAMES.findall(code)}
    lines = ["# Keys of a gate", "", MARK]
    lines += [
        "[gate.md](gate.md) explains how a gate is set up.",
        "",
        *_rows(tables["File"], values),
    ]
    lines += ["", "## flood", "", *_rows(tables["Limits"], values)]
    return "\n".join(lines) + "\n"


def _choice(arms: str) -> str:
    names = re.findall(r"^    ([A-Z]\w*),$", arms, re.M)
    kebab = (re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower() for name in names)
    *others, last = (f"`{name}`" for name in kebab)
    return f"{', '.join(others)} or {last}"


def _rows(table: str, values: dict[str, str]) -> Iterator[str]:
    yield "| key | value | |"
    yield "|---|---|---|"
    for found in _KEY.finditer(table):
        text, mark = found["what"], "; "
        if not found["default"].startswith(("{", "none", "required")):
            text, mark = f"{text}; default {_plain(found['default'])}", ", "
        if found["range"]:
            text += mark + _plain(found["range"])
        more = f" {found['more']}" if found["more"] else ""
        need = " **Required.**" if found["default"] == "required" else ""
        text = f"{text}.{more}{need}".replace('\\"', '"')
        yield f"| `{found['key']}` | {values.get(found['type'], 'table')} | {text} |"


def _plain(literal: str) -> str:
    return literal.replace('"', "")
