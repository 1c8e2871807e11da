"""Figures 2, 5, 6, 8, 9 and 11 redrawn, and what hangs on the numbers that the paper withholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from tidegate import _native
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
from tidegate.papers.lgc.crowds import above_permitted
from tidegate.papers.lgc.measures import (
    NODES,
    arrivals,
    found,
    looks,
    max_th,
    share,
    taken,
    wasted,
    work_at_congested,
)
from tidegate.papers.lgc.outcomes import holds
from tidegate.papers.lgc.trees import hops, upstream_mb
from tidegate.papers.report_text import number
from tidegate.papers.study import PaperPicture
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

QUEUE, AVERAGE, TRIGGER = PALETTE[4], PALETTE[0], PALETTE[1]
CURVES = (("1", "s1", 53.5), ("2", "s1", 48.8), ("3", "s1", 57.33), ("3", "s3", 46.0))
"""Experiment, greedy source, and what the paper says arrives of it, %."""
NAMES = {"mobile": "moves", "static": "stays", "red-alone": "RED alone", "none": "no filter"}


def _panels(columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height))
    panels = list(figure.subplots(1, columns, squeeze=False).flat)
    for axes in panels:
        axes.set_axisbelow(True)
    return figure, panels


def _figure2(_: Runs) -> Figure:
    figure, (axes,) = _panels(1, 6.4, 3.8)
    ns = range(1, 51)
    axes.plot(ns, [_native.lgc_permissible_percent(n) for n in ns], marker="o", ms=3)
    axes.plot([10], [34.01], "x", color="black", ms=8, mew=2, label="printed: 34.01 % for ten")
    axes.axhline(100, color=GREY, ls=":", lw=1)
    axes.set_xlabel("connections in the queue (n)")
    axes.set_title("share of the queue that one may hold (qo) [%]")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def _queue(axes: Axes, record: SavedRun) -> None:
    """Draw the queue of the congested node over arrivals, with the times at which LGC looked."""
    came = arrivals(record)
    xs = np.arange(1, came.height + 1)
    axes.plot(xs, came["queue_packets"].to_numpy(), lw=0.9, color=QUEUE, label="queue")
    axes.plot(xs, came["avg_queue_packets"].to_numpy(), color=AVERAGE, label="its average")
    axes.axhline(max_th(record), color=GREY, ls="--", lw=1, label="max_th")
    for look in looks(record):
        at = came.filter(pl.col("time_s") <= look.time_s).height
        said = f"LGC filters {look.origin}" if look.filters else "LGC looks, nobody is greedy"
        axes.axvline(at, color=TRIGGER, lw=1.1)
        axes.annotate(
            said, (at, axes.get_ylim()[1]), (4, -10), textcoords="offset points", fontsize=8
        )
    axes.set_xlabel("packets that came to the congested node")
    axes.set_ylabel("packets that wait")
    axes.set_ylim(bottom=0)
    axes.legend(
        frameon=False,
        fontsize=8.5,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.01),
        borderaxespad=0.0,
        ncols=3,
    )


def _of_experiment(case: str) -> Callable[[Runs], Figure]:
    def draw(runs: Runs) -> Figure:
        figure, (axes,) = _panels(1, 8.4, 4.0)
        _queue(axes, runs.records(case)[0])
        return figure

    return draw


def _figure9(runs: Runs) -> Figure:
    record = runs.records("2")[0]
    figure, (axes,) = _panels(1, 8.4, 3.2)
    for place, port in enumerate(reversed(NODES)):
        run = taken(record, port)
        before = arrivals(record, port).filter(pl.col("origin") == "s1").height
        axes.barh(place, before, color=PALETTE[4], height=0.6, label="came" if not place else None)
        if run is not None:
            axes.barh(
                place,
                run.packets,
                left=run.first - 1,
                color=TRIGGER,
                height=0.6,
                label="filtered" if not place else None,
            )
            axes.annotate(
                f"a{run.first} to a{run.last}",
                (run.first - 1, place),
                (-4, -3),
                textcoords="offset points",
                ha="right",
                fontsize=8.5,
            )
    arrived = arrivals(record).filter((pl.col("origin") == "s1") & (pl.col("fate") == "queued"))
    axes.barh(3, arrived.height, color=PALETTE[2], height=0.6, label="arrived")
    axes.set_yticks(range(4), [*reversed(NODES.values()), "sink"])
    axes.set_xlabel(
        "packets of source 1, in the order in which it sends them (paper: a123, a136, a174)"
    )
    axes.legend(frameon=False, fontsize=8.5, loc="upper right")
    axes.grid(axis="y", visible=False)
    return figure


def _over(
    axes: Axes, runs: Runs, key: Callable[[str, int], str], xs: tuple[int, ...], taken_at: int
) -> None:
    """Draw what arrives of the greedy sources over something that the paper does not say."""
    for place, (experiment, source, said) in enumerate(CURVES):
        hue = PALETTE[(0, 2, 1, 5)[place]]
        values = [100 * runs.values(key(experiment, x), share(source)) for x in xs]
        means = [float(np.mean(each)) for each in values]
        axes.plot(xs, means, color=hue, lw=1.4, label=f"experiment {experiment}, {source}")
        right = [all(holds(r, experiment) for r in runs.records(key(experiment, x))) for x in xs]
        for x, mean, good in zip(xs, means, right, strict=True):
            axes.plot([x], [mean], marker="o", ms=6, mfc=hue if good else "white", mec=hue)
        axes.axhline(said, color=hue, ls=":", lw=1)
    axes.axvline(taken_at, color=GREY, lw=1, ls="--")
    axes.set_ylim(0, 103)


def _moderate(axes: Axes, runs: Runs, key: Callable[[str, int], str], xs: tuple[int, ...]) -> None:
    """Mark where experiment 1b holds."""
    for x in xs:
        good = all(holds(record, "1b") for record in runs.records(key("1b", x)))
        axes.plot([x], [101], marker="s", ms=5, mfc="black" if good else "white", mec="black")
    axes.plot([], [], "s", color="black", ms=5, label="experiment 1b")


def _dependence(runs: Runs) -> Figure:
    figure, axes = _panels(2, 12.6, 4.6)
    _over(axes[0], runs, rate, RATES, SERVICE)
    _moderate(axes[0], runs, rate, RATES)
    axes[0].set_xscale("log")
    axes[0].set_xticks(RATES, [str(each) for each in RATES])
    axes[0].minorticks_off()
    axes[0].set_xlabel("service rate [packets/s], other links 1.25 times it")
    axes[0].set_title("of the greedy sources arrives [%]; filled: all statements hold")
    _over(axes[1], runs, delay, DELAYS_MS, DELAY_MS)
    _moderate(axes[1], runs, delay, DELAYS_MS)
    axes[1].set_xlabel("delay of each link [ms]")
    axes[1].set_title("the same over delay; dotted: the paper")
    axes[0].legend(frameon=False, fontsize=8.5, loc="lower right")
    return figure


def _waste(runs: Runs) -> Figure:
    figure, axes = _panels(3, 12.6, 3.4)
    ys = range(len(FILTERS))
    for place, (measure, title) in enumerate(
        (
            (wasted, "MB over I1-I2 and I2-I3 for nothing"),
            (work_at_congested, "packets that I3 throws away"),
            (lambda record: 100 * share("s1")(record), "of source 1 arrives [%]"),
        )
    ):
        values = [runs.values(moved(kind, lasting=True), measure) for kind in FILTERS]
        means = [float(each.mean()) for each in values]
        axes[place].barh(ys, means, color=[PALETTE[2], PALETTE[5], GREY], height=0.6)
        for y, mean in zip(ys, means, strict=True):
            axes[place].annotate(
                number(mean), (mean, y), (3, -3), textcoords="offset points", fontsize=8.5
            )
        axes[place].set_yticks(ys, [NAMES[kind] for kind in FILTERS] if not place else [""] * 3)
        axes[place].set_title(title)
        axes[place].margins(x=0.15)
        axes[place].grid(axis="y", visible=False)
    return figure


def _crowds(runs: Runs) -> Figure:
    figure, axes = _panels(2, 12.6, 3.8)
    values = [runs.values(crowd("tail", others), above_permitted) for others in CROWDS]
    means, spread = [v.mean() for v in values], [v.std() for v in values]
    axes[0].errorbar(CROWDS, means, spread, marker="o", ms=4, color=AVERAGE)
    axes[0].axhline(1, color=GREY, ls="--", lw=1)
    axes[0].set_xscale("log")
    axes[0].set_xticks(CROWDS, [str(each) for each in CROWDS])
    axes[0].minorticks_off()
    axes[0].set_ylim(bottom=0)
    axes[0].set_xlabel("connections that give way, beside a greedy one")
    axes[0].set_title("times what it may hold that the greedy one holds")
    record = runs.records("five")[0]
    came = arrivals(record).gather_every(10)
    axes[1].plot(came["time_s"].to_numpy(), came["queue_packets"].to_numpy(), lw=0.5, color=QUEUE)
    axes[1].plot(came["time_s"].to_numpy(), came["avg_queue_packets"].to_numpy(), color=AVERAGE)
    axes[1].axhline(35, color=GREY, ls="--", lw=1)
    seen, caught = len(looks(record)), len(found(record))
    axes[1].set_title(f"five greedy alike: LGC looks {seen} times and finds {caught}")
    axes[1].set_xlabel("time [s]")
    axes[1].set_ylabel("packets that wait")
    return figure


def _tree(runs: Runs) -> Figure:
    figure, axes = _panels(2, 12.6, 3.8)
    values = [runs.values(f"tree/{kind}", upstream_mb) for kind in TREE]
    means = [float(each.mean()) for each in values]
    ys = range(len(TREE))
    axes[0].barh(ys, means, color=[PALETTE[2], PALETTE[5], GREY], height=0.6)
    for y, mean in zip(ys, means, strict=True):
        axes[0].annotate(f"{mean:,.0f}", (mean, y), (3, -3), textcoords="offset points", fontsize=9)
    axes[0].set_yticks(ys, [NAMES[kind] for kind in TREE])
    axes[0].set_title("MB that the links between routers carried")
    axes[0].margins(x=0.15)
    axes[0].grid(axis="y", visible=False)
    counts = np.mean([hops(record) for record in runs.records("tree/mobile")], axis=0)
    axes[1].bar(range(len(counts)), counts, color=PALETTE[2], width=0.6)
    axes[1].set_xticks(range(len(counts)), [str(each) for each in range(len(counts))])
    axes[1].set_xlabel("hops that the filter has gone upstream")
    axes[1].set_title("greedy hosts whose filter came so far, of ten")
    axes[1].grid(axis="x", visible=False)
    return figure


def _against(runs: Runs) -> Figure:
    figure, axes = _panels(2, 12.6, 3.6)
    for place, load in enumerate(("", "-moderate")):
        for hue, kind in enumerate(AGAINST):
            times = np.concatenate(
                [
                    record.flows()["closed_s"] - record.flows()["start_s"]
                    for record in runs.records(f"fair/{kind}{load}")
                ]
            )
            times = np.sort(times)
            axes[place].plot(
                times, np.arange(1, times.size + 1) / times.size, color=PALETTE[hue], label=kind
            )
        axes[place].set_xscale("log")
        axes[place].set_xlabel("flow completion time of the others [s]")
        axes[place].set_title(
            "share done within; "
            + ("a greedy host without a break" if not load else "moderate bursts")
        )
    axes[0].legend(frameon=False, loc="lower right")
    return figure


_ALL_RATES = tuple(rate(e, x) for e in ("1", "1b", "2", "3") for x in RATES)
_ALL_DELAYS = tuple(delay(e, x) for e in ("1", "1b", "2", "3") for x in DELAYS_MS)

PICTURES = (
    PaperPicture("fig2", "Figure 2: what a connection may hold of the queue", (), _figure2),
    PaperPicture("fig5", "Figure 5: experiment 1, seed 1", ("1",), _of_experiment("1")),
    PaperPicture("fig6", "Figure 6: experiment 1b, seed 1", ("1b",), _of_experiment("1b")),
    PaperPicture("fig8", "Figure 8: experiment 2 at I3, seed 1", ("2",), _of_experiment("2")),
    PaperPicture(
        "fig9", "Figure 9: packets of source 1, and who filtered them, seed 1", ("2",), _figure9
    ),
    PaperPicture("fig11", "Figure 11: experiment 3, seed 1", ("3",), _of_experiment("3")),
    PaperPicture(
        "service",
        "What hangs on the service rate and on the delay, which the paper does not give",
        _ALL_RATES + _ALL_DELAYS,
        _dependence,
    ),
    PaperPicture(
        "waste",
        "A filter that moves, one that stays, and RED alone: experiment 2, 4000 greedy packets",
        tuple(moved(kind, lasting=True) for kind in FILTERS),
        _waste,
    ),
    PaperPicture(
        "crowds",
        "Many connections in the queue (left), and the blind spot (right)",
        (*(crowd("tail", others) for others in CROWDS), "five"),
        _crowds,
    ),
    PaperPicture(
        "tree", "A hundred nodes, ten of them greedy", tuple(f"tree/{k}" for k in TREE), _tree
    ),
    PaperPicture(
        "against",
        "LGC against FQ-CoDel on the same greedy traffic",
        tuple(f"fair/{kind}{load}" for kind in AGAINST for load in ("", "-moderate")),
        _against,
    ),
)
