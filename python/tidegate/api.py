"""What Python users call: runs, comparisons and sweeps, with their tables and pictures."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.errors import UsageError
from tidegate.grid import axes as grid
from tidegate.grid import plan
from tidegate.grid.execute import costs, execute
from tidegate.grid.executor import Executor
from tidegate.grid.grid_result import GridResult, chosen
from tidegate.grid.ledger import Ledger
from tidegate.grid.load import load as loaded
from tidegate.grid.merge import merge as together
from tidegate.results.result import Run
from tidegate.results.simulate import Law, RateLaw, simulate
from tidegate.scenario.document import Source, read
from tidegate.scenario.recorded import Recorded
from tidegate.scenario.recorded import read as recorded
from tidegate.show import finished

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rich.console import RenderableType

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


class Result(Run):
    """What one run measured: `summary`, and the frames `flows`, `ports` and `events`."""

    @property
    def table(self) -> RenderableType:
        """The summary as a table for a terminal."""
        from tidegate.show.tables import of_run

        ports = self.outcome.scenario.ports
        return of_run(self.summary, {name for name, access in ports if access})


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
    vary: str | None = None,
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
        vary: `"KEY=a,b"`: values of one key.
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
    planned = plan.comparison(document, controls, vary=vary, seeds=seeds, laws=laws)
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
        raise UsageError("There is no place to keep the flows.", "Name a folder with `out`.")
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
    if out is None:
        with executor:
            return execute(planned, into, laws=laws, executor=executor, metrics=metrics)
    with Ledger(out, planned, keep_flows=keep_flows, mix=mix) as ledger, executor:
        done = execute(planned, into, ledger, laws=laws, executor=executor, metrics=metrics)
        whole = done.subject.shard is None  # a shard has no table of its own
        ledger.finish(finished.files(done, plots=plots) if whole else {}, **costs(done))
        done.folder = ledger.target
    return done


def load(folder: str | Path) -> Comparison | Sweep:
    """Read the finished runs of a comparison or a sweep; nothing is run.

    Args:
        folder: The `out` of the comparison or the sweep.

    Raises:
        UsageError: The folder holds neither.
        TidegateError: A run in it is damaged.
    """
    found = loaded(folder)
    if found.command not in ("compare", "sweep"):
        raise UsageError(
            f"There is no comparison and no sweep in {folder}.",
            "Its tables are Parquet files: read them with polars.read_parquet.",
        )
    if found.command == "compare":
        return found.result(Comparison)
    return found.result(Sweep)


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
