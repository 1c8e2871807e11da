"""What a comparison or a sweep measured: one row per run, averages per setting."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tidegate.errors import UsageError
from tidegate.grid.axes import named, numbers, titled, warnings_by_setting
from tidegate.results.location import readable
from tidegate.results.statistics import aggregate, metric_names, metrics, paired

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from tidegate.grid.plan import Job, Subject
    from tidegate.results.curves import Curves


@dataclass
class GridResult:
    """What the runs of a grid measured.

    `rows`: one dict per run, its `settings` and then its summary.
    `averages`: one dict per setting, its `settings` and then mean and 95 %
    interval over seeds of every metric.
    `curves`: of a comparison, what its pictures show of each run, by setting.
    `metrics`: those that tables and pictures show, if they were chosen.
    """

    subject: Subject
    rows: list[dict[str, Any]]
    averages: list[dict[str, Any]]
    curves: dict[str, list[Curves]] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    folder: Path | None = None
    wall_s: float = 0.0

    @classmethod
    def of(
        cls,
        subject: Subject,
        summaries: Mapping[Job, Mapping[str, Any]],
        chosen: Sequence[str] = (),
        curves: Mapping[Job, Curves] | None = None,
    ) -> Self:
        """Put runs together, in the order of the grid, however they came."""
        done = cls(subject, [], [], metrics=tuple(chosen))
        for number, point in enumerate(subject.points):
            jobs = [(number, seed) for seed in subject.seeds if (number, seed) in summaries]
            mine = [summaries[job] for job in jobs]
            if mine:
                done.rows += [{"settings": point.says, **summary} for summary in mine]
                done.averages.append({"settings": point.says, **aggregate(mine)})
            if mine and curves:
                done.curves[point.label] = [curves[job] for job in jobs]
        return done

    @property
    def complete(self) -> bool:
        """Whether every planned run is there."""
        return len(self.rows) == len(self.subject.jobs)

    @property
    def cpu_s(self) -> float:
        """CPU time of all runs."""
        return float(sum(row["cpu_s"] for row in self.rows))

    @property
    def warnings(self) -> list[str]:
        """What may make the results misleading, with the settings that it is about."""
        return warnings_by_setting({named(row["settings"]): warnings_of(row) for row in self.rows})

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per run: the value on each axis, the seed, and every metric.

        An axis of numbers has a second column, with its unit in brackets
        ("traffic.web.arrivals.poisson [1/s]"): the values as numbers. A metric
        that a run does not have, or that is undefined in it, is null. What a
        run cost in time is left out: it differs from run to run.
        """
        import polars as pl

        runs = [metrics(row) for row in self.rows]
        names = list(dict.fromkeys(name for run in runs for name in run))
        columns: dict[str, list[Any]] = {
            key: [row["settings"][key] for row in self.rows] for key in self.subject.axes
        }
        for key, values in self.subject.axes.items():
            known = numbers(values)
            if known is not None:
                places = dict(zip(values, known[0], strict=True))
                columns[titled(key, known[1])] = [places[row["settings"][key]] for row in self.rows]
        columns["seed"] = [row["seed"] for row in self.rows]
        columns |= {name: [run.get(name) for run in runs] for name in names}
        columns["result_hash"] = [row["result_hash"] for row in self.rows]
        return pl.DataFrame(columns, strict=False, infer_schema_length=None)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow of every run, after the value on each axis and the seed.

        They are read from the folder of the runs. Raises UsageError where
        there is none, or where its runs were kept without their flows.
        """
        import polars as pl

        if self.folder is None:
            raise UsageError(
                "The flows of all these runs were not kept.", "Name a folder for them with `out`."
            )
        parts = []
        for point in self.subject.points:
            for seed in self.subject.seeds:
                path = self.folder / "runs" / point.folder / f"seed-{seed}" / "flows.parquet"
                if not path.exists():
                    continue
                says = [pl.lit(value).alias(key) for key, value in point.says.items()]
                flows = pl.scan_parquet(readable(path), glob=False).with_columns(
                    pl.col("class").cast(pl.String)
                )
                parts.append(flows.select(*says, pl.lit(seed).alias("seed"), pl.all()))
        if not parts:
            raise UsageError(
                f"The runs in {self.folder} were kept without their flows.",
                "Sweep with `keep_flows=True` (--keep-flows).",
            )
        return pl.concat(parts).collect()

    @property
    def differences(self) -> list[dict[str, Any]]:
        """What every setting but the first has more than the first, seed by seed.

        One dict per setting, its `settings` and then mean and 95 % interval of
        the paired differences of every metric.
        """
        first, *others = [
            [row for row in self.rows if row["settings"] == average["settings"]]
            for average in self.averages
        ]
        return [{"settings": runs[0]["settings"], **paired(runs, first)} for runs in others]

    def document(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {"rows": self.rows, "table": self.averages}


def warnings_of(summary: Mapping[str, Any]) -> list[str]:
    """Return the warnings in a summary; older ones call them `doubts`."""
    return list(summary.get("warnings", summary.get("doubts", ())))


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
                else "Metrics are the names in --json, as in completed_per_s, fct_mean_s or"
                " bottleneck.utilisation: docs/metrics.md lists them.",
            )
    return tuple(dict.fromkeys(asked))
