"""The people at a link: how many there are, and where; the scenario says what they do."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache

from tidegate import _native
from tidegate.errors import UsageError

MOST = 2000
"""More people are not simulated."""


@cache
def places() -> tuple[str, ...]:
    """Return the kinds of places that a scenario may have."""
    named = json.loads(_native.schema())["$defs"]["Venue"]["oneOf"]
    return tuple(each["const"] for each in named)


@dataclass(frozen=True)
class People:
    """So many people at a kind of place."""

    place: str
    number: int

    def having(self, number: int) -> People:
        """Return another number of them."""
        return People(self.place, number)

    @property
    def counted(self) -> str:
        """The number in words, as in `1 person`."""
        return counted(self.number)

    def __str__(self) -> str:
        return f"{self.place}:{self.number}"


def counted(number: int) -> str:
    """Return so many people in words."""
    return "1 person" if number == 1 else f"{number} people"


def people(text: str) -> People:
    """Read `hotel:300`."""
    found = re.fullmatch(r"\s*([a-zé-]+)\s*:\s*(\d{1,9})\s*", text.lower())
    place = found[1].replace("é", "e") if found else ""
    if found is None or place not in places() or not 1 <= int(found[2]) <= MOST:
        raise UsageError(
            f"Could not understand --people {text}.",
            f"Write PLACE:NUMBER, as in hotel:300, with 1 to {MOST} people; places are"
            f" {', '.join(places())}.",
        )
    return People(place, int(found[2]))
