"""Session control: S. Ramesh and S. K. Kasera, ICNP 2007."""

from __future__ import annotations

from tidegate.papers.session import setup, shapes, statements, summary, tables
from tidegate.papers.session.cases import CASES, SEARCHES
from tidegate.papers.session.figures import PICTURES
from tidegate.papers.session.sections import SECTIONS
from tidegate.papers.study import Study


def _this() -> Study:
    return STUDY


_CHECKS = setup.checks(_this) | tables.checks() | shapes.checks(_this) | statements.checks()

STUDY = Study(
    key="session",
    title="Ramesh and Kasera, Best effort session-level congestion control (ICNP 2007)",
    package="tidegate.papers.session",
    cases=CASES,
    searches=SEARCHES,
    keep=("size_bytes", "start_s", "admitted_s", "data_done_s", "closed_s"),
    checks={f"session.{name}": check for name, check in _CHECKS.items()},
    pictures=PICTURES,
    sections=SECTIONS,
    summary=summary.opening,
    quick=(
        "setup",
        "table*",
        "fig2.identity_low",
        "fig3.ratio17",
        "fig3.congested_gain10k",
        "fig3.underload",
        "fig3.gss_not_better",
        "fig4",
        "fig5",
        "fig6",
        "fig7",
        "fig8",
        "fig9",
        "text.last100",
        "text.size_session_load",
    ),
    sensitive=(
        "table1.admit1000.completion_rate",
        "table1.admit1000.fct",
        "table1.admit100.fct",
        "table1.admit65.fct",
        "table1.admit65.goodput",
        "fig3.ratio17",
        "fig4.cp_best",
        "fig5.cp_track",
        "table3.load1.cp.fct",
        "table3.load2.cp.fct",
        "table3.load3.cp.fct",
        "table4.arr1000.load3.nosc.flows",
        "table4.arr1000.load3.gssga.flows",
        "table4.arr1000.load3.cp.flows",
        "table6.cp_1000",
    ),
)
