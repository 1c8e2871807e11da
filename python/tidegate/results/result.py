"""The result of one run: its summary, its tables, and how it is saved."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tidegate.results.columns import frame
from tidegate.results.run_files import write_run
from tidegate.results.run_output import RunOutput, Wanted
from tidegate.results.statistics import summarise
from tidegate.results.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from tidegate.results.simulate import Outcome


class Run:
    """What one run measured: `summary`, and its tables as frames.

    `flows`, `ports`, `events`; where they were asked for `arrivals`,
    `flow_series`, `class_series` and `queue_series`; `udp` and `video` where there is any.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.summary = summarise(outcome)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return frame(self.outcome.tables["flows"])

    @cached_property
    def ports(self) -> pl.DataFrame:
        """One row per port and sampling interval."""
        return frame(self.outcome.tables["ports"])

    @cached_property
    def events(self) -> pl.DataFrame:
        """One row per decision of a law."""
        return frame(self.outcome.tables["events"])

    @cached_property
    def arrivals(self) -> pl.DataFrame:
        """One row per packet that came to a port with `record`."""
        return frame(self.outcome.tables["arrivals"])

    @cached_property
    def flow_series(self) -> pl.DataFrame:
        """One row per interval and flow that `series` follows."""
        return frame(self.outcome.tables["flow_series"])

    @cached_property
    def class_series(self) -> pl.DataFrame:
        """One row per interval and class that `series` follows."""
        return frame(self.outcome.tables["class_series"])

    @cached_property
    def queue_series(self) -> pl.DataFrame:
        """One row per interval, port and class that `series` follows."""
        return frame(self.outcome.tables["queue_series"])

    @cached_property
    def udp(self) -> pl.DataFrame:
        """One row per class of UDP."""
        return frame(self.outcome.tables["udp"])

    @cached_property
    def video(self) -> pl.DataFrame:
        """One row per viewer of video."""
        return frame(self.outcome.tables["video"])

    def save(self, folder: str | Path) -> Path:
        """Write Parquet files, summary.json and manifest.json; return the folder.

        What an earlier `save` of a single run wrote there is replaced, and nothing else.
        """
        with Store(folder) as store:
            write_run(store, RunOutput.of(self.outcome, Wanted()), self.outcome.scenario.show())
            return store.commit()
