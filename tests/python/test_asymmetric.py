"""A dumbbell with two rates and with a delay for each pair of hosts, and the load offered to it."""

import json

import pytest

import tidegate as laboratory
from tidegate.errors import TidegateError

LINE = """
name     = "asymmetric line"
duration = "20s"
warmup   = "2s"

[topology.dumbbell]
pairs      = 2
access     = { rate = "1Gbit", delay = ["1ms", "40ms"] }
bottleneck = { rate = "20Mbit", delay = "10ms", reverse = { rate = "1Mbit", delay = "30ms" } }

[traffic.web]
arrivals  = { poisson = "50/s" }
size      = "20kB"
transport = { tcp = { profile = "linux" } }
"""


def ports(done):
    return {port["name"]: port for port in done.summary["ports"]}


def test_the_other_direction_has_its_own_rate():
    """Of the same acknowledgements a line of 1 Mbit/s is 20 times as busy as one of 20 Mbit/s."""
    narrow = laboratory.run(LINE)
    wide = laboratory.run(LINE, settings={"topology.dumbbell.bottleneck.reverse.rate": "20Mbit"})
    busy = [ports(each)["bottleneck.reverse"]["utilisation"] for each in (narrow, wide)]
    assert busy[0] / busy[1] == pytest.approx(20.0, rel=0.1)


def test_each_pair_has_its_delay():
    """4 x 1 + 10 + 30 = 44 ms and 4 x 40 + 40 = 200 ms, and what packets take to be sent."""
    done = laboratory.run(LINE, settings={"traffic.web.arrivals.poisson": "2/s"})
    # a flow of 20 kB takes the handshake and at least one round trip more
    shortest, longest = done.flows["fct_s"].min(), done.flows["fct_s"].max()
    assert 2 * 0.044 < shortest < 0.2
    assert longest > 2 * 0.200
    every = done.summary["all"]
    assert 0.044 < every["rtt_min_s"] < 0.060


def test_the_offered_load_is_said_before_and_after(tidegate, tmp_path):
    """50/s of 20 kB are 8 Mbit/s: 40 % of 20 Mbit/s."""
    (tmp_path / "line.toml").write_text(LINE)
    said = "offered load: 40 % of bottleneck (20 Mbit/s), payload alone"
    assert said in tidegate("check", "line.toml").stdout
    assert said in tidegate("run", "line.toml", "--dry-run").stdout
    done = tidegate("run", "line.toml", "--set", "duration=4s")
    assert "bottleneck 40.0 " in " ".join(done.stdout.split())
    compared = tidegate(
        *("compare", "line.toml", "--gate", "none,fixed-rate:20", "--seeds", "2", "--no-plots"),
        *("--set", "duration=6s", "--out", "c"),
    )
    assert compared.returncode == 0, compared.stderr
    assert "offered load [% of capacity]" in compared.stdout
    assert "offered load 40 % of bottleneck" in compared.stderr
    row = json.loads((tmp_path / "c/summary.json").read_text())["table"][0]
    assert row["bottleneck.offered_load"]["mean"] == pytest.approx(0.4)


def test_the_load_of_flows_without_end_is_no_number(tidegate, tmp_path):
    text = LINE.replace('{ poisson = "50/s" }', '{ at = ["0s"] }').replace('"20kB"', '"unlimited"')
    (tmp_path / "long.toml").write_text(text)
    assert "offered load: flows without end at bottleneck" in tidegate("check", "long.toml").stdout
    assert ports(laboratory.run(text))["bottleneck"]["offered_load"] is None


def test_beside_flows_without_end_the_load_of_the_others_is_said(tidegate, tmp_path):
    """40 % as above, and the round trips: 2 x 10 and 30 ms of the bottleneck, 4 x 1 or 40 ms."""
    more = '\n[traffic.backup]\narrivals = { at = ["0s"] }\nsize = "unlimited"\n'
    (tmp_path / "both.toml").write_text(LINE + more)
    for command in (["check"], ["run", "--dry-run"]):
        said = tidegate(*command, "both.toml").stdout
        load = "40 % of bottleneck (20 Mbit/s), payload alone; flows without end beside it"
        assert f"offered load: {load}" in said
        assert "round trip without queues: 44 ms to 200 ms" in said


def test_an_overload_is_more_than_the_whole(overload):
    """60/s of 8.8 kB and more (a Pareto mean of 10 kB) on 2 Mbit/s: 240 % by the mean."""
    done = laboratory.compare(
        overload, gates=["none"], seeds=2, settings={"duration": "4s", "warmup": "1s"}
    )
    found = done.averages[0]["bottleneck.offered_load"]
    assert found["mean"] == found["high"] == pytest.approx(2.4)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("bottleneck.reverse.rate", "0bit", "bottleneck.reverse.rate"),
        ("bottleneck.reverse.cost", "2", "but one path"),
        ("access.delay", "[]", "at least one delay"),
        ("access.delay", '["1ms", 5]', "time with its unit"),
    ],
)
def test_mistakes_are_named(key, value, words):
    with pytest.raises((TidegateError, laboratory.ScenarioError), match=words):
        laboratory.run(LINE, settings={f"topology.dumbbell.{key}": value})
