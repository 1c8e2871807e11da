"""The finds: shrunk, and written as a suite of `tidegate certify` with a scenario for each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidegate.attack.objective import FOUND
from tidegate.attack.shrink import shrink
from tidegate.attack.space import merged
from tidegate.attack.trials import KEEP, SEEDS
from tidegate.scenario import toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tidegate.attack.objective import Objective
    from tidegate.attack.search import WorstWorld
    from tidegate.attack.space import Table, World
    from tidegate.attack.trials import Trials

KEPT = 0.5
"""The part of its score that a find keeps when it is shrunk."""

GATE = "port.bottleneck.gate"


@dataclass(frozen=True)
class Find:
    """A world in which a control is worse, as the search found it and as small as can be."""

    name: str
    found: WorstWorld
    small: World
    score: float
    """By how many limits it is worse in the small world, the low end of the 95 % interval."""
    measured: Mapping[str, Sequence[float]]
    """What was measured there, by the name of the control or of what it is compared with."""


def shrunk(
    trials: Trials, found: Iterable[WorstWorld], wanted: int, parts: Sequence[str] = ()
) -> Iterator[Find]:
    """Yield so many finds, the worst first; of those that shrink to the same parts the first.

    `parts`: one of these at least stays.
    """
    needed = trials.objective.needed
    kept = [each for each in (needed, parts) if each]
    there: set[tuple[str, ...]] = set()
    for each in sorted(found, key=lambda found: -found.score):
        if len(there) == wanted or each.score < FOUND:
            return
        [score] = trials.scores([each.world], SEEDS)
        if score < FOUND:
            continue
        limit = max(FOUND, KEPT * score)

        def holds(world: World, limit: float = limit) -> bool:
            # one run after the other: most steps fail in the first seed
            return all(trials.scores([world], seeds)[0] >= limit for seeds in (1, SEEDS))

        small = shrink(trials.space, each.world, holds, kept)
        if small.parts in there:
            continue
        there.add(small.parts)
        name = f"{trials.objective.name}-{len(there)}"
        [score] = trials.scores([small], SEEDS)
        yield Find(name, each, small, score, trials.values(small, SEEDS))


def suite(trials: Trials, finds: Sequence[Find], title: str, standard: Sequence[str]) -> str:
    """Return a suite of these finds."""
    every = asdict(trials.objective.limit).items()
    limit = {key: value for key, value in every if value or key == "unit"}
    name = limit.pop("name")
    conditions = [
        {
            "id": find.name,
            "section": "found",
            "title": ", ".join(find.small.parts) or trials.space.title,
            "measures": [[name, trials.objective.of]],
            "own": list(trials.space.own),
            "stages": trials.space.stages,
        }
        for find in finds
    ]
    tables = {
        "title": title,
        "standard": list(standard),
        "keep": list(KEEP),
        "limit": {name: limit},
        "condition": conditions,
    }
    return toml.document(tables)


def scenario(trials: Trials, find: Find, command: str) -> str:
    """Return the scenario of a find, with what it shows above it."""
    objective = trials.objective
    told = [f"# {line}" for line in trials.space.told(find.small)]
    head = [
        f"# Found by `{command}`, round {find.found.round}, and shrunk.",
        f"# {measured(objective, find)} (means of {SEEDS} seeds)",
        *told,
    ]
    more = _static(trials, find)
    tables = merged(trials.space.scenario(find.small, more), {"name": find.name})
    return "\n".join([*head, "", toml.document(tables), *_variants(trials, tables)])


def _static(trials: Trials, find: Find) -> Table:
    """Return what the best reference adds to the scenario; nothing among sender controls."""
    sign = 1.0 if trials.objective.limit.more_is_better else -1.0
    known = [each for each in trials.others if each.name in find.measured]
    if not known:
        return {}
    return max(known, key=lambda each: sign * float(np.mean(find.measured[each.name]))).more


def _variants(trials: Trials, tables: Table) -> list[str]:
    """Return the control, and what it is compared with, as variants of a scenario."""
    found = {}
    if trials.space.references:
        found = {"none": [(GATE, '{ law = "none" }')]}
    if any(each.more for each in trials.others):
        found["static"] = []
    named = [each.control for each in trials.others]
    beside = [each for each in named if each.transport is not None or each.stages]
    for control in (*beside, trials.control):
        found[control.key] = trials.settings(control, tables) or []
    lines = []
    for name, settings in found.items():
        lines += [f"[variant.{name}]", *(f"{key} = {text}" for key, text in settings), ""]
    return lines


def measured(objective: Objective, find: Find) -> str:
    """Return what was measured in the smallest world of a find: means over its seeds."""
    numbers = (f"{name} {np.mean(values):.3g}" for name, values in find.measured.items())
    unit = f" {objective.limit.unit}" if objective.limit.unit else ""
    return f"{objective.limit.says}, {', '.join(numbers)}{unit}"
