"""The opening of the report: what holds and what does not, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.report import number
from tidegate.papers.verdicts import (
    CALIBRATED,
    CONTRADICTED,
    MET,
    NOT_MET,
    UNCHECKED,
    UNRESOLVED,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import Outcome


def opening(outcomes: Sequence[Outcome], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    found = {outcome.claim.short: outcome for outcome in outcomes}
    parts = [_works(found), _time(found), _shapes(found), _exact(outcomes), _fails(found)]
    whole = [part for part in parts if part]
    return (
        "\n".join(f"- {part}" for part in whole) or f"{len(outcomes)} claims, {runs.seeds} seeds."
    )


def _measured(found: dict[str, Outcome], name: str) -> float | None:
    value = found[name].measured if name in found else None
    return value if isinstance(value, float) else None


def _holds(found: dict[str, Outcome], name: str) -> bool:
    return name in found and found[name].verdict in (MET, CALIBRATED)


def _works(found: dict[str, Outcome]) -> str:
    """Return whether session control works."""
    none, ratio = (
        _measured(found, "table1.admit1000.completion_rate"),
        _measured(found, "fig3.ratio17"),
    )
    level = _measured(found, "table1.admit100.completion_rate")
    if none is None or ratio is None or level is None:
        return ""
    answer = (
        "**Session control works**"
        if _holds(found, "fig3.congested_gain10k")
        else "**Session control does not do what the paper says**"
    )
    return (
        f"{answer} where too many sessions meet on a link: of 1000 sessions/s of 10 kB on"
        f" 10 Mbit/s {number(none)}/s complete without it (paper: 43.9), and {number(level)}/s"
        f" when the router admits 100/s (paper: 99.8). With 30 kB the schemes complete"
        f" {number(ratio)} times as many or more (paper: about 17)."
    )


def _time(found: dict[str, Outcome]) -> str:
    """Return what it does to the completion time."""
    none, cp = (
        _measured(found, "table5.arr1000.load3.nosc.fct"),
        _measured(found, "table5.arr1000.load3.cp.fct"),
    )
    gss = _measured(found, "table5.arr1000.load3.gssga.fct")
    if none is None or cp is None or gss is None:
        return ""
    lowest = (
        "lowest everywhere"
        if _holds(found, "table5.cp_lowest")
        else "lowest in most cells, not in all"
    )
    return (
        "**Close-and-probe keeps sessions short, GSS+GA does not**: in Table V (1000/s, LOAD3)"
        f" {number(cp)} s under CP, {number(gss)} s under GSS+GA, {number(none)} s without"
        f" control; CP's are {lowest}."
    )


def _shapes(found: dict[str, Outcome]) -> str:
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
    good = "; ".join(names[name] for name in there if _holds(found, name))
    bad = "; ".join(names[name] for name in there if not _holds(found, name))
    return f"**The shapes are the paper's**: {good}." + (f" Not so: {bad}." if bad else "")


def _exact(outcomes: Sequence[Outcome]) -> str:
    """Return how the tables fare, with and without control."""
    cells = [each for each in outcomes if each.claim.kind == "exact-number"]
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
        good = sum(each.verdict in (MET, CALIBRATED) for each in some)
        return f"{good} of {len(some)}"

    return (
        f"**Numbers**: of the cells of the tables {share(rest)} with control are within tolerance,"
        f" and {share(none)} without. The paper's overload without control is deeper than that of"
        " this simulator and of a present ns-2: what control is compared *to* is less bad here."
    )


def _fails(found: dict[str, Outcome]) -> str:
    """Return how the statements of the text and of the figures fare."""
    said = [each for each in found.values() if each.claim.kind == "ordering"]
    good = [each for each in said if each.verdict in (MET, CALIBRATED)]
    if not said or len(good) == len(said):
        return ""
    groups = []
    for verdict in (NOT_MET, UNRESOLVED, CONTRADICTED, UNCHECKED):
        names = ", ".join(f"`{each.claim.short}`" for each in said if each.verdict == verdict)
        if names:
            groups.append(f"{verdict}: {names}")
    return f"**Statements**: {len(good)} of {len(said)} hold. {'; '.join(groups)}."
