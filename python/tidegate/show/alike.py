"""Which settings met the same load, and which of them differ at all."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tidegate.grid.axes import named
from tidegate.results.statistics import same_flows
from tidegate.scenario.overrides import leaves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.grid_result import GridResult

    Row = Mapping[str, Any]
    Settings = tuple[tuple[str, str], ...]

FATE = (
    *("completed", "gave_up", "fct_mean_s", "fct_p50_s", "fct_p95_s", "fct_p99_s"),
    *("delivered_bytes", "retransmitted_packets", "timeouts"),
)
"""Metrics that are equal where a difference had no effect; admission counts differ with a gate."""
OF_CLASSES = ("page_load_mean_s", "stalled_share", "rtt_mean_s", "lost_packets", "delay_mean_s")
"""The same of each class: flows without end that fill a link get as much with any queue."""


def identical(done: GridResult) -> list[list[str]]:
    """Return the labels of the settings, those with identical results for every flow together."""
    return [[named(row["settings"]) for row in group] for group in _identical(done, done.averages)]


def _runs(done: GridResult, row: Row) -> list[dict[str, Any]]:
    return [each for each in done.rows if each["settings"] == row["settings"]]


def _times(runs: Sequence[Row]) -> set[tuple[float, float]]:
    return {(each["warmup_s"], each["duration_s"]) for each in runs}


def without_effect(done: GridResult) -> list[list[str]]:
    """Return the values of an axis, by name, that give the same whatever the other axes say.

    That two points of a sweep give the same is usual: a law has no effect at a low load.
    """
    fates = _fates(done)
    found: list[list[str]] = []
    for axis, values in done.subject.axes.items():
        whole: dict[str, dict[Settings, str]] = {value: {} for value in values}
        for settings, fate in fates.items():
            rest = tuple(each for each in settings if each[0] != axis)
            whole[dict(settings)[axis]][rest] = fate
        by_fate: dict[str, list[str]] = {}
        for value, mine in whole.items():
            by_fate.setdefault(repr(sorted(mine.items())), []).append(named({axis: value}))
        found += by_fate.values()
    return found


def _fates(done: GridResult) -> dict[Settings, str]:
    """Return what became of the flows under each setting."""
    runs: dict[Settings, list[Any]] = {}
    for run in done.rows:
        runs.setdefault((*run["settings"].items(),), []).append([run["seed"], *_fate(run)])
    return {settings: repr(each) for settings, each in runs.items()}


def _identical(done: GridResult, rows: Sequence[Row]) -> list[list[Row]]:
    fates = _fates(done)
    by_fate: dict[str, list[Row]] = {}
    for row in rows:
        by_fate.setdefault(fates[*row["settings"].items(),], []).append(row)
    return list(by_fate.values())


def _fate(run: Mapping[str, Any]) -> list[Any]:
    """Return what became of the flows, packets and pages of a run."""
    of_classes = [each.get(name) for each in run["classes"] for name in OF_CLASSES]
    return [*(run["all"][name] for name in FATE), *of_classes]


CHOSEN = ("gate", "queue", "stamp", "filter", "police", "lifetime")
"""What is chosen of a port; the other keys of a port are how its link is."""


def not_chosen(key: str, values: Sequence[str]) -> str | None:
    """Return what values of a key differ in that nobody at the link chooses.

    That is the traffic or the link; of tables those keys count whose values differ. None for
    controls, buffers and routes, for variants, whose author calls them alternatives, and for what
    is measured.
    """
    first, *others = [_world(key, value) for value in values]
    differs = first.union(*others) - first.intersection(*others)
    return next((what for path, _ in sorted(differs) if (what := _about(path))), None)


@cache
def _world(key: str, value: str) -> set[tuple[tuple[str, ...], str]]:
    """Return what a value sets of the traffic and of the link: keys, and their values as text."""
    found = leaves([(key, value)])
    return {(path, repr(leaf)) for path, leaf in found.items() if leaf != {} and _about(path)}


def _about(path: tuple[str, ...]) -> str | None:
    first, *others = path
    if first in ("traffic", "guests"):
        return "the traffic"
    if first == "port":
        return None if others[1:2] and others[1] in (*CHOSEN, "record") else "the link"
    if first in ("topology", "change"):
        return None if "buffer" in others else "the link"
    return None


def _worlds(row: Row) -> set[tuple[tuple[str, ...], str]]:
    return set().union(*(_world(key, value) for key, value in row["settings"].items()))


def loads(done: GridResult) -> list[list[Row]]:
    """Return the settings (their averages), those together among which one can choose.

    Their runs met the same flows over the same link, and count over the same time: a later end of
    the warm-up leaves out flows that the others have.
    """
    groups: list[list[Row]] = []
    for row in done.averages:
        mine = _runs(done, row)
        for group in groups:
            theirs = _runs(done, group[0])
            same = _worlds(row) == _worlds(group[0])
            if same and _times(mine) == _times(theirs) and same_flows(mine, theirs):
                group.append(row)
                break
        else:
            groups.append([row])
    return groups
