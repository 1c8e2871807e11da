"""How a control does in worlds that are drawn, not searched for: how often it is worse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidegate.attack.objective import FOUND, REFUSED
from tidegate.attack.perform import trials_of
from tidegate.results.csv_text import csv_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.attack.perform import Request
    from tidegate.attack.space import World
    from tidegate.attack.trials import Trials
    from tidegate.papers.folder import CaseFolder

SHOWN = 3
"""How many of the worlds in which it is worse are printed, the worst first."""
VAIN = 10
"""The drawing ends if so many times as many worlds as were asked for had none that can be run."""


@dataclass(frozen=True)
class Drawn:
    """A world that was drawn."""

    world: World
    score: float
    """By how many limits the control is worse than what it is compared with."""
    measured: Mapping[str, float]
    """What was measured, by the name of the control or of what it is compared with."""


def draw(request: Request, folder: CaseFolder, wanted: int) -> list[Drawn]:
    """Return so many worlds with what was measured there, the worst first, and save their table.

    Worlds are drawn as a search draws them, from the seed alone. Each is run with one seed of
    traffic. Raises UsageError where the control can be run in none.
    """
    trials = trials_of(request, folder)
    found = [
        Drawn(world, score, {name: value for name, [value] in trials.values(world, 1).items()})
        for world, score in _scored(request, trials, wanted)
    ]
    found.sort(key=lambda each: -each.score)
    folder.write(f"{request.name}-drawn.csv", _csv(request, found).encode())
    return found


def _scored(request: Request, trials: Trials, wanted: int) -> list[tuple[World, float]]:
    rng = np.random.default_rng([request.seed, 0])
    found: dict[World, float] = {}
    tried = 0
    while len(found) < wanted:
        if tried >= VAIN * wanted:
            raise trials.nowhere(len(found))
        count = wanted - len(found)
        worlds = [request.worlds.drawn(rng, request.objective, request.parts) for _ in range(count)]
        tried += count
        scores = trials.scores(worlds)
        pairs = zip(worlds, scores, strict=True)
        found |= {world: score for world, score in pairs if score != REFUSED}
    return list(found.items())


def told(request: Request, found: Sequence[Drawn]) -> str:
    """Return in how many worlds the control is better and worse, and the worst ones in words."""
    objective, limit = request.objective, request.objective.limit
    worse = [each for each in found if each.score >= FOUND]
    better = sum(each.score <= -FOUND for each in found)
    beside = [name for name in found[0].measured if name != request.control.name]
    if objective.alone:
        lines = [f"{limit.says}: {limit.text} and more in {len(worse)} of {len(found)} worlds"]
    else:
        which = f"the {'best' if objective.best else 'worst'} of {', '.join(beside)}"
        lines = [
            f"{limit.says}: {request.control.name} beside"
            f" {beside[0] if len(beside) == 1 else which}, in {len(found)} worlds",
            f"    better by {limit.text} and more: {better}",
            f"    worse by {limit.text} and more: {len(worse)}",
            f"    neither: {len(found) - better - len(worse)}",
        ]
    for each in worse[:SHOWN]:
        numbers = ", ".join(f"{name} {value:.3g}" for name, value in each.measured.items())
        lines.append(f"{numbers} {limit.unit}".rstrip())
        lines += [f"    {line}" for line in request.worlds.told(each.world)]
    return "\n".join(lines)


def _csv(request: Request, found: Sequence[Drawn]) -> str:
    rows = []
    for each in found:
        values = [f"{value:.6g}" for value in (each.score + 0.0, *each.measured.values())]
        said = "; ".join(request.worlds.told(each.world))
        rows.append([*values, " ".join(each.world.parts), said])
    return csv_text(["limits_worse", *found[0].measured, "parts", "world"], rows)
