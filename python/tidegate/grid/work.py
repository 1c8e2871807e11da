"""What an executor is given: runs to simulate, and what becomes of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidegate import _native
    from tidegate.results.laws import OwnLaw
    from tidegate.results.run_output import RunOutput, Wanted

R = TypeVar("R")


@dataclass(frozen=True)
class Task:
    """One run to simulate."""

    scenario: _native.Scenario
    seed: int
    files: Mapping[str, bytes]
    """The content of the files that the scenario names."""


@dataclass(frozen=True)
class Work(Generic[R]):
    """Runs to simulate, by their indices from 0 to `count`."""

    count: int
    task: Callable[[int], Task]
    wanted: Wanted
    keep: Callable[[int, RunOutput], R]
    """Saves a run that is complete; any thread may call it."""
    laws: Mapping[str, OwnLaw] | None = None
    report: Callable[[int, float], None] | None = None
    """Gets the index of a run and its simulated time in seconds."""
    named: Callable[[int], str] | None = None
    """Names a run, for the note on what its law raised."""
