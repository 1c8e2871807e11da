"""The parts of the report, in the paper's order."""

from __future__ import annotations

from tidegate.papers.session import prose
from tidegate.papers.session.tables import grids
from tidegate.papers.study import Section

_GRIDS = grids()

_STATIC = (
    Section(
        "Fixed admit rates (III; Figure 2, Tables I and II)",
        (
            "table1",
            "table2",
            "fig2",
            "text.input_percentile",
            "text.nc_small_share",
            "text.admit100_pct",
            "text.qiu",
            "text.syn_backoff",
        ),
        ("fig2",),
        (_GRIDS["table1"], _GRIDS["table2"]),
    ),
    Section(
        "Traffic that does not change (V-C; Figures 3 to 5)",
        (
            "fig3",
            "fig4",
            "fig5",
            "text.size_session_load",
            "text.cp_slow_start",
            "text.no_worse",
            "text.cp_overall",
        ),
        ("fig3", "fig4", "fig5"),
    ),
)

_CHANGING = (
    Section("Loads that change (V-D; Figure 6)", ("fig6",), ("fig6",)),
    Section(
        "The arrival rate changes (V-E; Figures 7 and 8, Table III)",
        ("fig7", "fig8", "table3", "text.input_independence"),
        ("fig7", "fig8"),
        (_GRIDS["table3"],),
    ),
    Section(
        "The size changes (V-F; Tables IV and V)",
        ("table4", "table5"),
        (),
        (_GRIDS["table4"], _GRIDS["table5"]),
    ),
    Section(
        "The capacity changes (V-G; Figure 9, Table VI)",
        ("fig9", "table6", "text.last100", "capacity_up", "text.optimal_vs_capacity"),
        ("fig9", "capacity-up", "optima"),
        (_GRIDS["table6"],),
    ),
    Section("Pulses (V-D)", ("text.pulse",), ("pulses",)),
)

_FURTHER = (
    Section(
        "Reasons that the text gives, each part taken away (IV)",
        (
            "text.gss_alone",
            "text.ga_alone",
            "text.cp_smoothing",
            "text.linear_range",
            "text.starvation",
            "text.stateless",
        ),
        ("ablations",),
    ),
    Section(
        "Beyond the paper's own cases (II, VI, VII)",
        ("text.threshold_degrades", "text.skew", "text.ipsec_share"),
        ("beyond",),
        (),
        prose.beyond,
        prose.CASES,
    ),
)

SECTIONS = (*_STATIC, *_CHANGING, *_FURTHER)
