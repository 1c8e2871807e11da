"""The one way to run a simulation: slices of the native module, interruptible in between."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.arguments import seed as checked
from tidegate.errors import Stopped
from tidegate.results.columns import SOMETIMES
from tidegate.results.forecast import require_memory
from tidegate.results.laws import handed

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from tidegate.results.laws import OwnLaw

SLICE_MS = 10.0
"""Real time between two chances to stop: well under what a hand at Ctrl-C notices."""


@dataclass(frozen=True)
class PortCapture:
    """A capture of what a port sends: pieces of a pcapng file, written during the run."""

    port: str
    write: Callable[[bytes], object]


@dataclass(frozen=True)
class FlowLogs:
    """Logs of single flows, by class and number: pieces of qlog, written during the run."""

    flows: list[tuple[str, int]]
    write: Callable[[int, bytes], object]
    """Is told which of the flows a piece is of."""

    def drain(self, run: _native.Simulation) -> None:
        """Write what has been logged since the last call."""
        for place, piece in enumerate(run.drain_qlogs()):
            self.write(place, piece)


@dataclass(frozen=True)
class Outcome:
    """What the simulator returned for one run: its tables as arrays, and its cost."""

    scenario: _native.Scenario
    seed: int
    tables: dict[str, dict[str, Any]]
    packet_hops: int
    delivered_packets: int
    result_hash: str
    cpu_s: float
    wall_s: float

    @cached_property
    def access(self) -> set[str]:
        """The ports of access links; a network may have tens of thousands."""
        return {name for name, access in self.scenario.ports if access}


def simulate(
    scenario: _native.Scenario,
    seed: int,
    laws: Mapping[str, OwnLaw] | None = None,
    tick: Callable[[float], None] | None = None,
    stop: threading.Event | None = None,
    capture: PortCapture | None = None,
    logs: FlowLogs | None = None,
) -> Outcome:
    """Run one scenario with one seed.

    `tick` is told after every slice how far the run has come (simulated s).
    Raises Stopped soon after `stop` is set. CPU time is that of this thread
    in the simulator and of what it hands to `capture` and `logs`, nothing else. Raises
    UsageError, before anything runs, where there is no memory for its flows.
    """
    require_memory(scenario)
    seed = checked(seed)
    watched = capture.port if capture is not None else None
    flows = logs.flows if logs is not None else []
    run = _native.Simulation(scenario, seed, handed(laws), watched, flows)
    wall, cpu = time.perf_counter(), time.thread_time()
    while not run.advance(SLICE_MS):
        if capture is not None:
            capture.write(run.drain_capture())
        if logs is not None:
            logs.drain(run)
        if stop is not None and stop.is_set():
            raise Stopped
        if tick is not None:
            tick(run.now_s)
    if capture is not None:
        capture.write(run.drain_capture())
    if logs is not None:
        logs.drain(run)
    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
    results = run.results()
    if tick is not None:
        tick(scenario.duration_s)
    names = ("flows", "ports", "events", *SOMETIMES, "port_totals")
    tables = {name: results[name] for name in names}
    hops, delivered = results["packet_hops"], results["delivered_packets"]
    digest = results["result_hash"]
    return Outcome(scenario, seed, tables, hops, delivered, digest, cpu, wall)
