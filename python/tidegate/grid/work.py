"""Runs that are to be made, and what becomes of them, whoever makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidegate import _native
    from tidegate.results.run_output import RunOutput, Wanted
    from tidegate.results.simulate import Law, RateLaw

R = TypeVar("R")


@dataclass(frozen=True)
class Task:
    """One run that is to be made."""

    scenario: _native.Scenario
    seed: int
    files: Mapping[str, bytes]
    """The content of the files that the scenario names."""


@dataclass(frozen=True)
class Work(Generic[R]):
    """Runs that are to be made, known by their places from 0 to `count`."""

    count: int
    task: Callable[[int], Task]
    wanted: Wanted
    keep: Callable[[int, RunOutput], R]
    """What becomes of a run that is over; any thread may call it."""
    laws: Mapping[str, Law | RateLaw] | None = None
    report: Callable[[int, float], None] | None = None
    """Told the place of a run and how far it has come, in simulated seconds."""
