"""What a comparison concludes: each test types what led to a wrong conclusion."""

import json

import pytest

import tidegate as laboratory
from texts import LONG
from tidegate.results.statistics import unpaired
from tidegate.show.page import words

QUICK = ("--set", "duration=6s", "--set", "warmup=2s", "--no-plots")
LOADS = "traffic.web.arrivals.poisson=20/s,60/s"


@pytest.mark.slow
def test_other_loads_are_not_called_the_same_flows(tidegate, overload_file):
    """60/s offers three times the flows of 20/s, so that runs of one seed are no pair."""
    done = tidegate("compare", overload_file, "--vary", LOADS, "--seeds", "3", *QUICK)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "not on the same flows (unpaired)" in text
    assert ", on the same flows" not in text
    assert tidegate("report", "out/small-overload-compare").returncode == 0


def test_a_comparison_on_other_flows_says_so_on_the_page(overload):
    loads = {"traffic.web.arrivals.poisson": ["20/s", "60/s"]}
    quick = {"duration": "6s", "warmup": "2s"}
    done = laboratory.compare(overload, vary=loads, seeds=3, settings=quick)
    assert not done.same_flows
    text = words.of_comparison(done, ["20", "60"])
    assert "not on the same flows" in text
    assert "settings on the same flows" not in text


def test_controls_on_the_same_flows_stay_paired(overload):
    """A gate refuses sessions, but the same ones are offered."""
    quick = {"duration": "6s", "warmup": "2s"}
    done = laboratory.compare(overload, gates=["none", "fixed-rate:5"], seeds=2, settings=quick)
    assert done.same_flows
    digests = [(row["seed"], row["flows_hash"]) for row in done.rows]
    assert len(set(digests)) == 2


def test_unpaired_intervals_are_those_of_welch():
    """By hand: two variances of 1, three values each, so 4 degrees of freedom: t = 2.7764.

    With one variance of 2 and one of 0, two values each, there is one: t = 12.7062.
    """
    found = unpaired([11.0, 12.0, 13.0], [1.0, 2.0, 3.0])
    assert found["mean"] == pytest.approx(10.0)
    assert found["high"] - 10.0 == pytest.approx(2.7764 * (2 / 3) ** 0.5, rel=1e-4)
    found = unpaired([0.0, 2.0], [1.0, 1.0])
    assert (found["low"], found["high"]) == pytest.approx((-12.7062, 12.7062), rel=1e-4)


def test_an_unpaired_interval_needs_two_values_on_either_side():
    nothing = {"mean": None, "low": None, "high": None}
    assert unpaired([1.0, None], [None]) == nothing
    assert unpaired([3.0, None], [1.0, 2.0]) == {"mean": 1.5, "low": None, "high": None}
    assert unpaired([3.0, 3.0], [1.0, 1.0]) == {"mean": 2.0, "low": 2.0, "high": 2.0}


def test_folders_on_the_same_number_of_other_flows_are_not_the_same(tidegate, overload, tmp_path):
    """As many flows of other sizes: the counts are equal, the flows are not."""
    quick = {"duration": "6s", "warmup": "2s"}
    laboratory.run(overload, settings=quick).save(tmp_path / "a")
    more = {**quick, "traffic.web.size.pareto.mean": "9kB"}
    laboratory.run(overload, settings=more).save(tmp_path / "b")
    done = tidegate("compare", "a", "b", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["same_flows"] is False


FAR = LONG.replace('"18ms"', '"298ms"')


@pytest.fixture
def long_file(tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(LONG, encoding="utf-8")
    return path


def test_a_queue_law_that_does_not_fit_the_round_trip_is_named_everywhere(tidegate, tmp_path):
    """A round trip of 2 (1 + 298 + 1) = 600 ms, and CoDel's interval of 100 ms."""
    path = tmp_path / "far.toml"
    path.write_text(FAR + '[port.bottleneck]\nqueue = { law = "codel" }\n', encoding="utf-8")
    fitting = 'write interval = "600ms", target = "30ms"'
    assert fitting in tidegate("check", path).stdout
    done = tidegate("run", path, "--out", "far", "--set", "duration=4s")
    assert done.returncode == 0, done.stderr
    assert fitting in done.stderr
    assert fitting in " ".join(done.stdout.split())
    assert tidegate("report", "far").returncode == 0
    assert "interval = &quot;600ms&quot;" in (tmp_path / "far/report.html").read_text("utf-8")
    law = "queue.interval=600ms", "queue.target=30ms"
    settings = [part for each in law for part in ("--set", f"port.bottleneck.{each}")]
    assert "Warning" not in tidegate("check", path, *settings).stdout


def test_of_settings_with_identical_results_none_is_recommended(overload):
    """A gate that never acts changes nothing: neither it nor no gate is better."""
    quick = {"duration": "6s", "warmup": "2s", "traffic.web.arrivals.poisson": "5/s"}
    gates = ["none", "fixed-rate:100000"]
    done = laboratory.compare(overload, gates=gates, seeds=2, settings=quick)
    text = words.of_comparison(done, ["none", "fixed-rate:100000"])
    assert "No recommendation: no difference" in text
    assert "Identical results under none and fixed-rate:100000" in text
    for metric in ("wait_p50_s", "wait_p99_s", "fct_opened_mean_s", "admitted_per_s"):
        assert done.averages[0][metric] == done.averages[1][metric], metric


def test_a_gate_that_never_acts_is_recommended_beside_none(overload):
    quick = {"duration": "6s", "warmup": "2s", "traffic.web.arrivals.poisson": "15/s"}
    gates = ["none", "fixed-rate:100000", "fixed-rate:2"]
    done = laboratory.compare(overload, gates=gates, seeds=2, settings=quick)
    text = words.of_comparison(done, gates)
    assert "<b>Recommended: none or fixed-rate:100000, better for web: " in text


def test_flows_without_end_are_shown_by_what_they_get(tidegate, long_file, tmp_path):
    done = tidegate(
        *("compare", long_file, "--queue", "drop-tail,fq-codel", "--seeds", "3", "--out", "c")
    )
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    for title in (
        "Throughput and fairness",
        "rate of a long flow, least [Mbit/s]",
        "Jain's index of their rates",
        "RTT, mean [ms]",
        "queue delay, p95 [ms]",
        "utilisation [%]",
    ):
        assert title in text
    assert "FCT" not in text
    assert "Sessions" not in text
    assert not (tmp_path / "c/fct-distribution.png").exists()
    assert tidegate("report", "c").returncode == 0
    page = (tmp_path / "c/report.html").read_text("utf-8")
    assert "took no" not in page
    assert "Mbit/s were delivered; a flow got" in page
    assert "has a mean queue delay of" in page.split("Significant at 95")[1][:2000]
    assert "Long flows" in page


def test_the_queue_and_the_round_trips_are_what_the_path_makes_of_them():
    """Two flows fill a drop-tail queue of 200 packets at 10 Mbit/s, an RTT of 40 ms without it.

    A full queue of 200 packets of at most 1500 B takes 240 ms at most; what senders measure
    lies between 40 and 40 + 240 ms, and what a few packets and their ACKs take to be sent. Its
    percentiles are known to 1 %.
    """
    done = laboratory.run(LONG, settings={"duration": "20s"})
    every = done.summary["all"]
    port = next(each for each in done.summary["ports"] if each["name"] == "bottleneck")
    assert 0.9 < port["utilisation"] <= 1.0
    assert every["throughput_bps"] == pytest.approx(10e6 * port["utilisation"], rel=0.06)
    assert every["long_flows"] == every["flows"] == every["endless"] == 2
    assert 0.040 <= every["rtt_min_s"] < every["rtt_mean_s"] < every["rtt_p99_s"] < 0.295
    assert 0.0 < port["queue_delay_mean_s"] < port["queue_delay_p95_s"] <= 0.240
    assert port["queue_delay_p95_s"] <= port["queue_delay_p99_s"] <= 0.240
    assert port["queue_mean_packets"] < port["queue_p95_packets"] <= 200
    # an RTT is the propagation and the delay of the queue
    assert every["rtt_mean_s"] == pytest.approx(0.042 + port["queue_delay_mean_s"], rel=0.15)
    assert 0.5 <= every["flow_rate_jain"] <= 1.0


def test_metrics_of_a_comparison_are_chosen(tidegate, long_file, tmp_path):
    chosen = "bottleneck.queue_delay_p99_s,flow_rate_jain"
    done = tidegate(
        *("compare", long_file, "--queue", "drop-tail,codel", "--seeds", "2", "--no-plots"),
        *("--metrics", chosen, "--out", "c"),
    )
    assert done.returncode == 0, done.stderr
    assert "queue delay, p99 [ms]" in done.stdout
    assert "Jain" in done.stdout
    assert "utilisation" not in done.stdout
    lines = (tmp_path / "c/table.csv").read_text("utf-8").splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == chosen.split(",") * 2
    wrong = tidegate("compare", long_file, "--queue", "drop-tail,codel", "--metrics", "jian")
    assert wrong.returncode == 2
    assert "jain" in wrong.stderr


def test_a_sweep_says_what_to_take_under_each_load(overload, tmp_path):
    """Under 5/s everything is served whichever the gate; under 60/s the gate of 15/s serves most.

    None of the settings of one load is set against one of the other.
    """
    axes = {"traffic.web.arrivals.poisson": ["5/s", "60/s"]}
    quick = {"duration": "12s", "warmup": "4s"}
    gates = ["none", "fixed-rate:15", "fixed-rate:1"]
    done = laboratory.sweep(overload, axes, gates=gates, seeds=3, settings=quick)
    text = words.of_sweep(done)
    lines = text.split("<li>")[1:]
    assert [
        line.startswith(f"At traffic.web.arrivals.poisson = {load}/s: ")
        for line, load in zip(lines, (5, 60), strict=True)
    ] == [True, True]
    for line in lines:
        assert " ± " in line
    alone = laboratory.sweep(overload, axes, seeds=1, settings=quick)
    assert "No recommendation: the settings differ in the traffic" in words.of_sweep(alone)


def test_what_reaches_receivers_in_an_interval_is_no_more_than_the_link_carries(tmp_path):
    """6 MB at 10 Mbit/s take 4.8 s and more: all of it in the second in which it ends is 48 Mbit/s.

    What arrives in all is what the flows delivered, with headers and packets sent again.
    """
    text = LONG.replace('"unlimited"', '"6MB"').replace('"10s"', '"20s"')
    done = laboratory.run(text)
    done.save(tmp_path / "one")
    from tidegate.show import of_runs

    table = of_runs.flows(tmp_path / "one")
    picture = of_runs.classes({"": table}, {"": tmp_path / "one"}, 20.0, "")
    found = picture.table["arrived_mbps"]
    packet = 1500 * 8e-6  # one more may end within a second than begins in it
    assert 9.0 < found.max() <= 10.0 + packet
    assert 1.0 < found.sum() * 1e6 / 8 / done.summary["all"]["delivered_bytes"] < 1.1
