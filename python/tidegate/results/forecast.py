"""A forecast of what a run takes: flows, memory and time."""

from __future__ import annotations

import copy
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.errors import UsageError
from tidegate.results.digits import significant
from tidegate.results.laws import handed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SMALL_BYTES = 60e6
"""What a run may take without a look at what is free."""

AFTER_RUN_S, AFTER_FLOW_S, AFTER_PORT_S = 0.02, 1.5e-6, 60e-6
"""What summary and files of a run take, and of each of its flows and ports; measured."""

PROBE_S = 0.5
"""Real time for which a scenario is run to see how fast it goes."""


def flows(scenario: _native.Scenario) -> dict[str, float]:
    """Return how many flows each class will start; the mean where they are drawn."""
    return {name: number for name, number, *_ in scenario.expected}


def offered(scenario: _native.Scenario) -> list[str]:
    """Return the load offered to each link in words; access links are left out."""
    lines = []
    for port, rate_bps, part, ending, most in scenario.offered:
        link = f"{port} ({rate_bps / 1e6:g} Mbit/s)"
        if part is None and not ending:
            lines.append(f"offered load: flows without end at {link}")
            continue
        more = "; flows without end beside it" if part is None else ""
        video = most > ending * (1 + 1e-9)
        share = f"{significant(ending * 100)}{f' to {significant(most * 100)}' if video else ''} %"
        rates = ", by the lowest and the highest rate of its video" if video else ""
        lines.append(f"offered load: {share} of {link}, payload alone{rates}{more}")
    return lines


def round_trips(scenario: _native.Scenario) -> list[str]:
    """Return in words how long a round trip takes where nothing waits."""
    found = scenario.round_trips_s
    if found is None:
        return []
    low, high = (f"{significant(each * 1e3, 4)} ms" for each in found)
    return [f"round trip without queues: {low if low == high else f'{low} to {high}'}"]


def free_bytes() -> float | None:
    """Return how much memory this process may still use, or None if unknown."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = {line.split(":")[0]: line.split()[1] for line in lines}
        found.append(float(sizes["MemAvailable"]) * 1024)
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            found.append(float(limit - pages * resource.getpagesize()))
    except (OSError, KeyError, ValueError, IndexError):
        return min(found, default=None)
    return min(found)


def require_memory(scenario: _native.Scenario) -> None:
    """Raise UsageError for a run that is far from fitting into memory."""
    needed = scenario.memory_bytes
    free = None if needed <= SMALL_BYTES else free_bytes()
    if free is None or needed <= free:
        return
    number = sum(flows(scenario).values())
    raise UsageError(
        f"{scenario.name} would have about {number:,.0f} flows, and take some {size(needed)} of"
        f" memory; {size(free)} are free.",
        "Make the run shorter, or reduce the arrivals.",
    )


def cpu_s(
    scenario: _native.Scenario,
    seed: int,
    laws: Mapping[str, Any] | None = None,
    budget_s: float = PROBE_S,
) -> float:
    """Return about how much CPU time a run will take, from how fast its beginning goes.

    Building the network is measured; summary and files are known per flow and
    port. A run that ends within the budget is measured. The rest of a longer
    one is extrapolated from its last pace; a growing overload makes it slower.
    """
    require_memory(scenario)
    begun = time.thread_time()
    run = _native.Simulation(scenario, seed, handed(copy.deepcopy(laws)))
    start, deadline = time.thread_time(), time.perf_counter() + budget_s
    besides = start - begun + AFTER_RUN_S + AFTER_PORT_S * len(scenario.ports)
    besides += AFTER_FLOW_S * sum(flows(scenario).values())
    over, half = False, (0.0, 0.0)
    while not over and time.perf_counter() < deadline:
        over = run.advance(5.0)
        if time.perf_counter() < deadline - budget_s / 2:
            half = (time.thread_time() - start, 0.0 if over else run.now_s)
    spent = time.thread_time() - start
    if over:
        return spent + besides
    pace = (spent - half[0]) / max(run.now_s - half[1], 1e-9)
    return spent + pace * (scenario.duration_s - run.now_s) + besides


def cpu_of_all_s(
    scenarios: Sequence[_native.Scenario],
    seed: int,
    laws: Mapping[str, Any] | None = None,
    most: int = 5,
) -> float:
    """Return about how much CPU time a run of each of these takes on average."""
    some = scenarios[:: max(1, -(-len(scenarios) // most))]
    return sum(cpu_s(each, seed, laws) for each in some) / len(some)


def size(number: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 1000:
            return f"{significant(number)} {unit}"
        number /= 1000
    return f"{number:,.0f} PB"
