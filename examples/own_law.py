"""A law of your own in Python: admit a fixed number of sessions for each free place.

Run it from the top of the checkout: `.venv/bin/python examples/own_law.py`
"""

import tidegate

EPOCH_S = 1.0


class KeepOpen:
    """Hold the number of open sessions near a target, from the counts of the gate alone.

    Every second it admits as many sessions as have ended since the last one,
    and those that are missing to the target.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.open = 0

    def start(self, now_s: float, knobs: tidegate.Knobs) -> float:
        """Begin with as many sessions as the target has room for."""
        knobs.allowance = self.target
        return now_s + EPOCH_S

    def update(
        self, now_s: float, view: tidegate.View, counts: tidegate.Counts, knobs: tidegate.Knobs
    ) -> float:
        """Refill up to the target."""
        self.open = max(self.open + counts.admitted - counts.departed, 0)
        knobs.allowance = max(self.target - self.open, 0)
        return now_s + EPOCH_S


def main() -> None:
    """Run the overloaded link under this law and under none."""
    short = {"duration": "60s", "warmup": "20s"}
    own = {"law": "python", "name": "keep-open", "limiter": "counter"}
    comparison = tidegate.compare(
        "scenarios/overloaded-access-link.toml",
        gates=["none", own],
        seeds=2,
        settings=short,
        laws={"keep-open": KeepOpen(target=200)},
    )
    for average in comparison.averages:
        completed = average["completed_per_s"]["mean"]
        print(f"{average['settings']['gate']:40} {completed:7.1f} sessions completed per second")


if __name__ == "__main__":
    main()
