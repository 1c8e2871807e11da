"""Studies: questions that are answered by many runs (`tidegate study`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from tidegate.studies.study import Study

STUDIES = ("tide", "today", "users")
"""The studies; each is a package here, with a STUDY."""


def load(key: str) -> Study:
    """Return a study by its name."""
    if key not in STUDIES:
        raise UsageError(f"There is no study {key}.", f"Studies: {', '.join(STUDIES)}.")
    study: Study = import_module(f"tidegate.studies.{key}").STUDY
    return study
