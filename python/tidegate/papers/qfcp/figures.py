"""Figures 1 to 4 redrawn, and pictures of what goes beyond the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tidegate.papers.panels import MARKS
from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import BETAS, FOUR, LOSSES, fct, lossy
from tidegate.papers.study import PaperPicture
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate.papers.runs import Runs

COLOURS = {
    "qfcp": PALETTE[1],
    "rcp": PALETTE[2],
    "xcp": PALETTE[4],
    "tcp": PALETTE[6],
    "vcp": PALETTE[5],
}
NAMES = {"qfcp": "QFCP", "rcp": "RCP", "xcp": "XCP", "tcp": "TCP Reno over RED", "vcp": "VCP"}
FIVE = (*FOUR, "vcp")


def panels(
    rows: int, columns: int, *, width: float, height: float, sharex: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a figure with its panels in one list."""
    figure = Figure(figsize=(width, height))
    return figure, list(figure.subplots(rows, columns, squeeze=False, sharex=sharex).flat)


def _figure1(runs: Runs) -> Figure:
    figure, (whole, short) = panels(1, 2, width=10.0, height=4.0)
    for name in FIVE:
        rows = m.by_bins(runs, fct(name))
        known = np.sum(~np.isnan(rows), axis=0) > 0
        whole.plot(
            m.BINS[known],
            np.nanmean(rows[:, known], axis=0),
            "o-",
            ms=3,
            lw=1.2,
            color=COLOURS[name],
            label=NAMES[name],
        )
        sizes, means = m.afct(runs.records(fct(name))[0])
        near = sizes <= m.SHORT
        short.plot(sizes[near], means[near], "-", lw=1.0, color=COLOURS[name], label=NAMES[name])
    whole.set_xscale("log")
    whole.set_yscale("log")
    whole.set_xlabel("flow size [packets], in bins, the last for all above; all seeds")
    short.set_xlabel("flow size [packets], every size; one seed")
    whole.set_ylabel("average flow completion time [s]")
    whole.set_title("(a) all flows")
    short.set_title("(b) short flows")
    short.set_ylim(0, None)
    whole.legend(frameon=False, fontsize=8)
    return figure


def _figure2(runs: Runs) -> Figure:
    figure, many = panels(2, 4, width=12.0, height=5.0, sharex=True)
    for column, name in enumerate(("qfcp", "xcp", "rcp", "vcp")):
        record = runs.records(f"adapt/{name}")[0]
        times, rates = m.throughputs(record, 4)
        top, below = many[column], many[4 + column]
        for flow in range(4):
            top.plot(times, rates[flow], lw=1.1, color=PALETTE[flow + 1], label=f"flow {flow + 1}")
        for begin, end, active in m.phases():
            top.plot([begin, end], [45 / active] * 2, "-", color="black", lw=0.6)
        below.plot(times, record.ports("middle")["utilisation"], color=COLOURS[name], lw=1.1)
        top.set_ylim(0, 50)
        below.set_ylim(0, 1.05)
        top.set_title(f"{NAMES[name]}: throughput")
        below.set_title(f"{NAMES[name]}: utilisation")
        below.set_xlabel("time [s]")
    many[0].set_ylabel("throughput [Mbit/s]")
    many[4].set_ylabel("utilisation of the bottleneck")
    many[3].legend(
        frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.88), ncols=2
    )
    return figure


def _figure3(runs: Runs) -> Figure:
    figure, (qfcp, xcp, tcp, means) = panels(2, 2, width=10.0, height=6.5)
    for axes, name, letter in ((qfcp, "qfcp", "a"), (xcp, "xcp", "b"), (tcp, "tcp", "c")):
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
        axes.set_title(f"({letter}) {NAMES[name]}")
        axes.set_xlim(0, 20 if name != "tcp" else 60)
        axes.set_ylim(0, 14 if name != "tcp" else None)
        axes.set_ylabel("throughput [Mbit/s]")
        axes.set_xlabel("time [s]")
        axes.legend(frameon=False, fontsize=8)
    # the first three lie on each other: rings around a dot
    for name, size in zip(("qfcp", "xcp", "rcp", "tcp"), (11, 7, 3, 5), strict=True):
        each = [m.mean_rates(record, 10, 20.0, 60.0) for record in runs.records(f"rtt/{name}")]
        index = np.mean([m.jain(one) for one in each])
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
    means.set_title("(d) average throughput, 20 to 60 s")
    means.set_ylabel("throughput [Mbit/s]")
    means.set_xlabel("round trip [ms]")
    means.set_ylim(0, None)
    means.legend(frameon=False, fontsize=8)
    return figure


def _figure4(runs: Runs) -> Figure:
    figure, both = panels(1, 2, width=10.0, height=3.8)
    for axes, way, letter in ((both[0], "data", "a"), (both[1], "ack", "b")):
        for name, mark, size in zip(FIVE, MARKS, (9, 6, 4, 5, 5), strict=False):
            values = [runs.values(lossy(name, way, share), m.goodput) for share in LOSSES]
            axes.errorbar(
                LOSSES,
                [float(np.mean(each)) for each in values],
                [float(np.std(each)) for each in values],
                fmt=f"{mark}-",
                ms=size,
                mfc="none",
                lw=1.3,
                color=COLOURS[name],
                label=NAMES[name],
            )
        axes.set_xscale("log")
        axes.set_ylim(0, 100)
        axes.set_xlabel(f"loss rate of {'data' if way == 'data' else 'ACKs'}")
        axes.set_title(f"({letter}) goodput where {'data' if way == 'data' else 'ACKs'} are lost")
        axes.set_ylabel("goodput [Mbit/s]")
    both[1].legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def _parts(runs: Runs) -> Figure:
    figure, (queue, drain, estimate) = panels(1, 3, width=12.0, height=3.4)
    cases = {
        "QFCP": "{}/qfcp",
        "no averaging": "{}/without/average",
        "lost packets not counted": "{}/without/virtual-queue",
        "no pacing": "{}/without/pacing",
    }
    rows = (
        (queue, "adapt", m.after_join, "queue, first second after a join", "packets"),
        (drain, "crowd", m.drained, "queue, two seconds after a crowd", "packets"),
        (estimate, "rtt", m.estimate_error, "error of the estimate of ten flows", "%"),
    )
    for axes, scenario, measure, title, unit in rows:
        scale = 100.0 if unit == "%" else 1.0
        values = [scale * runs.values(case.format(scenario), measure) for case in cases.values()]
        axes.barh(
            range(len(cases)),
            [float(np.mean(each)) for each in values],
            0.7,
            xerr=[float(np.std(each)) for each in values],
            color=[COLOURS["qfcp"], *(PALETTE[k] for k in (2, 4, 6))],
            error_kw={"lw": 0.8},
        )
        axes.set_yticks(range(len(cases)), list(cases) if axes is queue else [""] * len(cases))
        for place, each in enumerate(values):
            mean, spread = float(np.mean(each)), float(np.std(each))
            axes.annotate(
                f"{mean:.3g}", (mean + spread, place), (3, 0), textcoords="offset points",
                va="center", fontsize=8,
            )  # fmt: skip
        axes.margins(x=0.15)
        axes.set_axisbelow(True)
        axes.set_xlabel(unit)
        axes.set_ylim(len(cases) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_title(title, fontsize=9)
    return figure


def _betas(runs: Runs) -> Figure:
    figure, (queue, full) = panels(1, 2, width=9.0, height=3.2)
    after = [runs.values(f"adapt/beta/{beta}", m.drain_time) for beta in BETAS]
    mean = [runs.values(f"fct/beta/{beta}", "fct_mean_s") for beta in BETAS]
    for axes, values, label in (
        (queue, after, "queue after a join: from its peak to 5 % of the buffer [s]"),
        (full, mean, "mean completion time, 60,000 flows [s]"),
    ):
        axes.errorbar(
            BETAS,
            [float(np.mean(each)) for each in values],
            [float(np.std(each)) for each in values],
            fmt="o-",
            color=COLOURS["qfcp"],
        )
        axes.set_xscale("log")
        axes.set_xticks(BETAS, [f"{beta:g}" for beta in BETAS])
        axes.minorticks_off()
        axes.set_ylim(0, None)
        axes.set_xlabel("beta")
        axes.set_title(label, fontsize=9)
    return figure


def _crowd(runs: Runs) -> Figure:
    figure, (queue, full, lost) = panels(1, 3, width=11.0, height=3.4)
    for name in FIVE:
        records = runs.records(f"crowd/{name}")
        tables = [record.ports("bottleneck") for record in records]
        times = tables[0]["time_s"]
        drops = [sum(table[d] for d in ("drops_queue_full", "drops_early")) for table in tables]
        for axes, values in (
            (queue, [table["queue_mean_packets"] for table in tables]),
            (full, [table["utilisation"] for table in tables]),
            (lost, [np.cumsum(each) for each in drops]),
        ):
            mean = np.mean(values, axis=0)
            axes.plot(times, mean, lw=1.1, color=COLOURS[name], label=NAMES[name])
    for axes, title in (
        (queue, "queue [packets]"),
        (full, "utilisation"),
        (lost, "packets lost so far"),
    ):
        axes.set_xlim(4, 20)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("time [s]; the crowd comes at 5 s")
        axes.set_ylim(0, None)
    lost.legend(frameon=False, fontsize=8)
    return figure


_FIG4 = tuple(
    lossy(name, way, share) for name in FIVE for way in ("data", "ack") for share in LOSSES
)
_OFF = tuple(
    f"{scenario}/{what}"
    for scenario in ("adapt", "crowd", "rtt")
    for what in ("qfcp", "without/average", "without/virtual-queue", "without/pacing")
)

PICTURES = (
    PaperPicture(
        "fig1",
        "Figure 1: average flow completion time against flow size, 60,000 flows at load 1",
        tuple(fct(name) for name in FIVE),
        _figure1,
    ),
    PaperPicture(
        "fig2",
        "Figure 2: four flows join and leave (thin lines: the fair share)",
        tuple(f"adapt/{name}" for name in ("qfcp", "xcp", "rcp", "vcp")),
        _figure2,
    ),
    PaperPicture(
        "fig3",
        "Figure 3: ten flows with round trips from 40 (blue) to 220 ms (red)",
        tuple(f"rtt/{name}" for name in ("qfcp", "xcp", "rcp", "tcp")),
        _figure3,
    ),
    PaperPicture("fig4", "Figure 4: goodput of one flow on a lossy link", _FIG4, _figure4),
    PaperPicture("parts", "Each part of QFCP switched off in turn", _OFF, _parts),
    PaperPicture(
        "beta",
        "Beta swept",
        tuple(f"{scenario}/beta/{beta}" for scenario in ("adapt", "fct") for beta in BETAS),
        _betas,
    ),
    PaperPicture(
        "crowd",
        "Beyond the paper: 100 flows come at once",
        tuple(f"crowd/{name}" for name in FIVE),
        _crowd,
    ),
)
