"""The yardsticks of speed: what `tidegate bench` runs."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from tidegate.cli import app
from tidegate.results.yardstick import load, measure


def _delays(pairs: int) -> dict[str, Fraction]:
    """Return the delay of each link in microseconds."""
    links = tomllib.loads(load(pairs, many_delays=True).show())["topology"]["links"]
    units = {"us": Fraction(1), "ms": Fraction(1000), "ns": Fraction(1, 1000)}
    return {
        name: Fraction(link["delay"][:-2]) * units[link["delay"][-2:]]
        for name, link in links.items()
    }


def test_no_two_links_have_the_same_delay() -> None:
    """100 pairs have 200 access links and one bottleneck: 201 delays, the access ones evenly
    from 0.5 to 1.5 ms, so that the round trip is that of the first yardstick on average."""
    delays = _delays(100)
    assert len(set(delays.values())) == len(delays) == 201
    access = [delay for name, delay in delays.items() if name != "bottleneck"]
    assert min(access) == 500
    assert abs(sum(access) / len(access) - 1000) < 3
    assert delays["bottleneck"] == 18_000


@pytest.mark.parametrize("many_delays", [False, True])
def test_the_yardstick_fills_its_bottleneck(many_delays: bool) -> None:
    """Goodput of 950 to 985 of 1000 Mbit/s (docs/performance.md), six hops for each packet that
    is delivered: three links each way; lost packets and handshakes make it a little more."""
    figures = measure(many_delays=many_delays)
    assert figures["many_delays"] is many_delays
    assert 940 < figures["goodput_mbit_s"] < 985
    assert 6.0 <= figures["packet_hops"] / figures["delivered_packets"] < 6.05


def test_bench_says_which_yardstick_it_ran() -> None:
    """The option of the command is that of the measurement."""
    outcome = CliRunner().invoke(app, ["bench", "--flows", "2", "--many-delays", "--json"])
    assert outcome.exit_code == 0
    figures = json.loads(outcome.stdout)
    assert figures["many_delays"] is True
    assert figures["flows"] == 2
