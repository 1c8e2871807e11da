"""The parts of the report, in the paper's order."""

from __future__ import annotations

from tidegate.papers.qfcp import prose
from tidegate.papers.study import Section

SECTIONS = (
    Section(
        "Flow completion time (3.1; Figure 1)",
        ("fig1",),
        ("fig1",),
        (),
        prose.completion,
        prose.FCT_CASES,
    ),
    Section("Adaptability (3.2; Figure 2)", ("fig2", "text.same_rate"), ("fig2",)),
    Section("Different round trips (3.3; Figure 3)", ("fig3",), ("fig3",)),
    Section(
        "A lossy link (3.4; Figure 4)",
        ("fig4", "text.dupack", "text.timeout", "text.redundant"),
        ("fig4",),
    ),
    Section(
        "The parts of the design (1, 2.2, 2.3)",
        (
            "text.no_state",
            "text.beta",
            "text.stabilisation",
            "text.virtual_queue",
            "intro.short_hurt_long",
        ),
        ("parts", "beta"),
    ),
    Section(
        "Beyond the paper: a crowd",
        (),
        ("crowd",),
        (),
        prose.crowd,
        tuple(f"crowd/{name}" for name in prose.FIVE),
    ),
    Section(
        "Beyond the paper: several bottlenecks, TCP beside it, a capacity that changes",
        (),
        (),
        (),
        prose.beyond,
        prose.BEYOND,
    ),
)
