"""The checks of Figures 1 to 4: what is longer, fairer, fuller than what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.check_builders import between, ordering
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import LOSSES, fct, lossy
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.check import Check
    from tidegate.papers.runs import Floats, Parts, Runs


def _all(*names: str) -> tuple[str, ...]:
    return tuple(fct(name) for name in names)


def _over_sizes(runs: Runs, name: str, other: str) -> Floats:
    """Return how much longer a protocol takes than another, as a mean logarithm over sizes."""
    ratio = m.by_bins(runs, fct(name)) / m.by_bins(runs, fct(other))
    return np.asarray(np.nanmean(np.log(ratio), axis=1))


def _longer(runs: Runs, *pairs: tuple[str, str]) -> Parts:
    found: Parts = {}
    for name, other in pairs:
        logs = _over_sizes(runs, name, other)
        ratio = float(np.exp(np.mean(logs)))
        found[f"AFCT over all sizes: {name} {ratio:.2f} times {other}"] = logs
    return found


# Figure 1

SIGNIFICANT = 1.1
"""The least ratio that counts as a significant difference."""
PENALTY = 1.5
"""The least ratio that counts as a prolonged flow: a retransmission alone adds a round trip."""


@claim("fig1.qfcp_best", of=_all("tcp", "qfcp", "xcp", "rcp"))
def best(runs: Runs) -> Parts:
    """Check that flows of all sizes take significantly longer under the others than under QFCP."""
    found: Parts = {}
    for name in ("tcp", "xcp", "rcp"):
        logs = _over_sizes(runs, name, "qfcp")
        ratio = float(np.exp(np.mean(logs)))
        what = f"AFCT over all sizes: {name} {ratio:.2f} times qfcp, over {SIGNIFICANT:g} times"
        found[what] = logs - np.log(SIGNIFICANT)
    return found


@claim("fig1.qfcp_lt_rcp", of=_all("rcp", "qfcp"))
def less_than_rcp(runs: Runs) -> Parts:
    """Check that flows take longer under RCP than under QFCP."""
    return _longer(runs, ("rcp", "qfcp"))


@claim("fig1.slowstart_losses", of=(fct("tcp"), "fct/without/slow-start"))
def slow_start(runs: Runs) -> Parts:
    """Check that losses of slow start lengthen TCP's transfers."""
    case, without = fct("tcp"), "fct/without/slow-start"
    penalty = runs.values(case, m.penalty)
    lost, fewer = (runs.values(each, m.lost_at_bottleneck) for each in (case, without))
    return {
        f"flows with a loss take {np.mean(penalty):.2f} times as long, over 1.5": penalty - PENALTY,
        f"packets lost {np.mean(lost):,.0f}, without slow start {np.mean(fewer):,.0f}": lost
        - fewer,
    }


# Figure 2


@claim("fig2.converge", of=("adapt/qfcp",))
def converge(runs: Runs) -> Parts:
    """Check that all flows are near their share within a second of each change."""
    found: Parts = {}
    records = runs.records("adapt/qfcp")
    for begin, end, active in m.phases():
        times = np.array([m.settled(record, begin, end, active) for record in records])
        what = f"{active} flows from {begin:g} s: share within 10 % after {np.mean(times):.2f} s"
        found[f"{what}, < 1 s"] = 1.0 - times
    return found


@claim("fig2.util", of=("adapt/qfcp",))
def full(runs: Runs) -> Parts:
    """Check that the link is full, half a second after each change left out."""
    mean = runs.mean("adapt/qfcp", m.utilisation)
    what = f"mean utilisation, 0.5 s after each change left out, {mean:.3f} > 0.9"
    return {what: runs.values("adapt/qfcp", m.utilisation) - 0.9}


@claim("fig2.initial_rate", of=("adapt/qfcp", "adapt/xcp"))
def initial_rate(runs: Runs) -> Parts:
    """Check that a newcomer has its share at once under QFCP, and not under XCP."""
    qfcp, xcp = (runs.values(f"adapt/{name}", m.newcomer) for name in ("qfcp", "xcp"))
    return {
        f"qfcp: the newcomer has {np.mean(qfcp):.2f} of what the first has, > 0.75": qfcp - 0.75,
        f"xcp: {np.mean(xcp):.2f}, < 0.75": 0.75 - xcp,
    }


# Figure 3

SHARE = 4.5
"""A tenth of 45 Mbit/s."""


@claim("fig3.qfcp_fair", of=("rtt/qfcp",))
def equal_shares(runs: Runs) -> Parts:
    """Check that all ten flows get the same under QFCP."""
    rates = np.array([m.mean_rates(each, 10, 20.0, 60.0) for each in runs.records("rtt/qfcp")])
    off = np.max(np.abs(rates / SHARE - 1.0), axis=1)
    what = f"the flow that is furthest from 4.5 Mbit/s is {100 * np.mean(off):.2g} % off, < 10 %"
    return {what: 0.1 - off}


@claim("fig3.xcp_transient", of=("rtt/xcp", "rtt/qfcp"))
def transient(runs: Runs) -> Parts:
    """Check that short round trips have a head start under XCP, and less under QFCP."""
    qfcp, xcp = (runs.values(f"rtt/{name}", m.head_start) for name in ("qfcp", "xcp"))
    what = f"in 3 s the shortest three get {np.mean(xcp):.2f} times the longest three under XCP"
    return {
        f"{what}, > 1.5": xcp - 1.5,
        f"more than under QFCP ({np.mean(qfcp):.2f})": xcp - qfcp,
    }


@claim("fig3.tcp_unfair", of=("rtt/tcp",))
def unfair(runs: Runs) -> Parts:
    """Check that TCP's shares differ widely."""
    rates = np.array([m.mean_rates(each, 10, 20.0, 60.0) for each in runs.records("rtt/tcp")])
    best, worst = np.max(rates, axis=1), np.min(rates, axis=1)
    return {
        f"the largest share is {np.mean(best):.3g} Mbit/s, > 1.5 x 4.5": best - 1.5 * SHARE,
        f"the smallest {np.mean(worst):.3g}, < 4.5 / 2": SHARE / 2 - worst,
    }


@claim("fig3.tcp_rtt_bias", of=("rtt/tcp",))
def biased(runs: Runs) -> Parts:
    """Check that TCP favours short round trips."""
    values = runs.values("rtt/tcp", m.bias)
    return {f"correlation of throughput and RTT {np.mean(values):.2f}, < -0.5": -0.5 - values}


# Figure 4

WAYS = ("data", "ack")


def _lossy(*names: str, ways: tuple[str, ...] = WAYS) -> tuple[str, ...]:
    return tuple(lossy(name, way, share) for name in names for way in ways for share in LOSSES)


def _gain(runs: Runs, top: tuple[str, str], bottom: tuple[str, str]) -> tuple[float, Floats]:
    """Return the mean ratio of goodputs over all loss rates, and its logarithm by seed."""
    logs = [
        np.log(
            runs.values(lossy(*top, share), m.goodput)
            / runs.values(lossy(*bottom, share), m.goodput)
        )
        for share in LOSSES
    ]
    mean = np.asarray(np.mean(logs, axis=0))
    return float(np.exp(np.mean(mean))), mean


def _better(runs: Runs, pairs: tuple[tuple[str, str], ...], ways: tuple[str, ...]) -> Parts:
    found: Parts = {}
    for more, less in pairs:
        for way in ways:
            ratio, mean = _gain(runs, (more, way), (less, way))
            found[f"{way} lost: goodput of {more} {ratio:.3g} times {less}"] = mean
    return found


@claim("fig4.router_vs_tcp", of=_lossy("qfcp", "xcp", "tcp"))
def routers(runs: Runs) -> Parts:
    """Check that QFCP and XCP get more than TCP on a lossy link."""
    return _better(runs, (("qfcp", "tcp"), ("xcp", "tcp")), WAYS)


@claim(
    "fig4.ack_insensitive",
    of=(*_lossy("qfcp", "xcp", ways=("ack",)), "lossy/qfcp/none", "lossy/xcp/none"),
)
def ack_insensitive(runs: Runs) -> Parts:
    """Check that lost ACKs cost QFCP and XCP little."""
    found: Parts = {}
    for name in ("qfcp", "xcp"):
        none = runs.values(f"lossy/{name}/none", m.goodput)
        for share in LOSSES:
            kept = runs.values(lossy(name, "ack", share), m.goodput) / none
            what = f"{name}, ACK loss {share:g}: {100 * np.mean(kept):.3g} % of the goodput"
            found[f"{what} without, > 90 %"] = kept - 0.9
    return found


@claim("fig4.qfcp_gt_xcp", of=_lossy("qfcp", "xcp", ways=("data",)))
def more_than_xcp(runs: Runs) -> Parts:
    """Check that QFCP gets more than XCP where data is lost."""
    return _better(runs, (("qfcp", "xcp"),), ("data",))


@claim("fig4.data_harder", of=_lossy("qfcp", "xcp", "tcp"))
def data_harder(runs: Runs) -> Parts:
    """Check that lost data costs more than lost ACKs."""
    found: Parts = {}
    for name in ("qfcp", "xcp", "tcp"):
        ratio, mean = _gain(runs, (name, "ack"), (name, "data"))
        found[f"{name}: goodput with ACKs lost {ratio:.3g} times that with data lost"] = mean
    return found


def _short(*pairs: tuple[str, str]) -> Check:
    sides = (
        between(f"short flows: {more} > {less} [s]", fct("{}"), more, less, m.short_fct)
        for more, less in pairs
    )
    return ordering(*sides, note=f"Flows of up to {m.SHORT} packets.")


def _rougher(*names: str) -> Check:
    sides = (
        between(f"step from size to size: tcp > {name}", fct("{}"), "tcp", name, m.oscillation)
        for name in names
    )
    return ordering(*sides)


CHECKS = {
    "fig1.tcp_osc": _rougher("xcp", "rcp", "qfcp"),
    "fig1.xcp_longest_short": _short(("xcp", "tcp"), ("xcp", "rcp"), ("xcp", "qfcp")),
    "fig1.xcp_smoother": _rougher("xcp"),
    "fig1.xcp_fewer_losses": ordering(
        between("packets lost: tcp > xcp", fct("{}"), "tcp", "xcp", m.lost_at_bottleneck)
    ),
    "fig1.rate_pair": _short(("tcp", "rcp"), ("xcp", "rcp"), ("tcp", "qfcp"), ("xcp", "qfcp")),
    "fig3.faster_than_xcp": ordering(
        *(
            between(
                f"time until Jain's index stays above {threshold:g} [s]: xcp > qfcp",
                "rtt/{}",
                "xcp",
                "qfcp",
                m.time_to_fair(threshold),
            )
            for threshold in m.THRESHOLDS
        )
    ),
    "fig3.best": ordering(
        between("Jain's index: qfcp > xcp", "rtt/{}", "qfcp", "xcp", m.fair),
        between("Jain's index: xcp > tcp", "rtt/{}", "xcp", "tcp", m.fair),
    ),
}
