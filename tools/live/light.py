"""Ask the simulator what a gate without `onset` refuses: a table of docs/matrix-figures.md.

python -m tools.live.light [--seconds 60] [--seed 1]
"""

from __future__ import annotations

import argparse

import tidegate
from tools.live.figures import CARRIED, IN_THE_SIMULATOR, OVERLOAD
from tools.live.loads import endless, pages, shaped

LOADS = {
    "a tenth": {"pages": pages(round(0.1 * CARRIED, 1))},
    "a half": {"pages": pages(round(0.5 * CARRIED, 1))},
    "nine tenths": {"pages": pages(round(0.9 * CARRIED, 1))},
    "20/s and 5 flows without end": {"pages": pages(20), "bulk": endless(5)},
    "three times": {"pages": pages(OVERLOAD)},
}

WITHOUT = {"onset": "0s"}


def main() -> None:
    """Run each load without a gate and with either law."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.live.light")
    parser.add_argument("--seconds", type=float, default=60, help="of each run")
    parser.add_argument("--seed", type=int, default=1, help="of the flows")
    given = parser.parse_args()
    print(f"{'load':>30}{'control':>14}{'completed/s':>13}{'FCT, s':>9}{'refused':>9}")
    for load, traffic in LOADS.items():
        for name in ("none", "close-probe", "tide"):
            port = {stage: law | WITHOUT for stage, law in IN_THE_SIMULATOR[name].items()}
            scenario = shaped(given.seconds, traffic, port=port or None)
            summary = tidegate.run(scenario, seed=given.seed).summary
            [pages_only] = [each for each in summary["classes"] if each["name"] == "pages"]
            [port] = [each for each in summary["ports"] if each["name"] == "bottleneck"]
            print(
                f"{load:>30}{name:>14}{pages_only['completed_per_s']:>13.1f}"
                f"{pages_only['fct_mean_s']:>9.2f}{port['syn_refused']:>9}"
            )


if __name__ == "__main__":
    main()
