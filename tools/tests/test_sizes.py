"""The flow sizes of scenarios/cdf have the means that their sources state."""

from itertools import pairwise
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "scenarios" / "cdf"


# Means that the usual simulations of these two state, in packets of 1460 B.
@pytest.mark.parametrize(("name", "packets"), [("web-search", 1138), ("data-mining", 5117)])
def test_mean_is_the_published_one(name: str, packets: int) -> None:
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    assert rows[0] == ["size_bytes", "probability"]
    points = [(float(size), float(probability)) for size, probability in rows[1:]]
    # The first point is a lump; between two points sizes are spread evenly.
    mean = points[0][0] * points[0][1]
    mean += sum((a + b) / 2 * (q - p) for (a, p), (b, q) in pairwise(points))
    assert mean / 1460 == pytest.approx(packets, rel=0.005)
    assert points[-1][1] == 1
