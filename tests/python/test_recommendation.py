"""The line that says which setting to take, and what it rests on."""

import pytest

import tidegate as laboratory
from texts import LONG
from tidegate.scenario import toml
from tidegate.show import alike
from tidegate.show.page import words

QUICK = {"duration": "12s", "warmup": "4s"}
LINK, SLOW = "the link", {"rate": "2Mbit", "delay": "10ms"}
RATES, BUFFERS = ("2Mbit", "9Mbit"), ("1bdp", "2bdp")


def test_a_comparison_ends_with_a_recommendation_and_its_price(tidegate, overload_file):
    """60/s are offered and some 20/s can be served: gates of 15/s and 1/s serve fewer, sooner."""
    gates = ("--gate", "none,fixed-rate:15,fixed-rate:1", "--seeds", "3", "--no-plots")
    short = ("--set", "duration=12s", "--set", "warmup=4s", "--out", "c")
    done = tidegate("compare", overload_file, *gates, *short)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stderr.splitlines() if "Recommended" in line)
    assert line.startswith("Recommended: none, better for web: sessions completed ")
    assert "3 seeds on the same flows" in line
    assert "But mean FCT of those served: fixed-rate:" in line
    again = laboratory.load(overload_file.parent / "c")
    assert again.recommendation == line
    page = words.of_comparison(again, list(again.curves))
    assert "<b>Recommended: none, better for web: sessions completed" in page


def test_nothing_is_recommended_where_nothing_differs(overload):
    done = laboratory.compare(
        overload, gates=["none", "fixed-rate:100000"], seeds=2, settings=QUICK
    )
    assert done.recommendation.startswith("No recommendation: no difference is significant")


def test_one_setting_is_no_choice(overload):
    done = laboratory.compare(overload, gates=["none"], seeds=2, settings=QUICK)
    assert done.recommendation == "No recommendation: there is one setting alone."


def test_one_seed_recommends_nothing(overload):
    done = laboratory.compare(overload, gates=["none", "fixed-rate:1"], seeds=1, settings=QUICK)
    # as what to try next has it
    assert "one seed does not show what is chance; try --seeds 10" in done.recommendation


def test_settings_on_other_flows_are_not_set_against_each_other(overload):
    loads = {"traffic.web.arrivals.poisson": ["20/s", "60/s"]}
    done = laboratory.compare(overload, vary=loads, seeds=2, settings=QUICK)
    told = "the settings differ in the traffic (traffic.web.arrivals.poisson)"
    assert done.recommendation == f"No recommendation: {told}, which is given and not chosen."


@pytest.mark.parametrize(
    ("key", "values", "what"),
    [
        ("traffic.web.patience", ["1s", "30s"], "the traffic"),
        ("topology.dumbbell.bottleneck.rate", ["2Mbit", "9Mbit"], "the link"),
        ("port.bottleneck.corrupt", [0.0, 0.2], "the link"),
    ],
)
def test_what_nobody_at_the_link_chooses_is_no_setting_to_take(overload, key, values, what):
    """Both meet the same flows, and one is better by far: as users give up, or the link is fast."""
    done = laboratory.compare(overload, vary={key: values}, seeds=3, settings=QUICK)
    assert (
        f"the settings differ in {what} ({key}), which is given and not chosen"
        in done.recommendation
    )


def test_for_each_kind_of_traffic_there_is_a_line(overload):
    axes = {"traffic.web.patience": ["2s", "30s"]}
    done = laboratory.sweep(overload, axes, gates=["none", "fixed-rate:1"], seeds=3, settings=QUICK)
    lines = done.recommendation.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "At traffic.web.patience = 2s",
        "At traffic.web.patience = 30s",
    ]


# a router has the buffer that its owner gives it
def test_a_buffer_is_chosen(overload):
    key = "topology.dumbbell.bottleneck.buffer"
    done = laboratory.compare(overload, vary={key: ["2packets", "40packets"]}, seeds=3)
    assert "given and not chosen" not in done.recommendation
    assert "Basis: 3 seeds on the same flows" in done.recommendation


# what a table holds is judged by the keys that differ
@pytest.mark.parametrize(
    ("key", "values", "what"),
    [
        ("port.bottleneck", [{"queue": {"law": each}} for each in ("codel", "pie")], None),
        ("port.bottleneck", [{}, {"queue": {"law": "codel"}}], None),
        ("port.bottleneck", [{"loss": each, "queue": {"law": "pie"}} for each in (0.0, 0.1)], LINK),
        ("topology.dumbbell.bottleneck", [SLOW | {"buffer": each} for each in BUFFERS], None),
        ("topology.dumbbell.bottleneck", [SLOW | {"rate": each} for each in RATES], LINK),
    ],
)
def test_tables_are_judged_by_what_differs_in_them(key, values, what):
    assert alike.not_chosen(key, [toml.inline(each) for each in values]) == what


def test_queues_of_a_port_that_is_set_as_a_whole_are_chosen(overload):
    tables = [{"queue": {"law": each}} for each in ("codel", "pie")]
    done = laboratory.compare(overload, vary={"port.bottleneck": tables}, seeds=2, settings=QUICK)
    assert "given and not chosen" not in done.recommendation
    assert "Basis: 2 seeds on the same flows" in done.recommendation


def test_tables_of_two_rates_and_two_buffers_are_two_loads(overload):
    key = "topology.dumbbell.bottleneck"
    tables = [SLOW | {"rate": rate, "buffer": each} for rate in RATES for each in BUFFERS]
    done = laboratory.compare(overload, vary={key: tables}, seeds=2, settings=QUICK)
    assert [len(group) for group in alike.loads(done)] == [2, 2]


def test_a_sweep_has_a_line_for_each_load(overload):
    axes = {"traffic.web.arrivals.poisson": ["5/s", "60/s"]}
    done = laboratory.sweep(overload, axes, gates=["none", "fixed-rate:1"], seeds=3, settings=QUICK)
    first, second = done.recommendation.splitlines()
    assert first.startswith("At traffic.web.arrivals.poisson = 5/s: Recommended: none, better for")
    assert second.startswith(
        "At traffic.web.arrivals.poisson = 60/s: Recommended: none, better for"
    )


def test_flows_without_end_are_judged_by_throughput_fairness_and_delay():
    """Four flows fill the link with both; drop-tail with 200 packets makes most of the delay."""
    four = {"traffic.long.arrivals.uniform": 4}
    done = laboratory.compare(LONG, queues=["drop-tail", "fq-codel"], seeds=3, settings=four)
    assert done.recommendation.startswith("Recommended: fq-codel, better for ")
    assert "mean queue delay" in done.recommendation


def test_a_setting_that_is_worse_is_not_named_beside_the_best(overload):
    gates = ["none", "fixed-rate:100000", "fixed-rate:1"]
    done = laboratory.compare(overload, gates=gates, seeds=2, settings=QUICK)
    names, _, _ = done.recommendation.partition(", better for ")
    assert names == "Recommended: none or fixed-rate:100000"


FAR = """
name     = "a satellite link"
duration = "60s"
warmup   = "10s"
[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "298ms", buffer = "250packets" }
[traffic.web]
arrivals  = { poisson = "5/s" }
size      = "50kB"
transport = { tcp = { profile = "linux" } }
[traffic.updates]
arrivals  = { at = ["0s", "1s"] }
size      = "unlimited"
transport = { tcp = { profile = "linux" } }
"""


def test_where_each_setting_harms_somebody_nothing_is_recommended():
    """CoDel at 100 ms drops too early for a round trip of 600 ms: pages are sooner there, and the
    long flows get less."""
    done = laboratory.compare(FAR, queues=["drop-tail", "fq-codel"], seeds=3)
    text = done.recommendation
    assert text.startswith("No recommendation: each setting is worse for somebody: drop-tail for ")
    assert "drop-tail for web: " in text
    assert "fq-codel for updates: delivered " in text


def test_of_whom_too_few_were_served_and_what_is_warned_of_is_said():
    """Files of a gigabyte do not end in a minute; CoDel's interval is too short for 600 ms."""
    text = FAR.replace('"unlimited"', '"1GB"')
    done = laboratory.compare(text, queues=["drop-tail", "fq-codel"], seeds=3)
    assert done.recommendation.startswith("Recommended: fq-codel, better for web: ")
    few = "Too few to judge by, as it takes 30: of updates none."
    assert done.recommendation.endswith(f"{few} Mind the warnings of fq-codel.")


BLOATED = """
name     = "pages beside a backup, just after it began"
duration = "14s"
warmup   = "7s"
[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "5Mbit", delay = "10ms", buffer = "1000packets" }
[traffic.pages]
arrivals  = { every = "200ms", stop = "9s" }
size      = "5kB"
[traffic.backup]
arrivals  = { at = ["0s", "0s", "0s", "0s"] }
size      = "unlimited"
"""


def test_a_long_queue_that_serves_what_came_before_serves_no_more():
    """As many pages as come are served by both; drop-tail still serves pages of the warm-up after
    it, so that more end in the window than are offered in it."""
    queues = ["drop-tail", "fq-codel"]
    done = laboratory.compare(BLOATED, queues=queues, seeds=3)
    ended = [row["completed_per_s"]["mean"] for row in done.averages]
    assert ended[0] > ended[1]
    assert done.recommendation.startswith("Recommended: fq-codel, better for pages: mean FCT ")


SLOW_BACK = """
name     = "downloads, and a way back that their ACKs fill"
duration = "12s"
warmup   = "4s"
[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
[topology.dumbbell.bottleneck]
rate    = "20Mbit"
delay   = "10ms"
buffer  = "50packets"
reverse = { rate = "100kbit" }
[traffic.photos]
arrivals  = { poisson = "20/s" }
size      = "100kB"
"""


def test_the_port_that_is_full_is_named_if_it_is_not_the_one_compared(tidegate, tmp_path):
    """An ACK of 40 B for every other kilobyte: 100 kbit/s bear 5 Mbit/s of 16."""
    scenario = tmp_path / "back.toml"
    scenario.write_text(SLOW_BACK, encoding="utf-8")
    both = ("--gate", "none,fixed-rate:100000", "--seeds", "2", "--no-plots")
    done = tidegate("compare", scenario, *both, "--out", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert "tidegate: bottleneck.reverse is full (100% used) and bottleneck is not" in done.stderr
    assert "with --port bottleneck.reverse." in done.stderr
    assert "Port bottleneck.reverse" in done.stdout
    there = tidegate(
        *("compare", scenario, *both, "--port", "bottleneck.reverse", "--out", tmp_path / "d")
    )
    assert there.returncode == 0, there.stderr
    assert "is full" not in there.stderr
    page = words.of_comparison(laboratory.load(tmp_path / "c"), ["none", "fixed-rate:100000"])
    assert "bottleneck.reverse is full" in page


def test_settings_that_count_over_other_times_are_not_compared(tmp_path):
    """The warm-up changes nothing for users: it only says from when on they are counted."""
    text = (
        'name = "b"\nduration = "10s"\n[topology.dumbbell]\npairs = 2\n'
        'access = { rate = "1Gbit", delay = "1ms" }\n'
        'bottleneck = { rate = "2Mbit", delay = "10ms" }\n'
        '[port.bottleneck]\ngate = { law = "fixed-rate", rate = "3/s" }\n'
        '[traffic.a]\narrivals = { poisson = "20/s" }\nsize = "20kB"\n'
    )
    done = laboratory.compare(text, vary={"warmup": ["0s", "9s"]}, seeds=2)
    assert "same time" in done.recommendation


SLOWER = (
    FAR.partition("[traffic.updates]")[0]
    + """
[variant.slow]
topology.dumbbell.bottleneck.rate = "2Mbit"
[variant.fast]
"""
)


def test_the_offered_load_is_that_of_the_setting_that_is_recommended():
    """5/s of 50 kB are 2 Mbit/s: all that the slow link carries, and a fifth of the fast one."""
    done = laboratory.compare(SLOWER, seeds=3)
    assert done.recommendation.startswith("Recommended: fast, better for ")
    assert "offered load of bottleneck 20 % under fast and 100 % under slow." in done.recommendation
