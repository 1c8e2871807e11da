"""What a sweep measured: one row per run, averages per setting, tables and pictures."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError, from_os
from tidegate.results import aggregate, metric_names, metrics
from tidegate.sweeping import axes as grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from rich.console import RenderableType

    from tidegate.sweeping.plan import Job, Subject


@dataclass
class Sweep:
    """What a sweep measured.

    `rows`: one dict per run, its `settings` and then its summary.
    `averages`: one dict per setting, its `settings` and then mean and 95 %
    interval over seeds of every metric.
    `metrics`: those that tables and pictures show, if they were chosen.
    """

    subject: Subject
    rows: list[dict[str, Any]]
    averages: list[dict[str, Any]]
    metrics: tuple[str, ...] = ()
    folder: Path | None = None
    wall_s: float = 0.0

    @staticmethod
    def of(
        subject: Subject, summaries: Mapping[Job, Mapping[str, Any]], chosen: Sequence[str] = ()
    ) -> Sweep:
        """Put runs together, in the order of the grid, however they came."""
        rows, averages = [], []
        for number, point in enumerate(subject.points):
            jobs = [(number, seed) for seed in subject.seeds if (number, seed) in summaries]
            mine = [summaries[job] for job in jobs]
            if mine:
                rows += [{"settings": point.says, **summary} for summary in mine]
                averages.append({"settings": point.says, **aggregate(mine)})
        return Sweep(subject, rows, averages, tuple(chosen))

    @property
    def complete(self) -> bool:
        """Whether every planned run is there."""
        return len(self.rows) == len(self.subject.jobs)

    @property
    def table(self) -> RenderableType:
        """Mean and interval of each setting, for a terminal."""
        from tidegate.tables import of_sweep

        return of_sweep(self)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per run: the value on each axis, the seed, and every metric.

        A metric that a run does not have, or that is undefined in it, is null.
        What a run cost in time is left out: it differs from run to run.
        """
        import polars as pl

        runs = [metrics(row) for row in self.rows]
        names = list(dict.fromkeys(name for run in runs for name in run))
        columns: dict[str, list[Any]] = {
            key: [row["settings"][key] for row in self.rows] for key in self.subject.axes
        }
        columns["seed"] = [row["seed"] for row in self.rows]
        columns |= {name: [run.get(name) for run in runs] for name in names}
        columns["result_hash"] = [row["result_hash"] for row in self.rows]
        return pl.DataFrame(columns, strict=False, infer_schema_length=None)

    def document(self) -> dict[str, Any]:
        """Return the object that `tidegate sweep --json` prints."""
        return {"rows": self.rows, "table": self.averages}

    def csv(self) -> str:
        """Return the table in long format: a line per setting and metric.

        The metrics are those that were chosen, or those of the tables of
        `compare`; the others are in `frame`.
        """
        from tidegate.tables import metrics_of

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.subject.axes, "metric", "seeds", "mean", "low", "high"])
        chosen = self.metrics or metrics_of(self.subject.port, self.subject.classes)
        seeds = Counter(tuple(row["settings"].values()) for row in self.rows)
        for row in self.averages:
            says = tuple(row["settings"].values())
            for name in chosen:
                value = row.get(name) or {"mean": None, "low": None, "high": None}
                writer.writerow([*says, name, seeds[says], *value.values()])
        return text.getvalue()

    def plot(self, folder: str | Path | None = None) -> list[Path]:
        """Draw a picture per axis of numbers, as PNG and SVG, and return their paths.

        Without a folder they go where the results are, or into `pictures`.
        """
        from tidegate.plot import sweep_pictures

        place = Path(folder or self.folder or "pictures")
        paths = []
        for name, content in sweep_pictures(self).items():
            try:
                place.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
            except OSError as error:
                raise from_os("write", place / name, error) from error
            paths.append(place / name)
        return paths


def chosen(names: str | Sequence[str] | None, subject: Subject) -> tuple[str, ...]:
    """Return the metrics that were asked for, if the runs of a sweep will have them."""
    asked = [each.strip() for each in names.split(",")] if isinstance(names, str) else names or []
    known = metric_names(subject.classes, subject.ports)
    for name in asked:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 3, 0.5)
            raise UsageError(
                f"There is no metric {name}.",
                f"Did you mean {' or '.join(near)}?"
                if near
                else "Metrics are the names in --json,"
                " as in completed_per_s, fct_mean_s or bottleneck.utilisation.",
            )
    return tuple(dict.fromkeys(asked))


def tabulated(sweep: Sweep) -> dict[str, bytes]:
    """Return the files of a finished sweep: the same runs give the same bytes."""
    buffer = io.BytesIO()
    sweep.frame.write_parquet(buffer, compression="zstd", statistics=True)
    files = {
        "table.csv": sweep.csv().encode(),
        "sweep.parquet": buffer.getvalue(),
        "summary.json": (json.dumps(sweep.document(), allow_nan=False) + "\n").encode(),
    }
    if any(grid.numbers(values) for values in sweep.subject.axes.values()):
        from tidegate.plot import sweep_pictures

        files |= sweep_pictures(sweep)
    return files
