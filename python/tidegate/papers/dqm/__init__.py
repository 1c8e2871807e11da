"""Dual-queue management: D. Kim and M. Liu, about 2003."""

from __future__ import annotations

from tidegate.papers.dqm import classes, setup, single, summary, tandem
from tidegate.papers.dqm.cases import CASES
from tidegate.papers.dqm.figures import PICTURES
from tidegate.papers.dqm.sections import SECTIONS
from tidegate.papers.study import Study


def _this() -> Study:
    return STUDY


_CHECKS = setup.checks(_this) | single.checks() | classes.checks() | tandem.checks()

STUDY = Study(
    key="dqm",
    title="Kim and Liu, Distributed admission control via dual-queue management",
    package="tidegate.papers.dqm",
    cases=CASES,
    searches={},
    checks={f"dqm.{name}": check for name, check in _CHECKS.items()},
    pictures=PICTURES,
    sections=SECTIONS,
    summary=summary.opening,
    seeds=10,
    quick=("setup", "table1", "table2", "fig6c", "text"),
    sensitive=(
        "table1.dt.D",
        "table1.dt.Pd",
        "table1.gr2.D",
        "table1.gr2.Pd",
        "table1.gr2.Pc",
        "table1.pc_gt_pd",
        "fig5a.p3",
        "fig5b.order",
        "fig6c.D_p3",
        "fig6c.D_ratio",
        "table2.p3.D",
        "table2.rtx_ratio",
    ),
    sensitive_seeds=5,
    keep=("size_bytes", "start_s", "admitted_s", "closed_s", "class"),
)
