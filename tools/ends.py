"""What completes and what a router counts as complete, by the rate that it admits.

`.venv/bin/python -m tools.ends`: the table of docs/certify.md on gss-ga, in some two minutes.
The traffic is that of the condition `overload`, with an initial window of ten segments, as hosts
of today have it, and of one.
"""

from statistics import mean

import polars as pl

import tidegate
from tidegate.certify.conditions import FOLDER

SCENARIO = FOLDER / "access-link" / "overload.toml"
RATES = (75, 95, 120, 160, 1000)
"""The last is more than ever arrives."""
WINDOWS = (10, 1)
SEEDS = (1, 2, 3)
EPOCH_S = 2.0
WINDOW_KEY = "traffic.web.transport.tcp.initial_window"


class Fixed:
    """Admits so many sessions in each epoch."""

    per_s = 0

    def start(self, now_s: float, knobs: tidegate.Knobs) -> float:
        """Begin the first epoch."""
        knobs.allow(round(self.per_s * EPOCH_S), EPOCH_S)
        return now_s + EPOCH_S

    def update(
        self, now_s: float, _: tidegate.View, counts: tidegate.Counts, knobs: tidegate.Knobs
    ) -> tuple[float, tidegate.Decision]:
        """Begin an epoch; the decision is a row, which has the ends of sessions too."""
        return self.start(now_s, knobs), tidegate.Decision("fixed", self.per_s, counts.departed)


def _measure(per_s: int | None, window: int, seed: int) -> tuple[float, float, float]:
    """Return completions in a second, accepted FINs in a second, and the median time.

    `per_s`: what is admitted; None: `gss-ga` decides.
    """
    gate = {"law": "gss-ga"} if per_s is None else {"law": "python", "name": "Fixed"}
    law = type("Fixed", (Fixed,), {"per_s": per_s})
    result = tidegate.run(
        SCENARIO,
        seed=seed,
        settings={WINDOW_KEY: window, "port.bottleneck.gate": gate},
        laws={} if per_s is None else {"Fixed": law},
    )
    warm = result.events.filter(pl.col("time_s") > result.summary["warmup_s"])
    fins = warm.select(pl.col("departed").sum()).item()
    found = result.summary["all"]
    return found["completed_per_s"], fins / (EPOCH_S * warm.height), found["fct_p50_s"]


def main() -> None:
    """Print the table."""
    whats = ("completed", "FINs", "median")
    heads = [f"window {window}: {what}" for window in WINDOWS for what in whats]
    print("| admitted | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for per_s in (*RATES, None):
        cells = []
        for window in WINDOWS:
            completed, fins, median = zip(
                *(_measure(per_s, window, seed) for seed in SEEDS), strict=True
            )
            cells += [f"{mean(completed):.0f}/s", f"{mean(fins):.0f}/s", f"{mean(median):.1f} s"]
        print(f"| {f'{per_s}/s' if per_s else 'gss-ga'} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
