"""What a study of a paper consists of: checks, figures, sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tidegate.papers.case import Scale
from tidegate.papers.paper import Paper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from tidegate.papers.case import ParameterSearch
    from tidegate.papers.check_results import Check
    from tidegate.papers.registry import Registered
    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import ClaimResult

    Draw: TypeAlias = Callable[[Runs], Figure]


@dataclass(frozen=True)
class PaperPicture:
    """A figure of the paper, redrawn from the runs of these cases and searches."""

    name: str
    title: str
    cases: tuple[str, ...]
    draw: Draw


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper as it is printed there; a cell is the id of a claim, or nothing."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Section:
    """A part of the report: what it says, its pictures and tables, and its claims."""

    title: str
    claims: tuple[str, ...]
    pictures: tuple[str, ...] = ()
    grids: tuple[PaperTable, ...] = ()
    text: Callable[[Runs], str] | None = None
    cases: tuple[str, ...] = ()
    """What the text is taken from, beside the claims of the section."""


@dataclass(frozen=True)
class PaperStudy(Paper):
    """Everything of one paper: what is simulated, how claims are found, and the report."""

    title: str
    checks: Mapping[str, Check]
    pictures: tuple[PaperPicture, ...]
    sections: tuple[Section, ...]
    summary: Callable[[Sequence[ClaimResult], Runs], str]
    """The opening of the report: what holds and what does not, in a minute's reading."""
    scale: Scale = field(default_factory=Scale)
    choice: ParameterSearch | None = None
    """How the settings that the paper leaves unsaid are chosen."""
    sources: Mapping[str, Registered] = field(default_factory=dict)
    """The function behind each check."""
