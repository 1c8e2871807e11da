"""Scenario documents: found, read, and handed to the native module, which alone checks them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from tidegate import _native, replay, toml
from tidegate.errors import TidegateError, UsageError, from_os

Source: TypeAlias = "str | Path | Mapping[str, Any]"
"""A scenario as a path, as the text of a document, or as nested dicts."""

Setting: TypeAlias = tuple[str, str]
"""One override, as `--set KEY=VALUE` gives it."""


@dataclass(frozen=True)
class Document:
    """A scenario before it is checked."""

    text: str
    origin: str
    folder: Path
    settings: tuple[Setting, ...] = ()

    def having(self, *settings: Setting) -> Document:
        """Return the same document with more overrides; the last one of a key counts."""
        return replace(self, settings=self.settings + settings)

    def load(
        self, *, colour: bool = False, files: dict[str, bytes] | None = None
    ) -> _native.Scenario:
        """Check the document; `files`: its `contents`, if they have been read.

        Raises ScenarioError with the line and what would be right, or
        TidegateError where a file that it refers to cannot be read.
        """
        if files is None:
            files = self.contents(colour=colour)
        return _native.load(self.text, self.origin, list(self.settings), files, colour)

    def contents(self, *, colour: bool = False) -> dict[str, bytes]:
        """Return the content of every file that the document refers to; raises as `load`."""
        names = _native.files(self.text, self.origin, list(self.settings), colour)
        return {name: self._content(name) for name in names}

    def tables(self) -> dict[str, Any]:
        """Return the document as written, to look up what it calls things; load it first."""
        return tomllib.loads(self.text)

    def _content(self, name: str) -> bytes:
        try:
            return replay.content(self.folder / name)
        except OSError as error:
            doing = f"read a file that {self.origin} refers to:"
            raise from_os(doing, self.folder / name, error) from error


def read(source: Source, settings: Mapping[str, object] | None = None) -> Document:
    """Find a scenario: a path, a text (anything with a line break) or nested dicts."""
    overrides = tuple((name, _written(value)) for name, value in (settings or {}).items())
    if isinstance(source, Mapping):
        return Document(toml.document(source), "scenario", Path(), overrides)
    if isinstance(source, str) and "\n" in source:
        return Document(source, "scenario", Path(), overrides)
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TidegateError(
            f"Could not read the scenario {path}: it is not UTF-8 text (byte {error.start}).",
            "A scenario is a TOML file: save it as UTF-8.",
        ) from error
    except OSError as error:
        raise from_os("read the scenario", path, error) from error
    return Document(text, str(path), path.parent, overrides)


def _written(value: object) -> str:
    return value if isinstance(value, str) else toml.inline(value)


def setting(text: str) -> Setting:
    """Split one KEY=VALUE."""
    name, found, value = text.partition("=")
    if not found or not name.strip() or not value.strip():
        raise UsageError(
            f"Could not understand --set {text}.",
            "Write KEY=VALUE, as in --set traffic.web.size.pareto.mean=30kB.",
        )
    return name.strip(), value.strip()


@dataclass(frozen=True)
class Cell:
    """One column of a comparison: what it is called and what it changes."""

    label: str
    says: dict[str, str]
    settings: tuple[Setting, ...]


def gate_cells(
    gates: list[str | dict[str, Any]], port: str, written: Mapping[str, Any]
) -> list[Cell]:
    """Return one cell per control.

    `written` is the gate that the document itself gives the port. Which packet
    opens a session there and how one is refused belong to the port, so they
    are kept; parameters of the same law are kept too.
    """
    cells: list[Cell] = []
    for gate in gates:
        asked = _shorthand(gate) if isinstance(gate, str) else gate
        label = gate if isinstance(gate, str) else _label(gate)
        if not isinstance(gate, str) and any(label == cell.label for cell in cells):
            label = _label(gate, full=True)
        kept = dict(written) if asked.get("law") == written.get("law") else {}
        if asked.get("law") != "none":
            kept |= {name: written[name] for name in ("admit", "refuse") if name in written}
        value = toml.inline(kept | asked)
        cells.append(Cell(label, {"gate": label}, ((toml.key("port", port, "gate"), value),)))
    return cells


def _label(gate: Mapping[str, Any], *, full: bool = False) -> str:
    """Return a name for the column: of a law of the caller's own, the one it was given."""
    law, said = str(gate.get("law", "?")), {"law"}
    if law == "python" and "name" in gate and not full:
        law, said = str(gate["name"]), {"law", "name", "limiter"}
    return ":".join([law, *(f"{name}={value}" for name, value in gate.items() if name not in said)])


_POSITIONAL = {"fixed-rate": "rate", "python": "name"}


def _shorthand(text: str) -> dict[str, Any]:
    """Read `law`, `law:ARG` (fixed-rate:100) or `law:FIELD=VALUE:...`."""
    law, *arguments = text.split(":")
    gate: dict[str, Any] = {"law": law}
    for argument in arguments:
        field, named, value = argument.partition("=")
        if not named:
            field, value = _POSITIONAL.get(law, ""), argument
        if not field or not value:
            raise UsageError(
                f"Could not understand the gate {text}.",
                "Write LAW, fixed-rate:RATE, or LAW:FIELD=VALUE, as in close-probe:alpha_min=5.",
            )
        gate[field] = _plain(value)
    if law == "fixed-rate" and isinstance(gate.get("rate"), int | float):
        gate["rate"] = f"{gate['rate']}/s"
    return gate


def _plain(value: str) -> object:
    """Return a number or a truth value where the text is one, else the text."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def vary_cells(text: str) -> list[Cell]:
    """Return one cell per value of `KEY=a,b`."""
    name, values = setting(text)
    return [Cell(f"{name}={value}", {name: value}, ((name, value),)) for value in split(values)]


def split(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def variant_cells(document: Document) -> list[Cell]:
    """Return one cell per [variant.NAME] table of the document."""
    settings = list(document.settings)
    variants = _native.variants(document.text, document.origin, settings)
    return [Cell(name, {"variant": name}, tuple(changes)) for name, changes in variants]


def default_port(scenario: _native.Scenario) -> str:
    """Return the port that gates are compared at: the bottleneck, or the only candidate."""
    names = [name for name, access in scenario.ports if not access]
    forward = [name for name in names if not name.endswith(".reverse")]
    if "bottleneck" in names:
        return "bottleneck"
    if len(forward) == 1:
        return forward[0]
    raise UsageError(
        f"Which port should the gates control? {scenario.name} has {', '.join(forward) or 'none'}.",
        "Name one with --port.",
    )


def require_port(port: str, scenario: _native.Scenario) -> None:
    """Raise unless the scenario has the port."""
    names = [name for name, access in scenario.ports if not access]
    if port not in {name for name, _ in scenario.ports}:
        raise UsageError(f"There is no port {port}.", f"The ports are {', '.join(names)}.")
