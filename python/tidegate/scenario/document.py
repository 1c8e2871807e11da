"""Scenario documents: found, read, and handed to the native module, which alone checks them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from tidegate import _native
from tidegate.errors import TidegateError, UsageError, from_os, path_of
from tidegate.scenario import recorded, toml

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

    def format(self, *, colour: bool = False) -> None:
        """Hold [variant] and [sweep] against the format of documents; raises as `load`."""
        _native.variants(self.text, self.origin, list(self.settings), colour)
        _native.axes(self.text, self.origin, list(self.settings), colour)

    def contents(self, *, colour: bool = False) -> dict[str, bytes]:
        """Return the content of every file that the document refers to; raises as `load`."""
        names = _native.files(self.text, self.origin, list(self.settings), colour)
        return {name: self._content(name) for name in names}

    def tables(self) -> dict[str, Any]:
        """Return the document as written, to look up what it calls things; load it first."""
        return tomllib.loads(self.text)

    def _content(self, name: str) -> bytes:
        try:
            return recorded.content(self.folder / name)
        except OSError as error:
            failure = from_os(
                f"read a file that {self.origin} refers to:", self.folder / name, error
            )
            remedy = (
                "Check its spelling; a path in a scenario starts at the folder of the scenario."
                if isinstance(error, FileNotFoundError)
                else failure.remedy
            )
            raise TidegateError(failure.what, remedy) from error


def read(source: Source, settings: Mapping[str, object] | None = None) -> Document:
    """Find a scenario: a path, a text (anything with a line break) or nested dicts."""
    if settings is not None and not isinstance(settings, Mapping):
        raise UsageError(
            f"Settings are keys with their values, and not {settings!r}.",
            'Write {"KEY": VALUE}, as in {"duration": "10s"}.',
        )
    overrides = tuple((name, toml.given(name, value)) for name, value in (settings or {}).items())
    if isinstance(source, Mapping):
        return Document(toml.document(source), "scenario", Path(), overrides)
    if isinstance(source, str) and "\n" in source:
        return Document(source, "scenario", Path(), overrides)
    path = path_of(source, "a scenario")
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


def setting(text: str) -> Setting:
    """Split one KEY=VALUE."""
    name, found, value = text.partition("=")
    if not found or not name.strip() or not value.strip():
        raise UsageError(
            f"Could not understand --set {text}.",
            "Write KEY=VALUE, as in --set traffic.web.size.pareto.mean=30kB.",
        )
    return name.strip(), value.strip()
