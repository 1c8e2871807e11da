"""The reference of the scenario document: its JSON schema, and the same as a page."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.pages import MARK

Schema = Mapping[str, Any]

PROFILES = Path("crates/model/src/profiles.toml")
"""The settings of each TCP profile, those left out as in the profile that it is `like`."""
QUANTITIES = {"Frequency", "Length", "Rate", "Size", "Time"}
"""Definitions that the chapter on units explains."""


def schema() -> str:
    """Return the JSON schema, as editors want it."""
    from tidegate import _native

    return json.dumps(json.loads(_native.schema()), indent=2) + "\n"


def page() -> str:
    """Return every key of the document, as Markdown."""
    root: Schema = json.loads(schema())
    lines = ["# Keys of a scenario", "", MARK]
    lines += ["[scenario.md](scenario.md) explains the document as a whole.", ""]
    lines += _keys(root)
    for name, definition in root.get("$defs", {}).items():
        if name not in QUANTITIES:
            lines += ["", f"## {_title(name)}", "", _text(definition), ""]
            lines += _keys(definition)
            lines += _choices(definition)
    lines += ["", "## Settings of the TCP profiles", ""]
    lines += ["What a class has that sets only `profile`.", ""]
    lines += _profiles(tomllib.loads(PROFILES.read_text(encoding="utf-8")))
    return "\n".join(lines).rstrip() + "\n"


def _profiles(profiles: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of every setting, with the profiles in the order of their eras."""

    def settings(name: str) -> dict[str, Any]:
        own = dict(profiles[name])
        like = own.pop("like", None)
        return {**(settings(like) if like else {}), **own}

    columns = {name: settings(name) for name in sorted(profiles, key=_era)}
    yield f"| setting | {' | '.join(f'`{name}`' for name in columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for key in next(iter(columns.values())):
        values = (_value(column[key]) for column in columns.values())
        yield f"| `{key}` | {' | '.join(values)} |"


def _era(profile: str) -> tuple[bool, bool, str]:
    return not profile.startswith("ns2"), profile != "rfc", profile


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"`{key}` {_value(each)}" for key, each in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _title(name: str) -> str:
    return name.removesuffix("Doc")


def _text(node: Schema) -> str:
    return str(node.get("description", ""))


def _keys(node: Schema) -> Iterator[str]:
    """Yield a table of the keys of an object."""
    properties: Mapping[str, Schema] = node.get("properties", {})
    if not properties:
        return
    required = node.get("required", [])
    yield "| key | value | |"
    yield "|---|---|---|"
    for name, value in properties.items():
        need = " **Required.**" if name in required else ""
        yield f"| `{name}` | {_kind(value)} | {_cell(_text(value))}{need} |"


def _choices(node: Schema) -> Iterator[str]:
    """Yield the alternatives of a choice, simple ones first."""
    alternatives: list[Schema] = node.get("oneOf", node.get("anyOf", []))
    for each in alternatives:
        properties: Mapping[str, Schema] = each.get("properties", {})
        for constant, text in _constants(each):
            yield f"- `{constant}`: {text}".rstrip(": ")
        if len(properties) == 1:
            [(name, value)] = properties.items()
            yield f"- `{name} = ...`, {_kind(value)}: {_text(each)}"
        elif not properties and not _constants(each):
            yield f"- {_kind(each)} {_text(each)}".rstrip()
    for each in alternatives:
        if len(each.get("properties", {})) > 1:
            yield from ("", f"### {each.get('title', 'Either')}", "", _text(each), "")
            yield from _keys(each)


def _constants(node: Schema) -> list[tuple[str, str]]:
    if "const" in node:
        return [(str(node["const"]), _text(node))]
    return [(str(value), _text(node)) for value in node.get("enum", [])]


def _kind(node: Schema) -> str:
    """Say in a few words what a value looks like."""
    if "$ref" in node:
        return _reference(node["$ref"].rsplit("/", 1)[1])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in node:
            kinds = [_kind(each) for each in node[key] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    constants = [value for value, _ in _constants(node)]
    if constants:
        return " or ".join(f"`{value}`" for value in constants)
    if isinstance(node.get("additionalProperties"), Mapping):
        return f"by name: {_kind(node['additionalProperties'])}"
    if "items" in node:
        return f"list of {_kind(node['items'])}"
    kinds = node.get("type", "any value")
    names = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
    return " or ".join(names)


def _reference(name: str) -> str:
    if name in QUANTITIES:
        return f"[{name.lower()}](scenario.md#units)"
    title = _title(name)
    return f"[{title}](#{title.lower()})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
