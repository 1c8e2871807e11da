"""What `tidegate attack` prints: the worlds that it looks through, and its finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.attack.finds import measured
from tidegate.attack.space import BASE

if TYPE_CHECKING:
    from tidegate.attack.objective import Objective
    from tidegate.attack.perform import Outcome, Request
    from tidegate.attack.space import Gene, Space


def listed(space: Space) -> str:
    """Return the objectives and parts of a file of worlds, with the bounds of their genes."""
    lines = ["Objectives:"]
    lines += [f"    {name}: {_aim(each)}" for name, each in space.objectives.items()]
    lines.append("Parts:")
    for name, part in space.parts.items():
        often = f" (up to {part.most} times)" if part.most > 1 else ""
        lines.append(f"    {name if name != BASE else 'always'}: {part.says}{often}")
        lines += [f"        {_gene(each)}" for each in part.genes]
    return "\n".join(lines)


def _aim(objective: Objective) -> str:
    limit = objective.limit
    if objective.alone:
        return f"{limit.says}; {limit.text} and more"
    return f"{limit.says}; worse by more than {limit.text}"


def _gene(gene: Gene) -> str:
    return f"{gene.name}: {gene.least:g} to {gene.most:g} {gene.says}"


def found(request: Request, done: Outcome) -> str:
    """Return what a search found, with what was measured there."""
    lines = [
        f"{len(done.rounds)} rounds of {done.searched} runs; {len(done.finds)} finds,"
        f" shrunk with {done.shrunk} more."
    ]
    for find in done.finds:
        lines.append(f"{find.name}: {measured(request.objective, find)}")
        lines += [f"    {line}" for line in request.worlds.told(find.small)]
    return "\n".join(lines)
