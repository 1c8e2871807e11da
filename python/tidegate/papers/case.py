"""What a study simulates: cases, and searches for an optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.deviations import Alternative
    from tidegate.scenario.document import Setting


SEEDS = 5
"""Fewest seeds that a verdict of a full run rests on."""


@dataclass(frozen=True)
class Scale:
    """How thoroughly a paper is regenerated, and what is kept of its runs."""

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
class FreeParameter:
    """One thing that a paper leaves unsaid, and what it may be: what each is called, and makes."""

    what: str
    options: tuple[Alternative, ...]


@dataclass(frozen=True)
class ParameterSearch:
    """A search over what a paper leaves unsaid, scored on some of its claims and on no other.

    All combinations of `together` are tried, then each option of `alone` by
    itself on top of the best. `eras` are held to every claim of the paper.
    """

    scored: tuple[str, ...]
    """Claims, by patterns, whose numbers are the score."""
    together: tuple[FreeParameter, ...]
    alone: tuple[FreeParameter, ...]
    eras: tuple[tuple[str, tuple[Alternative, ...]], ...]
    """Settings that are shown against all claims, by their names."""
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    """What the table shows: heads, and the claims whose numbers stand below."""


@dataclass(frozen=True)
class OptimumSearch:
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
