"""Run the simulator for the profile by which the compiler optimises it (tools/pgo.sh).

    python -m tools.train

It runs the yardsticks, the yardstick with SACK under each congestion control,
and a second of CPU time of every ready scenario. The compiler takes code that
is not run here for rare, and makes it slower: BBR by two fifths.
"""

from __future__ import annotations

import time
from pathlib import Path

from tidegate import _native
from tidegate.results.yardstick import Kind, measure
from tidegate.scenario.document import read

ROOT = Path(__file__).parents[1]
SCENARIOS = ROOT / "scenarios"
YARDSTICK = ROOT / "python/tidegate/results/yardstick.toml"
TCP = "traffic.long.transport.tcp."
SECONDS = 1.0
SLICE_MS = 50.0


def run(scenario: _native.Scenario) -> None:
    """Run a scenario for a second of CPU time, and make its tables."""
    simulation = _native.Simulation(scenario, 1)
    start = time.process_time()
    done = False
    while not done and time.process_time() - start < SECONDS:
        done = simulation.advance(SLICE_MS)
    if done:
        simulation.results()


def main() -> None:
    """Run all of it."""
    measure()
    measure(kind=Kind(many_delays=True))
    measure(10_000)
    text = YARDSTICK.read_text(encoding="utf-8")
    for control in ("reno", "cubic", "bbr"):
        settings = [(TCP + "sack", "true"), (TCP + "control", control)]
        run(_native.load(text, YARDSTICK.name, settings, {}))
    for path in sorted(SCENARIOS.glob("*.toml")):
        run(read(path).load())


if __name__ == "__main__":
    main()
