"""Traces of links: drawn from a seed, shipped, as Parquet, and beside what was sent."""

import io
import json
from pathlib import Path

import polars as pl
import pytest

import tidegate as api
from tidegate.scenario import link_traces
from tidegate.scenario.link_traces import KINDS, LTE, SHIPPED, STARLINK, STARLINK_UP

SHIPPED_IN = Path(__file__).resolve().parents[2] / "crates" / "model" / "traces"

LINK = """\
name     = "a traced link"
duration = "20s"
warmup   = "5s"
[topology.dumbbell]
pairs      = 1
access     = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "20ms", buffer = "200ms" }
[port.bottleneck]
PORT
[traffic.long]
arrivals  = { at = ["0s"] }
size      = "unlimited"
transport = { tcp = { profile = "linux", control = "cubic" } }
"""


def linked(port: str) -> str:
    return LINK.replace("PORT", port)


def table(text: str) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(text.encode()), schema_overrides=[pl.Float64] * 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_makes_one_trace(kind):
    draw = KINDS[kind]
    assert draw(7, 40) == draw(7, 40)
    assert draw(7, 40) != draw(8, 40)


@pytest.mark.parametrize("kind", SHIPPED)
def test_the_shipped_traces_are_those_of_the_command(kind):
    file, seed, seconds = SHIPPED[kind]
    text = (SHIPPED_IN / file).read_text(encoding="utf-8")
    assert text == KINDS[kind](seed, seconds)


def test_a_cellular_trace_has_the_published_moments():
    """The data of its docstring: seconds of 5.19 +- 2.89 Mbit/s, 0.923 from one to the next.

    A course that forgets by 0.923 a second has one independent value in 25 s: 3000 s have 120, and
    the mean an error of 0.26. Rates below zero are none, which adds 0.04 to the mean.
    """
    seconds = 3000
    times = pl.Series(map(int, link_traces.lte(1, seconds).split()))
    assert times.is_sorted()
    counts = pl.DataFrame({"second": (times - 1) // 1000}).group_by("second").len()
    rates = pl.DataFrame({"second": range(seconds)}).join(counts, on="second", how="left")
    mbit = (rates["len"].fill_null(0) * link_traces.OPPORTUNITY_BITS / 1e6).to_numpy()
    assert mbit.mean() == pytest.approx(LTE.mean / 1e6, abs=0.8)
    assert mbit.std() == pytest.approx(LTE.deviation / 1e6, rel=0.15)
    centred = mbit - mbit.mean()
    correlation = (centred[1:] * centred[:-1]).mean() / mbit.var()
    assert correlation == pytest.approx(LTE.correlation, abs=0.03)


@pytest.mark.parametrize(
    ("draw", "link"),
    [
        (link_traces.starlink, STARLINK),
        (link_traces.starlink_up, STARLINK_UP),
    ],
)
def test_a_satellite_trace_has_the_published_moments(draw, link):
    """The data of its docstring, over 1000 satellites: the errors are below 4 %."""
    found = table(draw(1, 15_000)).head(15_000)
    satellite = ((found["time_s"] + 3) // 15).alias("satellite")
    by = found.with_columns(satellite).group_by("satellite", maintain_order=True)
    rates = by.agg(pl.col("rate_bit_s").mean(), pl.col("delay_s").n_unique().alias("delays"))
    delays = by.agg(pl.col("delay_s").first())["delay_s"]
    assert rates["delays"].max() == 1, "the delay changes with the satellite alone"
    assert found["rate_bit_s"].mean() == pytest.approx(link.mean, rel=0.05)
    # the mean of 15 seconds has a deviation of its own from what varies within a satellite:
    # sqrt((1 + r) / (1 - r) / 15) of it
    within = link.within * ((1 + link.correlation) / (1 - link.correlation) / 15) ** 0.5
    between = (link.between**2 + within**2) ** 0.5
    assert rates["rate_bit_s"].std() == pytest.approx(between, rel=0.1)
    assert 2 * delays.mean() == pytest.approx(link.round_trip, rel=0.02)
    assert 2 * delays.std() == pytest.approx(link.round_trip_deviation, rel=0.1)
    assert 0.0430 / 2 <= delays.min() <= delays.max() <= 0.0736 / 2


def test_both_directions_have_the_same_satellites():
    down, up = table(link_traces.starlink(3, 60)), table(link_traces.starlink_up(3, 60))
    assert down["delay_s"].equals(up["delay_s"])
    changes = down.filter(pl.col("delay_s") != pl.col("delay_s").shift(1))["time_s"].to_list()
    assert changes == [12, 27, 42, 57]


def test_the_command_prints_or_writes_a_trace(tidegate, tmp_path):
    printed = tidegate("trace", "starlink", "--seed", "3", "--seconds", "60")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout == link_traces.starlink(3, 60)
    done = tidegate("trace", "lte", "--seconds", "5", "--out", "a/lte.trace")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a" / "lte.trace").read_text() == link_traces.lte(1, 5)
    assert tidegate("trace", "lte", "--seconds", "0").returncode == 2
    refused = tidegate("trace", "geo")
    assert (refused.returncode, "There is no link geo" in refused.stderr) == (2, True)


def test_a_link_follows_a_shipped_trace():
    """Half of the capacity of 20 s at least: one flow does not follow the rate at once."""
    run = api.run(linked('rate = { trace = "tidegate:lte" }'))
    ports = run.ports.filter(pl.col("port") == "bottleneck")
    possible = ports["possible_bytes"].sum()
    times = list(map(int, link_traces.lte(*SHIPPED["lte"][1:]).split()))
    assert possible == 1504 * sum(at <= 20_000 for at in times)
    assert 0.5 * possible < ports["departed_bytes"].sum() <= possible + 1504


def test_a_trace_that_is_not_shipped_is_refused(tidegate, tmp_path):
    (tmp_path / "a.toml").write_text(linked('rate = { trace = "tidegate:lt" }'))
    done = tidegate("check", "a.toml")
    assert done.returncode == 2
    assert "did you mean `tidegate:lte`" in done.stderr


def test_a_trace_may_be_parquet(tmp_path):
    """The same rates and delays, whatever the file: a run is the same to the bit."""
    text = link_traces.starlink(5, 30)
    (tmp_path / "t.csv").write_text(text)
    table(text).with_columns(other=pl.lit("x")).write_parquet(tmp_path / "t.parquet")
    hashes = set()
    for name in ("t.csv", "t.parquet"):
        said = f'rate = {{ trace = "{name}", scale = 0.05 }}\ndelay = {{ trace = "{name}" }}'
        (tmp_path / "a.toml").write_text(linked(said))
        hashes.add(api.run(tmp_path / "a.toml").summary["result_hash"])
    assert len(hashes) == 1


def test_parquet_without_the_columns_is_said(tidegate, tmp_path):
    pl.DataFrame({"time_s": [0.0, 1.0], "rate": [1.0, 2.0]}).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "a.toml").write_text(linked('rate = { trace = "t.parquet" }'))
    done = tidegate("check", "a.toml")
    assert done.returncode == 2
    assert "there is no column `rate_bit_s`" in done.stderr


def test_a_link_that_stays_without_capacity_has_no_delay_of_its_queue(tmp_path):
    """The bytes that wait over a capacity of 0 are no time, and nothing is said of it."""
    (tmp_path / "t.csv").write_text("time_s,rate_bit_s\n0,10e6\n1,0\n30,0\n")
    (tmp_path / "a.toml").write_text(linked('rate = { trace = "t.csv", repeat = false }'))
    port = api.run(tmp_path / "a.toml").summary["ports"][0]
    assert [port[f"queue_delay_{name}_s"] for name in ("mean", "p95", "p99")] == [None] * 3
    assert port["utilisation"] == 0.0
    assert port["queue_p95_packets"] > 0.0


@pytest.mark.pictures
def test_what_was_sent_is_drawn_beside_the_trace(tidegate, tmp_path):
    (tmp_path / "a.toml").write_text(linked('rate = { trace = "tidegate:lte" }'))
    assert tidegate("run", "a.toml", "--out", "out").returncode == 0
    done = tidegate("plot", "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "capacity-bottleneck.png").stat().st_size > 5000
    shown = tidegate("plot", "out", "--terminal")
    assert "possible by the trace [Mbit/s]" in shown.stdout
    assert tidegate("report", "out").returncode == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert "capacity-bottleneck.png" in manifest["files"]
