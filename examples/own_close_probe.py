"""Close and probe in Python: a built-in session law, written again with the same results.

Run it from the top of the checkout: `.venv/bin/python examples/own_close_probe.py`
"""

import math

from rich import print as show

import tidegate

EPOCH_S = 1.0


class CloseProbe:
    """Admit what ends, a little more while ends keep up, and less as soon as they do not."""

    def __init__(self) -> None:
        self.alpha: float | None = None  # sessions that an epoch admits
        self.ends: float | None = None  # sessions that end in an epoch, smoothed
        self.left = 0.0  # the part of a session that the last epoch did not admit

    def start(self, now_s: float, knobs: tidegate.Knobs) -> float:
        """Let everything pass until a session has ended."""
        knobs.open()
        return now_s + EPOCH_S

    def update(
        self, now_s: float, view: tidegate.View, counts: tidegate.Counts, knobs: tidegate.Knobs
    ) -> tuple[float, tidegate.Decision]:
        """Decide what the next epoch admits."""
        if self.ends is not None:
            self.ends = 0.5 * self.ends + 0.5 * counts.departed
        elif counts.departed:
            self.ends = float(counts.departed)
        if self.ends is None:
            knobs.open()
            return now_s + EPOCH_S, tidegate.Decision("starting", math.inf, 0.0)
        alpha = counts.arrived if self.alpha is None else self.alpha
        phase, self.alpha = self.decided(alpha, self.ends)
        due = self.alpha + self.left
        self.left = due - math.floor(due)
        knobs.allow(math.floor(due), EPOCH_S)
        return now_s + EPOCH_S, tidegate.Decision(phase, self.alpha, self.ends)

    def decided(self, alpha: float, ends: float) -> tuple[str, float]:
        """Return what is done and how many are admitted, never fewer than ten."""
        if alpha <= ends * 1.05:
            return "probe", max(ends * 1.1, 10.0)
        if ends < 1.0:
            return "close", max(alpha / 2.0, 10.0)
        return "close", max(alpha + 40.0 * (ends - alpha) / ends, ends, 10.0)


def main() -> None:
    """Compare it with no control and with the built-in law, whose results are the same."""
    comparison = tidegate.compare(
        "scenarios/overloaded-access-link.toml",
        gates=["none", "close-probe", {"law": "python", "name": "mine"}],
        seeds=2,
        settings={"duration": "60s", "warmup": "20s"},
        laws={"mine": CloseProbe()},
    )
    show(comparison.table)


if __name__ == "__main__":
    main()
