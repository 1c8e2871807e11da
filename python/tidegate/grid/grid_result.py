"""What a comparison or a sweep measured: one row per run, averages per setting."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from tidegate.arguments import names as texts
from tidegate.errors import UsageError
from tidegate.grid.axes import SPEAKING, named, numbers, titled, warnings_by_setting
from tidegate.results.access import by_role, role
from tidegate.results.location import readable
from tidegate.results.statistics import aggregate, differences, metric_names, metrics, same_flows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from tidegate.grid.plan import Job, Subject
    from tidegate.results.curves import Curves


MOST_PERIODS = 3
"""So many times are named one by one."""


class Contrast(NamedTuple):
    """By how much a setting differs from another: mean and 95 % interval, metric by metric."""

    settings: dict[str, str]
    against: dict[str, str]
    paired: bool
    """Whether runs of one seed met the same flows, and are subtracted seed by seed."""
    metrics: dict[str, dict[str, float | None]]


@dataclass(repr=False)
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
                done.averages.append({"settings": point.says, **aggregate(mine, chosen)})
            if mine and curves:
                done.curves[point.label] = [curves[job] for job in jobs]
        return done

    @property
    def complete(self) -> bool:
        """Whether every planned run is there."""
        return len(self.rows) == len(self.subject.jobs)

    @property
    def period(self) -> str:
        """Of what time of a run means are, in words: a setting may have a time of its own."""
        ends = {(row["warmup_s"], row["duration_s"]): None for row in self.rows}
        if len(ends) > MOST_PERIODS:
            return "times that differ by setting"
        times = list(ends) or [(self.subject.warmup_s, self.subject.duration_s)]
        return " or ".join(f"{begin:g} to {end:g} s" for begin, end in times)

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

        runs = [metrics(row, self.metrics) for row in self.rows]
        names = list(dict.fromkeys(name for run in runs for name in run))
        columns: dict[str, list[Any]] = {
            key: [row["settings"][key] for row in self.rows] for key in self.subject.axes
        }
        for key, values in self.subject.axes.items():
            known = numbers(values)
            if known is not None:
                number_of = dict(zip(values, known[0], strict=True))
                columns[titled(key, known[1])] = [
                    number_of[row["settings"][key]] for row in self.rows
                ]
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
    def same_flows(self) -> bool:
        """Whether the runs of one seed met the same flows under all settings."""
        first, *others = self._by_setting()
        return all(same_flows(runs, first) for runs in others)

    @property
    def differences(self) -> list[dict[str, Any]]:
        """What every setting but the first has more than the first.

        One dict per setting, its `settings` and then mean and 95 % interval of
        the differences of every metric: seed by seed where all settings met the
        same flows, else of independent samples.
        """
        first, *others = self._by_setting()
        paired = self.same_flows
        return [
            {
                "settings": runs[0]["settings"],
                **differences(runs, first, paired=paired, asked=self.metrics),
            }
            for runs in others
        ]

    @property
    def axis(self) -> str | None:
        """The axis whose first value the others are held against, all else being the same.

        Controls, or else the first axis that is not one of numbers; None: the settings differ in
        more, and all are held against the first.
        """
        several = {key: values for key, values in self.subject.axes.items() if len(values) > 1}
        if len(several) == 1:
            return next(iter(several))
        controls = [key for key in SPEAKING if key in several]
        words = [key for key, values in several.items() if numbers(values) is None]
        return next(iter(controls + words), None)

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """What every setting has more than the one that it is held against (see `axis`)."""
        runs = self._by_setting()
        groups: dict[tuple[tuple[str, str], ...], list[list[dict[str, Any]]]] = {}
        for each in runs:
            settings = each[0]["settings"]
            rest = tuple((key, says) for key, says in settings.items() if key != self.axis)
            groups.setdefault(rest if self.axis else (), []).append(each)
        found = []
        for first, *others in groups.values():
            for each in others:
                paired = same_flows(each, first)
                more = differences(each, first, paired=paired, asked=self.metrics)
                both = each[0]["settings"], first[0]["settings"]
                found.append(Contrast(*both, paired, more))
        return found

    def _by_setting(self) -> list[list[dict[str, Any]]]:
        return [
            [row for row in self.rows if row["settings"] == average["settings"]]
            for average in self.averages
        ]

    def document(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        rows = [{**row, "ports": by_role(row["ports"])} for row in self.rows]
        return {"rows": rows, "table": self.averages}


def warnings_of(summary: Mapping[str, Any]) -> list[str]:
    """Return the warnings in a summary; older ones call them `doubts`."""
    return list(summary.get("warnings", summary.get("doubts", ())))


def chosen(names: str | Sequence[str] | None, subject: Subject) -> tuple[str, ...]:
    """Return the metrics that were asked for, if the runs of a sweep will have them.

    A name that only single classes have means that of each class.
    """
    asked = [each.strip() for each in names.split(",")] if isinstance(names, str) else []
    if names and not isinstance(names, str):
        asked = texts(names, "metrics", "fct_mean_s")
    known = metric_names(subject.classes, subject.ports)
    alone = tuple(name for name in subject.ports if role(name))
    if any(name.startswith("access.") for name in asked):
        measures = {name.removeprefix("p") for name in metric_names((), ("p",)) if name[:2] == "p."}
        known += [f"{port}{measure}" for port in alone for measure in measures]
    found: list[str] = []
    for name in asked:
        of_classes = [f"{each}.{name}" for each in subject.classes]
        found += [name] if name in known else [each for each in of_classes if each in known]
        if name not in known and not set(of_classes) & set(known):
            from difflib import get_close_matches

            near = get_close_matches(name, known, 3, 0.5)
            raise UsageError(
                f"There is no metric {name}.",
                f"Did you mean {' or '.join(near)}? docs/metrics.md lists all."
                if near
                else "Metrics are the names in --json, as in completed_per_s, fct_mean_s or"
                " bottleneck.utilisation: docs/metrics.md lists them.",
            )
    return tuple(dict.fromkeys(found))
