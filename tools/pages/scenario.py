"""The reference of the scenario document: its JSON schema, and the same as a page."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tools.pages import MARK

Schema = Mapping[str, Any]


def schema() -> str:
    """The JSON schema, as editors want it."""
    from tidegate import _native

    return json.dumps(json.loads(_native.schema()), indent=2) + "\n"


def page() -> str:
    """Every key of the document, as Markdown."""
    root: Schema = json.loads(schema())
    lines = ["# Keys of a scenario", "", MARK]
    lines += [_text(root), ""]
    lines += _keys(root)
    for name, definition in root.get("$defs", {}).items():
        lines += ["", f"## {name}", "", _text(definition), ""]
        lines += _keys(definition)
        lines += _choices(definition)
    return "\n".join(lines).rstrip() + "\n"


def _text(node: Schema) -> str:
    return str(node.get("description", ""))


def _keys(node: Schema) -> Iterator[str]:
    """A table of the keys of an object."""
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
    """A list of the alternatives of a choice."""
    alternatives = node.get("oneOf", node.get("anyOf", []))
    values = [value for each in alternatives for value in _constants(each)]
    for each in alternatives:
        if "properties" in each:
            yield from ("", _text(each) or "Either:", "", *_keys(each))
        elif not _constants(each):
            yield f"- {_kind(each)} {_text(each)}".rstrip()
    if values:
        yield from (f"- `{value}`: {text}".rstrip(": ") for value, text in values)


def _constants(node: Schema) -> list[tuple[str, str]]:
    if "const" in node:
        return [(str(node["const"]), _text(node))]
    return [(str(value), _text(node)) for value in node.get("enum", [])]


def _kind(node: Schema) -> str:
    """What a value looks like, in a few words."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in node:
            kinds = [_kind(each) for each in node[key] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    if "additionalProperties" in node and isinstance(node["additionalProperties"], Mapping):
        return f"by name: {_kind(node['additionalProperties'])}"
    if "items" in node:
        return f"list of {_kind(node['items'])}"
    kinds = node.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
    return " or ".join(names)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
