"""What the simulator runs while the profile of it is taken that the compiler goes by.

    python -m tools.train

The yardsticks, and so much of every ready scenario as a second of CPU time
gives: what is seldom run is seldom, and what is run for most is that.
"""

from __future__ import annotations

import time
from pathlib import Path

from tidegate import _native
from tidegate.results.yardstick import measure
from tidegate.scenario.document import read

SCENARIOS = Path(__file__).parents[1] / "scenarios"
SECONDS = 1.0
SLICE_MS = 50.0


def run(path: Path) -> None:
    """Run a scenario for a second, and take its tables."""
    simulation = _native.Simulation(read(path).load(), 1)
    start = time.process_time()
    done = False
    while not done and time.process_time() - start < SECONDS:
        done = simulation.advance(SLICE_MS)
    if done:
        simulation.results()


def main() -> None:
    """Run all of it."""
    measure()
    measure(many_delays=True)
    measure(10_000)
    for path in sorted(SCENARIOS.glob("*.toml")):
        run(path)


if __name__ == "__main__":
    main()
