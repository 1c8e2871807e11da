"""Statements about an experiment that have no number: they must hold at any service rate."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tidegate.papers.lgc.measures import found, in_order, looks, share

if TYPE_CHECKING:
    from tidegate.results.run_files import SavedRun

OTHERS = {
    "1": ("s2", "s3", "s4", "s5", "s6", "s7"),
    "1b": ("s1", "s2", "s3", "s4", "s5", "s6", "s7"),
    "2": ("s2", "s3", "s4", "s5"),
    "3": ("s2", "s4", "s5", "s6", "s7"),
}
"""The sources whose packets all have to arrive."""
FILTERED = {"1": ["s1"], "1b": [], "2": ["s1"], "3": ["s1", "s3"]}
"""The sources that have to be filtered, in this order, with one trigger each."""


@cache
def holds(record: SavedRun, experiment: str) -> bool:
    """Tell whether a run of an experiment agrees with these statements, at any rate."""
    chosen = [look.origin for look in found(record)]
    right = chosen == FILTERED[experiment] and len(looks(record)) == len(chosen)
    if experiment == "2":
        right = right and in_order(record)
    return right and share(*OTHERS[experiment])(record) == 1.0
