"""Blitz: H. Kim and D. J. Farber, about 1995."""

from __future__ import annotations

from tidegate.papers.blitz import setup, statements, summary
from tidegate.papers.blitz.cases import CASES
from tidegate.papers.blitz.figures import PICTURES
from tidegate.papers.blitz.sections import SECTIONS
from tidegate.papers.study import Study


def _this() -> Study:
    return STUDY


_CHECKS = setup.checks(_this) | statements.checks()

STUDY = Study(
    key="blitz",
    title="Kim and Farber, A new congestion control framework (Blitz)",
    package="tidegate.papers.blitz",
    cases=CASES,
    searches={},
    checks={f"blitz.{name}": check for name, check in _CHECKS.items()},
    pictures=PICTURES,
    sections=SECTIONS,
    summary=summary.opening,
    quick=("setup", "fig3", "fig4l"),
    sensitive=(
        "fig4l.ratio30",
        "fig4l.ratio90",
        "fig4l.ratio150",
        "fig5l.gap_narrow",
        "fig5l.still",
        "fig5r.max",
        "fig7.widen10k",
    ),
    keep=("size_bytes", "start_s", "data_done_s", "closed_s"),
)
