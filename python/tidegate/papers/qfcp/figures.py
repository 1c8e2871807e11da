"""Figures 1 to 4 redrawn, and pictures of what goes beyond the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.papers.panels import MARKS
from tidegate.papers.plots import horizontal_bars, legend, panels, statistics, ticks
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import BETAS, FOUR, LOSSES, PHASES, fct, lossy
from tidegate.results.measures import jain
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tidegate.papers.runs import Runs
    from tidegate.results.measures import Measure

COLOURS = {
    "qfcp": PALETTE[1],
    "rcp": PALETTE[2],
    "xcp": PALETTE[4],
    "tcp": PALETTE[6],
    "vcp": PALETTE[5],
}
NAMES = {"qfcp": "QFCP", "rcp": "RCP", "xcp": "XCP", "tcp": "TCP Reno over RED", "vcp": "VCP"}
FIVE = (*FOUR, "vcp")
JOINING = ("qfcp", "xcp", "rcp", "vcp")
"""Protocols of Figure 2."""
TRIPS = ("qfcp", "xcp", "rcp", "tcp")
"""Protocols of Figure 3."""


def figure1(runs: Runs) -> Figure:
    """Draw Figure 1."""
    figure, (whole, short) = panels(2, 10.0, 4.0)
    for name in FIVE:
        look: dict[str, Any] = {"color": COLOURS[name], "label": NAMES[name]}
        rows = m.by_bins(runs, fct(name))
        known = np.sum(~np.isnan(rows), axis=0) > 0
        whole.plot(m.BINS[known], np.nanmean(rows[:, known], axis=0), "o-", ms=3, lw=1.2, **look)
        sizes, means = m.afct(runs.records(fct(name))[0])
        near = sizes <= m.SHORT
        short.plot(sizes[near], means[near], "-", lw=1.0, **look)
    whole.set(
        title="(a) all flows",
        xscale="log",
        yscale="log",
        xlabel="flow size [packets], in bins, the last for all above; all seeds",
        ylabel="average flow completion time [s]",
    )
    short.set(
        title="(b) short flows",
        xlabel="flow size [packets], every size; one seed",
        ylim=(0, None),
    )
    legend(whole)
    return figure


def figure2(runs: Runs) -> Figure:
    """Draw Figure 2."""
    figure, many = panels(4, 12.0, 5.0, rows=2, sharex=True)
    for name, top, below in zip(JOINING, many[:4], many[4:], strict=True):
        record = runs.records(f"adapt/{name}")[0]
        times, rates = m.throughputs(record, 4)
        for flow in range(4):
            top.plot(times, rates[flow], lw=1.1, color=PALETTE[flow + 1], label=f"flow {flow + 1}")
        for begin, end, active in PHASES:
            top.plot([begin, end], [45 / active] * 2, "-", color="black", lw=0.6)
        below.plot(times, record.ports("middle")["utilisation"], color=COLOURS[name], lw=1.1)
        top.set(title=f"{NAMES[name]}: throughput", ylim=(0, 50))
        below.set(title=f"{NAMES[name]}: utilisation", ylim=(0, 1.05), xlabel="time [s]")
    many[0].set_ylabel("throughput [Mbit/s]")
    many[4].set_ylabel("utilisation of the bottleneck")
    legend(many[3], loc="upper center", bbox_to_anchor=(0.5, 0.88), ncols=2)
    return figure


def figure3(runs: Runs) -> Figure:
    """Draw Figure 3."""
    figure, (*three, means) = panels(2, 10.0, 6.5, rows=2)
    for axes, name, letter in zip(three, ("qfcp", "xcp", "tcp"), "abc", strict=True):
        times, rates = m.throughputs(runs.records(f"rtt/{name}")[0], 10)
        smooth = np.ones(3) / 3 if name != "tcp" else np.ones(10) / 10
        for flow in range(10):
            hue = (flow / 9.0, 0.35, 1.0 - flow / 9.0)
            label = f"round trip {40 + 20 * flow} ms" if flow in (0, 9) else None
            width = 2.0 - 0.16 * flow  # the shorter the round trip, the thicker: also in grey
            axes.plot(
                times, np.convolve(rates[flow], smooth, "same"), color=hue, lw=width, label=label
            )
        axes.axhline(4.5, ls=":", color=GREY, lw=1.0, label="_share")
        axes.set(
            title=f"({letter}) {NAMES[name]}",
            xlim=(0, 20 if name != "tcp" else 60),
            ylim=(0, 14 if name != "tcp" else None),
            xlabel="time [s]",
        )
    # the first three lie on each other: rings around a dot
    for name, size in zip(TRIPS, (11, 7, 3, 5), strict=True):
        each = [m.mean_rates(record, 10, 20.0, 60.0) for record in runs.records(f"rtt/{name}")]
        index = np.mean([jain(one) for one in each])
        means.plot(
            40 + 20 * np.arange(10),
            np.mean(each, axis=0),
            "o-",
            ms=size,
            mfc="none",
            lw=1.2,
            color=COLOURS[name],
            label=f"{NAMES[name]}, Jain's index {index:.4f}",
        )
    means.set(title="(d) average throughput, 20 to 60 s", xlabel="round trip [ms]", ylim=(0, None))
    for axes in (*three, means):
        axes.set_ylabel("throughput [Mbit/s]")
        legend(axes)
    return figure


def figure4(runs: Runs) -> Figure:
    """Draw Figure 4."""
    figure, both = panels(2, 10.0, 3.8)
    for axes, way, what in zip(both, ("data", "ack"), ("data", "ACKs"), strict=True):
        for name, mark, size in zip(FIVE, MARKS, (9, 6, 4, 5, 5), strict=False):
            values = [runs.values(lossy(name, way, share), m.goodput) for share in LOSSES]
            means, spread = statistics(values, 0)
            look: dict[str, Any] = {"color": COLOURS[name], "label": NAMES[name]}
            axes.errorbar(
                LOSSES, means, spread, fmt=f"{mark}-", ms=size, mfc="none", lw=1.3, **look
            )
        axes.set(
            title=f"({'a' if way == 'data' else 'b'}) goodput where {what} are lost",
            xscale="log",
            ylim=(0, 100),
            xlabel=f"loss rate of {what}",
            ylabel="goodput [Mbit/s]",
        )
    legend(both[1], loc="lower left")
    return figure


OFF = {
    "QFCP": "qfcp",
    "no averaging": "without/average",
    "lost packets not counted": "without/virtual-queue",
    "no pacing": "without/pacing",
}
"""Parts that are switched off."""


def parts(runs: Runs) -> Figure:
    """Draw parts."""
    figure, three = panels(3, 12.0, 3.4)
    rows = (
        ("adapt", m.after_join, "queue, first second after a join", "packets"),
        ("crowd", m.drained, "queue, two seconds after a crowd", "packets"),
        ("rtt", m.estimate_error, "error of the estimate of ten flows", "%"),
    )
    hues = [COLOURS["qfcp"], *(PALETTE[k] for k in (2, 4, 6))]
    for axes, (scenario, measure, title, unit) in zip(three, rows, strict=True):
        scale = 100.0 if unit == "%" else 1.0
        values = [scale * runs.values(f"{scenario}/{case}", measure) for case in OFF.values()]
        labels = list(OFF) if axes is three[0] else [""] * len(OFF)
        horizontal_bars(axes, labels, values, hues, 0)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(unit)
    return figure


def betas(runs: Runs) -> Figure:
    """Draw beta."""
    figure, both = panels(2, 9.0, 3.2)
    rows: tuple[tuple[str, Measure, str], ...] = (
        ("adapt", m.after_join, "mean queue in the second after a join [packets]"),
        ("fct", "fct_mean_s", "mean completion time, 60,000 flows [s]"),
    )
    for axes, (scenario, measure, title) in zip(both, rows, strict=True):
        values = [runs.values(f"{scenario}/beta/{beta}", measure) for beta in BETAS]
        axes.errorbar(BETAS, *statistics(values, 0), fmt="o-", color=COLOURS["qfcp"])
        axes.set(xscale="log", ylim=(0, None), xlabel="beta")
        axes.set_title(title, fontsize=9)
        ticks(axes, BETAS)
    return figure


def crowd(runs: Runs) -> Figure:
    """Draw crowd."""
    figure, three = panels(3, 11.0, 3.4)
    for name in FIVE:
        tables = [record.ports("bottleneck") for record in runs.records(f"crowd/{name}")]
        drops = [table["drops_queue_full"] + table["drops_early"] for table in tables]
        series = (
            [table["queue_mean_packets"] for table in tables],
            [table["utilisation"] for table in tables],
            [np.cumsum(each) for each in drops],
        )
        for axes, values in zip(three, series, strict=True):
            mean = np.mean(values, axis=0)
            axes.plot(tables[0]["time_s"], mean, lw=1.1, color=COLOURS[name], label=NAMES[name])
    titles = ("queue [packets]", "utilisation", "packets lost so far")
    for axes, title in zip(three, titles, strict=True):
        axes.set_title(title, fontsize=9)
        axes.set(xlim=(4, 20), ylim=(0, None), xlabel="time [s]; the crowd comes at 5 s")
    legend(three[2])
    return figure
