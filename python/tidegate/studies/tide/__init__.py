"""The study of the session law tide: the matrix, its parts, and how it settles."""

from __future__ import annotations

from tidegate.papers.case import keyed
from tidegate.studies.study import Study
from tidegate.studies.tide import combined, parts, rest, settling
from tidegate.studies.tide.cells import matrix
from tidegate.studies.tide.page import pages

STUDY = Study(
    key="tide",
    title="The session law tide against no gate and close-probe, on a matrix of loads",
    package=__name__,
    cases=keyed([*matrix(), *parts.cases(), *settling.cases(), *combined.cases(), *rest.cases()]),
    pages=pages,
)
