"""The mutations of the paper on session control; test_mutations.py tries them with the others."""

from __future__ import annotations

import numpy as np
import pytest

from mutations import Row, told
from tidegate.papers import load
from tidegate.papers.verdicts import MET, NOT_MET

STUDY = load("session")

LOADS = ("load1", "load2", "load3")
# Figure 2 as the paper draws it: all complete up to 100, 110 at 250, and fewer beyond it
UP = {f"admit/{rate} completed_per_s": 1.0 * rate for rate in (65, 100)}
UP |= {f"admit/{rate} completed_per_s": 102.0 for rate in (110, 120, 130, 150)}
UP |= {f"admit/{rate} completed_per_s": 106.0 for rate in (200,)}
DOWN = {"admit/250 *": 110.0, "admit/300 *": 100.0, "admit/400 *": 90.0, "admit/600 *": 80.0}
DOWN |= {"admit/1000 *": 60.0, "static/10k-1000/none completed_per_s": 44.0}
SWEEP = UP | DOWN
PEAK = {"optimum/10k-1000": {250.0: 110.0, 110.0: 103.0}}
# brute-force optima at four loads
ALL = {f"optimum/{name}": {100.0: 1000.0} for name in ("10k-1000", "30k-1000", "10k-100")}
ALL |= {f"optimum/{name}": {100.0: 1000.0} for name in ("30k-100", "10k-300", "5M")}
BEST = "threshold/occupancy/tuning/0.999 *", "threshold/loss-rate/tuning/0.3 *"
TUNED = dict.fromkeys(BEST, 1000.0)


def curves(low, middle, high, udp):
    """Return searches that are best at these rates, of a grid that has 10/s on either side."""
    best = {"5M": low, "10k-1000": middle, "20M": high, "udp": udp}
    return {
        f"optimum/{name}": {each + step: 100.0 - abs(step) for step in (-10.0, 0.0, 10.0)}
        for name, each in best.items()
    }


def trace(phases, values):
    """Return the record of a law's allowance, an epoch of 2 s a value."""
    times = 2.0 * np.arange(1, len(values) + 1)
    return {"events": {"time_s": times, "phase": phases, "set": values}}


SEARCH = ["bracket"] * 3 + ["golden"] * 2
CLIMB = trace(SEARCH + ["ascent"] * 6, [400, 200, 100, 160, 140, 141, 142, 141, 140, 141, 142])
WILD = trace(SEARCH + ["golden"] * 6, [400, 200, 100, 160, 140, 170, 110, 150, 120, 160, 130])
CALM = trace(SEARCH + ["golden"] * 6, [400, 200, 100, 160, 140, 140, 140, 140, 140, 140, 140])

TABLE = {
    "fig2.nc_lt_half": Row("none is worse off", SWEEP, {"static/* *": 60.0}, PEAK),
    "fig2.unimodal": Row("a collapse that does not come", SWEEP, {"admit/1000 *": 105.0}, PEAK),
    "fig2.identity_low": Row(
        "a gate that a tenth of the admitted do not survive", SWEEP, {"admit/100 *": 90.0}
    ),
    "fig2.peak_above_completion": Row(
        "a peak where all complete that are admitted",
        SWEEP,
        {"admit/110 *": 109.9, "admit/250 *": 90.0},
        PEAK,
        {"optimum/10k-1000": {110.0: 110.0}},
    ),
    "fig2.plateau": Row(
        "a peak far above all that completes as it is admitted",
        SWEEP,
        {},
        PEAK,
        {"optimum/10k-1000": {250.0: 160.0}},
    ),
    "table1.fct_monotone": Row(
        "sessions no shorter at 65/s than at 100/s",
        {
            "static/* fct_mean_s": 69.0,
            "admit/250 *": 42.0,
            "admit/150 *": 25.0,
            "admit/100 *": 4.0,
            "admit/65 *": 3.0,
        },
        {"admit/65 *": 4.1},
    ),
    "table1.goodput_monotone": Row(
        "the queue of 65/s as long as that of 150/s",
        {
            "static/* *": 2.6,
            "admit/250 *": 4.5,
            "admit/150 *": 8.7,
            "admit/100 *": 50.0,
            "admit/65 *": 63.0,
        },
        {"admit/65 *": 8.0},
    ),
    "table2.size_monotone": Row(
        "large sessions that do not complete at 100/s either",
        {
            "static/* *": 4658.0,
            "admit/200 *": 7000.0,
            "admit/150 *": 8479.0,
            "admit/100 *": 10142.0,
            "admit/65 *": 10172.0,
        },
        {"admit/100 *": 8000.0},
    ),
    "text.qiu": Row(
        "a load at which all open sessions have a packet in the pipe",
        {
            "*/none open_mean": 5000.0,
            "*/none retransmitted_share": 0.6,
            "*/none jain()": 0.1,
            "*/none jain": 0.1,
            "*/cp jain": 0.5,
        },
        {"*/none open_mean": 300.0},
    ),
    "fig3.congested_gain10k": Row(
        "a CP that lets all in",
        {"*/none completed": 11e3, "*/gssga *": 26e3, "*/cp *": 25e3},
        {"*/cp *": 11e3},
    ),
    "fig3.underload": Row(
        "a gate that refuses a tenth where there is room", {"*": 25e3}, {"*100/gssga *": 22e3}
    ),
    "fig3.near_optimal": Row(
        "a search that stops at half the optimum",
        {"static/*": 950.0},
        {"static/30k-1000/gssga *": 500.0},
        ALL,
    ),
    "fig3.gss_not_better": Row(
        "a CP that admits a tenth less than it could", {"*": 25e3}, {"*30k-100/cp *": 22e3}
    ),
    "fig4.shift": Row(
        "a gate that makes all wait",
        {"*/none *": 0.2, "*/gssga *": 0.4, "*/cp *": 0.6},
        {"*/cp *": 0.1},
    ),
    "fig4.cp_best": Row(
        "a CP with as long a queue as GSS+GA's",
        {"*/none *": 0.2, "*/gssga *": 0.4, "*/cp *": 0.6},
        {"*/cp *": 0.4},
    ),
    "fig5.nc_gap": Row(
        "a gate that admits what completes",
        {"* admissions(*": 900.0, "* completions(*": 50.0},
        {"* admissions(*": 65.0},
    ),
    "fig5.gss_phases": Row(
        "a search that goes on as it began",
        {"*phases=('bracket', 'golden')*": 90.0, "*phases=('ascent',)*": 9.0},
        {"*phases=('ascent',)*": 90.0},
    ),
    "fig5.gss_above": Row(
        "a fixed rate at which all complete",
        {"* admissions(*": 150.0, "* completions(*": 100.0},
        {"* admissions(*": 101.0},
    ),
    "fig5.cp_track": Row(
        "a CP that admits a third more than completes",
        {"*/cp *": 0.05, "*/none *": 9.0},
        {"*/cp *": 0.33},
    ),
    "fig5.cp_spikes": Row("a CP that never probes", {"*": 1.0}, {"* spikes": 0.1}),
    "fig6.loads": Row(
        "a LOAD3 as gradual as LOAD2",
        {
            "*load1/* effective": {"change": [{"at": "100s", "until": "200s"}]},
            "*load2/* effective": {"change": [{"at": "125s", "until": "175s"}]},
            "*load3/* effective": {"change": [{"at": "150s"}]},
        },
        {"*load3/* effective": {"change": [{"at": "125s", "until": "175s"}]}},
    ),
    "fig7.cp_best": Row(
        "a CP that cannot follow a sudden load",
        {"*/none *": 11e3, "*/gssga *": 22e3, "*/cp *": 25e3},
        {"*load3/cp *": 20e3},
    ),
    "table3.order": Row(
        "a GSS+GA that admits too few too late",
        {"*/none *": 70.0, "*/gssga *": 30.0, "*/cp *": 20.0},
        {"*load2/gssga *": 80.0},
    ),
    "fig8.nc_dip": Row(
        "a link that overload does not harm",
        {"*start=50.0*": 100.0, "*start=130.0*": 45.0},
        {"*start=130.0*": 105.0},
    ),
    "fig8.cp_floor": Row("a CP that collapses with the others", {"*": 110.0}, {"*": 45.0}),
    "fig8.cp_track": Row(
        "a CP no nearer to completions than no control",
        {"*/cp *": 0.05, "*/none *": 2.0},
        {"*/cp *": 2.1},
    ),
    "table4.cp_best_100": Row(
        "a CP that refuses where there is room",
        {"*/none *": 20e3, "*/gssga *": 21e3, "*/cp *": 22e3},
        {"*load1/cp *": 19e3},
    ),
    "table4.gss_best_1000": Row(
        "a GSS+GA that never finds the new optimum",
        {"*/none *": 11e3, "*/gssga *": 26e3, "*/cp *": 23e3},
        {"*load3/gssga *": 12e3},
    ),
    "table5.cp_lowest": Row(
        "a CP that makes sessions wait longer than no control",
        {"*/none *": 70.0, "*/gssga *": 60.0, "*/cp *": 20.0},
        {"*1000/load2/cp *": 75.0},
    ),
    "table5.gss_worse": Row(
        "a GSS+GA that is quicker than no control",
        {"*/none *": 60.0, "*/gssga *": 63.0},
        {"*100/load3/gssga *": 50.0},
    ),
    "table5.load_trend": Row(
        "sizes that grow at once under LOAD1 too",
        {"*load1/* *": 30.0, "*load2/* *": 25.0, "*load3/* *": 20.0},
        {"*load1/none *": 20.0},
    ),
    "text.size_session_load": Row(
        "a link that 100 sessions/s of 30 kB do not fill",
        {"* offered_per_s": 100.0, "*10k*": 99.5, "*30k*": 50.0},
        {"*30k* completed_per_s": 99.0},
    ),
    "fig9.gain1000": Row(
        "a GSS+GA that keeps to the rate of 10 Mbit/s",
        {"*/none *": 5e3, "*/gssga *": 20e3, "*/cp *": 21e3},
        {"*load3/gssga *": 5e3},
    ),
    "fig9.par100": Row(
        "a CP that stays at half the capacity's worth", {"*": 25e3}, {"*load2/cp *": 15e3}
    ),
    "table6.par_100": Row(
        "no control that collapses at 100/s too", {"*": 6.0}, {"*load2/none *": 30.0}
    ),
    "text.cp_slow_start": Row(
        "a CP that opens at once", {"*/none *": 100.0, "*/cp *": 60.0}, {"*/cp *": 100.0}
    ),
    "text.no_worse": Row(
        "a GSS+GA that loses a fifth in one of the cells",
        {"* completed": 20e3, "* fct_mean_s": 10.0},
        {"size/100/load1/gssga completed": 16e3},
    ),
    "text.starvation": Row("a least allowance of 5", {"*": 10.0}, {"*cp *": 5.0}),
    "text.pulse": Row(
        "a CP that pulses stop",
        {"* completed": 20e3, "* fct_mean_s": 10.0},
        {"arrivals/pulses/cp completed": 12e3},
    ),
    # at 310/s of 600 some are refused; at 310/s of 300 nobody is, and nothing is seen
    "text.input_independence": Row(
        "an optimum of 600 arrivals/s that lies elsewhere",
        {},
        {},
        {
            "optimum/10k-1000": {310.0: 110.0},
            "optimum/10k-300": {310.0: 110.0},
            "optimum/10k-600": {310.0: 108.0, 250.0: 110.0},
        },
        {"optimum/10k-600": {310.0: 80.0, 250.0: 110.0}},
    ),
    "text.optimal_vs_capacity": Row(
        "UDP that takes nothing from the link",
        {},
        {},
        curves(140.0, 250.0, 500.0, 150.0),
        curves(140.0, 250.0, 500.0, 250.0),
    ),
    "text.syn_backoff": Row("retries after 3 s", {"*": 0.99}, {"*": 0.4}),
    "text.fair_sizes": Row(
        "a CP under which only short sessions complete",
        {"*/none *": 4658.0, "*/gssga *": 7000.0, "*/cp *": 9000.0},
        {"*/cp *": 4000.0},
    ),
    "text.fair_share": Row(
        "a link that its sessions share alike",
        {"* open_mean": 2000.0, "* goodput*": 2600.0},
        {"* goodput*": 5500.0},
    ),
    "text.gss_unstable": Row(
        "a search that rests", {"*gssga *": 0.5, "*cp *": 0.1}, {"*gssga *": 0.05}
    ),
    "text.spurt": Row(
        "a CP that admits without completions",
        {"* completions(*start=125*": 120.0, "* admissions(*start=125*": 125.0, "*": 100.0},
        {"* completions(*start=125*": 95.0},
    ),
    "text.skew": Row(
        "an error that piles up: 5 % unseen early, 10 late",
        {"*": 0.05},
        {"*start=175.0*": 0.10},
    ),
    "text.mimd_fair": Row(
        "a gate that keeps what it had",
        {"mimd/cp *second*": 12e3, "mimd/cp *first*": 13e3},
        {"mimd/cp *second*": 0.8e3},
    ),
    "text.cp_overall": Row(
        "a CP that completes less than GSS+GA",
        {"*cp completed": 21e3, "*cp fct*": 20.0, "*gssga completed": 20e3, "*gssga fct*": 40.0},
        {"*cp completed": 18e3},
    ),
    # a threshold that lets half of the optimum complete elsewhere; one that fits everywhere
    "text.threshold_degrades": Row(
        "thresholds that fit every load",
        {**TUNED, "threshold/* completed": 500.0, "other/* completed": 960.0, "* fct*": 10.0},
        {"threshold/*/[!t]* completed": 950.0},
        ALL,
    ),
    "text.gss_alone": Row(
        "a golden section that rests once its bracket is small",
        {"ablation/gss-alone records": WILD, "static/* records": CLIMB},
        {"ablation/gss-alone records": CALM},
    ),
    "text.ga_alone": Row(
        "an ascent that finds the new peak as soon as a search",
        {"ablation/*": 60.0, "*": 20.0},
        {"ablation/size*": 10.0},
    ),
    "text.cp_smoothing": Row(
        "an allowance as smooth without", {"ablation/*": 0.3, "*": 0.1}, {"ablation/*": 0.1}
    ),
    "text.linear_range": Row(
        "a search that takes as long whatever the range",
        {"range/5/* *": 10.0, "range/20/* *": 40.0},
        {"range/20/* *": 12.0},
    ),
    "text.stateless": Row(
        "a CP that admits by whose a session is", {"* apart": 0}, {"*/cp bottleneck apart": 900}
    ),
}


# numbers whose measure was once unable to fail


@pytest.mark.parametrize(
    ("name", "holds", "broken"),
    [
        # 10 kB is the 81st percentile of what is offered: with a shape of 3 it would be the 70th
        ("text.input_percentile", 19.2, 29.6),
        # nearly all that complete without control are small: here one in ten is not
        ("text.nc_small_share", 1.1, 10.0),
        ("text.admit100_pct", 19.0, 10.0),
    ],
)
def test_a_share_near_all_is_judged_by_what_is_left_of_it(name, holds, broken):
    row = Row("", {"*": holds}, {"*": broken})
    assert told(STUDY, name, row, broken=False) == MET
    assert told(STUDY, name, row, broken=True) == NOT_MET


def test_an_optimum_that_admits_all_shows_nothing_about_the_arrival_rate():
    """700/s of 600: a rate that refuses nobody is no control, and equals any other such rate."""
    row = TABLE["text.input_independence"]
    all_pass = {"optimum/10k-1000": {700.0: 110.0}, "optimum/10k-600": {700.0: 110.0}}
    passing = Row("", {}, {}, row.rates, all_pass)
    assert told(STUDY, "text.input_independence", passing, broken=True) == NOT_MET
