"""A rate law of your own in Python: divide the rate by how loaded the link is.

Run it from the top of the checkout: `.venv/bin/python examples/own_rate_law.py`
"""

import tidegate

SCENARIO = "scenarios/explicit-rates.toml"
OWN = "variant.load-factor.port.bottleneck.stamp"


class LoadFactor:
    """Grant R / z, where z is the load: traffic and queue over the capacity aimed at.

    One rate for all, once a round trip. Nobody counts flows: too many of them,
    and z is above 1.
    """

    def __init__(self, target: float) -> None:
        self.target = target
        self.last_s = 0.0

    def start(self, now_s: float, knobs: tidegate.RateKnobs) -> float:
        """Begin with a rate that can do no harm."""
        knobs.rate_bps = 1e6
        self.last_s = now_s
        return now_s + 0.1

    def update(
        self,
        now_s: float,
        view: tidegate.View,
        counts: tidegate.RateCounts,
        knobs: tidegate.RateKnobs,
    ) -> float:
        """Divide the rate by the load of the interval; at most double and at least halve it."""
        interval_s = now_s - self.last_s
        bits = 8 * (counts.bytes + view.queue_bytes)
        load = bits / (self.target * view.rate_bps * interval_s)
        rate_bps = knobs.rate_bps / min(max(load, 0.5), 2.0)
        knobs.rate_bps = min(max(rate_bps, 1e-3 * view.rate_bps), view.rate_bps)
        self.last_s = now_s
        return now_s + (counts.mean_rtt_s or 0.1)


def main() -> None:
    """Compare it with the built-in laws, on the very same flows."""
    comparison = tidegate.compare(
        SCENARIO,
        seeds=1,
        settings={OWN: {"law": "python", "name": "load-factor"}},
        laws={"load-factor": LoadFactor(target=0.95)},
    )
    for row in comparison.rows:
        law, port = row["settings"], next(p for p in row["ports"] if p["name"] == "bottleneck")
        print(
            f"{law!s:40} {row['all']['completed']} flows completed, "
            f"utilisation {port['utilisation']:.2f}, queue {port['queue_mean_packets']:5.1f}, "
            f"lost {port['drops']['queue_full']}"
        )


if __name__ == "__main__":
    main()
