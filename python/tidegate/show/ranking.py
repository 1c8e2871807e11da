"""Which settings are best: among those that met the same load, and only where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.grid.axes import named
from tidegate.results.statistics import differences, same_flows
from tidegate.show.measures import centre, endless, of_users

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.grid_result import GridResult

    Row = Mapping[str, Any]

FATE = (
    *("completed", "gave_up", "fct_mean_s", "fct_p50_s", "fct_p95_s", "fct_p99_s"),
    *("delivered_bytes", "retransmitted_packets", "timeouts"),
)
"""Metrics that are equal where a difference had no effect; admission counts differ with a gate."""


@dataclass(frozen=True)
class Goal:
    """One way to be best: a metric, the sign of better, and its words and unit."""

    metric: str
    sign: float
    words: str
    unit: str
    scale: float = 1.0


COMPLETED = Goal("completed_share", 1.0, "most sessions completed", "% of those offered", 100.0)
"""Of those that were offered in the window. How many end in it would favour a long queue or a gate
that still serves sessions of the warm-up."""
SOONEST = Goal("fct_mean_s", -1.0, "shortest mean FCT of those served", "s")


def goals(done: GridResult) -> tuple[Goal, ...]:
    """Return by what settings are ranked: endless flows neither complete nor have an FCT."""
    pages = [
        Goal(row.metric, -1.0, f"shortest {row.title.removesuffix(' [s]')}", "s")
        for row in of_users(done.subject.classes, done.averages)
        if row.metric.endswith("page_load_mean_s")
    ]
    if not endless(done.averages):
        return (COMPLETED, SOONEST, *pages, *_beside(done))
    found = [Goal("throughput_bps", 1.0, "most delivered", "Mbit/s", 1e-6)]
    if done.subject.port:
        delay = f"{done.subject.port}.queue_delay_mean_s"
        found.append(Goal(delay, -1.0, "shortest mean queue delay", "ms", 1e3))
    fair = Goal("flow_rate_jain", 1.0, "fairest rates of the long flows (Jain's index)", "")
    return (*found, fair)


def _beside(done: GridResult) -> list[Goal]:
    """Return a goal for each class without end beside others: it neither completes nor has an FCT.

    Datagrams have none: their rate is their sender's.
    """
    found = []
    for name in done.subject.classes if len(done.subject.classes) > 1 else ():
        counts = [
            {key: row.get(f"{name}.{key}") for key in ("endless", "flows", "rtt_mean_s")}
            for row in done.averages
        ]
        if endless(counts) and all(centre(row["rtt_mean_s"]) is not None for row in counts):
            metric = f"{name}.throughput_bps"
            found.append(Goal(metric, 1.0, f"most delivered to {name}", "Mbit/s", 1e-6))
    return found


@dataclass(frozen=True)
class Winner:
    """The best setting of some: the average of its runs, and which others are as good.

    `equal`: others with identical results. `near`: others whose difference from it is
    not significant at 95 %; None: one seed does not show that.
    """

    best: Row
    equal: tuple[Row, ...]
    near: tuple[Row, ...] | None


def identical(done: GridResult) -> list[list[str]]:
    """Return the labels of the settings, those with identical results for every flow together."""
    return [[named(row["settings"]) for row in group] for group in _identical(done, done.averages)]


def _runs(done: GridResult, row: Row) -> list[dict[str, Any]]:
    return [each for each in done.rows if each["settings"] == row["settings"]]


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


def loads(done: GridResult) -> list[list[Row]]:
    """Return the settings (their averages), those together whose runs met the same flows."""
    groups: list[list[Row]] = []
    for row in done.averages:
        mine = _runs(done, row)
        for group in groups:
            if same_flows(mine, _runs(done, group[0])):
                group.append(row)
                break
        else:
            groups.append([row])
    return groups


def winner(done: GridResult, rows: Sequence[Row], goal: Goal) -> Winner | None:
    """Return the best of these settings, which met the same load; None: nothing sets them apart."""
    known = [row for row in rows if (row.get(goal.metric) or {}).get("mean") is not None]
    if len(known) < 2:
        return None
    best = max(known, key=lambda row: goal.sign * row[goal.metric]["mean"])
    group = next(each for each in _identical(done, known) if best in each)
    others = [row for row in known if row not in group]
    if not others:
        return None
    mine = _runs(done, best)
    if len(mine) < 2:
        return Winner(best, tuple(row for row in group if row is not best), None)
    near = []
    for row in others:
        runs = _runs(done, row)
        found = differences(runs, mine, paired=same_flows(runs, mine)).get(goal.metric)
        low, high = (found["low"], found["high"]) if found else (None, None)
        if low is not None and high is not None and low <= 0.0 <= high:
            near.append(row)
    return Winner(best, tuple(row for row in group if row is not best), tuple(near))
