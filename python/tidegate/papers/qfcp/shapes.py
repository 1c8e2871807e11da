"""The checks of Figures 1 to 4: what is longer, fairer, fuller than what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.finders import Of, Side, ordering, parts
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import LOSSES, PROTOCOLS

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Runs
    from tidegate.papers.study import Check

    Parts = dict[str, np.ndarray | list[float]]

FOUR = ("qfcp", "rcp", "xcp", "tcp")
"""The protocols of Figure 1."""


def fct(name: str) -> str:
    """Return the case of a protocol in Figure 1."""
    return f"fct/{name}"


def _over_sizes(runs: Runs, name: str, other: str) -> Floats:
    """Return how much longer a protocol takes than another, as a mean logarithm over sizes."""
    ratio = m.by_bins(runs, fct(name)) / m.by_bins(runs, fct(other))
    return np.asarray(np.nanmean(np.log(ratio), axis=1))


def _longer(pairs: tuple[tuple[str, str], ...]) -> Check:
    def find(runs: Runs) -> Parts:
        found: Parts = {}
        for name, other in pairs:
            logs = _over_sizes(runs, name, other)
            ratio = float(np.exp(np.mean(logs)))
            found[f"AFCT over all sizes: {name} {ratio:.2f} times {other}"] = logs
        return found

    return parts(tuple(dict.fromkeys(fct(name) for pair in pairs for name in pair)), find)


def _short(*pairs: tuple[str, str]) -> Check:
    sides = [
        Side(
            f"short flows: {more} > {less} [s]",
            Of(fct(more), m.short_fct),
            Of(fct(less), m.short_fct),
        )
        for more, less in pairs
    ]
    return ordering(*sides, note=f"Flows of up to {m.SHORT} packets.")


def _slow_start() -> Check:
    def find(runs: Runs) -> Parts:
        case, without = fct("tcp"), "fct/without/slow-start"
        penalty = runs.values(case, m.penalty)
        lost, fewer = (runs.values(each, m.lost_at_bottleneck) for each in (case, without))
        return {
            f"flows with a loss take {np.mean(penalty):.2f} times as long": penalty - 1.0,
            f"packets lost {np.mean(lost):,.0f}, without slow start {np.mean(fewer):,.0f}": lost
            - fewer,
        }

    return parts((fct("tcp"), "fct/without/slow-start"), find)


def figure1() -> dict[str, Check]:
    """Return the checks of Figure 1."""
    rough = [
        Side(
            f"step from size to size: tcp > {name}",
            Of(fct("tcp"), m.oscillation),
            Of(fct(name), m.oscillation),
        )
        for name in ("xcp", "rcp", "qfcp")
    ]
    return {
        "fig1.qfcp_best": _longer((("tcp", "qfcp"), ("xcp", "qfcp"), ("rcp", "qfcp"))),
        "fig1.tcp_osc": ordering(*rough),
        "fig1.xcp_longest_short": _short(("xcp", "tcp"), ("xcp", "rcp"), ("xcp", "qfcp")),
        "fig1.xcp_smoother": ordering(rough[0]),
        "fig1.xcp_fewer_losses": ordering(
            Side(
                "packets lost: tcp > xcp",
                Of(fct("tcp"), m.lost_at_bottleneck),
                Of(fct("xcp"), m.lost_at_bottleneck),
            )
        ),
        "fig1.rate_pair": _short(("tcp", "rcp"), ("xcp", "rcp"), ("tcp", "qfcp"), ("xcp", "qfcp")),
        "fig1.qfcp_lt_rcp": _longer((("rcp", "qfcp"),)),
        "fig1.slowstart_losses": _slow_start(),
    }


def _converge() -> Check:
    def find(runs: Runs) -> Parts:
        found: Parts = {}
        records = runs.records("adapt/qfcp")
        for begin, end, active in m.phases():
            times = np.array([m.settled(record, begin, end, active) for record in records])
            what = (
                f"{active} flows from {begin:g} s: share within 10 % after {np.mean(times):.2f} s"
            )
            found[f"{what}, < 1 s"] = 1.0 - times
        return found

    return parts(("adapt/qfcp",), find)


def _initial_rate() -> Check:
    def find(runs: Runs) -> Parts:
        qfcp, xcp = (runs.values(f"adapt/{name}", m.newcomer) for name in ("qfcp", "xcp"))
        return {
            f"qfcp: the newcomer has {np.mean(qfcp):.2f} of what the first has, > 0.75": qfcp
            - 0.75,
            f"xcp: {np.mean(xcp):.2f}, < 0.75": 0.75 - xcp,
        }

    return parts(("adapt/qfcp", "adapt/xcp"), find)


def figure2() -> dict[str, Check]:
    """Return the checks of Figure 2."""
    full = parts(
        ("adapt/qfcp",),
        lambda runs: {
            "mean utilisation, 0.5 s after each change left out,"
            f" {runs.mean('adapt/qfcp', m.utilisation):.3f} > 0.9": runs.values(
                "adapt/qfcp", m.utilisation
            )
            - 0.9
        },
    )
    return {
        "fig2.converge": _converge(),
        "fig2.util": full,
        "fig2.initial_rate": _initial_rate(),
    }


def _qfcp_fair(runs: Runs) -> Parts:
    rates = np.array([m.mean_rates(each, 10, 20.0, 60.0) for each in runs.records("rtt/qfcp")])
    off = np.max(np.abs(rates / 4.5 - 1.0), axis=1)
    return {
        f"the flow that is furthest from 4.5 Mbit/s is {100 * np.mean(off):.2g} % off, < 10 %": 0.1
        - off
    }


def _xcp_transient(runs: Runs) -> Parts:
    qfcp, xcp = (runs.values(f"rtt/{name}", m.head_start) for name in ("qfcp", "xcp"))
    what = f"in 3 s the shortest three get {np.mean(xcp):.2f} times the longest three under XCP"
    return {
        f"{what}, > 1.5": xcp - 1.5,
        f"more than under QFCP ({np.mean(qfcp):.2f})": xcp - qfcp,
    }


def _tcp_unfair(runs: Runs) -> Parts:
    rates = np.array([m.mean_rates(each, 10, 20.0, 60.0) for each in runs.records("rtt/tcp")])
    best, worst = np.max(rates, axis=1), np.min(rates, axis=1)
    return {
        f"the largest share is {np.mean(best):.3g} Mbit/s, > 1.5 x 4.5": best - 6.75,
        f"the smallest {np.mean(worst):.3g}, < 4.5 / 2": 2.25 - worst,
    }


def _tcp_bias(runs: Runs) -> Parts:
    values = runs.values("rtt/tcp", m.bias)
    return {f"correlation of throughput and RTT {np.mean(values):.2f}, < -0.5": -0.5 - values}


def figure3() -> dict[str, Check]:
    """Return the checks of Figure 3."""
    fair = [("qfcp", "xcp"), ("xcp", "tcp")]
    sides = [
        Side(f"Jain's index: {more} > {less}", Of(f"rtt/{more}", m.fair), Of(f"rtt/{less}", m.fair))
        for more, less in fair
    ]
    return {
        "fig3.qfcp_fair": parts(("rtt/qfcp",), _qfcp_fair),
        "fig3.faster_than_xcp": ordering(
            Side(
                "time until Jain's index stays above 0.98 [s]: xcp > qfcp",
                Of("rtt/xcp", m.time_to_fair),
                Of("rtt/qfcp", m.time_to_fair),
            )
        ),
        "fig3.xcp_transient": parts(("rtt/xcp", "rtt/qfcp"), _xcp_transient),
        "fig3.tcp_unfair": parts(("rtt/tcp",), _tcp_unfair),
        "fig3.tcp_rtt_bias": parts(("rtt/tcp",), _tcp_bias),
        "fig3.best": ordering(*sides),
    }


def lossy(name: str, where: str, share: float) -> str:
    """Return a case of Figure 4."""
    return f"lossy/{name}/{where}/{share}"


def _better(pairs: tuple[tuple[str, str], ...], ways: tuple[str, ...]) -> Check:
    """Check a mean ratio of goodputs over all loss rates of each way."""

    def find(runs: Runs) -> Parts:
        found: Parts = {}
        for more, less in pairs:
            for way in ways:
                logs = [
                    np.log(
                        runs.values(lossy(more, way, share), m.goodput)
                        / runs.values(lossy(less, way, share), m.goodput)
                    )
                    for share in LOSSES
                ]
                mean = np.mean(logs, axis=0)
                ratio = float(np.exp(np.mean(mean)))
                found[f"{way} lost: goodput of {more} {ratio:.3g} times {less}"] = mean
        return found

    names = {name for pair in pairs for name in pair}
    cases = [
        lossy(name, way, share)
        for name in PROTOCOLS
        if name in names
        for way in ways
        for share in LOSSES
    ]
    return parts(tuple(cases), find)


def _ack_insensitive() -> Check:
    def find(runs: Runs) -> Parts:
        found: Parts = {}
        for name in ("qfcp", "xcp"):
            none = runs.values(f"lossy/{name}/none", m.goodput)
            for share in LOSSES:
                kept = runs.values(lossy(name, "ack", share), m.goodput) / none
                what = f"{name}, ACK loss {share:g}: {100 * np.mean(kept):.3g} % of the goodput"
                found[f"{what} without, > 90 %"] = kept - 0.9
        return found

    cases = [lossy(name, "ack", share) for name in ("qfcp", "xcp") for share in LOSSES]
    return parts((*cases, "lossy/qfcp/none", "lossy/xcp/none"), find)


def _data_harder() -> Check:
    def find(runs: Runs) -> Parts:
        found: Parts = {}
        for name in ("qfcp", "xcp", "tcp"):
            logs = [
                np.log(
                    runs.values(lossy(name, "ack", share), m.goodput)
                    / runs.values(lossy(name, "data", share), m.goodput)
                )
                for share in LOSSES
            ]
            mean = np.mean(logs, axis=0)
            ratio = float(np.exp(np.mean(mean)))
            found[f"{name}: goodput with ACKs lost {ratio:.3g} times that with data lost"] = mean
        return found

    names = ("qfcp", "xcp", "tcp")
    cases = [lossy(n, way, share) for n in names for way in ("data", "ack") for share in LOSSES]
    return parts(tuple(cases), find)


def figure4() -> dict[str, Check]:
    """Return the checks of Figure 4."""
    return {
        "fig4.router_vs_tcp": _better((("qfcp", "tcp"), ("xcp", "tcp")), ("data", "ack")),
        "fig4.ack_insensitive": _ack_insensitive(),
        "fig4.qfcp_gt_xcp": _better((("qfcp", "xcp"),), ("data",)),
        "fig4.data_harder": _data_harder(),
    }


def checks() -> dict[str, Check]:
    """Return all of them, by the short id of the claim."""
    return figure1() | figure2() | figure3() | figure4()
