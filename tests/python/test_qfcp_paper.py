"""The study of the QFCP paper: that it is whole, and what its measures work out."""

import json
import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mutations import Record
from test_mutations import shares
from tidegate.papers import load
from tidegate.papers.qfcp import controls, measures
from tidegate.papers.qfcp.cases import FLOWS, PHASES, PROTOCOLS, TRANSPORTS
from tidegate.results.run_files import SavedRun

STUDY = load("qfcp")


def saved(folder):
    """Return the run in a folder, after writing the manifest that lists its files."""
    files = sorted(path.name for path in folder.iterdir())
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    return SavedRun(folder, 1)


def test_every_case_is_a_scenario():
    for case in STUDY.cases.values():
        assert STUDY.document(case).load().duration_s > 0


def test_every_alternative_changes_cases_that_exist():
    from fnmatch import fnmatchcase

    for deviation in STUDY.deviations().deviations:
        for other in deviation.alternatives:
            patterns = (other.cases,) if isinstance(other.cases, str) else other.cases
            fits = [key for key in STUDY.cases if any(fnmatchcase(key, each) for each in patterns)]
            assert fits, other.label
            for key in fits:
                changed = STUDY.cases[key].having(*other.settings)
                assert STUDY.document(changed).load().duration_s > 0


def test_one_set_of_senders_serves_the_whole_paper():
    for name in PROTOCOLS:
        for scenario in ("fct", "adapt", "rtt", "lossy", "crowd"):
            key = f"{scenario}/{name}/none" if scenario == "lossy" else f"{scenario}/{name}"
            settings = dict(STUDY.cases[key].settings)
            assert {settings[f"traffic.{flow}.transport"] for flow in FLOWS[scenario]} == {
                TRANSPORTS[name]
            }
    plain = re.compile(r"mss = \"960B\".* nagle = false")
    assert all(plain.search(text) for text in TRANSPORTS.values())


@pytest.fixture
def record(tmp_path):
    """A run of seven flows, four of which are on the way by name in a port each."""
    flows = pl.DataFrame(
        {
            "size_bytes": [4800.0, 4800.0, 5760.0, 4801.0, 960_000.0],
            "start_s": [0.0, 1.0, 2.0, 3.0, 4.0],
            "closed_s": [0.2, 1.4, 2.6, 3.6, 14.0],
            "retransmitted_packets": [0, 1, 0, 0, 9],
        }
    )
    flows.write_parquet(tmp_path / "flows.parquet")
    times = np.round(np.arange(1, 151) * 0.1, 3)
    tables = []
    for flow in range(4):
        rate = np.zeros(150)
        for begin, end, active in PHASES:
            if flow < active:
                inside = (times > begin + 1e-6) & (times <= end + 1e-6)
                rate[inside] = 45.0 / active
        if flow == 1:  # 0.5 s late at its share
            rate[(times > 2.0) & (times <= 2.5)] = 5.0
        tables.append(
            pl.DataFrame(
                {
                    "time_s": times,
                    "port": [f"out{flow + 1}"] * 150,
                    "departed_bytes": rate * 1e5 / 8,
                }
            )
        )
    pl.concat(tables).write_parquet(tmp_path / "ports.parquet")
    summary = {"all": {"delivered_bytes": 75_000_000, "completed": 5, "timeouts": 2}}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    return saved(tmp_path)


def test_afct_is_the_mean_over_flows_of_as_many_packets(record):
    # 4800 B are 5 packets of 960 B; 4801 B are 6, as 5760 B are; 960 kB are 1000
    sizes, means = measures.afct(record)
    assert sizes.tolist() == [5, 6, 1000]
    assert means.tolist() == pytest.approx([0.3, 0.6, 10.0])


def test_oscillation_is_the_step_between_neighbouring_sizes(record):
    assert measures.oscillation(record) == pytest.approx(np.log(2))


def test_short_and_long_flows(record):
    assert measures.short_fct(record) == pytest.approx((0.2 + 0.4 + 0.6 + 0.6) / 4)
    assert measures.long_fct(record) == pytest.approx(10.0)


def test_goodput_is_what_was_delivered_in_a_minute(record):
    assert measures.goodput(record) == pytest.approx(10.0)


def test_jain_of_known_vectors():
    assert measures.jain(np.array([3.0, 3.0, 3.0])) == pytest.approx(1.0)
    assert measures.jain(np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert measures.jain(np.array([1.0, 2.0, 3.0])) == pytest.approx(36 / 42)


def test_a_flow_settles_when_it_stays_within_a_tenth_of_its_share(record):
    # windows of 0.3 s: the last with a bad sample ends 0.1 s after it
    assert measures.settled(2.0, 4.0, 2)(record) == pytest.approx(0.6, abs=0.01)
    assert measures.settled(4.0, 6.0, 3)(record) <= 0.1


def test_a_newcomer_is_held_against_the_first_flow(record):
    # at 2 s 5 of 22.5 Mbit/s from 0.1 to 0.4 s; at 4 and 6 s the whole share
    assert measures.newcomer(record) == pytest.approx((5 / 22.5 + 1 + 1) / 3)


def test_the_estimate_of_each_protocol_is_held_against_the_flows_under_way():
    """QFCP's is y/R (eq. 2), which its port notes, and not C/R: here R is C, and y half of it."""
    record = Record(
        {
            # 20 flows come at once and go at 95 s
            "flows": {"start_s": [1.0] * 20, "closed_s": [95.0] * 20},
            # 10 and 40 for 20: off by two either way, outside of 20 to 90 s by more
            "events bottleneck": {
                "time_s": [10.0, 30.0, 60.0, 91.0],
                "from": [1.0, 10.0, 40.0, 1.0],
                "set": [150e6] * 4,
            },
        }
    )
    assert measures.count_error(record) == pytest.approx(2.0)


def test_the_estimate_is_held_against_the_flows_that_join_and_leave():
    # one flow up to 2 s, four from 6 to 8 s; nobody is there after 14 s
    events = {"time_s": [0.5, 1.5, 7.0, 14.5], "from": [2.0, 1.05, 2.0, 9.0]}
    record = Record({"events middle": events})
    # the factors are 2, 1.05 and 2
    assert measures.known_count_error(record) == pytest.approx((2 * 1.05 * 2) ** (1 / 3))
    # the last estimate of one flow that is off by more than a tenth
    assert measures.time_to_know_one(record) == pytest.approx(0.5)


def test_flows_that_ask_for_less_leave_the_rest_to_the_others():
    # of 45 Mbit/s two flows ask for 5 each: (45 - 10) / 2 are left to each of the others
    record = Record(shares(5.0, 5.5, 17.5, 14.0))
    assert measures.asked_off(record) == pytest.approx(0.1)
    assert measures.rest_off(record) == pytest.approx(0.2)


TCP = SimpleNamespace(initial_window=1, initial_ssthresh=2**30, window=2**30)


def acknowledged(opens=1, now_s=0.0, rtt_s=None):
    return SimpleNamespace(opens=opens, now_s=now_s, rtt_s=rtt_s)


@pytest.mark.parametrize(
    ("window", "grows", "gives_up"),
    # RFC 3649, appendix B: the windows at which a(w) reaches a whole number, and b(w) there
    [(38, 1, 0.50), (118, 2, 0.44), (221, 3, 0.41), (495, 5, 0.37), (1058, 8, 0.33)],
)
def test_highspeed_grows_and_shrinks_as_its_table_says(window, grows, gives_up):
    assert controls.increase(window) == pytest.approx(grows, rel=0.02)
    assert controls.decrease(window) == pytest.approx(gives_up, abs=0.01)
    sender = controls.HighSpeed(TCP)
    sender.cwnd = sender.ssthresh = float(window)
    sender.on_congestion(None, None)
    assert sender.cwnd == pytest.approx((1 - gives_up) * window, rel=0.02)
    # below 38 segments it is Reno
    assert (controls.increase(20), controls.decrease(20)) == (1.0, 0.5)


def test_scalable_grows_by_a_hundredth_and_gives_up_an_eighth():
    sender = controls.Scalable(TCP)
    sender.cwnd = sender.ssthresh = 400.0
    sender.on_ack(acknowledged(10))
    assert sender.cwnd == pytest.approx(400.1)
    sender.on_congestion(None, None)
    assert sender.cwnd == pytest.approx(0.875 * 400.1)
    # up to 16 segments it is Reno
    sender.cwnd = sender.ssthresh = 10.0
    sender.on_ack(acknowledged(10))
    assert sender.cwnd == pytest.approx(11.0)


def test_vegas_keeps_one_to_three_segments_in_the_queue():
    sender = controls.Vegas(TCP)
    sender.on_ack(acknowledged(1, 0.0, 0.1))  # the path alone
    sender.ssthresh = sender.cwnd = 40.0
    # 40 (1 - 100 / 102) = 0.8 wait: one more; 40 (1 - 100 / 105) = 1.9: enough
    for now_s, rtt_s, window in ((1.0, 0.102, 41.0), (2.0, 0.105, 41.0), (3.0, 0.120, 40.0)):
        sender.on_ack(acknowledged(1, now_s, rtt_s))
        assert sender.cwnd == window
    # once a round trip: the next acknowledgement changes nothing
    sender.on_ack(acknowledged(1, 3.05, 0.120))
    assert sender.cwnd == 40.0
    sender.on_congestion(None, None)
    assert sender.cwnd == 30.0


def test_fast_goes_half_of_the_way_to_what_keeps_its_packets_in_the_queue():
    sender = controls.Fast(TCP)
    sender.on_ack(acknowledged(1, 0.0, 0.04))
    sender.cwnd = 200.0
    sender.on_ack(acknowledged(1, 1.0, 0.05))
    # (200 + 200 x 0.04 / 0.05 + 100) / 2
    assert sender.cwnd == pytest.approx(230.0)
    # and never to more than twice the window
    sender.cwnd = 10.0
    sender.on_ack(acknowledged(1, 2.0, 0.04))
    assert sender.cwnd == 20.0
