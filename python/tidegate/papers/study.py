"""What a study of a paper consists of: cases, searches, checks, figures, sections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

from tidegate import scenario as documents
from tidegate.papers import claims as listed
from tidegate.papers import deviations as departures
from tidegate.papers.verdicts import SEEDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.resources.abc import Traversable

    from matplotlib.figure import Figure

    from tidegate.papers.claims import Claim
    from tidegate.papers.deviations import Deviations
    from tidegate.papers.runs import Runs
    from tidegate.papers.verdicts import Finding, Outcome
    from tidegate.scenario import Document, Setting

    Draw: TypeAlias = Callable[[Runs], Figure]


@dataclass(frozen=True)
class Case:
    """One thing that is simulated, with every seed: a scenario of the paper, and what differs.

    `variants` are tables [variant.NAME] of the scenario, `settings` come after
    them. `weight` is what a simulated second costs beside those of other
    cases: only the estimate of the time that is left hangs on it.
    """

    key: str
    scenario: str
    variants: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    seeds: int | None = None
    weight: float = 1.0

    def having(self, *settings: Setting) -> Case:
        """Return the same case with further settings."""
        return replace(self, settings=self.settings + settings)


@dataclass(frozen=True)
class Search:
    """A brute-force optimum, coarse to fine: the value with the most of a metric.

    First the coarse grid with `first` seeds, then, with all seeds, `around`
    steps of `fine` on either side of the best.
    """

    key: str
    case: Callable[[float], Case]
    coarse: tuple[float, ...]
    fine: float
    around: int = 2
    metric: str = "completed"
    first: int = 1

    def grid(self) -> dict[float, Case]:
        """Return the coarse grid."""
        return {
            value: replace(self.case(value), key=f"{self.key}/{value:g}/coarse", seeds=self.first)
            for value in self.coarse
        }

    def near(self, best: float) -> dict[float, Case]:
        """Return the fine grid around the best of the coarse one."""
        steps = range(-self.around, self.around + 1)
        values = [best + step * self.fine for step in steps if best + step * self.fine > 0]
        return {value: replace(self.case(value), key=f"{self.key}/{value:g}") for value in values}


@dataclass(frozen=True)
class Check:
    """How a claim is found: a function of the runs of these cases and searches."""

    cases: tuple[str, ...]
    find: Callable[[Runs], Finding]


@dataclass(frozen=True)
class Picture:
    """A figure of the paper, redrawn from the runs of these cases and searches."""

    name: str
    title: str
    cases: tuple[str, ...]
    draw: Draw


@dataclass(frozen=True)
class Grid:
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
    grids: tuple[Grid, ...] = ()
    text: Callable[[Runs], str] | None = None
    cases: tuple[str, ...] = ()
    """What the text is taken from, beside the claims of the section."""


@dataclass(frozen=True)
class Study:
    """Everything of one paper. `package` is where its data lies beside its code."""

    key: str
    package: str
    cases: Mapping[str, Case]
    searches: Mapping[str, Search]
    checks: Mapping[str, Check]
    pictures: tuple[Picture, ...]
    sections: tuple[Section, ...]
    summary: Callable[[Sequence[Outcome], Runs], str]
    """The opening of the report: what holds and what does not, in a minute's reading."""
    seeds: int = SEEDS
    quick_seeds: int = 2
    quick: tuple[str, ...] = ("*",)
    """Claims of `--quick`."""
    sensitive: tuple[str, ...] = ()
    """Claims of the sensitivity table."""
    sensitive_seeds: int = 3
    """Seeds of that table: it shows which way numbers go, and judges nothing."""
    keep: tuple[str, ...] = ("size_bytes", "start_s", "admitted_s", "data_done_s", "closed_s")
    """Columns of finished flows that are saved."""

    @property
    def folder(self) -> Traversable:
        """Where its data lies."""
        return files(self.package)

    def claims(self) -> list[Claim]:
        """Read its claims."""
        return listed.read((self.folder / "claims.csv").read_text(encoding="utf-8"))

    def deviations(self) -> Deviations:
        """Read where it departs from the paper."""
        return departures.read((self.folder / "deviations.toml").read_text(encoding="utf-8"))

    def document(self, case: Case) -> Document:
        """Return the scenario of a case."""
        from pathlib import Path

        path = Path(str(self.folder / "scenarios" / case.scenario))
        document = documents.read(path)
        variants = {cell.label: cell.settings for cell in documents.variant_cells(document)}
        for name in case.variants:
            document = document.having(*variants[name])
        return document.having(*case.settings)
