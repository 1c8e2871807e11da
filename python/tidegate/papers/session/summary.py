"""The opening of the report: what holds and what does not, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.openings import good, holds, listed, measured
from tidegate.papers.report import number
from tidegate.papers.verdicts import CONTRADICTED, NOT_MET, UNCHECKED, UNRESOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.openings import Found
    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import Outcome


def opening(outcomes: Sequence[Outcome], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    parts = (_works, _time, _shapes, _exact, _fails)
    return listed(parts, outcomes, runs)


def _works(found: Found) -> str:
    """Return whether session control works."""
    none, ratio = (
        measured(found, "table1.admit1000.completion_rate"),
        measured(found, "fig3.ratio17"),
    )
    level = measured(found, "table1.admit100.completion_rate")
    if none is None or ratio is None or level is None:
        return ""
    answer = (
        "**Session control works**"
        if holds(found, "fig3.congested_gain10k")
        else "**Session control does not do what the paper says**"
    )
    return (
        f"{answer} where too many sessions meet on a link: of 1000 sessions/s of 10 kB on"
        f" 10 Mbit/s {number(none)}/s complete without it (paper: 43.9), and {number(level)}/s"
        f" when the router admits 100/s (paper: 99.8). With 30 kB the schemes complete"
        f" {number(ratio)} times as many or more (paper: about 17)."
    )


def _time(found: Found) -> str:
    """Return what it does to the completion time."""
    none, cp = (
        measured(found, "table5.arr1000.load3.nosc.fct"),
        measured(found, "table5.arr1000.load3.cp.fct"),
    )
    gss = measured(found, "table5.arr1000.load3.gssga.fct")
    if none is None or cp is None or gss is None:
        return ""
    lowest = (
        "lowest everywhere"
        if holds(found, "table5.cp_lowest")
        else "lowest in most cells, not in all"
    )
    return (
        "**Close-and-probe keeps sessions short, GSS+GA does not**: in Table V (1000/s, LOAD3)"
        f" {number(cp)} s under CP, {number(gss)} s under GSS+GA, {number(none)} s without"
        f" control; CP's are {lowest}."
    )


def _shapes(found: Found) -> str:
    """Return what the time lines and the histograms show."""
    names = {
        "fig4.cp_best": "more short sessions under CP than under GSS+GA, and there than without",
        "fig5.cp_track": "CP's admissions follow its completions",
        "fig5.cp_spikes": "with regular probes",
        "fig8.nc_dip": "completions dip in the overload without control",
        "fig8.cp_floor": "and stay above 100/s under CP",
    }
    there = [name for name in names if name in found]
    if len(there) < len(names):
        return ""
    good = "; ".join(names[name] for name in there if holds(found, name))
    bad = "; ".join(names[name] for name in there if not holds(found, name))
    return f"**The shapes are the paper's**: {good}." + (f" Not so: {bad}." if bad else "")


def _exact(found: Found) -> str:
    """Return how the tables fare, with and without control."""
    cells = [each for each in found.values() if each.claim.kind == "exact-number"]
    none = [
        each
        for each in cells
        if ".nosc." in each.claim.id
        or ".admit1000." in each.claim.id
        or each.claim.id.endswith(".nc")
    ]
    if not none or len(none) == len(cells):
        return ""
    rest = [each for each in cells if each not in none]

    def share(some: Sequence[Outcome]) -> str:
        return f"{sum(good(each) for each in some)} of {len(some)}"

    return (
        f"**Numbers**: of the cells of the tables {share(rest)} with control are within tolerance,"
        f" and {share(none)} without. The paper's overload without control is deeper than that of"
        " this simulator and of a present ns-2: what control is compared *to* is less bad here."
    )


def _fails(found: Found) -> str:
    """Return how the statements of the text and of the figures fare."""
    said = [each for each in found.values() if each.claim.kind == "ordering"]
    hold = [each for each in said if good(each)]
    if not said or len(hold) == len(said):
        return ""
    groups = []
    for verdict in (NOT_MET, UNRESOLVED, CONTRADICTED, UNCHECKED):
        names = ", ".join(f"`{each.claim.short}`" for each in said if each.verdict == verdict)
        if names:
            groups.append(f"{verdict}: {names}")
    return f"**Statements**: {len(hold)} of {len(said)} hold. {'; '.join(groups)}."
