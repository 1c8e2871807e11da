"""The search: rounds of random worlds, each followed by an evolution strategy from the worst.

A round draws worlds, takes the worst whose set of parts no earlier round took, and lets CMA-ES
(Hansen's `cma`) move its genes. All that is random comes from the seed and the number of the
round; the scores come from saved runs. So a search that was interrupted repeats its way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.attack.objective import REFUSED
from tidegate.errors import TidegateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tidegate.attack.objective import Objective
    from tidegate.attack.space import Space, World

    Scores = Callable[[Sequence[World]], list[float]]

DRAWN = 16
"""Worlds that a round draws."""
STEP = 0.2
"""The first step of the strategy, as a share of the bounds of each gene."""
PATIENCE = 4
"""After so many generations that find nothing worse a round ends."""
GENERATIONS = 15
"""A round has this many at most."""
VAIN = 10
"""A search ends if none of the worlds of so many rounds, the first ones, can be run."""
HALVES = (0.25, 0.75)
"""Where a gene begins at the closest: at its bounds half of all steps would lead beyond."""


@dataclass(frozen=True)
class WorstWorld:
    """The worst world of a round."""

    world: World
    score: float
    round: int


def search(
    space: Space,
    objective: Objective,
    scores: Scores,
    seed: int,
    more: Callable[[], bool],
    only: Sequence[str] = (),
) -> Iterator[WorstWorld]:
    """Yield the worst world of each round, as long as there may be `more` runs.

    `more` is asked before each batch of worlds; what is under way is yielded. Where nothing can be
    run, nothing is yielded.
    """
    taken: set[tuple[str, ...]] = set()
    number = 0
    while more():
        number += 1
        rng = np.random.default_rng([seed, number])
        drawn = [space.drawn(rng, objective, only) for _ in range(DRAWN)]
        found = sorted(zip(scores(drawn), drawn, strict=True), key=lambda each: -each[0])
        new = [each for each in found if each[1].parts not in taken]
        score, world = (new or found)[0]
        if score == REFUSED:
            if not taken and number == VAIN:
                return
            continue
        taken.add(world.parts)
        yield _improved(space, WorstWorld(world, score, number), scores, rng, more)


def _improved(
    space: Space,
    first: WorstWorld,
    scores: Scores,
    rng: np.random.Generator,
    more: Callable[[], bool],
) -> WorstWorld:
    """Return a world of the same parts that is at least as bad."""
    shape, places = space.places(first.world)
    strategy = _strategy(np.clip(places, *HALVES), rng)
    best, since = first, 0
    for _ in range(GENERATIONS):
        if since == PATIENCE or not more():
            break
        asked = strategy.ask()
        worlds = [space.at(shape, each) for each in asked]
        found = scores(worlds)
        # a strategy looks for the least; what cannot be run is worse than all else
        strategy.tell(asked, [min(-each, 1e9) for each in found])
        score, world = max(zip(found, worlds, strict=True), key=lambda each: each[0])
        since = 0 if score > best.score else since + 1
        if score > best.score:
            best = WorstWorld(world, score, first.round)
    return best


def _strategy(start: np.ndarray[Any, np.dtype[np.float64]], rng: np.random.Generator) -> Any:  # noqa: ANN401
    try:
        import cma
    except ImportError as error:
        raise TidegateError(
            "The library for the search is not installed: cma.", "Install it: pip install cma."
        ) from error
    return cma.CMAEvolutionStrategy(
        start,
        STEP,
        {
            "bounds": [0, 1],
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": float("nan"),  # it would seed the generator of the whole process
            "verbose": -9,
            "verb_log": 0,
        },
    )
