"""What Python users call: runs, comparisons and sweeps, with their tables and pictures."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.errors import UsageError
from tidegate.grid import axes as grid
from tidegate.grid import plan
from tidegate.grid.execute import execute
from tidegate.grid.executor import Executor
from tidegate.grid.grid_folder import GridFolder
from tidegate.grid.grid_result import GridResult, chosen
from tidegate.grid.load import load as loaded
from tidegate.grid.merge import merge as together
from tidegate.results.columns import frame
from tidegate.results.run_files import write_single_run
from tidegate.results.simulate import Law, RateLaw, simulate
from tidegate.results.statistics import summarise
from tidegate.results.store import Store
from tidegate.scenario.document import Source, read
from tidegate.scenario.recorded import Recorded
from tidegate.scenario.recorded import read as recorded
from tidegate.show import finished

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from rich.console import RenderableType

    from tidegate.results.run_files import SavedRun
    from tidegate.results.simulate import Outcome

    Laws = Mapping[str, Law | RateLaw]
    Controls = Sequence[str | dict[str, Any]]

__all__ = [
    "Comparison",
    "Flows",
    "Law",
    "RateLaw",
    "Result",
    "Source",
    "Sweep",
    "compare",
    "flows",
    "load",
    "merge",
    "run",
    "sweep",
]


class Flows(Recorded):
    """What a packet capture holds."""

    @property
    def table(self) -> RenderableType:
        """What was found, for a terminal."""
        return self.listed()

    def listed(self, rows: int = 10) -> RenderableType:
        """Return what was found and the first rows, for a terminal."""
        from tidegate.show.listing import of_flows

        return of_flows(self, rows)


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

    @property
    def table(self) -> RenderableType:
        """The summary as a table for a terminal."""
        from tidegate.show.tables import of_run

        return of_run(self.summary, self._access)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self._frame("flows")

    @cached_property
    def ports(self) -> pl.DataFrame:
        """One row per port and sampling interval."""
        return self._frame("ports")

    @cached_property
    def events(self) -> pl.DataFrame:
        """One row per decision of a law."""
        return self._frame("events")

    @cached_property
    def arrivals(self) -> pl.DataFrame:
        """One row per packet that came to a port with `record`."""
        return self._frame("arrivals")

    @cached_property
    def flow_series(self) -> pl.DataFrame:
        """One row per interval and flow that `series` follows."""
        return self._frame("flow_series")

    @cached_property
    def class_series(self) -> pl.DataFrame:
        """One row per interval and class that `series` follows."""
        return self._frame("class_series")

    @cached_property
    def queue_series(self) -> pl.DataFrame:
        """One row per interval, port and class that `series` follows."""
        return self._frame("queue_series")

    @cached_property
    def udp(self) -> pl.DataFrame:
        """One row per class of UDP."""
        return self._frame("udp")

    @cached_property
    def video(self) -> pl.DataFrame:
        """One row per viewer of video."""
        return self._frame("video")

    def _frame(self, name: str) -> pl.DataFrame:
        if self.outcome is not None:
            return frame(self.outcome.tables[name])
        assert self._saved is not None
        return self._saved.table(name)

    def save(self, folder: str | Path) -> Path:
        """Write Parquet files, summary.json and manifest.json; `load` reads them again.

        Args:
            folder: A single run that an earlier `save` wrote there is replaced, nothing else.

        Returns:
            The folder.
        """
        with Store(folder) as store:
            if self.outcome is not None:
                write_single_run(store, self.outcome)
            elif self._saved is not None:
                self._saved.copy_to(store)
            return store.commit()


class _Grid(GridResult):
    @property
    def table(self) -> RenderableType:
        """Mean and interval of each setting, for a terminal."""
        return finished.table(self)

    def csv(self) -> str:
        """Return the table in long format: a line per setting and metric."""
        return finished.lines(self)

    def plot(self, folder: str | Path | None = None) -> list[Path]:
        """Draw the pictures, as PNG and SVG, and return their paths.

        Without a folder they go where the results are, or into `pictures`.
        """
        return finished.plot(self, folder)


class Comparison(_Grid):
    """What a comparison measured.

    `rows`: one dict per run, its `settings` and then its summary; `frame`: the
    same as a Polars frame. `averages`: one dict per column, its `settings` and
    then mean and 95 % interval over seeds of every metric.
    """


class Sweep(_Grid):
    """What a sweep measured.

    `rows`: one dict per run, its `settings` and then its summary; `frame`: the
    same as a Polars frame. `averages`: one dict per setting, its `settings` and
    then mean and 95 % interval over seeds of every metric. `metrics`: those
    that tables and pictures show, if they were chosen.
    """


G = TypeVar("G", Comparison, Sweep)


def flows(path: str | Path, tick: Callable[[int], None] | None = None) -> Flows:
    """Read the TCP connections of a packet capture (pcap or pcapng).

    Args:
        path: File of the capture.
        tick: Is called now and then with the number of bytes read so far.

    Returns:
        The connections, a row each in `frame`.

    Raises:
        TidegateError: The file cannot be read, is no capture, or holds no TCP.
    """
    return Flows(**vars(recorded(path, tick)))


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
    return Result(simulate(read(source, settings).load(), seed, laws))


def compare(
    source: Source,
    *,
    gates: Controls | None = None,
    queues: Controls | None = None,
    vary: Mapping[str, Sequence[object]] | str | None = None,
    seeds: int | Sequence[int] = 5,
    port: str | None = None,
    settings: Mapping[str, object] | None = None,
    laws: Laws | None = None,
    workers: int | None = None,
    dask: str | None = None,
    out: str | Path | None = None,
    plots: bool = True,
) -> Comparison:
    """Compare controls on identical traffic.

    What is compared is given by `gates` and `queues`, by `vary`, or by the tables
    [variant.NAME] of the scenario.

    Args:
        source: Path of a scenario, its text, or the same as nested dicts.
        gates: Laws of the gate, as for `--gate` on the command line, or as dicts.
        queues: Laws of the queue, likewise; with `gates`, all pairs are run.
        vary: Values of keys: `{"port.bottleneck.gate.beta": [0.2, 0.5]}`; also as the text
            `"KEY=a,b"`, as on the command line.
        seeds: How many seeds (1, 2, ...), or which.
        port: Port of the gates and queues, where the scenario has several.
        settings: Overrides single keys: `{"traffic.web.arrivals.poisson": "200/s"}`.
        laws: Laws of your own, by the names that the scenario gives them.
        workers: Runs at a time; by default one for each core.
        dask: Address of a cluster, as for `--dask` on the command line.
        out: Folder for the data of every run, the summary and the pictures. A second call runs
            only what is missing there; a folder with another comparison is refused.
        plots: Whether to draw the pictures in `out`.

    Returns:
        A row for each run, and mean and interval of each setting.

    Raises:
        ScenarioError: The scenario is wrong; the message names the key.
        TidegateError: Another mistake; the message says what to do.

    An exception of a law of your own passes through, with its traceback.
    """
    document = read(source, settings)
    controls = plan.Controls(gates, queues, port)
    axes = [grid.given(vary)] if isinstance(vary, str) else grid.asked(vary or {})
    planned = plan.comparison(document, controls, axes=axes, seeds=seeds, laws=laws)
    return _execute(planned, Comparison, laws, Executor(workers, dask), (), out, plots=plots)


def sweep(
    source: Source,
    axes: Mapping[str, Sequence[object]] | None = None,
    *,
    gates: Controls | None = None,
    queues: Controls | None = None,
    variants: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    port: str | None = None,
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
        axes: Values of keys: `{"port.bottleneck.gate.rate": ["50/s", "100/s"]}`.
        gates: Laws of the gate, as for `--gate` on the command line, or as dicts.
        queues: Laws of the queue, likewise.
        variants: Names of tables [variant.NAME], or `["all"]`.
        seeds: How many seeds (1, 2, ...), or which; by default those of the scenario, or 10.
        port: Port of the gates and queues, where the scenario has several.
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
        read(source, settings),
        plan.Controls(gates, queues, port),
        axes=grid.asked(axes or {}),
        variants=variants,
        seeds=seeds,
        laws=laws,
        shard=None if shard is None else plan.shard_of(shard),
    )
    names = chosen(metrics, planned.subject)
    executor = Executor(workers, dask)
    return _execute(
        planned, Sweep, laws, executor, names, out, keep_flows=keep_flows, mix=mix, plots=plots
    )


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
        return execute(planned, into, target, executor, laws=laws, metrics=metrics, files=files)


def load(folder: str | Path) -> Result | Comparison | Sweep:
    """Read the finished runs in a folder; nothing is run.

    Args:
        folder: What `Result.save` or `tidegate run` wrote, or the `out` of a comparison or
            a sweep.

    Raises:
        UsageError: The folder holds no results, or those of a paper.
        TidegateError: A run in it is damaged.
    """
    found = loaded(folder)
    if found.command == "run":
        return Result(None, found.run)
    if found.command == "compare":
        return found.result(Comparison)
    if found.command == "sweep":
        return found.result(Sweep)
    raise UsageError(
        f"There is no run, comparison or sweep in {folder}.",
        "Its tables are Parquet files: read them with polars.read_parquet.",
    )


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
