"""Papers regenerated claim by claim: runs, claims as functions of saved columns, report.

A paper is a package below this one with its data beside its code:
`claims.csv`, `deviations.toml`, `scenarios/*.toml`, and a `STUDY`.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from tidegate.papers.study import Study

PAPERS = {
    "qfcp": "Pu and Hamdi, QFCP: a router-assisted congestion control mechanism (SITIS 2006)",
    "session": "Ramesh and Kasera, Best effort session-level congestion control (ICNP 2007)",
    "dqm": "Kim and Liu, Distributed admission control via dual-queue management",
    "blitz": "Kim and Farber, A new congestion control framework (Blitz)",
}
"""Key and title of every paper: a new one is a line here and a package of that name."""


def load(key: str) -> Study:
    """Return what is to be done for a paper; UsageError if there is no such paper."""
    if key not in PAPERS:
        near = get_close_matches(key, PAPERS, 1, 0.4)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(PAPERS)}."
        raise UsageError(f"There is no paper {key}.", hint)
    found: Study = import_module(f"tidegate.papers.{key}").STUDY
    return found
