"""The worlds that are looked through: genes within bounds, parts, and the scenario of each."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import exp, floor, isclose, log, log10
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tidegate.attack.objective import Objective
from tidegate.errors import UsageError
from tidegate.papers.expression import evaluated, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.random import Generator

Table: TypeAlias = dict[str, Any]
BASE = ""
"""The name of the part that every world has."""
MOST_PARTS = 4
"""A world that is drawn has this many parts at most, besides those that its objective asks for."""


@dataclass(frozen=True)
class Gene:
    """A number of a world, and its bounds."""

    name: str
    least: float
    most: float
    plain: float
    """What a find is made simpler towards."""
    says: str
    whole: bool = False
    linear: bool = False

    def value(self, place: float) -> float:
        """Return the number at a place from 0 to 1 between the bounds, with two digits."""
        if self.whole:
            return float(min(floor(self.least + place * (self.most - self.least + 1)), self.most))
        if self.linear:
            found = self.least + place * (self.most - self.least)
        else:
            found = exp(log(self.least) + place * (log(self.most) - log(self.least)))
        return self.within(rounded(found, 2))

    def place(self, value: float) -> float:
        """Return the place of a number; one that is held is everywhere."""
        if self.least == self.most:
            return 0.5
        if self.whole:
            return (value - self.least + 0.5) / (self.most - self.least + 1)
        if self.linear:
            return (value - self.least) / (self.most - self.least)
        return (log(value) - log(self.least)) / (log(self.most) - log(self.least))

    def within(self, value: float) -> float:
        """Return a number, or the bound that it is beyond."""
        return min(max(value, self.least), self.most)

    def cost(self, value: float) -> float:
        """Return how far a number is from a simple one: the plain one, a whole few, a round one."""
        if value == self.plain:
            return 0.0
        if self.whole:
            return 1.0 + abs(value - self.plain)
        first = rounded(value, 1)
        if value != first:
            return 3.0
        return 1.0 if _leading(value) in (1, 2, 5) else 2.0

    def simpler(self, value: float) -> list[float]:
        """Return the simpler numbers to try in its place, the simplest first."""
        if self.whole:
            tried = [self.plain, value - 1 if value > self.plain else value + 1]
        else:
            first = rounded(value, 1)
            power = 10.0 ** floor(log10(first)) if first > 0 else 1.0
            round_ones = sorted((1, 2, 5, 10), key=lambda each: abs(log(each * power / first)))
            tried = [self.plain, rounded(round_ones[0] * power, 1), first] if first > 0 else []
        there = [each for each in tried if self.least <= each <= self.most]
        cost = self.cost(value)
        return [each for each in dict.fromkeys(there) if self.cost(each) < cost]


def rounded(value: float, digits: int) -> float:
    """Return a number with so many significant digits."""
    return float(f"{value:.{digits - 1}e}")


def _leading(value: float) -> int:
    return int(f"{value:e}"[0])


@dataclass(frozen=True)
class Part:
    """What may be added to a world: its genes, and what the scenario gets."""

    name: str
    says: str
    genes: tuple[Gene, ...]
    scenario: Table
    most: int = 1


Piece: TypeAlias = tuple[str, tuple[float, ...]]
"""A part of a world by its name, and the numbers of its genes."""


@dataclass(frozen=True)
class World:
    """The base and the parts of a world, in the order of their names."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> World:
        """Return a world of these pieces; their order does not matter."""
        return cls(tuple(sorted(pieces)))

    @property
    def plain(self) -> World:
        """The same base without parts."""
        return World(tuple(each for each in self.pieces if each[0] == BASE))

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts, without the base."""
        return tuple(name for name, _ in self.pieces if name != BASE)


@dataclass(frozen=True)
class Space:
    """What a file of worlds holds."""

    name: str
    title: str
    own: tuple[str, ...]
    standard: tuple[str, ...]
    stages: bool
    parts: Mapping[str, Part]
    """Also the base."""
    references: tuple[tuple[str, Table], ...]
    objectives: Mapping[str, Objective]

    def holding(self, held: Mapping[str, float]) -> Space:
        """Return the same worlds with some genes of the base held at one number.

        Raises UsageError for an unknown gene, or a number beyond its bounds.
        """
        base = self.parts[BASE]
        known = {gene.name: gene for gene in base.genes}
        for name, value in held.items():
            if name not in known:
                raise UsageError(f"There is no gene {name}.", f"Genes: {', '.join(known)}.")
            gene = known[name]
            if gene.within(value) != value:
                raise UsageError(
                    f"{name} cannot be {value:g}.", f"It is {gene.least:g} to {gene.most:g}."
                )
            known[name] = replace(gene, least=value, most=value, plain=value)
        fixed = replace(base, genes=tuple(known.values()))
        return replace(self, parts={**self.parts, BASE: fixed})

    def drawn(self, rng: Generator, objective: Objective, only: Sequence[str] = ()) -> World:
        """Return a world at random; `only`: of these parts alone, and one of them at least."""
        names = [each for each in self.allowed(objective, only) if each != objective.part]
        every = [name for name in names for _ in range(self.parts[name].most)]
        wanted = min(int(rng.integers(1 if only else 0, MOST_PARTS + 1)), len(every))
        chosen = rng.permutation(len(every))[:wanted]
        shape = [BASE, *objective.needed, *(every[int(each)] for each in chosen)]
        return self.at(shape, rng.random(self.size(shape)))

    def allowed(self, objective: Objective, only: Sequence[str]) -> list[str]:
        """Return the parts that a world may have; raises UsageError for an unknown name."""
        names = [each for each in self.parts if each != BASE and each not in objective.without]
        unknown = [each for each in only if each not in names]
        if unknown:
            raise UsageError(
                f"There is no part {unknown[0]} with the objective {objective.name}.",
                f"Parts: {', '.join(names)}.",
            )
        return [each for each in names if not only or each in only]

    def size(self, shape: Iterable[str]) -> int:
        """Return the number of genes of these parts."""
        return sum(len(self.parts[name].genes) for name in shape)

    def at(self, shape: Sequence[str], places: Sequence[float] | Any) -> World:  # noqa: ANN401
        """Return the world of these parts whose genes are at these places from 0 to 1."""
        left = iter(np.clip(np.asarray(places, dtype=float), 0.0, 1.0))
        return World.of(
            (name, tuple(gene.value(float(next(left))) for gene in self.parts[name].genes))
            for name in shape
        )

    def places(self, world: World) -> tuple[list[str], list[float]]:
        """Return the parts of a world, and the places of its genes in their order."""
        shape = [name for name, _ in world.pieces]
        found = [
            gene.place(value)
            for name, values in world.pieces
            for gene, value in zip(self.parts[name].genes, values, strict=True)
        ]
        return shape, found

    def scenario(self, world: World, more: Table | None = None) -> Table:
        """Return the scenario of a world as a document; `more` is added, as a part is."""
        found: Table = {}
        [base] = (self.named(piece) for piece in world.pieces if piece[0] == BASE)
        for name, values in world.pieces:
            known = base | self.named((name, values))
            found = merged(found, filled(self.parts[name].scenario, known))
        return merged(found, filled(more or {}, base))

    def named(self, piece: Piece) -> dict[str, float]:
        """Return the numbers of a piece by the names of their genes."""
        name, values = piece
        genes = self.parts[name].genes
        return {gene.name: value for gene, value in zip(genes, values, strict=True)}

    def told(self, world: World) -> list[str]:
        """Return what a world is, in words: a line for the base and each part."""
        lines = []
        for name, values in world.pieces:
            part = self.parts[name]
            pairs = zip(part.genes, values, strict=True)
            numbers = ", ".join(f"{gene.name} {value:g} {gene.says}" for gene, value in pairs)
            lines.append(f"{part.says}: {numbers}" if numbers else part.says)
        return lines


@cache
def space(name: str) -> Space:
    """Read a file of worlds: `path` for senders, `access` and `users` for gates."""
    text = (files(__package__) / "worlds" / f"{name}.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    base = Part(BASE, document["title"], _genes(document["gene"]), document["scenario"])
    parts = [
        Part(key, each["says"], _genes(each.get("gene", {})), each["scenario"], each.get("most", 1))
        for key, each in document["part"].items()
    ]
    return Space(
        name=name,
        title=document["title"],
        own=tuple(document["own"]),
        standard=tuple(document["standard"]),
        stages=document["stages"],
        parts={part.name: part for part in (base, *parts)},
        references=tuple(
            (each["name"], each.get("scenario", {})) for each in document.get("reference", ())
        ),
        objectives={key: Objective.read(key, each) for key, each in document["objective"].items()},
    )


def _genes(tables: Mapping[str, Table]) -> tuple[Gene, ...]:
    return tuple(Gene(name, **each) for name, each in tables.items())


def merged(one: Table, other: Table) -> Table:
    """Return both tables as one: tables within are merged, lists of tables follow each other."""
    found = dict(one)
    for key, value in other.items():
        there = found.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            found[key] = merged(there, value)
        elif isinstance(there, list) and isinstance(value, list):
            found[key] = [*there, *value]
        else:
            found[key] = value
    return found


_PLACE = re.compile(r"\{([^{}]*)\}")


def filled(value: Any, known: Mapping[str, float]) -> Any:  # noqa: ANN401  (a value of TOML)
    """Return a value with what stands in braces computed; one that is nothing else is a number."""
    if isinstance(value, dict):
        return {key: filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known) for each in value]
    if not isinstance(value, str):
        return value
    alone = _PLACE.fullmatch(value)
    if alone:
        return _number(alone[1], known)
    return _PLACE.sub(lambda each: plainly(_number(each[1], known)), value)


def _number(text: str, known: Mapping[str, float]) -> float:
    def gene(node: ast.expr) -> float:
        if not isinstance(node, ast.Name):
            raise ValueError(f"{ast.unparse(node)} is no gene")
        return known[node.id]

    found = rounded(float(evaluated(parsed(text), gene)), 4)
    return int(found) if isclose(found, round(found), rel_tol=0.0, abs_tol=0.0) else found


def plainly(value: float) -> str:
    """Return a number without an exponent, as quantities with a unit have it."""
    return np.format_float_positional(value, trim="-")
