"""What a check finds in the runs of a paper, before there is a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.runs import Runs


@dataclass(frozen=True)
class Numbers:
    """A number measured once per seed."""

    values: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class Part:
    """One part of an ordering: `differences` has one per seed, above zero if it is as claimed."""

    what: str
    differences: tuple[float, ...]


@dataclass(frozen=True)
class Ordering:
    """A statement that something is more than something else; all parts must hold."""

    parts: tuple[Part, ...]
    note: str = ""


@dataclass(frozen=True)
class Exact:
    """What the scenarios themselves, or a calculation, say.

    Without `equal` it is held to the number (`within` so much) or the text of
    the claim.
    """

    found: str
    equal: bool | None = None
    within: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Unchecked:
    """Nothing can be said, and why."""

    reason: str


CheckResult: TypeAlias = Numbers | Ordering | Exact | Unchecked


@dataclass(frozen=True)
class Check:
    """How a claim is found: a function of the runs of these cases and searches."""

    cases: tuple[str, ...]
    find: Callable[[Runs], CheckResult]
