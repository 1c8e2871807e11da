"""Figures 2, 5, 6, 8, 9 and 11 redrawn, and what depends on numbers that the paper omits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tidegate import _native
from tidegate.papers.lgc import measures as m
from tidegate.papers.lgc.cases import (
    AGAINST,
    CROWDS,
    DELAY_MS,
    DELAYS_MS,
    FILTERS,
    RATES,
    SERVICE,
    TREE,
    crowd,
    delay,
    moved,
    rate,
)
from tidegate.papers.lgc.measures import above_permitted, hops, upstream_mb
from tidegate.papers.lgc.outcomes import holds
from tidegate.papers.plots import horizontal_bars, legend, legend_above, panels, statistics, ticks
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tidegate.papers.runs import Runs
    from tidegate.results.measures import Measure
    from tidegate.results.run_files import SavedRun

QUEUE, AVERAGE, TRIGGER = PALETTE[4], PALETTE[0], PALETTE[1]
CURVES = (("1", "s1", 53.5), ("2", "s1", 48.8), ("3", "s1", 57.33), ("3", "s3", 46.0))
"""Experiment, greedy source, and the share of it that arrives in the paper, %."""
NAMES = {"mobile": "moves", "static": "stays", "red-alone": "RED alone", "none": "no filter"}


def figure2(_: Runs) -> Figure:
    """Draw Figure 2."""
    figure, (axes,) = panels(1, 6.4, 3.8)
    ns = range(1, 51)
    axes.plot(ns, [_native.lgc_permissible_percent(n) for n in ns], marker="o", ms=3)
    axes.plot([10], [34.01], "x", color="black", ms=8, mew=2, label="printed: 34.01 % for ten")
    axes.axhline(100, color=GREY, ls=":", lw=1)
    axes.set_title("share of the queue that one may hold (qo) [%]")
    axes.set_xlabel("connections in the queue (n)")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def _queue(axes: Axes, record: SavedRun) -> None:
    """Draw the queue of the congested node over arrivals, with the times at which LGC looked."""
    came = m.arrivals(record)
    xs = np.arange(1, came.height + 1)
    axes.plot(xs, came["queue_packets"].to_numpy(), lw=0.9, color=QUEUE, label="queue")
    axes.plot(xs, came["avg_queue_packets"].to_numpy(), color=AVERAGE, label="its average")
    axes.axhline(m.max_th(record), color=GREY, ls="--", lw=1, label="max_th")
    for look in m.looks(record):
        at = came.filter(pl.col("time_s") <= look.time_s).height
        said = f"LGC filters {look.origin}" if look.filters else "LGC looks, nobody is greedy"
        axes.axvline(at, color=TRIGGER, lw=1.1)
        axes.annotate(
            said, (at, axes.get_ylim()[1]), (4, -10), textcoords="offset points", fontsize=8
        )
    axes.set(xlabel="packets that came to the congested node", ylabel="packets that wait")
    axes.set_ylim(bottom=0)
    legend_above(axes)


def experiment(runs: Runs, case: str) -> Figure:
    """Draw the queue of an experiment."""
    figure, (axes,) = panels(1, 8.4, 4.0)
    _queue(axes, runs.records(case)[0])
    return figure


def figure9(runs: Runs) -> Figure:
    """Draw Figure 9."""
    record = runs.records("2")[0]
    figure, (axes,) = panels(1, 8.4, 3.2)
    for place, port in enumerate(reversed(m.NODES)):
        run = m.taken(record, port)
        before = m.arrivals(record, port).filter(pl.col("origin") == "s1").height
        label = "" if place else "came"
        axes.barh(place, before, color=PALETTE[4], height=0.6, label=label)
        if run is not None:
            start, label = run.first - 1, "" if place else "filtered"
            axes.barh(place, run.packets, left=start, color=TRIGGER, height=0.6, label=label)
            text: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "fontsize": 8.5}
            axes.annotate(f"a{run.first} to a{run.last}", (start, place), (-4, -3), **text)
    arrived = m.arrivals(record).filter((pl.col("origin") == "s1") & (pl.col("fate") == "queued"))
    axes.barh(3, arrived.height, color=PALETTE[2], height=0.6, label="arrived")
    axes.set_yticks(range(4), [*reversed(m.NODES.values()), "sink"])
    order = "in the order in which it sends them (paper: a123, a136, a174)"
    axes.set_xlabel(f"packets of source 1, {order}")
    legend(axes, 8.5, loc="upper right")
    axes.grid(axis="y", visible=False)
    axes.set_axisbelow(True)
    return figure


def _over(
    axes: Axes,
    runs: Runs,
    key: Callable[[str, int], str],
    xs: tuple[int, ...],
    taken_at: tuple[int, ...],
) -> None:
    """Draw what arrives of the greedy sources over a parameter that the paper does not give."""
    for place, (experiment, source, said) in enumerate(CURVES):
        hue = PALETTE[(0, 2, 1, 5)[place]]
        values = [100 * runs.values(key(experiment, x), m.share(source)) for x in xs]
        means = [float(np.mean(each)) for each in values]
        axes.plot(xs, means, color=hue, lw=1.4, label=f"experiment {experiment}, {source}")
        right = [all(holds(r, experiment) for r in runs.records(key(experiment, x))) for x in xs]
        for x, mean, good in zip(xs, means, right, strict=True):
            axes.plot([x], [mean], marker="o", ms=6, mfc=hue if good else "white", mec=hue)
        axes.axhline(said, color=hue, ls=":", lw=1)
    for each in taken_at:
        axes.axvline(each, color=GREY, lw=1, ls="--")
    axes.set_ylim(0, 103)


def _moderate(axes: Axes, runs: Runs, key: Callable[[str, int], str], xs: tuple[int, ...]) -> None:
    """Mark where experiment 1b holds."""
    for x in xs:
        good = all(holds(record, "1b") for record in runs.records(key("1b", x)))
        axes.plot([x], [101], marker="s", ms=5, mfc="black" if good else "white", mec="black")
    axes.plot([], [], "s", color="black", ms=5, label="experiment 1b")


def dependence(runs: Runs) -> Figure:
    """Draw service."""
    figure, (service, delays) = panels(2, 12.6, 4.6)
    for axes, key, xs, taken_at in (
        (service, rate, RATES, (SERVICE,)),
        (delays, delay, DELAYS_MS, tuple(set(DELAY_MS.values()))),
    ):
        _over(axes, runs, key, xs, taken_at)
        _moderate(axes, runs, key, xs)
    service.set(
        xscale="log", title="of the greedy sources arrives [%]; filled: all statements hold"
    )
    service.set_xlabel("service rate [packets/s], the other links the same")
    ticks(service, RATES)
    delays.set(xlabel="delay of each link [ms]", title="the same over delay; dotted: the paper")
    legend(service, 8.5, loc="lower right")
    return figure


HUES = (PALETTE[2], PALETTE[5], GREY)
"""Colours of the filter that moves, that stays, and of none."""


def waste(runs: Runs) -> Figure:
    """Draw waste."""
    figure, three = panels(3, 12.6, 3.4)
    rows: tuple[tuple[Measure, float, str], ...] = (
        (m.wasted, 1.0, "MB over I1-I2 and I2-I3 in vain"),
        (m.work_at_congested, 1.0, "packets that I3 throws away"),
        (m.share("s1"), 100.0, "of source 1 arrives [%]"),
    )
    for axes, (measure, scale, title) in zip(three, rows, strict=True):
        values = [scale * runs.values(moved(kind, lasting=True), measure) for kind in FILTERS]
        labels = [NAMES[kind] if axes is three[0] else "" for kind in FILTERS]
        horizontal_bars(axes, labels, values, HUES)
        axes.set_title(title)
    return figure


def crowds(runs: Runs) -> Figure:
    """Draw crowds."""
    figure, (held, blind) = panels(2, 12.6, 3.8)
    values = [runs.values(crowd("tail", others), above_permitted) for others in CROWDS]
    held.errorbar(CROWDS, *statistics(values, 0), marker="o", ms=4, color=AVERAGE)
    held.axhline(1, color=GREY, ls="--", lw=1)
    held.set(xscale="log", xlabel="responsive connections, with one greedy one")
    held.set_title("times what it may hold that the greedy one holds")
    held.set_ylim(bottom=0)
    ticks(held, CROWDS)
    record = runs.records("five")[0]
    came = m.arrivals(record).gather_every(10)
    times = came["time_s"].to_numpy()
    blind.plot(times, came["queue_packets"].to_numpy(), lw=0.5, color=QUEUE)
    blind.plot(times, came["avg_queue_packets"].to_numpy(), color=AVERAGE)
    blind.axhline(35, color=GREY, ls="--", lw=1)
    seen, caught = len(m.looks(record)), len(m.found(record))
    blind.set_title(f"five greedy alike: LGC looks {seen} times and finds {caught}")
    blind.set(xlabel="time [s]", ylabel="packets that wait")
    return figure


def tree(runs: Runs) -> Figure:
    """Draw tree."""
    figure, (carried, reached) = panels(2, 12.6, 3.8)
    values = [runs.values(f"tree/{kind}", upstream_mb) for kind in TREE]
    horizontal_bars(carried, [NAMES[kind] for kind in TREE], values, HUES)
    carried.set_title("MB that the links between routers carried")
    counts = np.mean([hops(record) for record in runs.records("tree/mobile")], axis=0)
    reached.bar(range(len(counts)), counts, color=PALETTE[2], width=0.6)
    ticks(reached, range(len(counts)))
    reached.set_xlabel("hops that the filter has gone upstream")
    reached.set_title("greedy hosts whose filter came so far, of ten")
    reached.set_axisbelow(True)
    reached.grid(axis="x", visible=False)
    return figure


LOADS = {"": "a greedy host without a break", "-moderate": "moderate bursts"}


def against(runs: Runs) -> Figure:
    """Draw against."""
    figure, both = panels(2, 12.6, 3.6)
    for axes, (load, traffic) in zip(both, LOADS.items(), strict=True):
        for hue, kind in zip(PALETTE, AGAINST, strict=False):
            flows = [record.flows() for record in runs.records(f"fair/{kind}{load}")]
            times = np.sort(np.concatenate([each["closed_s"] - each["start_s"] for each in flows]))
            axes.plot(times, np.arange(1, times.size + 1) / times.size, color=hue, label=kind)
        axes.set(xscale="log", title=f"share done within; {traffic}")
        axes.set_xlabel("flow completion time of the others [s]")
    both[0].legend(frameon=False, loc="lower right")
    return figure
