"""What is kept of a run for a study: columns small enough to keep for a thousand runs.

    flows.parquet    the finished flows, with the columns that the study asks for
    rates.parquet    first SYNs, admissions and completions in every second, of all flows
    ports.parquet    the samples of the ports that are no access links
    events.parquet   what the laws decided
    arrivals.parquet the packets that came to ports with `record`, where there are any
    summary.json     the summary of `tidegate run --json`
    manifest.json    seed, scenario, code, cost, checksums

Times are kept as 32-bit floats: some 15 us at 300 s. What is taken from the
full columns, and not from these, is in the summary.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tidegate.results.columns import frame, written
from tidegate.results.curves import curves
from tidegate.results.place import readable
from tidegate.results.statistics import summarise
from tidegate.results.store import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tidegate.results.simulate import Outcome

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """One saved run."""

    folder: Path
    seed: int

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Its summary."""
        found: dict[str, Any] = json.loads((self.folder / "summary.json").read_text("utf-8"))
        return found

    @cached_property
    def commit(self) -> str:
        """The commit that it was made by; empty outside of a checkout."""
        found = json.loads((self.folder / MANIFEST).read_text("utf-8"))["commit"]
        return str(found or "")

    @cached_property
    def all(self) -> dict[str, Any]:
        """The measures of all flows together, over the window of the scenario."""
        found: dict[str, Any] = self.summary["all"]
        return found

    def traffic(self, name: str) -> dict[str, Any]:
        """Return the measures of one traffic class."""
        found: dict[str, Any] = next(
            each for each in self.summary["classes"] if each["name"] == name
        )
        return found

    def port(self, name: str) -> dict[str, Any]:
        """Return what a port did, over the window of the scenario."""
        found: dict[str, Any] = next(each for each in self.summary["ports"] if each["name"] == name)
        return found

    # Tables are read when they are asked for, and not kept: there are too many of them.

    def flows(self) -> dict[str, Floats]:
        """Return the finished flows, in the order of their starts."""
        return _columns(self.folder / "flows.parquet")

    def rates(self) -> dict[str, Floats]:
        """Return `started`, `admitted` and `completed` in every second, which ends at `time_s`."""
        return _columns(self.folder / "rates.parquet")

    def ports(self, name: str = "bottleneck") -> dict[str, Floats]:
        """Return the samples of one port."""
        table = pl.read_parquet(readable(self.folder / "ports.parquet"), glob=False).filter(
            pl.col("port") == name
        )
        return _arrays(table.drop("port"))

    def events(self, port: str = "bottleneck") -> dict[str, Any]:
        """Return the decisions of the law at a port; `phase` is a list of words."""
        table = pl.read_parquet(readable(self.folder / "events.parquet"), glob=False).filter(
            pl.col("port") == port
        )
        found: dict[str, Any] = _arrays(table.drop("port", "law", "phase"))
        found["phase"] = table["phase"].cast(pl.String).to_list()
        return found

    def arrivals(self, port: str) -> pl.DataFrame:
        """Return the packets that came to a port with `record`, in the order in which they came."""
        table = pl.read_parquet(readable(self.folder / "arrivals.parquet"), glob=False).filter(
            pl.col("port") == port
        )
        return table.with_columns(pl.col("origin", "fate").cast(pl.String)).drop("port")


def _columns(path: Path) -> dict[str, Floats]:
    return _arrays(pl.read_parquet(readable(path), glob=False))


def _arrays(table: pl.DataFrame) -> dict[str, Floats]:
    return {
        name: table[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in table.columns
    }


def reduced(outcome: Outcome, columns: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Return the tables that are kept of a run: these columns of its finished flows, and so on."""
    ports = frame(outcome.tables["ports"])
    return {
        "flows": _finished(outcome.tables["flows"], columns),
        "rates": _rates(outcome),
        "ports": ports.filter(~pl.col("port").is_in(list(_access(outcome)))),
        **{name: frame(outcome.tables[name]) for name in written(outcome.tables)[2:]},
    }


def summarised(outcome: Outcome) -> dict[str, Any]:
    """Return the summary of a run, without its access links."""
    summary, access = summarise(outcome), _access(outcome)
    return summary | {"ports": [port for port in summary["ports"] if port["name"] not in access]}


def _access(outcome: Outcome) -> set[str]:
    return {name for name, away in outcome.scenario.ports if away}


def _finished(flows: Mapping[str, Any], columns: Sequence[str]) -> pl.DataFrame:
    """Return the columns of the flows that closed."""
    there = ~np.isnan(flows["closed_s"])
    kept = {}
    for name in columns:
        values = flows[name][0] if isinstance(flows[name], tuple) else flows[name]
        kind = np.float32 if values.dtype.kind == "f" else values.dtype
        kept[name] = values[there].astype(kind)
    return pl.DataFrame(kept)


def _rates(outcome: Outcome) -> pl.DataFrame:
    scenario = outcome.scenario
    curve = curves(outcome.tables["flows"], scenario.warmup_s, scenario.duration_s, 1.0)
    return pl.DataFrame(
        {
            "time_s": curve.times_s,
            "started": curve.offered,
            "admitted": curve.admitted,
            "completed": curve.completed,
        }
    ).cast(pl.Float32)
