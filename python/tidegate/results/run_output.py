"""What is saved of a run, reduced where it was simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.results.columns import completed, frame, written
from tidegate.results.curves import Curves, curves
from tidegate.results.statistics import summarise
from tidegate.results.store import parquet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tidegate.results.simulate import Outcome


OPEN = "open"
"""A column of a study: whether an admitted flow was still open at the end of the run."""


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
            summary, tables = _summarised(outcome), _reduced(outcome, wanted.study)
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


def _curves(outcome: Outcome, bin_s: float | None = None) -> Curves:
    scenario = outcome.scenario
    flows, pages = outcome.tables["flows"], outcome.tables["pages"]
    return curves(flows, pages, scenario.warmup_s, scenario.duration_s, bin_s)


def _reduced(outcome: Outcome, columns: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Return the tables that are saved for a study; see run_files.py."""
    import polars as pl

    ports = frame(outcome.tables["ports"])
    return {
        "flows": _flows(outcome.tables["flows"], columns),
        "rates": _rates(outcome),
        "ports": ports.filter(~pl.col("port").is_in(list(outcome.access))),
        **{
            name: frame(outcome.tables[name])
            for name in written(outcome.tables)[2:]
            if name not in ("flow_window", "class_rates")
        },
    }


def _summarised(outcome: Outcome) -> dict[str, Any]:
    """Return the summary of a run, without its access links."""
    summary = summarise(outcome)
    return summary | {
        "ports": [port for port in summary["ports"] if port["name"] not in outcome.access]
    }


def _flows(flows: Mapping[str, Any], columns: Sequence[str]) -> pl.DataFrame:
    """Return the columns of the flows that closed; with the column OPEN, of all that were admitted.

    OPEN tells which of them had not closed at the end of the run.
    """
    import polars as pl

    closed = ~np.isnan(flows["closed_s"])
    there = ~np.isnan(flows["admitted_s"]) if OPEN in columns else closed
    selected = {}
    for name in columns:
        if name == OPEN:
            selected[name] = ~closed[there]
            continue
        values = flows[name][0] if isinstance(flows[name], tuple) else flows[name]
        if name == "closed_s":  # what lost data was not complete, and so never within any time
            values = np.where(completed(flows), values, np.nan)
        kind = np.float32 if values.dtype.kind == "f" else values.dtype
        selected[name] = values[there].astype(kind)
    return pl.DataFrame(selected)


def _rates(outcome: Outcome) -> pl.DataFrame:
    import polars as pl

    curve = _curves(outcome, bin_s=1.0)
    return pl.DataFrame(
        {
            "time_s": curve.times_s,
            "started": curve.offered,
            "admitted": curve.admitted,
            "completed": curve.completed,
        }
    ).cast(pl.Float32)
