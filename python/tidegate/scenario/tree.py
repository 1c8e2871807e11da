"""A document of JSON (or alike) that knows the place of each value, for errors that name it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 1e18
"""No number of these files is larger."""


class Damaged(Exception):
    """A file that is not as its format says; the place is part of the words."""


@dataclass(frozen=True)
class Tree:
    """A value and its place."""

    value: object
    place: str = ""

    def has(self, key: str) -> bool:
        """Tell whether it is a table with this key, and the value is not null."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def at(self, key: str) -> Tree:
        """Return the value of a key."""
        if not isinstance(self.value, dict):
            raise Damaged(f"{self.place or 'the document'} is no table")
        place = f"{self.place}.{key}" if self.place else key
        if key not in self.value:
            raise Damaged(f"`{place}` is missing")
        return Tree(self.value[key], place)

    def items(self) -> Iterator[tuple[str, Tree]]:
        """Yield the keys of a table with their values."""
        if not isinstance(self.value, dict):
            raise Damaged(f"`{self.place}` is no table")
        for key in self.value:
            yield str(key), Tree(self.value[key], f"{self.place}.{key}")

    def listed(self) -> list[Tree]:
        """Return the values of a list."""
        if not isinstance(self.value, list):
            raise Damaged(f"`{self.place or 'the document'}` is no list")
        return [Tree(each, f"{self.place}[{number}]") for number, each in enumerate(self.value)]

    def number(self, least: float = 0.0, most: float = MOST) -> float:
        """Return a number in a range."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise Damaged(f"`{self.place}` is no number")
        return in_range(self.value, self.place, least, most)

    def numbers(self, least: float = 0.0, most: float = MOST) -> list[float]:
        """Return the numbers of a list; null is left out."""
        return [each.number(least, most) for each in self.listed() if each.value is not None]

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise Damaged(f"`{self.place}` is no text")
        return self.value


def in_range(value: float, place: str, least: float = 0.0, most: float = MOST) -> float:
    """Return a number as it is, if it is in a range."""
    if not (least <= value <= most) or not math.isfinite(value):
        raise Damaged(f"`{place}` is {value}, which is not from {least:g} to {most:g}")
    return float(value)


def of_json(text: str) -> Tree:
    """Read JSON."""
    try:
        return Tree(json.loads(text))
    except json.JSONDecodeError as error:
        raise Damaged(f"line {error.lineno}: it is no JSON: {error.msg}") from error
    except RecursionError as error:
        raise Damaged("its lists and tables are too deep") from error
    except ValueError as error:  # the interpreter reads no integer of more than 4300 digits
        raise Damaged("it has a number with too many digits") from error
