"""What Python users call: runs, comparisons and sweeps, with their tables and pictures."""

from __future__ import annotations

import functools
from contextlib import ExitStack, contextmanager
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tidegate.arguments import text, worded
from tidegate.errors import UsageError, warn
from tidegate.grid import axes as grid
from tidegate.grid import plan
from tidegate.grid.case_runs import CaseRuns
from tidegate.grid.execute import execute
from tidegate.grid.executor import Executor
from tidegate.grid.grid_folder import GridFolder
from tidegate.grid.grid_result import chosen
from tidegate.grid.load import load as loaded
from tidegate.grid.merge import merge as together
from tidegate.results.columns import frame
from tidegate.results.location import location
from tidegate.results.run_files import about_run, same_run, write_single_run
from tidegate.results.simulate import simulate
from tidegate.results.statistics import summarise
from tidegate.results.store import opened
from tidegate.scenario.document import Source
from tidegate.scenario.document import read as document
from tidegate.scenario.recorded import Recorded
from tidegate.scenario.recorded import read as recorded
from tidegate.show import finished
from tidegate.show.hints import alike
from tidegate.show.look import Look
from tidegate.show.shown_grid import ShownGrid, as_pandas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from tidegate.grid.meter import Meter
    from tidegate.results.laws import OwnLaw
    from tidegate.results.run_files import SavedRun
    from tidegate.results.simulate import Outcome
    from tidegate.scenario.document import Document
    from tidegate.show.tables import Shown

    Laws = Mapping[str, OwnLaw]
    Controls = Sequence[str | dict[str, Any]] | str


class Flows(Recorded):
    """What a packet capture holds."""

    def __repr__(self) -> str:
        """Return in one line what was found."""
        return (
            f"<Flows of {self.path.name!r}: {self.frame.height:,} connections in"
            f" {self.packets:,} packets; .table, .frame, .csv>"
        )

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    @property
    def table(self) -> Shown:
        """What was found, for a terminal or a notebook."""
        return self.listed()

    def listed(self, rows: int = 10) -> Shown:
        """Return what was found and the first rows, for a terminal or a notebook."""
        from tidegate.show.listing import of_flows

        return of_flows(self, rows)


def _rows(name: str, of: str) -> cached_property[pl.DataFrame]:
    def table(self: Result) -> pl.DataFrame:
        return self._frame(name)

    table.__doc__ = f"One row per {of}."
    return cached_property(table)


FRAMES = (
    *("flows", "ports", "events", "arrivals", "flow_series", "class_series", "queue_series"),
    *("acks", "udp", "video", "pages", "objects"),
)
"""The tables of a run that are frames."""


class Result:
    """What one run measured.

    `summary`: one dict, as `tidegate run --json` prints it; `table`: the same for
    a terminal. `flows`, `ports`, `events`, ...: Polars frames. `outcome`: the arrays
    and the scenario of a run that was simulated here, None of one that was loaded.
    """

    def __init__(self, outcome: Outcome | None, saved: SavedRun | None = None) -> None:
        self.outcome, self._saved = outcome, saved
        if outcome is not None:
            self.summary = summarise(outcome)
            self._access = outcome.access
        elif saved is not None:
            self.summary = saved.summary
            self._access = set(saved.manifest.get("access_ports", ()))

    def __repr__(self) -> str:
        """Return the run in one line, and what it has."""
        summary = self.summary
        return (
            f"<Result of {summary['scenario']!r}, seed {summary['seed']}:"
            f" {summary['all']['completed']:,} flows completed in {summary['warmup_s']:g} to"
            f" {summary['duration_s']:g} s; .table, .flows, .ports, .summary>"
        )

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    @property
    def table(self) -> Shown:
        """The summary as a table, for a terminal or a notebook."""
        from tidegate.show.tables import of_run

        return of_run(self.summary, self._access)

    def figures(
        self,
        *,
        size: tuple[float, float] | str | None = None,
        style: str | Path | None = None,
        pictures: Sequence[str] = (),
    ) -> dict[str, Figure]:
        """Return ports, classes and what is followed over time as figures of matplotlib."""
        from tidegate.show.pictures import figures_of_run

        with self._lies() as folder:
            look = Look.of(None, size, style, pictures=pictures)
            return figures_of_run(folder, self.summary, look)

    def plot(
        self,
        folder: str | Path | None = None,
        *,
        formats: Sequence[str] | str | None = None,
        size: tuple[float, float] | str | None = None,
        style: str | Path | None = None,
        pictures: Sequence[str] = (),
    ) -> list[Path]:
        """Draw the same as files, and return their paths; arguments as of `Comparison.plot`."""
        from tidegate.show.pictures import of_run

        look = Look.of(formats, size, style, pictures=pictures)
        with self._lies() as there:
            drawn = of_run(there, self.summary, look)
        home = self._saved.folder if self._saved else "pictures"
        return finished.saved(drawn, location(folder or home))

    @contextmanager
    def _lies(self) -> Iterator[Path]:
        """Yield a folder with its files."""
        if self._saved is not None:
            yield self._saved.folder
            return
        with TemporaryDirectory() as folder:
            yield self.save(folder)

    def to_pandas(self, name: str = "flows") -> object:
        """Return one of its frames as a frame of pandas.

        Args:
            name: Which: `flows`, `ports`, `events`, ...

        Raises:
            UsageError: pandas is not installed.
        """
        return as_pandas(self._frame(name))

    flows = _rows("flows", "flow")
    ports = _rows("ports", "port and sampling interval")
    events = _rows("events", "decision of a law")
    arrivals = _rows("arrivals", "packet that came to a port with `record`")
    flow_series = _rows("flow_series", "interval and flow that `series` follows")
    class_series = _rows("class_series", "interval and class that `series` follows")
    queue_series = _rows("queue_series", "interval, port and class that `series` follows")
    acks = _rows("acks", "acknowledgement of a flow in `series.acks`: cwnd, ssthresh, srtt, flight")
    udp = _rows("udp", "class of UDP")
    video = _rows("video", "viewer of video")
    pages = _rows("pages", "page that a user started to load")
    objects = _rows("objects", "object of a page")

    def _frame(self, name: str) -> pl.DataFrame:
        if text(name, "A table", "flows") not in FRAMES:
            raise UsageError(f"There is no table {name}.", f"The tables are {', '.join(FRAMES)}.")
        if self.outcome is not None:
            return frame(self.outcome.tables[name])
        assert self._saved is not None
        return self._saved.table(name)

    @worded(out="folder")
    def save(self, folder: str | Path) -> Path:
        """Write Parquet files, summary.json and manifest.json; `load` reads them again.

        Args:
            folder: If the same run is there, it is replaced, nothing else: a run of another
                scenario, seed or code is kept.

        Returns:
            The folder.

        Raises:
            TidegateError: Something else is there.
        """
        where = location(folder)
        with opened(where, replaces=functools.partial(self._is_in, where)) as store:
            if self.outcome is not None:
                write_single_run(store, self.outcome)
            elif self._saved is not None:
                self._saved.copy_to(store)
            return store.commit()

    def _is_in(self, folder: Path, manifest: dict[str, Any]) -> bool:
        """Tell whether a folder holds this run, so that replacing it loses nothing."""
        mine = self._saved.manifest if self._saved is not None else None
        if self.outcome is not None:
            mine = about_run(self.outcome.scenario.show(), self.outcome.seed)
        return mine is not None and same_run(folder, manifest, mine, self.summary["result_hash"])


class Comparison(ShownGrid):
    """What a comparison measured.

    `rows`: one dict per run, its `settings` and then its summary; `frame`: the
    same as a Polars frame. `averages`: one dict per column, its `settings` and
    then mean and 95 % interval over seeds of every metric.
    """


class Sweep(ShownGrid):
    """What a sweep measured.

    `rows`: one dict per run, its `settings` and then its summary; `frame`: the
    same as a Polars frame. `averages`: one dict per setting, its `settings` and
    then mean and 95 % interval over seeds of every metric. `metrics`: those
    that tables and pictures show, if they were chosen.
    """


class Study(CaseRuns):
    """What a paper or a study measured, from its folder.

    `cases`: their names; `frame`: one row per run, a Polars frame; `claims`: of a paper, one
    dict per claim with its verdict; `report`: its text in Markdown.
    """

    def _repr_html_(self) -> str:
        import html

        import polars as pl

        shown = pl.DataFrame(self.claims, strict=False) if self.claims else self.frame
        return f"<p>{html.escape(repr(self))}</p>{shown._repr_html_()}"

    def run(self, case: str, seed: int = 1) -> Result:
        """Return one of its runs, as `load` of its folder does."""
        return Result(None, self.at(case, seed))

    def to_pandas(self) -> object:
        """Return `frame` as a frame of pandas; UsageError if it is not installed."""
        return as_pandas(self.frame)


def _document(source: Source, settings: Mapping[str, object] | None) -> Document:
    """Find a scenario: also by the URL of a file in an object store."""
    path = isinstance(source, str) and "\n" not in source
    return document(location(cast("str", source), "a scenario") if path else source, settings)


G = TypeVar("G", Comparison, Sweep)
WORDED = 4
"""The line of the caller of a function that is `worded`, counted from `warn`."""


@worded()
def flows(path: str | Path, tick: Callable[[int], None] | None = None) -> Flows:
    """Read the connections of TCP and QUIC in a packet capture (pcap or pcapng).

    Args:
        path: File of the capture.
        tick: Is called now and then with the number of bytes read so far.

    Returns:
        The connections, a row each in `frame`.

    Raises:
        TidegateError: The file cannot be read, is no capture, or holds neither.
    """
    return Flows(**vars(recorded(location(path, "a packet capture"), tick)))


@worded()
def run(
    source: Source,
    *,
    seed: int = 1,
    settings: Mapping[str, object] | None = None,
    laws: Laws | None = None,
) -> Result:
    """Run one scenario with one seed.

    Args:
        source: Path of a scenario, its text, or the same as nested dicts.
        seed: Seed of all random numbers.
        settings: Overrides single keys: `{"traffic.web.arrivals.poisson": "200/s"}`.
        laws: Laws of your own, by the names that the scenario gives them.

    Returns:
        The summary, and frames of flows, ports and events.

    Raises:
        ScenarioError: The scenario is wrong; the message names the key.
        TidegateError: Another mistake; the message says what to do.

    An exception of a law of your own passes through, with its traceback.
    """
    scenario = _document(source, settings).load()
    warn(scenario.warnings, WORDED)
    return Result(simulate(scenario, seed, laws))


@worded()
def compare(
    source: Source,
    *,
    gates: Controls | None = None,
    queues: Controls | None = None,
    vary: Mapping[str, Sequence[object]] | str | None = None,
    seeds: int | Sequence[int] = 5,
    port: str | Sequence[str] | None = None,
    settings: Mapping[str, object] | None = None,
    laws: Laws | None = None,
    workers: int | None = None,
    dask: str | None = None,
    out: str | Path | None = None,
    metrics: Sequence[str] = (),
    plots: bool = True,
) -> Comparison:
    """Compare controls on identical traffic.

    What is compared is given by `gates` and `queues`, by `vary`, or by the tables
    [variant.NAME] of the scenario.

    Args:
        source: Path of a scenario, its text, or the same as nested dicts.
        gates: Laws of the gate, as for `--gate` on the command line; in a list also as dicts.
            One of your own by its name in `laws`.
        queues: Laws of the queue, likewise; with `gates`, all pairs are run.
        vary: Values of keys: `{"port.bottleneck.gate.beta": [0.2, 0.5]}`; also as the text
            `"KEY=a,b"`, as on the command line.
        seeds: How many seeds (1, 2, ...), or which.
        port: Port of the gates and queues, where the scenario has several; `both` is the
            bottleneck in both directions. Several are a list, or have commas between them.
        settings: Overrides single keys: `{"traffic.web.arrivals.poisson": "200/s"}`.
        laws: Laws of your own, by the names that the scenario gives them.
        workers: Runs at a time; by default one for each core.
        dask: Address of a cluster, as for `--dask` on the command line.
        out: Folder for the data of every run, the summary and the pictures. A second call runs
            only what is missing there; a folder with another comparison is refused.
        metrics: Those that tables and pictures show, as `["bottleneck.queue_delay_p95_s"]`; by
            default the usual ones.
        plots: Whether to draw the pictures in `out`.

    Returns:
        A row for each run, and mean and interval of each setting.

    Raises:
        ScenarioError: The scenario is wrong; the message names the key.
        TidegateError: Another mistake; the message says what to do.

    An exception of a law of your own passes through, with its traceback.
    """
    written = _document(source, settings)
    controls = plan.Controls(gates, queues, port)
    spans = grid.asked(vary or {})
    planned = plan.comparison(written, controls, axes=spans, seeds=seeds, laws=laws)
    names, executor = chosen(metrics, planned.subject), Executor(workers, dask)
    warn(planned.warnings, WORDED)
    done = _execute(planned, Comparison, laws, executor, names, out, plots=plots)
    warn(alike(done), WORDED)
    return done


@worded(vary="axes")
def sweep(
    source: Source,
    axes: Mapping[str, Sequence[object]] | str | None = None,
    *,
    gates: Controls | None = None,
    queues: Controls | None = None,
    variants: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    port: str | Sequence[str] | None = None,
    settings: Mapping[str, object] | None = None,
    laws: Laws | None = None,
    workers: int | None = None,
    dask: str | None = None,
    out: str | Path | None = None,
    keep_flows: bool = False,
    metrics: Sequence[str] = (),
    shard: str | None = None,
    mix: bool = False,
    plots: bool = True,
) -> Sweep:
    """Run a grid of settings, each with the same seeds.

    The grid is spanned by `axes`, `gates`, `queues` and `variants`, or else by the
    table [sweep] of the scenario.

    Args:
        source: Path of a scenario, its text, or the same as nested dicts.
        axes: Values of keys: `{"port.bottleneck.gate.rate": ["50/s", "100/s"]}`; also as the text
            `"KEY=a,b"`, as on the command line.
        gates: Laws of the gate, as for `--gate` on the command line; in a list also as dicts.
            One of your own by its name in `laws`.
        queues: Laws of the queue, likewise.
        variants: Names of tables [variant.NAME], or `["all"]`.
        seeds: How many seeds (1, 2, ...), or which; by default those of the scenario, or 10.
        port: Port of the gates and queues, where the scenario has several; `both` is the
            bottleneck in both directions. Several are a list, or have commas between them.
        settings: Overrides single keys: `{"traffic.web.arrivals.poisson": "200/s"}`.
        laws: Laws of your own, by the names that the scenario gives them.
        workers: Runs at a time; by default one for each core.
        dask: Address of a cluster, as for `--dask` on the command line.
        out: Folder where every finished run is kept at once. A second call runs only what is
            missing there.
        keep_flows: Whether to keep the Parquet files of each run in `out` too.
        metrics: Those that tables and pictures show; by default the usual ones.
        shard: `"2/8"`: run only the second of eight parts, to be merged later.
        mix: Whether `out` may hold runs of other code or of another scenario.
        plots: Whether to draw the pictures in `out`.

    Returns:
        A row for each run, and mean and interval of each setting.

    Raises:
        ScenarioError: The scenario is wrong; the message names the key.
        TidegateError: Another mistake; the message says what to do.

    An exception of a law of your own passes through, with its traceback.
    """
    if keep_flows and out is None:
        raise UsageError("There is no folder for the flows.", "Name a folder with `out`.")
    planned = plan.sweep(
        _document(source, settings),
        plan.Controls(gates, queues, port),
        axes=grid.asked(axes or {}),
        variants=variants,
        seeds=seeds,
        laws=laws,
        shard=None if shard is None else plan.shard_of(shard),
    )
    names = chosen(metrics, planned.subject)
    executor = Executor(workers, dask)
    warn(planned.warnings, WORDED)
    done = _execute(
        planned, Sweep, laws, executor, names, out, keep_flows=keep_flows, mix=mix, plots=plots
    )
    warn(alike(done) if shard is None else (), WORDED)
    return done


def _execute(
    planned: plan.Plan,
    into: type[G],
    laws: Laws | None,
    executor: Executor,
    metrics: Sequence[str],
    out: str | Path | None,
    *,
    keep_flows: bool = True,
    mix: bool = False,
    plots: bool = True,
) -> G:
    with ExitStack() as stack:
        target = None
        stack.enter_context(executor)
        if out is not None:
            target = stack.enter_context(GridFolder(out, planned, keep_flows=keep_flows, mix=mix))
        files = functools.partial(finished.files, plots=plots)
        missing = planned.subject.jobs if target is None else target.missing
        meter = stack.enter_context(_bar(planned, missing))
        return execute(
            planned,
            into,
            target,
            executor,
            laws=laws,
            metrics=metrics,
            report=meter.report,
            finished=meter.finished,
            files=files,
        )


def _bar(planned: plan.Plan, missing: Sequence[plan.Job]) -> AbstractContextManager[Meter]:
    """Return a progress bar in a notebook, and one that shows nothing elsewhere."""
    from rich.console import Console

    from tidegate.show import progress

    console = Console()
    seconds = planned.simulated_s(missing)
    return progress.bar(
        console, planned.subject.name, len(missing), seconds, shown=console.is_jupyter
    )


@worded()
def load(folder: str | Path) -> Result | Comparison | Sweep | Study:
    """Read the finished runs in a folder; nothing is run.

    Args:
        folder: What `Result.save` or any command wrote: of a run (also of one among many), a
            comparison, a sweep, a paper or a study.

    Raises:
        UsageError: The folder holds no results; the message names those below it.
        TidegateError: A run in it is damaged.
    """
    found = loaded(folder)
    if found.command == "run":
        return Result(None, found.run)
    if found.command == "compare":
        return found.result(Comparison)
    return found.result(Sweep) if found.command == "sweep" else Study.of(found)


@worded()
def merge(
    parts: Sequence[str | Path],
    out: str | Path,
    *,
    metrics: Sequence[str] | str = (),
    mix: bool = False,
    partial: bool = False,
    plots: bool = True,
) -> Sweep:
    """Merge the shards of a sweep, and write tables and pictures of the whole.

    Args:
        parts: Folders of the shards.
        out: Folder of the whole.
        metrics: Those that tables and pictures show; by default the usual ones.
        mix: Whether the shards may come from different code.
        partial: Whether runs may be missing.
        plots: Whether to draw pictures.

    Returns:
        The sweep as if it had been run in one piece.

    Raises:
        UsageError: The shards are of different sweeps or made by different code, a run is in
            two of them, or one is in none.
    """
    files = functools.partial(finished.files, plots=plots)
    return together(parts, out, Sweep, files, metrics=metrics, mix=mix, partial=partial)
