"""What is simulated: cases, searches for an optimum, and searches over free parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tidegate.papers.deviations import Alternative
    from tidegate.scenario.document import Setting


SEEDS = 5
"""The least number of seeds of a full run."""


@dataclass(frozen=True)
class Scale:
    """How many seeds a paper is run with, for which claims, and which columns are saved."""

    seeds: int = SEEDS
    quick_seeds: int = 2
    quick: tuple[str, ...] = ("*",)
    """Patterns of the claims of `--quick`."""
    sensitive: tuple[str, ...] = ()
    """Patterns of the claims of the sensitivity table."""
    sensitive_seeds: int = 3
    """Seeds of that table, which shows directions and gives no verdicts of the report."""
    keep: tuple[str, ...] = ("size_bytes", "start_s", "admitted_s", "data_done_s", "closed_s")
    """Columns of finished flows that are saved."""


@dataclass(frozen=True)
class Case:
    """A scenario of the paper with settings, run once per seed.

    `variants` are tables [variant.NAME] of the scenario; `settings` are applied
    after them. `weight` is the relative cost of a simulated second, for the
    estimate of the remaining time.
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


def keyed(cases: Iterable[Case]) -> dict[str, Case]:
    """Return cases by their keys."""
    return {case.key: case for case in cases}


def fitting(names: Iterable[str], patterns: Sequence[str], what: str) -> list[str]:
    """Return the names that fit one of the patterns, all without patterns; refuse if none fits."""
    every = list(names)
    found = [name for name in every if any(fnmatchcase(name, each) for each in patterns or ("*",))]
    if not found:
        some = ", ".join(every[:3])
        raise UsageError(
            f"No {what} fits {', '.join(patterns)}.", f"There are {some}, ...; * matches anything."
        )
    return found


@dataclass(frozen=True)
class FreeParameter:
    """A parameter that the paper does not give, and the values that are tried."""

    what: str
    options: tuple[Alternative, ...]


def parameter(what: str, *options: Alternative) -> FreeParameter:
    """Return a free parameter with these values."""
    return FreeParameter(what, options)


@dataclass(frozen=True)
class ParameterSearch:
    """A search over free parameters, scored on some claims only.

    All combinations of `together` are tried; then each option of `alone` is
    added to the best combination. `eras` are compared with every claim.
    """

    title: str
    scored: tuple[str, ...]
    """Patterns of the claims that give the score."""
    together: tuple[FreeParameter, ...]
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    """Columns of the table: the head, and the claims whose numbers it shows."""
    alone: tuple[FreeParameter, ...] = ()
    eras: tuple[tuple[str, tuple[Alternative, ...]], ...] = ()
    """Names, and the settings that are compared with all claims."""
    seeds: int | None = None
    """Seeds of this search; default those of the command."""
    shared: bool = False
    """Whether all searches of the paper share the first parameter: one value for all."""


@dataclass(frozen=True)
class OptimumSearch:
    """A search for the value with the largest metric.

    The coarse grid is run with `first` seeds; then, with all seeds, `around`
    steps of `fine` on either side of its best value.
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
        """Return the fine grid around the best value of the coarse grid."""
        steps = range(-self.around, self.around + 1)
        values = [best + step * self.fine for step in steps if best + step * self.fine > 0]
        return {value: replace(self.case(value), key=f"{self.key}/{value:g}") for value in values}
