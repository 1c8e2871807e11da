"""What a check measures in the runs of a paper, before the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Numbers:
    """A number measured once per seed."""

    values: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class OrderingPart:
    """One part of an ordering: `differences` has one per seed, above zero as claimed."""

    what: str
    differences: tuple[float, ...]


@dataclass(frozen=True)
class Ordering:
    """A statement that one value is greater than another; every part must hold."""

    parts: tuple[OrderingPart, ...]
    note: str = ""


@dataclass(frozen=True)
class Exact:
    """What a scenario or a calculation gives.

    Without `equal` it is compared with the number (within `within`) or the text
    of the claim.
    """

    found: str
    equal: bool | None = None
    within: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Unchecked:
    """The claim cannot be checked, and why."""

    reason: str


CheckResult: TypeAlias = Numbers | Ordering | Exact | Unchecked
