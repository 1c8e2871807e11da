"""A suite as its file has it: each key is read once, and what is wrong is said with its place."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tidegate.errors import UsageError, from_os
from tidegate.papers.expression import evaluated, measure_of, parsed

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator
    from pathlib import Path

T = TypeVar("T")

KINDS = {str: "a text", bool: "true or false", float: "a number", list: "a list", dict: "a table"}


@dataclass
class Table:
    """A table of a suite. `place` is how messages name it, as in "suite.toml: condition `a`"."""

    place: str
    rest: dict[str, Any]
    """What has not been read."""

    def read(self, key: str, kind: type[T], default: T | None = None) -> T:
        """Take a key of this kind; raises UsageError where it is missing or of another kind."""
        if key not in self.rest:
            if default is None:
                raise self.wrong(f"the key `{key}` is missing")
            return default
        found = self.rest.pop(key)
        if kind is float and isinstance(found, int) and not isinstance(found, bool):
            found = float(found)
        if not isinstance(found, kind):
            raise self.wrong(f"`{key}` is {found!r}: write {KINDS[kind]}")
        return found

    def number(self, key: str, least: float) -> float | None:
        """Take a number above `least`, None where there is none."""
        if key not in self.rest:
            return None
        found = self.read(key, float)
        if not least < found < inf:
            raise self.wrong(f"`{key}` is {found:g}: write a number above {least:g}")
        return found

    def texts(self, key: str, default: list[str] | None = None) -> tuple[str, ...]:
        """Take a list of texts that is not empty."""
        found = self.read(key, list, default)
        if not found or not all(isinstance(each, str) for each in found):
            raise self.wrong(f'`{key}` is {found!r}: write a list of names, as ["{key}"]')
        return tuple(found)

    def tables(self, key: str) -> Iterator[Table]:
        """Take a list of tables, each with its number as a place."""
        for number, each in enumerate(self.read(key, list), 1):
            if not isinstance(each, dict):
                raise self.wrong(f"`{key}` is no list of tables: write [[{key}]]")
            yield Table(f"{self.place}: {key} {number}", each)

    def named(self, key: str) -> Iterator[tuple[str, Table]]:
        """Take a table of tables, each with its name and a place."""
        for name, each in self.read(key, dict).items():
            if not isinstance(each, dict):
                raise self.wrong(f"`{key}.{name}` is no table: write [{key}.{name}]")
            yield name, Table(f"{self.place}: {key} `{name}`", each)

    def end(self) -> None:
        """See that nothing is left."""
        for key in self.rest:
            raise self.wrong(f"there is no key `{key}`")

    def wrong(self, what: str) -> UsageError:
        """Return the error of this place."""
        remedy = "docs/certify.md, A suite of your own, has all keys."
        return UsageError(f"{self.place}: {what}.", remedy)


def read(path: Path) -> Table:
    """Return the table of a file; raises UsageError where it cannot be read."""
    try:
        return Table(str(path), tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise from_os("read the suite", path, error) from error
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text in UTF-8.", "A suite is TOML.") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"Could not read the suite {path}: {error}.", "A suite is TOML.") from None


def checked(table: Table, text: str) -> str:
    """Return an expression of measures; raises UsageError where it is none."""

    def leaf(node: ast.expr) -> np.float64:
        measure_of(node, "tidegate.results")
        return np.float64(1.0)

    try:
        with np.errstate(all="ignore"):
            evaluated(parsed(text), leaf)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise table.wrong(f"`measure` is {text!r}: {error}") from None
    return text
