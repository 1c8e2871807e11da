"""Every statement of four papers fails where law or setting is broken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mutations import Row, Told, statements, told
from test_mutations_session import TABLE as SESSION
from tidegate import _native
from tidegate.papers import load
from tidegate.papers.deviations import Alternative
from tidegate.papers.folder import CaseFolder
from tidegate.papers.perform import changes
from tidegate.papers.runs import Runs
from tidegate.papers.verdicts import MET, NOT_MET, judge

STUDIES = {key: load(key) for key in ("dqm", "qfcp", "blitz", "session")}

# Two queues


def policies(measure, dt, gred, p1, p2, p3):
    """Return what each policy has of a measure, at every load."""
    values = {"dt": dt, "gr2": gred, "p1": p1, "p2": p2, "p3": p3}
    return {f"*/{name} {measure}": value for name, value in values.items()}


T = policies("throughput", 1.0, 2.0, 2.1, 3.0, 5.0)
KEPT = {"rho/1.2/p3 throughput": 5.0, "rho/1.2/gr2 throughput": 3.0} | T
FOUR = (
    T
    | policies("retransmitted_packets", 3e3, 1e3, 990.0, 500.0, 50.0)
    | policies("open_mean", 90.0, 60.0, 58.0, 40.0, 20.0)
    | policies("queue", 80.0, 50.0, 49.0, 45.0, 40.0)
)
RHOS = tuple(round(0.2 * step, 1) for step in range(1, 11))
LINE = {f"rho/{rho:g}/dt retransmitted_packets": 1000.0 * rho for rho in RHOS}
BENT = {f"rho/{rho:g}/dt *": 4000.0 - 4000.0 * abs(rho - 1.4) for rho in RHOS}
GROW = {f"rho/{rho:g}/* completed_per_s": min(rho, 1.0) for rho in RHOS}
R = {1: 10.0, 2: 14.0, 5: 12.0, 10: 9.0, 20: 8.0}
FLOWS = {f"classes/2/{ratio}/gr2 open_mean": 4.0 * value for ratio, value in R.items()}
FLOWS |= {f"classes/2/{ratio}/p3 open_mean": value for ratio, value in R.items()}

DQM = {
    "table1.pd_up": Row(
        "a gentler RED that loses less data",
        {"*/gr1 *": 0.26, "*/gr2 *": 0.40, "*/gr3 *": 0.45},
        {"*/gr3 *": 0.30},
    ),
    "table1.pc_down": Row(
        "one rule for data and connections, and more of both",
        {"*/gr1 *": 0.77, "*/gr2 *": 0.60, "*/gr3 *": 0.57},
        {"*/gr3 *": 0.80},
    ),
    "table1.dt_worst": Row(
        "a drop-tail that loses connections first",
        {
            "*/dt throughput": 1.0,
            "* throughput": 2.0,
            "*/dt latency": 130.0,
            "* latency": 100.0,
            "*/dt connection_loss": 0.3,
            "* connection_loss": 0.6,
        },
        {"*/dt connection_loss": 0.7},
    ),
    "table1.pc_gt_pd": Row(
        "a packet-mode queue that knows no difference",
        {"*/dt data_lost*": 0.5, "*/dt *": 0.3, "* data_lost*": 0.3, "* connection_loss": 0.6},
        {"*/gr3 connection_loss": 0.3},
    ),
    "fig5a.p3": Row("a P3 that falls with the load as G-RED does", KEPT, {"rho/1.2/p3 *": 9.0}),
    "fig5b.dt_linear": Row("retransmissions with a peak in the middle", LINE, BENT),
    "fig5b.order": Row(
        "a P3 that still loses a fifth of G-RED's",
        policies("*", 3e3, 1e3, 990.0, 500.0, 50.0),
        {"*/p3 *": 200.0},
    ),
    "fig5c.order": Row(
        "a P3 that lets as many in", policies("*", 9.0, 60.0, 58.0, 40.0, 20.0), {"*/p3 *": 55.0}
    ),
    "fig5d": Row(
        "a P3 with a full queue", policies("*", 80.0, 50.0, 49.0, 45.0, 40.0), {"*/p3 *": 85.0}
    ),
    "fig5.p1_like_gred": Row("a P1 with half of G-RED's losses", FOUR, {"*/p1 retr*": 500.0}),
    "fig5.p12_between": Row("a P1 worse than G-RED", FOUR, {"*/p1 throughput": 1.0}),
    "fig5.t1_consistency": Row(
        "a drop-tail that loses more SYNs than RED", {"*gr2 *": 0.6, "*dt *": 0.3}, {"*dt *": 0.7}
    ),
    "fig6a.grow": Row("a P3 that refuses from half the load on", GROW, {"rho/0.8/p3 *": 0.5}),
    "fig6a.dt_fall": Row(
        "a drop-tail that overload does not harm",
        {"rho/1.2/*": 1.0, "rho/2/*": 0.8},
        {"rho/2/*": 1.1},
    ),
    "fig6a.gred_rise": Row(
        "a G-RED that falls as drop-tail does", {"rho/1/*": 1.0, "rho/2/*": 1.03}, {"rho/2/*": 0.8}
    ),
    "fig6a.p2": Row(
        "a P2 as far from G-RED as P1",
        {"*/gr2 *": 1.0, "*/p2 *": 1.01, "*/p1 *": 0.97, "*/p3 *": 1.05},
        {"*/p2 *": 0.93},
    ),
    "fig6a.p3_at1": Row(
        "a P3 that refuses before the link is full", {"*/p3 *": 1.0, "*": 0.95}, {"*/p3 *": 0.9}
    ),
    "fig6a.util": Row("a P3 that lets a fifth of the link lie idle", {"*": 1.0}, {"*/p3 *": 0.8}),
    "fig6b.pd": Row("a P3 that loses data too", {"*/gr2 *": 0.4, "*/p3 *": 0.05}, {"*/p3 *": 0.3}),
    "fig6b.pc": Row(
        "a P2 that loses no more connections",
        {"*/gr2 *": 0.6, "*/p2 *": 0.7, "*/p3 *": 0.8},
        {"*/p2 *": 0.5},
    ),
    "fig6c.gap": Row(
        "a set-up that no load makes longer",
        {f"rho/{rho:g}/p3 *": 20.0 * rho for rho in RHOS},
        {"*": 10.0},
    ),
    "fig7a.unfair": Row(
        "a P3 under which short flows get more",
        {"*number=1*": 4e3, "*number=0*": 2e3},
        {"*number=1*": 1e3},
    ),
    "fig7a.gred_fair": Row(
        "a P3 under which long flows get no more than under G-RED",
        {"*p3 *=1*": 9e3, "*p3 *=0*": 4e3, "*gr2 *=1*": 1.2e3, "*gr2 *=0*": 1e3},
        {"*p3 *=1*": 1.2e3},
    ),
    "fig7b": Row("a P3 with as many flows inside", FLOWS, {"classes/2/20/p3 *": 40.0}),
    "fig7.pd": Row("a P3 that loses as much data", {"*gr2 *": 0.4, "*": 0.1}, {"*p3 data*": 0.4}),
    "fig7cd": Row(
        "a P3 with the longer queue",
        {"*gr2 queue": 60.0, "*p3 queue": 40.0, "*gr2 *": 0.5, "*p3 *": 0.7},
        {"*p3 queue": 70.0},
    ),
    "light.small": Row("a P3 that loses flows at light load", {"*": 1.0}, {"*p3 completed*": 0.7}),
    "light.dirs": Row(
        "a P3 with the longer queue at light load",
        {
            "*gr2 connection*": 0.01,
            "*p3 connection*": 0.02,
            "*gr2 *": 5.0,
            "*p3 *": 4.0,
        },
        {"*p3 queue": 6.0},
    ),
    "table2.more_than_single": Row(
        "a P3 that one link teaches all there is",
        {"tandem/gr2 *": 3e3, "tandem/p3 *": 1e2, "*/gr2 *": 1e3, "*/p3 *": 1e2},
        {"tandem/gr2 *": 900.0},
    ),
    "text.stateless": Row("a queue for each flow", {"* apart": 0}, {"*/p3 bottleneck apart": 4000}),
    "text.tradeoff": Row(
        "a P3 that pays with latency",
        {
            "*p3 throughput": 5.0,
            "*gr2 throughput": 2.0,
            "*p3 latency": 25.0,
            "*gr2 latency": 100.0,
            "*p3 never*": 0.4,
            "*gr2 never*": 0.2,
        },
        {"*p3 latency": 120.0},
    ),
    "text.waste": Row(
        "a P3 that loses data behind the first link too",
        {"tandem/gr2 *": 0.2, "tandem/p3 *": 0.02},
        {"tandem/p3 *": 0.12},
    ),
}

# QFCP

SIZES = np.repeat(np.arange(5.0, 100.0, 3.0), 10)


def flows(slower, rough=0.0):
    """Return the flows of a protocol: `slower` times as long as 10 ms a packet, in steps."""
    wobble = np.where(np.arange(SIZES.size) // 10 % 2 == 0, 1.0, 1.0 + rough)
    table = {
        "size_bytes": 960.0 * SIZES,
        "start_s": np.zeros(SIZES.size),
        "closed_s": 0.01 * slower * SIZES * wobble,
        "retransmitted_packets": np.zeros(SIZES.size),
    }
    return {"flows": table}


LONGER = {"fct/qfcp *": flows(1.0), "fct/rcp *": flows(1.3), "fct/*": flows(3.0)}


def shares(*rates):
    """Return ten flows with these throughputs, Mbit/s, over 60 s; the last one stands for more."""
    each = [*rates, *[rates[-1]] * (10 - len(rates))]
    times = 0.5 * np.arange(1, 121)
    return {
        f"ports out{number}": {"time_s": times, "departed_bytes": np.full(120, rate * 0.5 / 8e-6)}
        for number, rate in enumerate(each, 1)
    }


def joining(late_s):
    """Return four flows that join and leave as in Figure 2, each change heeded so much later."""
    times = np.round(0.1 * np.arange(1, 141), 1)
    bounds = np.array([0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0])
    counts = np.array([1, 2, 3, 4, 3, 2, 1])
    place = np.searchsorted(bounds + late_s, times - 1e-6, "right") - 1
    active = np.where(place < 0, 0, counts[place])
    tables = {}
    for flow in range(1, 5):
        mbit = np.where(active >= flow, 45.0 / np.maximum(active, 1), 0.0)
        tables[f"ports out{flow}"] = {"time_s": times, "departed_bytes": mbit * 0.1 / 8e-6}
    return tables


KEEP = {"*/none *": 40.0}
LOSSES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
THROUGH = KEEP | {f"*/data/{share} *": 40.0 * (1 - share) for share in LOSSES} | {"*/ack/*": 40.0}

QFCP = {
    "fig1.qfcp_best": Row("a RCP that is as quick", LONGER, {"fct/rcp *": flows(1.0)}),
    "fig1.tcp_osc": Row("a TCP as smooth as XCP", {"fct/tcp *": 0.3, "*": 0.1}, {"fct/tcp *": 0.1}),
    "fig1.xcp_longest_short": Row(
        "an XCP that starts at the rate of the others",
        {"fct/xcp *": 2.0, "*": 1.0},
        {"fct/xcp *": 0.5},
    ),
    "fig1.xcp_smoother": Row(
        "an XCP rougher than TCP", {"fct/tcp *": 0.3, "fct/xcp *": 0.1}, {"fct/xcp *": 0.4}
    ),
    "fig1.xcp_fewer_losses": Row(
        "an XCP that overflows too", {"fct/tcp *": 900.0, "fct/xcp *": 9.0}, {"fct/xcp *": 950.0}
    ),
    "fig1.rate_pair": Row(
        "a RCP that starts at one packet a round trip",
        {"fct/tcp *": 2.0, "fct/xcp *": 3.0, "fct/rcp *": 1.0, "fct/qfcp *": 1.0},
        {"fct/rcp *": 2.5},
    ),
    "fig1.qfcp_lt_rcp": Row("a RCP that knows the flows", LONGER, {"fct/rcp *": flows(0.9)}),
    "fig1.slowstart_losses": Row(
        "a repair in one round trip",
        {"fct/tcp penalty": 2.0, "fct/tcp *": 100.0, "fct/without*": 1.0},
        {"fct/tcp penalty": 1.1},
    ),
    "fig2.converge": Row(
        "a rate that follows 1.5 s late", {"* records": joining(0.2)}, {"* records": joining(1.5)}
    ),
    "fig2.util": Row("a rate that never fills the link", {"*": 0.97}, {"*": 0.8}),
    "fig2.initial_rate": Row(
        "an XCP whose newcomers have their share at once",
        {"adapt/qfcp *": 1.0, "adapt/xcp *": 0.2},
        {"adapt/xcp *": 0.9},
    ),
    "fig2.rcp_estimate": Row(
        "an RCP that counts as well",
        {"adapt/qfcp *": 1.03, "adapt/rcp* *": 1.2},
        {"adapt/rcp-2006 *": 1.01},
    ),
    "fig3.qfcp_fair": Row(
        "a rate that long round trips get half of",
        {"* records": shares(4.4, 4.5, 4.6)},
        {"* records": shares(6.0, 5.0, 4.2)},
    ),
    "fig3.faster_than_xcp": Row(
        "a QFCP that takes its time", {"*/xcp *": 9.0, "*/qfcp *": 1.0}, {"*/qfcp *": 12.0}
    ),
    "fig3.xcp_transient": Row(
        "an XCP without a head start", {"*/xcp *": 4.0, "*/qfcp *": 1.1}, {"*/xcp *": 1.1}
    ),
    "fig3.tcp_unfair": Row(
        "a TCP that shares alike",
        {"* records": shares(9.0, 7.0, 1.0)},
        {"* records": shares(5.0, 4.5)},
    ),
    "fig3.tcp_rtt_bias": Row("a TCP that no round trip helps", {"*": -0.9}, {"*": 0.1}),
    "fig3.best": Row(
        "an XCP less fair than TCP",
        {"*/qfcp *": 0.999, "*/xcp *": 0.95, "*/tcp *": 0.7},
        {"*/xcp *": 0.6},
    ),
    "fig4.router_vs_tcp": Row(
        "an XCP that halves for each loss",
        {"*/tcp/*": 5.0, "*": 40.0},
        {"*/xcp/data/*": 4.0},
    ),
    "fig4.ack_insensitive": Row(
        "an XCP that needs every ACK", THROUGH, {"lossy/xcp/ack/0.1 *": 20.0}
    ),
    "fig4.qfcp_gt_xcp": Row(
        "a QFCP that cuts its window for a loss",
        {"*/qfcp/*": 40.0, "*/xcp/*": 20.0},
        {"*/qfcp/*": 15.0},
    ),
    "fig4.data_harder": Row(
        "a TCP that lost ACKs cost as much",
        {"*/ack/*": 40.0, "*/data/*": 20.0},
        {"*/tcp/ack/*": 19.0},
    ),
    "text.dupack": Row("a window that each loss cuts", THROUGH, {"*/data/0.003 *": 30.0}),
    "text.timeout": Row(
        "a window that grows back by one a round trip",
        {"* timeouts": 2.0, "*/qfcp *": 0.99, "*/tcp *": 0.3},
        {"*/qfcp port_mean*": 0.4},
    ),
    "text.redundant": Row(
        "a sender that waits for the one ACK of a period",
        THROUGH,
        {"lossy/qfcp/ack/0.03 *": 30.0},
    ),
    "text.no_state": Row("a rate a flow", {"* apart": 0}, {"* apart": 1}),
    "text.same_rate": Row("a newcomer with half the rate", {"*": 1.0}, {"*": 0.5}),
    "text.desired": Row(
        "a port that keeps for a flow what it does not want",
        {"* records": shares(5.0, 5.0, 17.5, 17.5)},
        {"* records": shares(5.0, 5.0, 11.25, 11.25)},
    ),
    "text.beta": Row(
        "a queue that drains as it likes",
        {
            "*/0.1 *": 1.0,
            "*/0.25 *": 0.8,
            "*/0.5 *": 0.6,
            "*/1.0 *": 0.4,
            "*/2.0 *": 0.2,
        },
        {"*/1.0 *": 0.9},
    ),
    "text.rcp_estimate": Row(
        "an RCP that counts flows as well as QFCP",
        {"fct/rcp *": 2.0, "fct/qfcp *": 1.2},
        {"fct/rcp *": 1.1},
    ),
    "text.stabilisation": Row(
        "an estimate as good without its average",
        {"*/without/*": 0.2, "*": 0.05},
        {"*/without/*": 0.04},
    ),
    "text.virtual_queue": Row(
        "a rate that drops do not tell anything",
        {"*/without/*": 90.0, "*": 50.0},
        {"*/without/*": 40.0},
    ),
}

# Blitz: maxima by network, bottleneck and control, the same at every rate unless it says so

CURVE = {"-1": 0.3, "-0.6": 0.5, "-0.4": 0.7, "-0.25": 1.0, "-0.15": 0.9, "-0.075": 0.8}
CURVE |= {"0": 0.6, "0.1": 0.4}
TWICE = CURVE | {"0": 1.0, "-0.15": 0.4}


def maxima(*of, curve=CURVE):
    """Return the power of networks, Blitz and TCP at each bottleneck, along a curve."""
    found = {}
    for net, mbits, blitz, reno in of:
        for mbit, *both in zip(mbits, blitz, reno, strict=True):
            for control, top in zip(("blitz", "reno"), both, strict=True):
                found |= {
                    f"{net}/{mbit}/{control}/{step} power": top * share
                    for step, share in curve.items()
                }
    return found


REF = ("ref", (30, 90, 150), (3.0, 12.0, 30.0), (1.0, 2.0, 3.0))
FAST = ("fast", (200, 600, 1000), (30.0, 120.0, 300.0), (4.0, 8.0, 10.0))
NARROW = ("small", (30, 90, 150), (9.0, 36.0, 90.0), (4.5, 12.0, 15.0))
SLOW = ("slow", (3, 9, 15), (0.2, 0.8, 2.0), (0.1, 0.3, 0.5))
BIG = ("big", (30, 90, 150), (0.3, 1.0, 2.5), (0.2, 0.5, 1.0))
BIGFAST = ("bigfast", (200, 600, 1000), (3.0, 12.0, 30.0), (1.0, 2.0, 3.0))
TINY = ("tiny", (30, 90, 150), (30.0, 120.0, 300.0), (2.0, 4.0, 6.0))
ALL_NETS = maxima(REF, FAST, NARROW, SLOW, BIG, BIGFAST, TINY)


def at_low(net, mbit, blitz, reno):
    """Return the power at a tenth of the rate that fills the bottleneck."""
    return {f"{net}/{mbit}/blitz/-1 power": blitz, f"{net}/{mbit}/reno/-1 power": reno}


LOW_SLOW = at_low("slow", 3, 0.02, 0.03) | at_low("slow", 15, 0.4, 0.1)
LOW_BIG = {}
for _mbit in (30, 90, 150):
    LOW_BIG |= at_low("big", _mbit, 0.11, 0.1)

BLITZ = {
    "fig3.single_max": Row("a curve with two maxima", ALL_NETS, maxima(REF, curve=TWICE)),
    "fig4l.increasing": Row(
        "an advantage that a bottleneck of 150 halves", ALL_NETS, {"ref/150/blitz/* power": 12.0}
    ),
    "fig4l.both_up": Row(
        "a TCP that a wider bottleneck does not help", ALL_NETS, {"ref/150/reno/* power": 1.9}
    ),
    "fig4l.all_above": Row(
        "a Blitz half as good again as TCP", ALL_NETS, {"ref/30/blitz/* power": 1.5}
    ),
    "fig4l.b90_gt_t150": Row("a TCP that knows the path", ALL_NETS, {"ref/150/reno/* power": 25.0}),
    "fig4r.all": Row(
        "a Blitz whose bursts a fast network loses", ALL_NETS, {"fast/200/blitz/* power": 8.0}
    ),
    "fig8": Row(
        "a Blitz that gains no more than in the reference",
        ALL_NETS,
        {"fast/200/blitz/* power": 10.0},
    ),
    "fig5l.power_up": Row(
        "a smaller network that is no quicker", ALL_NETS, {"small/30/reno/* power": 0.9}
    ),
    "fig5l.gap_narrow": Row(
        "a Blitz that falls behind TCP: no narrower lead",
        ALL_NETS,
        {"small/30/blitz/* power": 4.0},
    ),
    "fig5l.still": Row(
        "a gap that closes with the bottleneck", ALL_NETS, {"small/150/blitz/* power": 30.0}
    ),
    "fig5r.tcp_low": Row(
        "a TCP behind Blitz at every rate",
        ALL_NETS | LOW_SLOW,
        at_low("slow", 3, 0.04, 0.03),
    ),
    "fig5r.max": Row(
        "a Blitz that loses its files where all is slow",
        ALL_NETS,
        {"slow/3/blitz/* power": 0.05},
    ),
    "fig6l.gap": Row(
        "an advantage that larger files leave as it is",
        ALL_NETS | LOW_BIG,
        {"big/90/blitz/* power": 3.5},
    ),
    "fig6l.bw": Row(
        "a TCP whose slow start is over in no time",
        ALL_NETS | LOW_BIG,
        at_low("big", 150, 0.1, 0.2),
    ),
    "fig6l.lambda": Row(
        "a TCP that keeps its power in overload",
        ALL_NETS,
        {"big/30/reno/0.1 power": 0.19},
    ),
    "fig6r.widen": Row(
        "a gap that a faster network does not widen",
        ALL_NETS,
        {"bigfast/600/reno/* power": 9.0},
    ),
    "fig7.widen10k": Row(
        "a TCP that needs no slow start for ten packets",
        ALL_NETS,
        {"tiny/150/reno/* power": 90.0},
    ),
    "text.short_priority": Row(
        "a switch that serves as files come",
        {
            "*/blitz/* *least=0.0*": 0.2,
            "*/reno/* *least=0.0*": 0.4,
            "*/blitz/* *": 9.0,
            "*/reno/* *": 3.0,
        },
        {"*/blitz/* *least=0.0*": 0.6},
    ),
    "text.pushout": Row(
        "a drop-tail queue that bursts do not harm",
        {
            **{f"ref/90/blitz/{step} goodput": 8e7 for step in CURVE},
            **{f"ref-tail/90/blitz/{step} goodput": 7e7 for step in CURVE},
            "ref-tail/90/blitz/0.1 goodput": 2e7,
            "ref/90/blitz/* fairness": 0.8,
            "ref-tail/90/blitz/* fairness": 0.3,
        },
        {"ref-tail/90/blitz/0.1 goodput": 6e7},
    ),
    "text.fair": Row(
        "a Blitz that serves some files and starves the others",
        {"*/blitz/* fairness": 0.9, "*/reno/* fairness": 0.9},
        {"*/blitz/* fairness": 0.6},
    ),
    "fig6l.past": Row(
        "a Blitz that collapses where TCP does",
        {"big/30/blitz/*": 4.0, "big/30/reno/*": 1.0},
        {"big/30/blitz/*": 0.5},
    ),
    "text.tr_claims": Row(
        "a Blitz that shares the link unfairly",
        {"* goodput": 1e8, "* fairness": 0.9} | ALL_NETS,
        {"*/blitz/* fairness": 0.5},
    ),
    "concl.ratio": Row(
        "an advantage that does not know F/BDP",
        ALL_NETS,
        maxima(
            ("tiny", (30, 90, 150), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
            ("fast", (200, 600, 1000), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
            ("small", (30, 90, 150), (9.0, 36.0, 90.0), (1.0, 1.0, 1.0)),
        ),
    ),
}

TABLES = {"dqm": DQM, "qfcp": QFCP, "blitz": BLITZ, "session": SESSION}
ROWS = [(key, name) for key, table in TABLES.items() for name in table]


@pytest.mark.parametrize("key", TABLES)
def test_every_statement_has_a_mutation(key):
    assert set(statements(STUDIES[key])) == set(TABLES[key])


@pytest.mark.parametrize(("key", "name"), ROWS)
def test_a_statement_holds_as_the_paper_says_and_fails_when_it_is_broken(key, name):
    row = TABLES[key][name]
    assert told(STUDIES[key], name, row, broken=False) == MET
    assert told(STUDIES[key], name, row, broken=True) == NOT_MET, row.what


@pytest.mark.parametrize(
    ("key", "name", "counts"),
    [("qfcp", "text.no_state", "RateCounts"), ("session", "text.stateless", "Counts")],
)
def test_a_port_that_keeps_a_number_a_flow_is_not_stateless(monkeypatch, key, name, counts):
    study = STUDIES[key]
    claim = study.claim(name)
    alike = Told(study, {"* apart": 0})

    def verdict():
        return judge(claim, study.checks[claim.id].find(alike)).verdict

    assert verdict() == MET
    kept = type(counts, (), {f"flow_{number}": number for number in range(100)})
    monkeypatch.setattr(_native, counts, kept)
    assert verdict() == NOT_MET


@pytest.mark.parametrize(
    ("key", "name"),
    [("dqm", "text.stateless"), ("qfcp", "text.no_state"), ("session", "text.stateless")],
)
def test_a_port_with_a_queue_for_each_flow_is_not_stateless(key, name):
    """Both as the port itself treats a crowd: with its law, and over queues of flows."""
    study = STUDIES[key]
    claim = study.claim(name)

    def verdict(*settings):
        cases = {each: case.having(*settings) for each, case in study.cases.items()}
        changed = replace(study, cases=cases)
        return judge(claim, study.checks[claim.id].find(Runs(changed, None, 1))).verdict

    assert verdict() == MET
    assert verdict(("port.bottleneck.queue", '{ law = "fq-codel" }')) == NOT_MET


# The same where the setting itself is broken, and simulated

HALVED = (("port.bottleneck.queue.P_M", "0"), ("port.bottleneck.queue.x_M", "90"))
"""Without its step P3 loses no connections, and as much data as drop-tail."""
SIMULATED = {
    # a step at one packet admits hardly anybody: the link lies idle
    ("dqm", "fig6a.util"): (("port.bottleneck.queue.x_m", "1"), ("port.bottleneck.queue.x_M", "1")),
    ("dqm", "fig6b.pd"): HALVED,
    ("dqm", "fig5c.order"): HALVED,
    ("dqm", "fig7.pd"): HALVED,
}


@pytest.mark.slow
@pytest.mark.parametrize(("key", "name"), SIMULATED)
def test_a_check_fails_on_runs_of_a_broken_policy(key, name, tmp_path):
    study = STUDIES[key]
    claim = study.claim(name)
    broken = Alternative("broken", SIMULATED[key, name], ("*/p3",))

    with CaseFolder(tmp_path / "runs", study) as folder:
        runs = Runs(study, folder, 2, changes(broken))
        runs.fill(study.checks[claim.id].cases)
        assert judge(claim, study.checks[claim.id].find(runs)).verdict == NOT_MET
