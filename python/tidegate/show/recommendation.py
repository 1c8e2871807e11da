"""Which setting to take, in one line, and what that rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.grid.axes import named
from tidegate.grid.grid_result import warnings_of
from tidegate.show.measures import centre, endless, flows_in_words, shown
from tidegate.show.ranking import goals, loads, winner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.ranking import Goal

    Row = Mapping[str, Any]

LINES = 20
"""Loads that have a line each."""


def recommendation(done: GridResult) -> str:
    """Return a line with the setting to take, for each load that several settings met.

    The goals of `ranking` decide in their order, each among the settings that the
    one before leaves: those not significantly worse at 95 % than the best. Where
    none decides, nothing is recommended.
    """
    seeds = len(done.subject.seeds)
    groups = [group for group in loads(done) if len(group) > 1]
    if len(done.averages) < 2:
        return "No recommendation: there is one setting alone."
    if not groups:
        return "No recommendation: no two settings met the same flows."
    if seeds < 2:
        return "No recommendation: one seed does not show what is chance; use --seeds 5."
    lines = [f"{_load(group, done)}{_of(done, group)}" for group in groups[:LINES]]
    more = len(groups) - LINES
    return "\n".join([*lines, *([f"And {more} more loads."] if more > 0 else [])])


def _of(done: GridResult, group: Sequence[Row]) -> str:
    """Return the recommendation among settings that met the same flows."""
    asked, basis = goals(done), _basis(done, group)
    left, decided = _left(done, group, asked)
    if not decided:
        # "most sessions completed" without what is best by it
        words = " or ".join(goal.words.partition(" ")[2] for goal in asked)
        return f"No recommendation: no setting is significantly better by {words} ({basis})."
    shared = _shared(group)
    names = " or ".join(_name(row, shared) for row in left)
    first = decided[0]
    beaten = next(row for row in group if row not in left)
    values = f"{_value(left[0], first)}, {_name(beaten, shared)} {_value(beaten, first)}"
    words = ", then ".join(goal.words for goal in decided)
    other = ""
    for goal in asked:
        best = winner(done, group, goal)
        if best and best.best not in left and not any(row in left for row in best.near or ()):
            other = f" But {goal.words}: {_name(best.best, shared)},"
            other += f" {_value(best.best, goal)}; {names} {_value(left[0], goal)}."
            break
    doubts = f" Mind the warnings of {names}." if _warned(done, group, left) else ""
    return f"Recommended: {names}, by {words}: {values} ({basis}).{other}{doubts}"


def _warned(done: GridResult, group: Sequence[Row], left: Sequence[Row]) -> bool:
    """Tell whether the settings recommended have warnings that not all settings have."""
    found = {
        id(row): {
            warning
            for run in done.rows
            if run["settings"] == row["settings"]
            for warning in warnings_of(run)
        }
        for row in group
    }
    shared = set.intersection(*found.values())
    return any(found[id(row)] - shared for row in left)


def _left(
    done: GridResult, group: Sequence[Row], asked: Sequence[Goal]
) -> tuple[list[Row], list[Goal]]:
    """Return the settings that the goals leave, and the goals that decided."""
    left, decided = list(group), []
    for goal in asked:
        found = winner(done, left, goal)
        keep = [] if found is None else [found.best, *found.equal, *(found.near or ())]
        if keep and len(keep) < len(left):
            decided.append(goal)
            left = [row for row in left if row in keep]
    return left, decided


def _basis(done: GridResult, group: Sequence[Row]) -> str:
    return f"{len(done.subject.seeds)} seeds {flows_in_words(same=True)}{_offered(done, group)}"


def _value(row: Row, goal: Goal) -> str:
    value = row.get(goal.metric)
    return "-" if value is None else f"{shown(value, goal.scale)} {goal.unit}".rstrip()


def _offered(done: GridResult, group: Sequence[Row]) -> str:
    """Return the offered load of the compared port in words, where it is known."""
    port = done.subject.port
    share = centre(group[0].get(f"{port}.offered_load")) if port else None
    if share is None or endless(done.averages):
        return ""
    return f", offered load {share * 100:.3g} % of {port}"


def _shared(group: Sequence[Row]) -> dict[str, str]:
    """Return what settings have in common."""
    first: Mapping[str, str] = group[0]["settings"]
    return {
        key: value
        for key, value in first.items()
        if all(row["settings"][key] == value for row in group)
    }


def _name(row: Row, shared: Mapping[str, str]) -> str:
    """Return a setting by what it does not share."""
    return named({key: value for key, value in row["settings"].items() if key not in shared})


def _load(group: Sequence[Row], done: GridResult) -> str:
    """Return what the settings of one load have in common, if there are other loads."""
    if len(group) == len(done.averages):
        return ""
    shared = ", ".join(f"{key} = {value}" for key, value in _shared(group).items())
    return f"At {shared}: "
