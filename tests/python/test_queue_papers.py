"""The studies of the papers on dual queues, on Blitz and on LGC, and what measures work out."""

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from tidegate.papers import load, there
from tidegate.papers.blitz import cases as blitz_cases
from tidegate.papers.blitz import checks as blitz_checks
from tidegate.papers.blitz import measures as blitz
from tidegate.papers.blitz.cases import NETS
from tidegate.papers.dqm import cases as dqm_cases
from tidegate.papers.dqm import checks as dqm_checks
from tidegate.papers.dqm import measures as dqm
from tidegate.papers.row_check import CheckedClaim
from tidegate.papers.verdicts import judge
from tidegate.results import run_output
from tidegate.results.run_files import SavedRun

ROOT = Path(__file__).resolve().parents[2]
STUDIES = {key: load(key) for key in ("dqm", "blitz", "lgc")}


def saved(folder):
    """Return the run in a folder, after writing the manifest that lists its files."""
    files = sorted(path.name for path in folder.iterdir())
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    return SavedRun(folder, 1)


def record(folder, **tables):
    for name, columns in tables.items():
        if name == "summary":
            (folder / "summary.json").write_text(json.dumps(columns))
        else:
            pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")
    return saved(folder)


def test_the_load_is_what_the_paper_says_it_is():
    """Section III-A-1: rho = lambda d L / C; 1.302 flows a second are 1.2."""
    assert dqm_cases.rate(1.2) == pytest.approx(1.30208, rel=1e-5)
    # two classes, R = 5: 1.085 and 0.217 a second are 2 (20 x 1.085 + 100 x 0.217 = 43.4 packets)
    case = dqm_cases.CASES[dqm_cases.two(2.0, 5, "p3")]
    rates = dict(case.settings)
    assert rates["traffic.short.arrivals.poisson"] == "1.08507/s"
    assert rates["traffic.long.arrivals.poisson"] == "0.217014/s"


def test_throughput_and_latency_count_all_admitted_flows(tmp_path):
    """T: 1000 B in 8 s after admission are 1000 bit/s, 4000 B in 16 s 2000 bit/s; of a flow
    that has not finished after 30 s what was delivered until then: 2500 B in 20 s, 1000 bit/s.

    D by Little: the flows present on average, times the duration, over the admissions:
    (8 + 16 + 20) s / 3. Set-ups of 2, 4 and 1 s.
    """
    flows = {
        "size_bytes": [1000.0, 4000.0, 9000.0],
        "start_s": [0.0, 0.0, 9.0],
        "admitted_s": [2.0, 4.0, 10.0],
        "closed_s": [10.0, 20.0, None],
        "class": [0, 1, 1],
        "delivered_bytes": [1000.0, 4000.0, 2500.0],
        "open": [False, False, True],
    }
    everything = {"open_mean": 44.0 / 30.0, "admitted": 3, "open": 1}
    found = record(tmp_path, flows=flows, summary={"duration_s": 30.0, "all": everything})
    assert dqm.throughput(found) == pytest.approx(4000.0 / 3)
    assert dqm.finished_throughput(found) == pytest.approx(1500.0)
    assert dqm.throughput_of(1)(found) == pytest.approx(1500.0)
    assert dqm.latency(found) == pytest.approx(44.0 / 3)
    assert dqm.total_latency(found) == pytest.approx(44.0 / 3 + 7.0 / 3)
    assert dqm.never_finished(found) == pytest.approx(1.0 / 3)


def test_a_study_may_ask_for_the_flows_that_are_still_open():
    """By hand: of three flows one has closed, one was admitted and is open, one never got in."""
    nan = float("nan")
    flows = {
        "admitted_s": np.array([1.0, 2.0, nan]),
        "closed_s": np.array([3.0, nan, nan]),
    }
    assert run_output._flows(flows, ("admitted_s",))["admitted_s"].to_list() == [1.0]
    both = run_output._flows(flows, ("admitted_s", run_output.OPEN))
    assert both["admitted_s"].to_list() == [1.0, 2.0]
    assert both["open"].to_list() == [False, True]


def test_losses_over_time_follow_the_curve(tmp_path):
    """Fig. 4: at 30, 45 and 67.5 G-R2 loses 0.05, 0.1 and 0.55, P1 0, 0 and 0.2, P3 0, 1 and 1."""
    ports = {
        "port": ["bottleneck"] * 3,
        "avg_queue_packets": [30.0, 45.0, 67.5],
        "queue_packets": [10, 90, 90],
    }
    found = record(tmp_path, ports=ports)
    assert dqm.connection_loss_in_time("gr2")(found) == pytest.approx(0.7 / 3)
    assert dqm.connection_loss_in_time("p1")(found) == pytest.approx(0.2 / 3)
    assert dqm.connection_loss_in_time("p3")(found) == pytest.approx(2.0 / 3)
    assert dqm.connection_loss_in_time("dt")(found) == pytest.approx(2.0 / 3)


def test_the_longest_pause_counts_up_to_the_end(tmp_path):
    """Admissions in the seconds 2, 3 and 8 of 20: from 3 to 8 it is 5 s, from 8 to the end 12."""
    seconds = np.arange(1.0, 21.0)
    admitted = np.isin(seconds, (2.0, 3.0, 8.0)).astype(float)
    found = record(tmp_path, rates={"time_s": seconds, "admitted": admitted})
    assert dqm.longest_pause(found) == 12.0
    assert dqm.longest_gap(np.array([]), 9.0) == np.inf


def test_power_is_goodput_over_response_time(tmp_path):
    """Three files of 1 MB, one within the warm-up of 2 s: 16 Mbit in 8 s are 2 Mbit/s,
    over a mean of 2 s: 1 Mbit/s per s."""
    flows = {
        "size_bytes": [1e6] * 3,
        "start_s": [0.0, 3.0, 4.0],
        "data_done_s": [1.0, 4.0, 7.0],
        "closed_s": [1.0, 4.0, 7.0],
    }
    found = record(tmp_path, flows=flows, summary={"duration_s": 10.0})
    assert blitz.goodput(found) == pytest.approx(2e6)
    assert blitz.response(found) == pytest.approx(2.0)
    assert blitz.power(found) == pytest.approx(1e6)
    # rates of 1 and 1/3: (4/3)^2 / (2 x 10/9)
    assert blitz.fairness(found) == pytest.approx(0.8)


def test_a_curve_with_one_maximum_makes_no_detour():
    assert blitz.detour(np.array([[1.0, 2.0, 4.0, 3.0, 1.0]]).T) == 0.0
    assert blitz.detour(np.array([[1.0, 4.0, 2.0, 3.0, 1.0]]).T) == pytest.approx(0.25)
    assert blitz.detour(np.array([[2.0, 1.0, 4.0]]).T) == pytest.approx(0.25)


def test_networks_fill_their_bottlenecks_and_know_their_products():
    """Reference: 218 packets of 500 B at 150 Mbit/s are 171.9 files a second (100000 B and 218
    headers of 40 B); 150 Mbit/s times 30 ms are 562.5 kB."""
    ref = blitz_cases.NETS["ref"]
    assert ref.saturation(150) == pytest.approx(150e6 / (8 * 108_720))
    assert ref.bdp(150) == pytest.approx(5.625e5)
    assert ref.ratio(150) == pytest.approx(0.1778, abs=1e-4)
    # BDP x / (1 + x) is F BDP / (F + BDP): 84.9 kB, 170 packets
    assert blitz_cases.window(ref, 150) == 170


def test_connections_that_retry_are_admitted_by_the_end():
    # nobody is lost: all of 1.2 / (20 x 46.08 ms) = 1.302 a second
    assert dqm_checks.admitted(0.0) == pytest.approx(1.302, abs=1e-3)
    # every SYN is lost
    assert dqm_checks.admitted(1.0) == 0.0
    # by hand for 0.6: tries by the time that is left of 1500 s, 1 up to 6 s, 2 to 18, 3 to 42,
    # 4 to 90, 5 to 186, 6 to 378, 7 to 762, then 8
    spans = [6, 12, 24, 48, 96, 192, 384, 738]
    lost = sum(span * 0.6**tries for tries, span in enumerate(spans, 1)) / 1500
    assert dqm_checks.admitted(0.6) == pytest.approx(1.30208 * (1 - lost), abs=1e-3)


def test_ten_times_the_size_costs_less_than_an_order_of_power_without_losses():
    # M/D/1 by hand at 150 Mbit/s, 30 ms: 0.78 of the load takes 44.8 ms at 100 kB, 0.64 takes
    # 130.7 ms at 1 MB, and both are the maxima: log10((0.78 / 44.8) / (0.64 / 130.7)) = 0.551
    assert blitz_checks.fall(150) == pytest.approx(0.551, abs=1e-3)
    # under ten times as long, at whichever load and bottleneck
    longest = [
        blitz_checks.times_as_long(mbit, load)
        for mbit in NETS["ref"].bottlenecks()
        for load in blitz_checks.LOADS
    ]
    assert 1.0 < min(longest) < max(longest) < 10.0
    # without a delay ten times the size does take ten times as long
    with patch.object(blitz_checks, "NETS", {"ref": replace(NETS["ref"], delay_ms=0.0)}):
        assert blitz_checks.times_as_long(150, 0.78) == pytest.approx(10.0)


def test_round_trips_of_a_window_that_doubles():
    # 1, 2, 4, 8, 16: 31 packets in five rounds, 22 are needed for 10 kB and 218 for 100 kB
    assert [blitz_checks.rounds(size) for size in (460, 461, 10_000, 100_000)] == [1, 2, 5, 8]
    # one packet leaves at once under both
    assert blitz_checks.idle_gap(460, 150) == 1.0


CALCULATED = [
    (key, claim)
    for key in there()
    for claim in load(key).claims()
    if claim.check == "calculated" and claim.number is not None
]


@pytest.mark.parametrize(("key", "claim"), CALCULATED, ids=[claim.id for _, claim in CALCULATED])
def test_a_calculation_fails_where_the_paper_would_have_printed_something_else(key, claim):
    """A quarter more than printed is outside of every margin of a calculation."""
    study = load(key)
    found = study.checks[claim.id].find(None)
    assert judge(claim, found).verdict == "met"
    other = replace(claim, value=f"{1.25 * claim.number + 1e-6:.9g}")
    row = CheckedClaim(other, study.package, {}, (), 1).check().find(None)
    assert judge(other, row).verdict == "not met"
