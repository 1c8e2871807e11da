"""Which setting to take, in one line, what that rests on, and for whom it is worse."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate.grid.axes import SPEAKING, named
from tidegate.grid.grid_result import warnings_of
from tidegate.results.digits import significant
from tidegate.results.statistics import interval, metrics, same_flows
from tidegate.show.advice import FEWEST, Setting, advise, served, sooner, users_of
from tidegate.show.alike import loads, not_chosen
from tidegate.show.measures import centre, endless, flows_in_words, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.advice import Advice, Felt, Users

    Row = Mapping[str, Any]

LINES = 20
"""Loads that have a line each."""
MORE = 10
"""So many seeds are tried next, or more."""
NAMED = 3
"""Settings, and differences for the worse, that are named each."""


def recommendation(done: GridResult) -> str:
    """Return a line with the setting to take, for each load that several settings met.

    The rule is that of `advice`: each class of users is asked by what its users feel, and may veto.
    """
    groups = [group for group in loads(done) if len(group) > 1]
    if len(done.averages) < 2:
        return "No recommendation: there is one setting alone."
    if not groups:
        return f"No recommendation: {_why_no_choice(done)}."
    if len(done.subject.seeds) < 2:
        more = more_seeds(done)
        return f"No recommendation: one seed does not show what is chance; try --seeds {more}."
    lines = [f"{_load(group, done)}{_of(done, group)}" for group in groups[:LINES]]
    more = len(groups) - LINES
    return "\n".join([*lines, *([f"And {more} more loads."] if more > 0 else [])])


def _why_no_choice(done: GridResult) -> str:
    """Return why there are no two settings among which one can choose."""
    for key, values in done.subject.axes.items():
        if what := not_chosen(key, values):
            return f"the settings differ in {what} ({key}), which is given and not chosen"
    return "no two settings met the same flows over the same time"


def _of(done: GridResult, group: Sequence[Row]) -> str:
    """Return the recommendation among settings that met the same flows."""
    found, settings, paired = _advice(done, group)
    chosen = _taken(found, group)
    text = in_words(found, settings, _basis(done, group, chosen), paired=paired)
    if _warned(done, group, chosen):
        text += f" Mind the warnings of {_either(found.taken)}."
    return text


def taken(done: GridResult) -> list[Row]:
    """Return the settings recommended of those that all met the same flows; empty: none is."""
    if len(done.subject.seeds) < 2 or any(len(group) < len(done.averages) for group in loads(done)):
        return []
    return _taken(_advice(done, done.averages)[0], done.averages)


def _taken(found: Advice, group: Sequence[Row]) -> list[Row]:
    shared, names = _shared(group), [setting.name for setting in found.taken]
    return [row for row in group if _name(row, shared) in names]


def _advice(done: GridResult, group: Sequence[Row]) -> tuple[Advice, list[Setting], bool]:
    """Return which of these settings to take, all of them, and whether each seed has its flows."""
    shared = _shared(group)
    runs = {_name(row, shared): _runs(done, row) for row in group}
    first = next(iter(runs.values()))
    paired = all(same_flows(each, first) for each in runs.values())
    settings = [
        Setting(name, {run["seed"]: metrics(run) for run in each}) for name, each in runs.items()
    ]
    measured = [run for setting in settings for run in setting.runs.values()]
    guests = done.rows[0].get("people", ())
    users = users_of(done.subject.classes, done.subject.port, measured, guests)
    return advise(settings, users, paired=paired), settings, paired


def in_words(found: Advice, settings: Sequence[Setting], basis: str, *, paired: bool) -> str:
    """Return the advice about some settings as a line of text."""
    unknown = _of_no_use(found) + _too_few(found, settings)
    if not found.taken or found.against is None:
        return f"No recommendation: {_why_none(found)}. Basis: {basis}.{unknown}"
    one, other = found.taken[0], found.against
    better: dict[str, list[str]] = {}
    for felt in found.felt:
        if felt.better:
            better.setdefault(felt.users.said, []).append(_felt(felt, one, other))
    gains = "; for ".join(f"{users}: {', '.join(each)}" for users, each in better.items())
    text = f"Recommended: {_either(found.taken)}, better for {gains}. Basis: {basis}."
    worse: dict[str, str] = {}
    for price in found.price:
        worse.setdefault(price.felt.users.said, _said(price.felt, one, price.than))
    if worse:
        text += f" Worse for {'; for '.join([*worse.values()][:NAMED])}."
    return text + _sooner(found, settings, paired=paired) + unknown


def _why_none(found: Advice) -> str:
    """Return why nothing is recommended."""
    if not found.price:
        judged = " in what can be judged" if found.unknown or found.useless else ""
        return f"no difference{judged} is significant and large enough to be noticed"
    worse: dict[str, str] = {}
    for price in found.price:
        said = f"{price.under.name} for {_said(price.felt, price.under, price.than)}"
        worse.setdefault(price.under.name, said)
    return f"each setting is worse for somebody: {'; '.join([*worse.values()][:NAMED])}"


def _said(felt: Felt, one: Setting, other: Setting) -> str:
    """Return who feels what, with the values under both settings."""
    return f"{felt.users.said}: {_felt(felt, one, other)}"


def _felt(felt: Felt, one: Setting, other: Setting) -> str:
    """Return what users feel, with the values under both settings."""
    return f"{felt.measure.words} {_value(felt, one)} ({other.name} {_value(felt, other)})"


def _value(felt: Felt, setting: Setting) -> str:
    found = interval(run.get(felt.metric) for run in setting.runs.values())
    return f"{shown(found, felt.measure.scale)} {felt.measure.unit}".rstrip()


def _sooner(found: Advice, settings: Sequence[Setting], *, paired: bool) -> str:
    """Return where those who are served are served sooner, though fewer are.

    A time that is a price was said among those.
    """
    one = found.taken[0]
    said = {(price.felt.users, price.felt.measure) for price in found.price}
    for users in {price.felt.users: None for price in found.price} | {
        felt.users: None for felt in found.felt if felt.measure.fates
    }:
        for other in settings:
            felt = None if other in found.taken else sooner(one, other, users, paired=paired)
            if felt and not felt.better and (users, felt.measure) not in said:
                times = f"{_value(felt, other)}, {one.name} {_value(felt, one)}"
                return f" But {felt.measure.words} of those served: {other.name} {times}."
    return ""


def _of_no_use(found: Advice) -> str:
    """Return of which classes nothing counts, as they are of no use under any setting."""
    if not found.useless:
        return ""
    named = _listed([users.said for users in found.useless])
    return f" Of no use under any setting, so that nothing of it counts: {named}."


def _too_few(found: Advice, settings: Sequence[Setting]) -> str:
    """Return why nothing is said of some classes, and with how many seeds something would be."""
    if not found.unknown:
        return ""
    most = {users: _most(users, settings) for users in found.unknown}
    some = [
        f"of {users.said} {number:g} {users.kind.counted.said}"
        for users, number in most.items()
        if number and users.kind.counted
    ]
    none = [users.said for users, number in most.items() if not number]
    told = [
        *([f"{_listed(some)} at most"] if some else []),
        *([f"of {_listed(none)} none"] if none else []),
    ]
    more = "" if none else f"; try --seeds {_seeds(found, settings)}"
    return f" Too few to judge by, as it takes {FEWEST}: {'; '.join(told)}{more}."


def _most(users: Users, settings: Sequence[Setting]) -> float:
    """Return how many of a class were served under the setting that served most."""
    return max(served(each, users) for each in settings)


def _seeds(found: Advice, settings: Sequence[Setting]) -> int:
    """Return how many seeds to try next: with them there may be enough of each class."""
    seeds = max(len(setting.runs) for setting in settings)
    most = [_most(users, settings) for users in found.unknown]
    needed = math.ceil(seeds * FEWEST / min(most)) if most and all(most) else 0
    return max(2 * seeds, MORE, needed)


def more_seeds(done: GridResult) -> int:
    """Return how many seeds to try next, the same number wherever it is said."""
    seeds = len(done.subject.seeds)
    groups = [group for group in loads(done) if len(group) > 1] if seeds > 1 else []
    advised = [_advice(done, group) for group in groups]
    return max([2 * seeds, MORE, *(_seeds(found, settings) for found, settings, _ in advised)])


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _either(settings: Sequence[Setting]) -> str:
    return " or ".join(setting.name for setting in settings)


def _warned(done: GridResult, group: Sequence[Row], taken: Sequence[Row]) -> bool:
    """Tell whether the settings recommended have warnings that not all settings have."""
    found = [{warning for run in _runs(done, row) for warning in warnings_of(run)} for row in group]
    shared = set.intersection(*found)
    return any(found[group.index(row)] - shared for row in taken)


def _runs(done: GridResult, row: Row) -> list[dict[str, Any]]:
    return [run for run in done.rows if run["settings"] == row["settings"]]


def _basis(done: GridResult, group: Sequence[Row], taken: Sequence[Row]) -> str:
    offered = _offered(done, [*taken, *(row for row in group if row not in taken)])
    return f"{len(done.subject.seeds)} seeds {flows_in_words(same=True)}{offered}"


def _offered(done: GridResult, group: Sequence[Row]) -> str:
    """Return the offered load of the compared port in words, where it is known.

    Where settings change what the port carries, or what is asked of it, their loads differ: the
    first ones are named with their settings.
    """
    port, shared = done.subject.port, _shared(group)
    if port is None or endless(done.averages):
        return ""
    loads: dict[str, str] = {}
    for row in group:
        if (share := centre(row.get(f"{port}.offered_load"))) is not None:
            loads.setdefault(f"{significant(share * 100)} %", _name(row, shared))
    if len(loads) < 2:
        return "".join(f", offered load {load} of {port}" for load in loads)
    told = [f"{load} under {name}" for load, name in [*loads.items()][:NAMED]]
    return f", offered load of {port} {_listed(told)}"


def _shared(group: Sequence[Row]) -> dict[str, str]:
    """Return what settings have in common."""
    first: Mapping[str, str] = group[0]["settings"]
    return {
        key: value
        for key, value in first.items()
        if all(row["settings"][key] == value for row in group)
    }


def _name(row: Row, shared: Mapping[str, str]) -> str:
    """Return a setting by what it does not share: two controls each with their kind."""
    own = {key: value for key, value in row["settings"].items() if key not in shared}
    if len(own) > 1 and all(key in SPEAKING for key in own):
        return " with ".join(f"{key} {value}" for key, value in own.items())
    return named(own)


def _load(group: Sequence[Row], done: GridResult) -> str:
    """Return what the settings of one load have in common, if there are other loads."""
    if len(group) == len(done.averages):
        return ""
    shared = ", ".join(f"{key} = {value}" for key, value in _shared(group).items())
    return f"At {shared}: "
