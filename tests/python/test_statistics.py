"""Every expected number here is worked out by hand from the definitions in results.py."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate._native import student_t_quantile
from tidegate.results import breakdown, columns, curves
from tidegate.results import statistics as results
from tidegate.results.digits import significant
from tidegate.results.window import Window

METRICS = Path(__file__).parents[2] / "docs" / "metrics.md"
NAN = math.nan
WINDOW = Window(10.0, 20.0)


def flows(**columns):
    """Six flows around the window [10, 20] s; all columns but the given ones are plain."""
    table = {
        # before the window, in it, in it, in it, never in, gave up
        "start_s": [5.0, 10.0, 11.0, 12.0, 13.0, 14.0],
        "admitted_s": [6.0, 11.0, 11.5, 18.0, NAN, NAN],
        "closed_s": [9.0, 13.0, 19.5, NAN, NAN, NAN],
        "gave_up_s": [NAN, NAN, NAN, NAN, NAN, 15.0],
        "fct_s": [4.0, 3.0, 8.5, NAN, NAN, NAN],
        "fct_admitted_s": [3.0, 2.0, 8.0, NAN, NAN, NAN],
        "size_bytes": [100.0, 10_000.0, 30_000.0, 500.0, 500.0, 500.0],
        "goodput_bps": [200.0, 1000.0, 3000.0, NAN, NAN, NAN],
        "retransmitted_packets": [1, 0, 2, 4, 0, 0],
        "sent_packets": [2, 10, 22, 15, 0, 0],
        "timeouts": [0, 0, 1, 2, 0, 0],
        "delivered_bytes": [100, 10_000, 30_000, 400, 0, 0],
        "reached_s": [6.0, 11.0, 11.5, 18.0, NAN, NAN],
        "window_bytes": [0, 10_000, 30_000, 400, 0, 0],
    }
    return {name: np.array(values) for name, values in (table | columns).items()}


def test_counts_are_of_events_in_the_window():
    got = results.class_statistics(flows(), WINDOW)
    assert [got[name] for name in ("arrived", "admitted", "completed", "gave_up")] == [5, 3, 2, 1]
    assert got["offered_per_s"] == 0.5  # 5 in 10 s
    assert got["completed_per_s"] == pytest.approx(0.2)


def test_open_and_waiting_are_the_state_at_the_end():
    got = results.class_statistics(flows(), WINDOW)
    assert (got["open"], got["waiting"]) == (1, 1)


def test_shares_are_of_the_flows_that_arrived_in_the_window():
    got = results.class_statistics(flows(), WINDOW)
    assert got["never_admitted_share"] == pytest.approx(2 / 5)
    assert got["unfinished_share"] == pytest.approx(1 / 5)
    assert got["completed_share"] == pytest.approx(2 / 5)


def test_long_flows_have_rates_over_the_time_that_they_were_open():
    """By hand: open in [10, 20] s for 2, 8 and 2 s, of which 1 s at least make a long flow.

    10 kB in 2 s are 40 kbit/s, 30 kB in 8 s 30 kbit/s, 400 B in 2 s 1.6 kbit/s; of all 40.4 kB
    in 10 s. Jain's index is 71.6^2 / (3 (40^2 + 30^2 + 1.6^2)).
    """
    got = results.class_statistics(flows(), WINDOW)
    assert got["long_flows"] == 3
    assert got["throughput_bps"] == pytest.approx(32_320.0)
    assert got["flow_rate_max_bps"] == pytest.approx(40_000.0)
    assert got["flow_rate_min_bps"] == pytest.approx(1_600.0)
    assert got["flow_rate_mean_bps"] == pytest.approx(71_600.0 / 3)
    assert got["flow_rate_jain"] == pytest.approx(71.6**2 / (3 * (1600 + 900 + 2.56)))
    assert (got["flows"], got["endless"]) == (6, 0)


def test_admission_is_where_the_receiver_is_with_and_without_a_gate():
    """Past a gate at 11 s and at the receiver at 12 s: the wait is that of the receiver."""
    reached = [6.0, 12.0, 12.5, 18.5, NAN, NAN]
    got = results.class_statistics(flows(reached_s=reached), WINDOW)
    assert got["wait_p50_s"] == pytest.approx(2.0)  # of 2, 1.5 and 6.5 s
    assert got["fct_opened_mean_s"] == pytest.approx((1.0 + 7.0) / 2)
    assert got["fct_admitted_mean_s"] == pytest.approx((2.0 + 8.0) / 2)


def test_means_are_over_flows_that_closed_in_the_window():
    got = results.class_statistics(flows(), WINDOW)
    assert got["fct_mean_s"] == pytest.approx((3.0 + 8.5) / 2)
    assert got["fct_admitted_mean_s"] == pytest.approx((2.0 + 8.0) / 2)
    assert got["goodput_mean_bps"] == pytest.approx(2000.0)
    assert got["size_mean_bytes"] == pytest.approx(20_000.0)
    assert got["share_le_10kB"] == pytest.approx(0.5)  # 10 000 B itself is small


def test_a_flow_that_closed_without_all_of_its_data_is_not_completed():
    """UDP closes when all is sent: of the two that close in the window one has lost 1 B."""
    got_bytes, fct = [100, 9_999, 30_000, 400, 0, 0], [4.0, NAN, 8.5, NAN, NAN, NAN]
    lost = flows(delivered_bytes=got_bytes, fct_s=fct)
    got = results.class_statistics(lost, WINDOW)
    assert (got["completed"], got["completed_per_s"]) == (1, pytest.approx(0.1))
    assert (got["fct_mean_s"], got["size_mean_bytes"]) == (8.5, 30_000.0)
    assert got["completed_share"] == pytest.approx(1 / 5)
    assert got["unfinished_share"] == pytest.approx(2 / 5)
    assert got["open"] == 1  # that one is over, though nobody was served
    small = sizes(lost)["to_10kB"]
    assert (small["completed"], small["completed_share"], small["fct_mean_s"]) == (0, 0.0, None)
    drawn = curves.curves(lost, {}, 10.0, 20.0)
    assert drawn.completed.sum() == 2.0  # that before the window, and the one whose data came


def sizes(table):
    return breakdown.by_size(table, WINDOW.has(table["start_s"]), WINDOW.has(table["closed_s"]))


def test_completion_times_by_size_are_of_the_flows_that_closed_in_the_window():
    # two closed in it: 10 000 B in 3 s, which is small still, and 30 000 B in 8.5 s; of the
    # five that arrived in it four are small, and one of those was completed
    got = sizes(flows())
    values = (1, 1 / 4, 3.0, 3.0, 3.0, 3.0)
    assert got["to_10kB"] == dict(zip(breakdown.OF_SIZE, values, strict=True))
    assert (got["to_100kB"]["completed_share"], got["to_100kB"]["fct_mean_s"]) == (1.0, 8.5)
    nothing = (0, *[None] * 5)
    assert got["above_1MB"] == dict(zip(breakdown.OF_SIZE, nothing, strict=True))
    # one without end is in none of them
    got = sizes(flows(size_bytes=[100.0, NAN, 30_000.0, 500.0, 500.0, 500.0]))
    assert sum(each["completed"] for each in got.values()) == 1


def test_what_was_lost_of_udp_is_a_share_of_what_was_sent():
    numbers = {name: np.array([0.5, NAN]) for name in breakdown.DATAGRAMS if name.endswith("_s")}
    table = {
        "class": (np.array([2, 0]), ["idle", "web", "voice"]),
        "sent_packets": np.array([200, 0]),
        "received_packets": np.array([180, 0]),
        "lost_packets": np.array([15, 0]),  # five are under way
        **numbers,
    }
    got = breakdown.datagrams(table, ["idle"])
    assert list(got) == ["voice", "idle"]
    assert got["voice"]["lost_share"] == 15 / 200
    assert got["voice"]["delay_p95_s"] == 0.5
    assert got["idle"]["lost_share"] is None
    assert got["idle"]["jitter_s"] is None
    # docs/metrics.md: files have no opinion score
    assert got["voice"]["call_mos"] is None
    assert breakdown.datagrams(table, ["voice"])["voice"]["call_mos"] > 1.0


def test_wait_is_from_first_syn_to_admission():
    # Waits of the three flows admitted in the window: 1, 0.5 and 6 s.
    got = results.class_statistics(flows(), WINDOW)
    assert got["wait_p50_s"] == pytest.approx(1.0)
    # Linear between order statistics: place 0.95 * 2 = 1.9 of (0.5, 1, 6).
    assert got["wait_p95_s"] == pytest.approx(1 + 0.9 * 5)


def test_retransmissions_are_a_share_of_data_transmissions():
    got = results.class_statistics(flows(), WINDOW)
    assert got["retransmitted_packets"] == 7
    assert got["retransmitted_share"] == pytest.approx(7 / 49)
    assert got["timeouts"] == 3


def test_open_mean_is_a_time_average_over_the_window():
    # In [10, 20]: flow 0 not at all, flow 1 from 11 to 13, 2 from 11.5 to 19.5, 3 from 18 on.
    got = results.class_statistics(flows(), WINDOW)
    assert got["open_mean"] == pytest.approx((2.0 + 8.0 + 2.0) / 10)


def test_nothing_completed_leaves_means_undefined_not_zero():
    nobody = np.full(6, NAN)
    table = flows(closed_s=nobody, fct_s=nobody, fct_admitted_s=nobody)
    got = results.class_statistics(table, WINDOW)
    assert got["completed"] == 0
    assert got["fct_mean_s"] is None
    assert got["share_le_10kB"] is None


@pytest.mark.parametrize("end", [10.0, 3.0])
def test_a_window_without_length_has_no_rates(end):
    """A run that ends with its warm-up, or before: there is no time over which to divide."""
    got = results.class_statistics(flows(), Window(10.0, end))
    for name in ("offered_per_s", "admitted_per_s", "completed_per_s", "open_mean"):
        assert got[name] is None, name
    assert got["throughput_bps"] is None
    assert got["long_flows"] == 0
    assert got["flow_rate_mean_bps"] is None


def test_time_average_of_a_span_that_outlasts_the_window():
    assert results.time_average(np.array([0.0]), np.array([NAN]), WINDOW) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rates", "index"),
    [
        ([5.0, 5.0, 5.0, 5.0], 1.0),  # all equal
        ([8.0, 0.0, 0.0, 0.0], 0.25),  # one takes all: 1/n
        ([1.0, 2.0, 3.0], 36 / 42),  # (1+2+3)^2 / (3 (1+4+9))
    ],
)
def test_jain(rates, index):
    assert results.jain(np.array(rates)) == pytest.approx(index)


def test_jain_counts_flows_still_open_with_what_they_got():
    # Closed in the window: 1000 and 3000 bit/s. Open: 400 B since 12 s, so 3200 bit in 8 s.
    assert sorted(results.goodputs(flows(), WINDOW)) == [400.0, 1000.0, 3000.0]


def test_interval_is_students_t():
    # Mean 2, standard deviation 1, t(2 degrees, 97.5 %) = 4.302653 from printed tables.
    got = results.interval([1.0, 2.0, 3.0])
    half = 4.302653 / math.sqrt(3)
    assert got["mean"] == pytest.approx(2.0)
    assert got["low"] == pytest.approx(2.0 - half, rel=1e-6)
    assert got["high"] == pytest.approx(2.0 + half, rel=1e-6)


def test_interval_of_five_seeds():
    # t(4 degrees, 97.5 %) = 2.776445; deviation of 2, 4, 4, 4, 6 is sqrt(8/4).
    got = results.interval([2.0, 4.0, 4.0, 4.0, 6.0])
    assert got["high"] == pytest.approx(4.0 + 2.776445 * math.sqrt(2) / math.sqrt(5), rel=1e-6)


@pytest.mark.parametrize(
    ("degrees", "printed"),
    [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (29, 2.045), (1_000_000, 1.960)],
)
def test_quantiles_are_those_of_the_printed_tables(degrees, printed):
    # 97.5 % of Student's t, as statistical tables print it; the last row is that of infinity
    assert student_t_quantile(0.975, degrees) == pytest.approx(printed, abs=1e-3)


@pytest.mark.parametrize(
    ("p", "degrees", "quantile"),
    [
        # scipy 1.17.1, scipy.special.stdtrit(degrees, p), on either side of 1000 degrees
        (0.975, 1, 12.706204736174694),
        (0.975, 2, 4.302652729749462),
        (0.975, 4, 2.7764451051977934),
        (0.975, 9, 2.262157162798205),
        (0.975, 29, 2.045229642132703),
        (0.975, 1000, 1.9623390808264083),
        (0.975, 1001, 1.9623367052808798),
        (0.975, 1_000_000, 1.959966356814107),
        (0.025, 4, -2.7764451051977943),
        (0.9995, 3, 12.923978636687961),
    ],
)
def test_quantiles_are_those_of_another_library(p, degrees, quantile):
    assert student_t_quantile(p, degrees) == pytest.approx(quantile, rel=1e-10)


@pytest.mark.parametrize(("p", "degrees"), [(0, 4), (1, 4), (NAN, 4), (0.9, 0.5), (0.9, math.inf)])
def test_what_has_no_quantile_is_refused(p, degrees):
    with pytest.raises(ValueError, match="write"):
        student_t_quantile(p, degrees)


def test_one_value_has_no_interval_and_none_are_left_out():
    assert results.interval([None, 7.0]) == {"mean": 7.0, "low": None, "high": None}
    assert results.interval([None]) == {"mean": None, "low": None, "high": None}


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_the_mean_lies_in_its_interval(values):
    got = results.interval(values)
    assert got["low"] <= got["mean"] <= got["high"]


def test_port_statistics_name_their_drops():
    totals = {
        "port": (np.array([1, 0], np.uint32), ["b", "a"]),
        "syn_arrived": np.array([10, 1]),
        "syn_refused": np.array([4, 0]),
        "syn_dropped": np.array([5, 0]),
        "data_arrived": np.array([100, 5]),
        "data_dropped": np.array([3, 0]),
        "marked": np.array([2, 0]),
        "departed_packets": np.array([103, 6]),
        "utilisation": np.array([0.5, 0.25]),
        "queue_mean_packets": np.array([7.5, 0.0]),
        "drops_queue_full": np.array([3, 0]),
        "drops_session_refused": np.array([4, 0]),
    }
    first, second = results.port_statistics(totals)
    assert (first["name"], second["name"]) == ("a", "b")
    assert first["drops"] == {"queue_full": 3, "session_refused": 4, "filtered": 0}
    assert first["departed"] == 103
    assert first["marked"] == 2
    assert first["syn_dropped"] == 5


def test_frames_have_nulls_where_nothing_happened_and_words_for_codes():
    table = {
        "closed_s": np.array([1.0, NAN]),
        "law": (np.array([2, 0], np.uint32), ["none", "x", "none"]),
    }
    frame = columns.frame(table)
    assert frame["closed_s"].to_list() == [1.0, None]
    assert frame["law"].to_list() == ["none", "none"]


def test_distributions_are_of_all_offered_and_of_all_served():
    fct, closed = [4.0, 3.0, 8.5, NAN, NAN, NAN], [12.0, 13.0, 19.5, NAN, NAN, NAN]
    loads = {
        "start_s": np.array([9.0, 11.0, 12.0]),
        "loaded_s": np.array([12.0, 15.0, NAN]),
        "load_time_s": np.array([3.0, 4.0, NAN]),
    }
    got = curves.curves(flows(fct_s=fct, closed_s=closed), loads, 10.0, 20.0)
    # Five arrived in the window, two of them finished. Three closed in it: 3, 4 and 8.5 s.
    at_5 = int(np.searchsorted(got.fct_grid_s, 5.0))
    assert got.offered_share[-1] == pytest.approx(2 / 5)
    assert got.offered_share[at_5] == pytest.approx(1 / 5)
    assert got.served_share[at_5] == pytest.approx(2 / 3)
    assert got.served_share[-1] == 1.0
    # Two pages were started in it, of which one took 4 s; two were loaded, after 3 and 4 s.
    assert got.started_pages_share[-1] == pytest.approx(1 / 2)
    at_3 = int(np.searchsorted(got.fct_grid_s, 3.5))
    assert (got.started_pages_share[at_3], got.loaded_pages_share[at_3]) == (0.0, 0.5)
    none = curves.curves(flows(fct_s=fct, closed_s=closed), {}, 10.0, 20.0)
    assert none.started_pages_share.size == none.loaded_pages_share.size == 0
    # Bins of 1 s: first SYNs at 5, 10, 11, 12, 13 and 14 s.
    assert got.times_s[-1] == 20.0
    assert got.offered.tolist() == [
        float(second in {5, 10, 11, 12, 13, 14}) for second in range(20)
    ]


def test_the_page_of_metrics_has_every_metric_of_a_run_and_no_other():
    text = METRICS.read_text(encoding="utf-8")
    # of two classes and one port, `PORT.drops.REASON` being all reasons that the line lists
    rows = re.findall(r"^\| `(\S+)` \| (\S*) \| (.+) \|$", text, re.MULTILINE)
    reasons = rows.pop()
    assert reasons[0] == "PORT.drops.REASON"
    known = {f"p.drops.{each}" for each in re.findall(r"`(\w+)`", reasons[2].partition(": ")[2])}
    of_class_alone = text.partition("\n## Round trips")[2].partition("\n## By size")[0]
    for name, _, _ in rows:
        kind, _, rest = name.rpartition(".")
        if kind == "SIZE":
            known |= {f"{size}.{rest}" for size in breakdown.SIZES}
        elif kind == "PORT":
            known.add(f"p.{rest}")
        else:
            whole = f"| `{name}` |" not in of_class_alone
            known |= {name} if whole else set()
            known |= set() if name == "jain" else {f"a.{name}", f"b.{name}"}
    assert set(results.metric_names(("a", "b"), ("p",))) == known
    units = {"flows", "pages", "1/s", "1/min", "1", "s", "bit/s", "B", "packets", ""}
    assert {unit for _, unit, _ in rows} <= units
    # the packets and viewers of the one class there is are those of the run
    alone = set(results.metric_names(("a",), ("p",)))
    assert set(breakdown.DATAGRAMS) | set(breakdown.VIEWERS) <= alone


def test_ports_of_access_links_are_put_together_by_their_role():
    """By hand: 3 and 5 packets are 8, utilisations of 0.2 and 0.4 are 0.3 on average."""
    from tidegate.results.access import by_role

    def port(name, data, used):
        return {"name": name, "data_arrived": data, "utilisation": used, "drops": {"early": 1}}

    ports = [
        port("bottleneck", 9, 0.9),
        port("access.source1", 3, 0.2),
        port("access.source1.reverse", 1, 0.0),
        port("access.source12", 5, 0.4),
    ]
    one, two, three = by_role(ports)
    assert one == ports[0]
    assert two == {
        "name": "access.sources",
        "data_arrived": 8,
        "utilisation": pytest.approx(0.3),
        "drops": {"early": 2},
    }
    assert three["name"] == "access.sources.reverse"


def test_a_comparison_of_many_pairs_has_no_more_columns_and_one_port_can_be_asked_for(overload):
    import tidegate

    asked = {
        "vary": {"traffic.web.size.pareto.mean": ["9kB", "10kB"]},
        "seeds": 1,
        "settings": {"duration": "2s", "warmup": "1s", "topology.dumbbell.pairs": 30},
    }
    many = tidegate.compare(overload, **asked)
    asked["settings"] = {**asked["settings"], "topology.dumbbell.pairs": 3}
    few = tidegate.compare(overload, **asked)
    assert many.frame.columns == few.frame.columns
    assert len(many.document()["rows"][0]["ports"]) == len(few.document()["rows"][0]["ports"])
    one = tidegate.compare(overload, **asked, metrics=["access.source2.utilisation"])
    assert one.averages[0]["access.source2.utilisation"]["mean"] >= 0.0


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (9.996, 3, "10"),
        (160.4, 3, "160"),
        (999.4, 3, "999"),
        # in powers of ten these would be 1e+03 and 1.24e+04
        (999.6, 3, "1000"),
        (12_350.6, 3, "12351"),
        (10_000.0, 4, "10000"),
        (-2000.0, 3, "-2000"),
        (0.0, 3, "0"),
    ],
)
def test_large_numbers_of_sentences_are_whole(value, digits, said):
    assert significant(value, digits) == said


def test_a_load_of_twenty_times_is_said_in_figures(tidegate, tmp_path):
    """20 sessions/s of 125 kB are 20 Mbit/s, twenty times a link of 1 Mbit/s."""
    file = tmp_path / "heavy.toml"
    file.write_text(
        'name = "heavy"\nduration = "5s"\n[topology.dumbbell]\npairs = 2\n'
        'access = { rate = "1Gbit", delay = "1ms" }\n'
        'bottleneck = { rate = "1Mbit", delay = "10ms" }\n'
        '[traffic.web]\narrivals = { poisson = "20/s" }\nsize = "125kB"\n'
    )
    assert "offered load: 2000 % of bottleneck" in tidegate("check", str(file)).stdout
