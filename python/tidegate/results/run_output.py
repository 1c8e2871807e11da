"""What is saved of a run, reduced where it was simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.results.columns import frame, written
from tidegate.results.curves import Curves, curves
from tidegate.results.record import reduced, summarised
from tidegate.results.statistics import summarise
from tidegate.results.store import parquet

if TYPE_CHECKING:
    import polars as pl

    from tidegate.results.simulate import Outcome


@dataclass(frozen=True)
class Wanted:
    """What to save of a run in addition to its summary."""

    tables: bool = True
    """All tables of the run; of a study, those that it asks for."""
    curves: bool = False
    """What pictures of a comparison show."""
    study: tuple[str, ...] | None = None
    """The columns of finished flows that a study asks for, which also leaves out access links."""


@dataclass(frozen=True)
class RunOutput:
    """What is saved of one simulated run: its summary, its tables as Parquet, and its cost.

    It is small and can be pickled: workers of a cluster send it back.
    """

    seed: int
    summary: dict[str, Any]
    tables: dict[str, bytes]
    curves: Curves | None
    packet_hops: int
    cpu_s: float
    wall_s: float

    @classmethod
    def of(cls, outcome: Outcome, wanted: Wanted) -> RunOutput:
        """Reduce the result of a simulation to what is wanted of it."""
        tables: dict[str, pl.DataFrame] = {}
        if wanted.study is not None:
            summary, tables = summarised(outcome), reduced(outcome, wanted.study)
        else:
            summary = summarise(outcome)
        if wanted.study is None and wanted.tables:
            tables = {name: frame(outcome.tables[name]) for name in written(outcome.tables)}
        return cls(
            outcome.seed,
            summary,
            {name: parquet(table) for name, table in tables.items()},
            _curves(outcome) if wanted.curves else None,
            outcome.packet_hops,
            outcome.cpu_s,
            outcome.wall_s,
        )


def _curves(outcome: Outcome) -> Curves:
    scenario = outcome.scenario
    return curves(outcome.tables["flows"], scenario.warmup_s, scenario.duration_s)
