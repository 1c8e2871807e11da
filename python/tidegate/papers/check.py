"""How a claim is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidegate.papers.check_results import CheckResult
    from tidegate.papers.runs import Runs


@dataclass(frozen=True)
class Check:
    """How a claim is checked: a function of the runs of these cases and searches."""

    cases: tuple[str, ...]
    find: Callable[[Runs], CheckResult]
    what: str = ""
    """In words, what is checked."""
    place: tuple[Path, int] | None = None
    """The file and the line that say so."""
