"""The yardsticks of speed: what `tidegate bench` runs."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from tidegate.cli import app
from tidegate.results.yardstick import Kind, load, measure


def _delays(pairs: int) -> dict[str, Fraction]:
    """Return the delay of each link in microseconds."""
    links = tomllib.loads(load(pairs, Kind(many_delays=True)).show())["topology"]["links"]
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
    figures = measure(kind=Kind(many_delays=many_delays))
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


def test_each_yardstick_differs_from_the_first_in_what_it_is_named_after() -> None:
    """RED, BBR with SACK, and pages each change their own keys of the document alone."""
    first = tomllib.loads(load(2).show())
    other = tomllib.loads(load(2, Kind(red=True, bbr=True, pages=3)).show())
    assert first["port"]["bottleneck"]["queue"] == {"law": "drop-tail"}
    assert other["port"]["bottleneck"]["queue"]["law"] == "red"
    before, after = (each["traffic"]["long"]["transport"]["tcp"] for each in (first, other))
    changed = {key for key in after if after[key] != before.get(key)}
    assert after["control"] == "bbr"
    assert after["recovery"] == "sack"
    # the key `unpaced` is there for controls that are paced alone
    assert changed <= {"control", "recovery", "unpaced"}
    assert other["traffic"]["web"]["arrivals"] == {"uniform": 3, "within": "19s"}


def test_bench_runs_pages_beside_the_flows() -> None:
    """What 30 pages of 450 kB carry is more hops: their 12.6 MB or more, in packets of 1500 bytes,
    each over three links, and the ACKs of the long flows that give way."""
    arguments = ["bench", "--flows", "1", "--pages", "30", "--json"]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    figures = json.loads(outcome.stdout)
    assert (figures["pages"], figures["red"]) == (30, False)
    assert figures["goodput_mbit_s"] * 20e6 / 8 > 30 * 450_000
