"""Which settings met the same load, and which of them differ at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.grid.axes import named
from tidegate.results.statistics import same_flows
from tidegate.scenario.overrides import parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.grid_result import GridResult

    Row = Mapping[str, Any]

FATE = (
    *("completed", "gave_up", "fct_mean_s", "fct_p50_s", "fct_p95_s", "fct_p99_s"),
    *("delivered_bytes", "retransmitted_packets", "timeouts"),
)
"""Metrics that are equal where a difference had no effect; admission counts differ with a gate."""


def identical(done: GridResult) -> list[list[str]]:
    """Return the labels of the settings, those with identical results for every flow together."""
    return [[named(row["settings"]) for row in group] for group in _identical(done, done.averages)]


def _runs(done: GridResult, row: Row) -> list[dict[str, Any]]:
    return [each for each in done.rows if each["settings"] == row["settings"]]


def _times(runs: Sequence[Row]) -> set[tuple[float, float]]:
    return {(each["warmup_s"], each["duration_s"]) for each in runs}


def _identical(done: GridResult, rows: Sequence[Row]) -> list[list[Row]]:
    by_fate: dict[str, list[Row]] = {}
    for row in rows:
        runs = _runs(done, row)
        fate = repr([[each["seed"], *_fate(each)] for each in runs])
        by_fate.setdefault(fate, []).append(row)
    return list(by_fate.values())


def _fate(run: Mapping[str, Any]) -> list[Any]:
    """Return what became of the flows and pages of a run."""
    pages = [each.get("page_load_mean_s") for each in run["classes"]]
    return [*(run["all"][name] for name in FATE), *pages]


CHOSEN = ("gate", "queue", "stamp", "filter", "police", "lifetime")
"""What is chosen of a port; the other keys of a port are how its link is."""


def given(key: str) -> str | None:
    """Return what a key is about that nobody at the link chooses: the traffic or the link.

    None for controls, buffers and routes, for variants, whose author calls them alternatives, and
    for what is measured.
    """
    first, *others = parts(key)
    if first in ("traffic", "guests"):
        return "the traffic"
    if first == "port":
        return None if others[1:2] and others[1] in (*CHOSEN, "record") else "the link"
    if first in ("topology", "change"):
        return None if "buffer" in others else "the link"
    return None


def loads(done: GridResult) -> list[list[Row]]:
    """Return the settings (their averages), those together among which one can choose.

    Their runs met the same flows over the same link, and count over the same time: a later end of
    the warm-up leaves out flows that the others have.
    """
    worlds = [key for key in done.subject.axes if given(key)]
    groups: list[list[Row]] = []
    for row in done.averages:
        mine = _runs(done, row)
        for group in groups:
            theirs = _runs(done, group[0])
            same = all(row["settings"][key] == group[0]["settings"][key] for key in worlds)
            if same and _times(mine) == _times(theirs) and same_flows(mine, theirs):
                group.append(row)
                break
        else:
            groups.append([row])
    return groups
