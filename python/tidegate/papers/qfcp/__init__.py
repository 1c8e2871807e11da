"""QFCP: J. Pu and M. Hamdi, SITIS 2006."""

from __future__ import annotations

from tidegate.papers.qfcp import setup, shapes, statements, summary
from tidegate.papers.qfcp.cases import CASES
from tidegate.papers.qfcp.figures import PICTURES
from tidegate.papers.qfcp.sections import SECTIONS
from tidegate.papers.study import Study


def _this() -> Study:
    return STUDY


_CHECKS = setup.checks(_this) | shapes.checks() | statements.checks()

STUDY = Study(
    key="qfcp",
    title="Pu and Hamdi, QFCP: a router-assisted congestion control mechanism (SITIS 2006)",
    package="tidegate.papers.qfcp",
    cases=CASES,
    searches={},
    checks={f"qfcp.{name}": check for name, check in _CHECKS.items()},
    pictures=PICTURES,
    sections=SECTIONS,
    summary=summary.opening,
    quick=("setup", "fig1", "fig2", "fig3", "text.beta", "text.same_rate", "text.stabilisation"),
    sensitive=(
        "fig1.qfcp_best",
        "fig1.xcp_longest_short",
        "fig1.rate_pair",
        "fig1.qfcp_lt_rcp",
        "fig2.converge",
        "fig2.initial_rate",
        "fig3.faster_than_xcp",
        "fig3.best",
        "fig4.qfcp_gt_xcp",
        "fig4.ack_insensitive",
    ),
    keep=("size_bytes", "start_s", "closed_s", "retransmitted_packets"),
)
