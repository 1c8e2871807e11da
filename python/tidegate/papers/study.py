"""Everything of one paper: checks, pictures, and what its report needs."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from tidegate.papers.case import Scale
from tidegate.papers.expression import all_cases, called
from tidegate.papers.paper import Paper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from tidegate.papers.case import ParameterSearch
    from tidegate.papers.check import Check
    from tidegate.papers.expression import Sets
    from tidegate.papers.runs import Runs

    Draw: TypeAlias = Callable[[Runs], Figure]


@dataclass(frozen=True)
class PaperPicture:
    """A picture of the report, drawn from the runs of these cases and searches."""

    name: str
    title: str
    cases: tuple[str, ...]
    draw: Draw


def pictures_of(text: str, figures: object, sets: Sets) -> tuple[PaperPicture, ...]:
    """Return the pictures of a `pictures.csv`: `draw` calls a function of `figures.py`."""
    found = []
    for row in csv.DictReader(io.StringIO(text)):
        name, values = called(row["draw"])
        draw = partial(_drawn, getattr(figures, name), tuple(values))
        found.append(PaperPicture(row["name"], row["title"], all_cases(row["cases"], sets), draw))
    return tuple(found)


def _drawn(function: Callable[..., Figure], values: tuple[object, ...], runs: Runs) -> Figure:
    return function(runs, *values)


@dataclass(frozen=True)
class PaperTable:
    """A table as the paper prints it; a cell is the id of a claim, or empty."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class PaperStudy(Paper):
    """A paper with its checks, its pictures and its report."""

    title: str
    checks: Mapping[str, Check]
    pictures: tuple[PaperPicture, ...]
    names: Mapping[str, object] = field(default_factory=dict)
    """Names that the template of the report can use, besides those of all papers."""
    text_cases: tuple[str, ...] = ()
    """Cases that the text of the report reads, besides those of claims and pictures."""
    scale: Scale = field(default_factory=Scale)
    choices: tuple[ParameterSearch, ...] = ()
    """How settings that the paper does not give were chosen, in this order."""
