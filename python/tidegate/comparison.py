"""The same traffic under several controls: runs on all cores, paired by seed."""

from __future__ import annotations

import copy
import os
import re
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import scenario as documents
from tidegate.errors import UsageError
from tidegate.results import Curves, Result, aggregate, curves
from tidegate.runner import simulate
from tidegate.store import Store, circumstances, write_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import RenderableType

    from tidegate import _native
    from tidegate.runner import Law, RateLaw
    from tidegate.scenario import Cell, Document, Source

LOOK_S = 0.05
"""How often the waiting thread gives Ctrl-C a chance."""


@dataclass(frozen=True)
class Plan:
    """What is to be run: every cell with every seed."""

    base: _native.Scenario
    cells: tuple[Cell, ...]
    scenarios: tuple[_native.Scenario, ...]
    seeds: tuple[int, ...]
    port: str | None

    @property
    def jobs(self) -> list[tuple[int, int]]:
        """Every (cell, seed), all cells of one seed together."""
        return [(cell, seed) for seed in self.seeds for cell in range(len(self.cells))]

    @property
    def total_s(self) -> float:
        """Simulated time of all runs together."""
        return len(self.seeds) * sum(each.duration_s for each in self.scenarios)


def plan(
    document: Document,
    *,
    gates: Sequence[str | dict[str, Any]] | None = None,
    vary: str | None = None,
    seeds: int | Sequence[int] = 5,
    port: str | None = None,
    colour: bool = False,
) -> Plan:
    """Check everything that is asked for before the first run starts."""
    if gates and vary:
        raise UsageError("Both --gate and --vary were given.", "Compare along one of them.")
    base = document.load(colour=colour)
    about = port or _port_or_none(base)
    if gates:
        about = port or documents.default_port(base)
        documents.require_port(about, base)
        written = document.tables().get("port", {}).get(about, {}).get("gate", {})
        cells = documents.gate_cells(list(gates), about, written)
    elif vary:
        cells = documents.vary_cells(vary)
    else:
        cells = documents.variant_cells(document)
    if not cells:
        raise UsageError(
            "There is nothing to compare.",
            "Give --gate LIST, --vary KEY=a,b, or [variant.NAME] tables in the file.",
        )
    labels = [cell.label for cell in cells]
    if len(set(labels)) < len(labels):
        raise UsageError(f"Two columns have one name: {', '.join(labels)}.", "Name each once.")
    numbers = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise UsageError("No seeds were asked for.", "Give --seeds 1 or more.")
    scenarios = tuple(document.having(*cell.settings).load(colour=colour) for cell in cells)
    return Plan(base, tuple(cells), scenarios, numbers, about)


def _port_or_none(scenario: _native.Scenario) -> str | None:
    try:
        return documents.default_port(scenario)
    except UsageError:
        return None


@dataclass
class Comparison:
    """What a comparison measured.

    `rows`: one dict per run, its `settings` and then its summary.
    `averages`: one dict per cell, its `settings` and then mean and 95 %
    interval over seeds of every metric.
    """

    plan: Plan
    rows: list[dict[str, Any]] = field(default_factory=list)
    averages: list[dict[str, Any]] = field(default_factory=list)
    curves: dict[str, list[Curves]] = field(default_factory=dict)
    cpu_s: float = 0.0
    wall_s: float = 0.0
    folder: Path | None = None

    @property
    def complete(self) -> bool:
        """Whether every planned run is there."""
        return len(self.rows) == len(self.plan.jobs)

    @property
    def table(self) -> RenderableType:
        """Controls side by side, for a terminal."""
        from tidegate.tables import of_comparison

        return of_comparison(self)

    def document(self) -> dict[str, Any]:
        """Return the object that `tidegate compare --json` prints."""
        return {"rows": self.rows, "table": self.averages}

    def plot(self, folder: str | Path | None = None) -> list[Path]:
        """Draw the pictures, as PNG and SVG, and return their paths.

        Without a folder they go where the results are, or into `pictures`.
        """
        from tidegate.errors import from_os
        from tidegate.plot import pictures

        place = Path(folder or self.folder or "pictures")
        paths = []
        for name, content in pictures(self).items():
            try:
                place.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
            except OSError as error:
                raise from_os("write", place / name, error) from error
            paths.append(place / name)
        return paths


@dataclass(frozen=True)
class _Piece:
    """What is kept of one run."""

    summary: dict[str, Any]
    curves: Curves


class Interrupted(Exception):
    """Ctrl-C came in the middle; what was finished is in the comparison."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("interrupted")
        self.comparison = comparison


def execute(
    planned: Plan,
    *,
    laws: Mapping[str, Law | RateLaw] | None = None,
    workers: int | None = None,
    report: Callable[[int, float], None] | None = None,
    finished: Callable[[], None] | None = None,
    store: Store | None = None,
) -> Comparison:
    """Run a plan on a pool of threads; the simulator does not hold the GIL.

    The result does not depend on the number of workers. Raises Interrupted
    on Ctrl-C, and whatever a law of the user's own raises.
    """
    start, stop = time.perf_counter(), threading.Event()
    jobs = planned.jobs

    def work(number: int) -> _Piece:
        cell, seed = jobs[number]
        tick = None if report is None else (lambda now_s: report(number, now_s))
        own = copy.deepcopy(dict(laws)) if laws else None
        outcome = simulate(planned.scenarios[cell], seed, own, tick, stop)
        result = Result(outcome, "compare")
        if store is not None:
            write_run(store, result, f"runs/{_folder(planned.cells[cell].label)}/seed-{seed}/")
        if finished is not None:
            finished()
        return _Piece(result.summary, curves(outcome))

    pieces: dict[int, _Piece] = {}
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        futures = {pool.submit(work, number): number for number in range(len(jobs))}
        try:
            _collect(futures, pieces)
        except KeyboardInterrupt:
            _halt(stop, futures, pieces)
            raise Interrupted(_assemble(planned, pieces, start)) from None
        except BaseException:
            _halt(stop, futures, pieces)
            raise
    return _assemble(planned, pieces, start)


def _collect(futures: Mapping[Future[_Piece], int], pieces: dict[int, _Piece]) -> None:
    left = set(futures)
    while left:
        done, left = wait(left, timeout=LOOK_S, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=futures.__getitem__):
            pieces[futures[future]] = future.result()


def _halt(
    stop: threading.Event, futures: Mapping[Future[_Piece], int], pieces: dict[int, _Piece]
) -> None:
    """Stop what runs, forget what waits, and keep what was just finished."""
    stop.set()
    for future in futures:
        future.cancel()
    wait(futures)
    for future, number in futures.items():
        if not future.cancelled() and future.exception() is None:
            pieces[number] = future.result()


def _assemble(planned: Plan, pieces: Mapping[int, _Piece], start: float) -> Comparison:
    comparison = Comparison(planned, wall_s=time.perf_counter() - start)
    jobs = planned.jobs
    order = sorted(pieces, key=lambda number: (jobs[number][0], jobs[number][1]))
    for cell, spec in enumerate(planned.cells):
        mine = [number for number in order if jobs[number][0] == cell]
        summaries = [pieces[number].summary for number in mine]
        if not summaries:
            continue
        comparison.rows += [{"settings": spec.says, **summary} for summary in summaries]
        comparison.averages.append({"settings": spec.says, **aggregate(summaries)})
        comparison.curves[spec.label] = [pieces[number].curves for number in mine]
        comparison.cpu_s += sum(summary["cpu_s"] for summary in summaries)
    return comparison


def _folder(label: str) -> str:
    """Return a label as a name for a folder."""
    return re.sub(r"[^A-Za-z0-9._=+-]+", "-", label).strip("-.") or "cell"


def finish(store: Store, comparison: Comparison) -> Path:
    """Add summary, manifest and (if no run is missing) pictures to a store, and commit it."""
    planned = comparison.plan
    store.write_json("summary.json", comparison.document())
    if comparison.complete:
        from tidegate.plot import pictures

        for name, content in pictures(comparison).items():
            store.write(name, content)
    manifest = circumstances("compare", planned.base.show()) | {
        "cells": [cell.says for cell in planned.cells],
        "seeds": list(planned.seeds),
        "complete": comparison.complete,
        "runs": len(comparison.rows),
        "wall_s": comparison.wall_s,
        "cpu_s": comparison.cpu_s,
        "packet_hops": sum(row["packet_hops"] for row in comparison.rows),
        "files": list(store.files),
    }
    store.write_json("manifest.json", manifest)
    comparison.folder = store.commit()
    return comparison.folder


def compare(
    source: Source,
    *,
    gates: Sequence[str | dict[str, Any]] | None = None,
    vary: str | None = None,
    seeds: int | Sequence[int] = 5,
    port: str | None = None,
    settings: Mapping[str, object] | None = None,
    laws: Mapping[str, Law | RateLaw] | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
) -> Comparison:
    """Compare controls on identical traffic.

    `source` is a path, the text of a document or nested dicts; along `gates`
    (as on the command line, or dicts), along `vary="KEY=a,b"`, or along its
    [variant.NAME] tables. `seeds` is how many (1, 2, ...) or which. With `out`
    the data of every run, the pictures and the summary are written there.
    Raises ScenarioError, TidegateError, and what a law of your own raises.
    """
    document = documents.read(source, settings)
    planned = plan(document, gates=gates, vary=vary, seeds=seeds, port=port)
    with Store(out) if out is not None else nullcontext() as store:
        try:
            comparison = execute(planned, laws=laws, workers=workers, store=store)
        except Interrupted as interrupted:
            if store is not None and interrupted.comparison.rows:
                finish(store, interrupted.comparison)
            raise KeyboardInterrupt from None
        if store is not None:
            finish(store, comparison)
    return comparison
