"""The keys of the document in words, from its JSON schema: for a page, and for the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tidegate.errors import UsageError

Schema = Mapping[str, Any]

QUANTITIES = {"Frequency", "Length", "Rate", "Size", "Time"}
"""Definitions that the chapter on units explains."""
WHOLE = "scenario"
"""The name of the document itself among its parts."""


@dataclass(frozen=True)
class Key:
    """A key, what its value looks like, and what it means."""

    name: str
    value: str
    text: str


@dataclass(frozen=True)
class KeyTable:
    """A table of the document, or a choice of values, and the longer ones of its choices."""

    title: str
    text: str
    keys: tuple[Key, ...]
    choices: tuple[str, ...] = ()
    """The values that it may have, in Markdown, the simple ones alone."""
    longer: tuple[KeyTable, ...] = ()
    """The values that it may have that are tables."""

    def named(self, name: str) -> Iterator[KeyTable]:
        """Yield what is called so: itself, or some of its choices."""
        if name.lower() in {self.title.lower(), _written(self.title)}:
            yield self
        for part in self.longer:
            yield from part.named(name)

    def every(self) -> Iterator[KeyTable]:
        """Yield it and its choices."""
        yield self
        for part in self.longer:
            yield from part.every()


def parts(schema: Schema, reference: Callable[[str], str] = str) -> list[KeyTable]:
    """Return the document and its parts; `reference` says where a value is defined elsewhere."""
    words = _Words(reference)
    document = KeyTable(WHOLE, "", tuple(words.keys(schema)))
    definitions = schema.get("$defs", {}).items()
    return [document, *(words.part(name, each) for name, each in definitions if _own(name))]


def named(name: str) -> list[KeyTable]:
    """Return the parts that are called so; UsageError names near ones."""
    from tidegate import _native

    every = parts(json.loads(_native.schema()), title)
    found = [part for each in every for part in each.named(name)]
    if not found:
        known = list(dict.fromkeys(_written(part.title) for each in every for part in each.every()))
        near = get_close_matches(_written(name), known, 3, 0.5)
        remedy = f"Near it are {', '.join(near)}." if near else f"There are {', '.join(known)}."
        raise UsageError(f"No part is called {name!r}.", remedy)
    return found


def title(name: str) -> str:
    """Return the name of a definition as pages have it."""
    return name.removesuffix("Doc")


def _own(name: str) -> bool:
    return name not in QUANTITIES


def _written(name: str) -> str:
    """Return a name as a document writes names: DelayedAck is delayed-ack."""
    return "".join(
        f"-{each.lower()}" if each.isupper() and place else each.lower()
        for place, each in enumerate(name)
    )


@dataclass(frozen=True)
class _Words:
    """Puts a schema into words."""

    reference: Callable[[str], str]

    def part(self, name: str, node: Schema) -> KeyTable:
        """Return a definition."""
        return KeyTable(
            title(name),
            _text(node),
            tuple(self.keys(node)),
            tuple(self._simple(node)),
            tuple(
                KeyTable(each.get("title", "Either"), _text(each), tuple(self.keys(each)))
                for each in _alternatives(node)
                if len(each.get("properties", {})) > 1
            ),
        )

    def keys(self, node: Schema) -> Iterator[Key]:
        """Yield the keys of an object."""
        required = node.get("required", [])
        for name, value in node.get("properties", {}).items():
            need = " **Required.**" if name in required else ""
            yield Key(name, self._kind(value), f"{_text(value)}{need}")

    def _simple(self, node: Schema) -> Iterator[str]:
        """Yield the alternatives of a choice that are no tables of several keys."""
        for each in _alternatives(node):
            properties: Mapping[str, Schema] = each.get("properties", {})
            for constant, text in _constants(each):
                yield f"`{constant}`: {text}".rstrip(": ")
            if len(properties) == 1:
                [(name, value)] = properties.items()
                yield f"`{name} = ...`, {self._kind(value)}: {_text(each)}"
            elif not properties and not _constants(each):
                yield f"{self._kind(each)} {_text(each)}".rstrip()

    def _kind(self, node: Schema) -> str:
        """Say in a few words what a value looks like."""
        if "$ref" in node:
            return self.reference(node["$ref"].rsplit("/", 1)[1])
        for key in ("anyOf", "oneOf", "allOf"):
            if key in node:
                kinds = [self._kind(each) for each in node[key] if each.get("type") != "null"]
                return " or ".join(dict.fromkeys(kinds))
        constants = [value for value, _ in _constants(node)]
        if constants:
            return " or ".join(f"`{value}`" for value in constants)
        if isinstance(node.get("additionalProperties"), Mapping):
            return f"by name: {self._kind(node['additionalProperties'])}"
        if "items" in node:
            return f"list of {self._kind(node['items'])}"
        kinds = node.get("type", "any value")
        names = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
        return " or ".join(names)


def _alternatives(node: Schema) -> list[Schema]:
    found: list[Schema] = node.get("oneOf", node.get("anyOf", []))
    return found


def _text(node: Schema) -> str:
    return str(node.get("description", ""))


def _constants(node: Schema) -> list[tuple[str, str]]:
    if "const" in node:
        return [(str(node["const"]), _text(node))]
    return [(str(value), _text(node)) for value in node.get("enum", [])]
