"""The smallest world that still shows a find: fewer parts, plain and round numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.attack.space import BASE, World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator

    from tidegate.attack.space import Space


def simpler(space: Space, world: World, kept: Sequence[Sequence[str]] = ()) -> list[World]:
    """Return the worlds that are one step simpler, those with fewer parts first.

    Of each group of parts in `kept` one at least stays.
    """
    groups = [(BASE,), *kept]
    found = []
    for place in range(len(world.pieces)):
        rest = world.pieces[:place] + world.pieces[place + 1 :]
        names = {name for name, _ in rest}
        if all(names & set(group) for group in groups):
            found.append(World.of(rest))
    for place, (name, values) in enumerate(world.pieces):
        rest = world.pieces[:place] + world.pieces[place + 1 :]
        for index, gene in enumerate(space.parts[name].genes):
            for value in gene.simpler(values[index]):
                changed = (*values[:index], value, *values[index + 1 :])
                found.append(World.of((*rest, (name, changed))))
    return found


def shrink(
    space: Space,
    world: World,
    holds: Callable[[World], bool],
    kept: Sequence[Sequence[str]] = (),
    rng: Generator | None = None,
) -> World:
    """Return a world that still holds, of which no simpler one does; each is tried once.

    Every step makes it simpler by a measure that cannot fall for ever (`Gene.cost`), so it ends.
    `rng` takes the steps in another order.
    """
    known: dict[World, bool] = {}

    def still(tried: World) -> bool:
        if tried not in known:
            known[tried] = holds(tried)
        return known[tried]

    place, changed = 0, False
    while True:
        steps = simpler(space, world, kept)
        if rng is not None:
            steps = [steps[int(each)] for each in rng.permutation(len(steps))]
            place = 0
        found = next((each for each in range(place, len(steps)) if still(steps[each])), None)
        if found is None and (place == 0 or not changed):
            return world
        if found is None:
            place, changed = 0, False  # once more from the first step on
        else:
            # what comes behind the step that was taken stands at its place now
            world, place, changed = steps[found], found, True
