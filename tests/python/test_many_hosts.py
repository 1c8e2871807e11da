"""Networks of many hosts: what a run of thousands of pairs takes, and what a dry run says of it."""

import json

import numpy as np
import pytest

import tidegate
from tidegate.results import forecast
from tidegate.results.columns import frame
from tidegate.results.store import as_json
from tidegate.show.of_grid import number_over_axes, without

PAIRS = "topology.dumbbell.pairs"


def dry(tidegate, *words):
    done = tidegate(*words, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_dry_run_counts_what_many_hosts_take(tidegate, overload_file):
    """A pair has two access links, each with a port at either end; the bottleneck has two."""
    few = dry(tidegate, "run", overload_file, "--set", f"{PAIRS}=10")
    many = dry(tidegate, "run", overload_file, "--set", f"{PAIRS}=2000")
    ports = 4 * (2000 - 10)
    assert many["cpu_s"] - few["cpu_s"] > ports * forecast.AFTER_PORT_S * 0.9
    more = many["memory_bytes"] - few["memory_bytes"]
    assert more == pytest.approx(ports * 6000)  # per port: crates/model/src/outlook/memory.rs


def test_a_dry_run_counts_the_start_and_the_pictures(tidegate, overload_file):
    words = ("compare", overload_file, "--gate", "none,close-probe", "--seeds", 1)
    drawn, plain = dry(tidegate, *words), dry(tidegate, *words, "--no-plots")
    assert plain["pictures_s"] == 0.0 < plain["start_s"] < plain["wall_s"]
    assert drawn["wall_s"] > drawn["start_s"] + drawn["pictures_s"] > plain["start_s"]
    assert "of it the start and the pictures" in tidegate(*words, "--dry-run").stdout
    axis = "traffic.web.arrivals.poisson=20/s,40/s"
    swept = ("sweep", overload_file, "--vary", axis, "--gate", "none,close-probe", "--seeds", 1)
    assert dry(tidegate, *swept)["pictures_s"] > 0.0
    words_only = ("sweep", overload_file, "--gate", "none,close-probe", "--seeds", 1)
    assert dry(tidegate, *words_only)["pictures_s"] == 0.0


def test_pictures_over_axes_are_counted_as_they_are_drawn():
    """Over `load` four lines fit one picture; over `beta` ten do not: one for each gate."""
    gates, loads = ("none", "gss-ga"), tuple(f"{load}/s" for load in range(10, 60, 10))
    assert number_over_axes({"gate": gates}) == 0
    assert number_over_axes({"gate": gates, "load": loads}) == 1
    assert number_over_axes({"gate": gates, "load": loads, "beta": ("0.1", "0.2")}) == 1 + 2


def test_a_picture_names_the_settings_that_it_leaves_out():
    assert without(["fixed-rate:40"]) == "without fixed-rate:40"
    assert without(["a", "b", "c", "d", "e"]) == (
        "without a, b, c, d and 1 more (all are in the table)"
    )


def test_a_column_of_many_names_is_a_frame():
    names = [f"access.source{number}" for number in range(30, 0, -1)]
    codes = np.array([0, 29, 29, 5], dtype=np.uint32)
    found = frame({"port": (codes, names)})["port"]
    assert found.to_list() == ["access.source30", "access.source1", "access.source1", names[5]]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": 1, "b": None, "c": [], "d": {}, "e": [1.5, "x"]},
        {"ports": [{"name": "a", "drops": {"full": 1}}, {"name": "b"}], "all": {"fct": 1e-9}},
        {"axes": [["a", "b"], []]},
        [1, {"a": 2}],
    ],
)
def test_what_is_written_as_json_is_read_again(value):
    assert json.loads(as_json(value)) == value


def test_json_has_a_line_for_each_port():
    ports = [{"name": "bottleneck"}, {"name": "bottleneck.reverse"}]
    lines = as_json({"seed": 1, "ports": ports}).decode().splitlines()
    assert lines[1:5] == [
        '  "seed": 1,',
        '  "ports": [',
        '    {"name": "bottleneck"},',
        *lines[4:5],
    ]


def test_numbers_that_json_does_not_have_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"a": [{"b": float("nan")}]})


def test_the_access_links_of_a_run_are_listed_once(overload):
    """Each of thousands of ports is looked up there: listed anew, they took longer than the run."""
    outcome = tidegate.run(overload, settings={"duration": "2s", "warmup": "1s"}).outcome
    assert outcome.access is outcome.access


@pytest.mark.slow
def test_twenty_thousand_pairs_run(tidegate, overload_file):
    """The most that the documentation allows; a search for each name took a minute."""
    quick = ("--set", f"{PAIRS}=20000", "--set", "duration=2s", "--set", "warmup=1s")
    done = tidegate("run", overload_file, *quick, "--out", "many")
    assert done.returncode == 0, done.stderr
    assert len(json.loads((overload_file.parent / "many/summary.json").read_text())["ports"]) == (
        4 * 20_000 + 2
    )


TICKS = """
name = "ticks"
duration = "7s"

[topology.dumbbell]
pairs = 4
access = { rate = "1Gbit", delay = "0ms" }
bottleneck = { rate = "1Gbit", delay = "10ms", buffer = "100packets", loss = 1 }

[port.bottleneck]
record = 1000

[traffic.web]
arrivals = { at = ["100ms", "110ms", "120ms", "130ms"] }
size = "1kB"
transport = { tcp = { profile = "linux" } }
"""


# By hand: a wait of a second is 250 ticks of 4 ms, looked at every eighth (`__calc_bucket` of the
# kernel's timer.c), so SYNs that are lost are sent again at multiples of 32 ms of the clock that
# counts. Of hosts with a clock each these are apart.
@pytest.mark.parametrize("shared", [True, False])
def test_hosts_of_one_machine_have_the_same_ticks(shared):
    settings = {"traffic.web.transport.tcp.shared_ticks": shared}
    times = tidegate.run(TICKS, settings=settings).arrivals["time_s"]
    again = [time for time in times if time > 1]
    assert len(again) == 20
    phases = {round(time % 0.032, 5) for time in again}
    assert (len(phases) == 1) is shared
