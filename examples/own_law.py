"""A law of your own in Python, compared with two built-in ones on the same traffic.

Run it from the top of the checkout: `.venv/bin/python examples/own_law.py`
"""

from rich import print as show

import tidegate

EPOCH_S = 1.0


class Aimd:
    """Add to the admissions while the queue loses little, and cut them when it loses much."""

    def __init__(
        self,
        increase: float = 5.0,
        decrease: float = 0.8,
        threshold: float = 0.01,
        alpha_min: float = 10.0,
    ) -> None:
        self.increase = increase
        self.decrease = decrease
        self.threshold = threshold
        self.alpha_min = alpha_min
        self.alpha = alpha_min

    def start(self, now_s: float, knobs: tidegate.Knobs) -> float:
        """Begin with the least."""
        knobs.allow(int(self.alpha), EPOCH_S)
        return now_s + EPOCH_S

    def update(
        self, now_s: float, view: tidegate.View, counts: tidegate.Counts, knobs: tidegate.Knobs
    ) -> tuple[float, tidegate.Decision]:
        """Decide what the next epoch admits."""
        lost = view.queue_drops / max(view.queue_offered, 1)
        if lost > self.threshold:
            self.alpha = max(self.alpha * self.decrease, self.alpha_min)
            phase = "decrease"
        elif counts.arrived > counts.admitted:
            self.alpha += self.increase
            phase = "increase"
        else:  # nobody was refused: the allowance was not put to the test
            phase = "hold"
        knobs.allow(int(self.alpha), EPOCH_S)
        return now_s + EPOCH_S, tidegate.Decision(phase, set=self.alpha, because=lost)


def main() -> None:
    """Compare it on an overloaded link with no control and with close-probe."""
    comparison = tidegate.compare(
        "scenarios/overloaded-access-link.toml",
        gates=["none", "close-probe", {"law": "python", "name": "aimd", "limiter": "token-bucket"}],
        seeds=3,
        settings={"duration": "120s", "warmup": "20s"},
        laws={"aimd": Aimd()},
    )
    show(comparison.table)


if __name__ == "__main__":
    main()
