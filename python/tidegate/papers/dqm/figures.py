"""Figures 5 to 7 redrawn, and pictures of what the paper names and does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.papers.dqm import measures as m
from tidegate.papers.dqm.cases import (
    POLICIES,
    RATIOS,
    REDS,
    RHOS,
    SHARES,
    STARTS,
    TRIED_RHOS,
    at,
    step,
    two,
)
from tidegate.papers.plots import CROSS, bars, curve, legend, panels, ticks
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tidegate.papers.runs import Runs
    from tidegate.results.measures import Measure

HUES = {
    policy: PALETTE[place]
    for policy, place in zip(("dt", "gr2", "p1", "p2", "p3"), (6, 1, 4, 5, 0), strict=True)
}
VARIANTS = {
    "p3": ("P3 over drop-tail", PALETTE[0]),
    "p3-moment": ("by the queue at the moment", PALETTE[1]),
    "p3-one-buffer": ("one buffer for both", PALETTE[3]),
    "p3-hold": ("holding, not dropping", PALETTE[4]),
    "p3-gr2": ("over G-R2", PALETTE[2]),
    "p3-all": ("x of all packets", PALETTE[6]),
}
"""P3 as it might be otherwise: name and colour."""


def _over(
    axes: Axes,
    runs: Runs,
    cases: Mapping[float, str] | Mapping[int, str],
    measure: Measure,
    hue: str,
    label: str,
    style: str = "-",
    scale: float = 1.0,
) -> None:
    """Draw a measure over a parameter, whose values `cases` has."""
    values = [runs.values(case, measure) * scale for case in cases.values()]
    curve(axes, cases, values, hue, label, style)


def _printed(
    axes: Axes, runs: Runs, rho: float, scale: float, *claims: str, label: str = "paper"
) -> None:
    """Mark what the paper prints at a load: a cross each."""
    printed = [(runs.paper.claim(name).number or np.nan) * scale for name in claims]
    axes.plot([rho] * len(printed), printed, "x", label=label, **CROSS)


def _by_policy(axes: Axes, runs: Runs, measure: Measure, title: str, scale: float = 1.0) -> None:
    for policy in POLICIES:
        look = (HUES[policy], m.SHOWN[policy])
        _over(axes, runs, {rho: at(rho, policy) for rho in RHOS}, measure, *look, scale=scale)
    axes.set(title=title, xlabel="offered load rho")
    axes.set_ylim(bottom=0)


def figure5(runs: Runs) -> Figure:
    """Draw Figure 5."""
    figure, axes = panels(2, 9.6, 6.4, rows=2)
    rows: Sequence[tuple[Measure, str, float]] = (
        (m.throughput, "throughput of an admitted flow, T [kbit/s]", 1e-3),
        (m.RTX, "packets sent again in 1500 s, thousands", 1e-3),
        (m.N, "admitted flows present, on average", 1.0),
        (m.queue, "packets waiting, on average", 1.0),
    )
    for each, row in zip(axes, rows, strict=True):
        _by_policy(each, runs, *row)
    label = "paper, Table I: DT, G-RED"
    _printed(axes[0], runs, 1.2, 1e-3, "table1.dt.T", "table1.gr2.T", label=label)
    axes[0].set(yscale="log", ylim=(0.4, 90))
    axes[0].set_yticks([0.5, 1, 2, 5, 10, 20, 50], ["0.5", "1", "2", "5", "10", "20", "50"])
    legend(axes[0], 8.5, loc="lower left")
    return figure


def figure6(runs: Runs) -> Figure:
    """Draw Figure 6."""
    figure, axes = panels(3, 12.6, 3.8)
    _by_policy(axes[0], runs, m.DONE, "flows completed per second")
    axes[0].axhline(1.085, color=GREY, ls=":", lw=1)
    look: dict[str, Any] = {"textcoords": "offset points", "color": GREY, "fontsize": 8}
    axes[0].annotate("capacity", (0.2, 1.085), (0, 3), **look)
    legend(axes[0], 8.5, loc="lower right")
    axes[0].set_ylim(0, 1.25)
    rows: Sequence[tuple[Axes, Measure, str, str]] = (
        (axes[1], m.connection_loss, "P_c", "-"),
        (axes[1], m.data_loss, "P_d", "--"),
        (axes[2], m.DA, "D_a", "-"),
        (axes[2], m.D, "D", "--"),
    )
    for policy in ("gr2", "p2", "p3"):
        cases = {rho: at(rho, policy) for rho in RHOS}
        for each, measure, name, style in rows:
            _over(each, runs, cases, measure, HUES[policy], f"{m.SHOWN[policy]}, {name}", style)
    label = "paper: G-RED, P_c and P_d"
    _printed(axes[1], runs, 1.2, 1.0, "table1.gr2.Pc", "table1.gr2.Pd", label=label)
    _printed(axes[2], runs, 1.6, 1.0, "fig6c.D_p3", label="paper: G-RED and P3, D")
    share = (runs.paper.claim("fig6c.D_ratio").number or np.nan) / 100.0
    _printed(axes[2], runs, 1.6, 1.0 / share, "fig6c.D_p3", label="")
    _printed(axes[2], runs, 1.2, 1.0, "table1.gr2.D", label="")
    axes[1].set_title("share lost: connection packets P_c, data P_d")
    axes[2].set_title("latency [s]: D_a with the set-up, D without")
    for each in axes[1:]:
        each.set(xlabel="offered load rho", ylim=(0, 1.5 * each.get_ylim()[1]))
        legend(each, loc="upper left", ncols=2)
    return figure


def figure7(runs: Runs) -> Figure:
    """Draw Figure 7."""
    figure, axes = panels(2, 9.6, 6.4, rows=2)
    rows: Sequence[tuple[int, Measure, str, str]] = (
        (0, m.throughput_of(1), ", long flows", "-"),
        (0, m.throughput_of(0), ", short flows", "--"),
        (1, m.N, "", "-"),
        (2, m.queue, "", "-"),
        (3, m.connection_loss, "", "-"),
    )
    for policy in ("gr2", "p3"):
        cases = {ratio: two(2.0, ratio, policy) for ratio in RATIOS}
        for place, measure, what, style in rows:
            look = (HUES[policy], f"{m.SHOWN[policy]}{what}", style)
            _over(axes[place], runs, cases, measure, *look)
    titles = (
        "throughput of an admitted flow, T [bit/s]",
        "admitted flows present, on average",
        "packets waiting, on average",
        "share of connection packets lost, P_c",
    )
    axes[0].set(yscale="log", ylim=(100, 12_000))
    for each, title in zip(axes, titles, strict=True):
        each.set(title=title, xscale="log", xlabel="short flows for each long one")
        ticks(each, RATIOS)
        legend(each, 8.5)
    for each in axes[1:]:
        each.set_ylim(bottom=0)
    levels = (200, 500, 1000, 2000, 5000, 10_000)
    axes[0].set_yticks(levels, [f"{each:,}" for each in levels])
    axes[0].minorticks_off()
    return figure


def readings(runs: Runs) -> Figure:
    """Draw readings."""
    figure, (axes,) = panels(1, 7.4, 3.6)
    policies = ("dt", *REDS)
    rows: Sequence[tuple[str, int, Callable[[str], Measure]]] = (
        ("share of SYNs lost", 0, lambda _: m.connection_loss),
        ("flows never admitted", 4, lambda _: "never_admitted_share"),
        ("average over time", 5, m.connection_loss_in_time),
    )
    series = [
        (name, PALETTE[hue], [runs.values(at(1.2, each), measure(each)) for each in policies])
        for name, hue, measure in rows
    ]
    bars(axes, [m.TABLE1[policy] for policy in policies], series, values=False)
    for place, policy in enumerate(policies):
        printed = runs.paper.claim(f"table1.{policy}.Pc").number or np.nan
        label = "" if place else "paper, Table I"
        xs = [place - 0.42, place + 0.42]
        axes.plot(xs, [printed, printed], color="black", lw=1.6, label=label)
    axes.set(ylabel="share of connections lost, P_c, rho 1.2", ylim=(0, 1))
    legend(axes, 8.5, ncols=2, loc="upper right")
    return figure


def tried(runs: Runs) -> Figure:
    """Draw tried."""
    figure, axes = panels(3, 12.6, 3.4)
    rows: Sequence[tuple[Measure, str, float]] = (
        (m.D, "latency without the set-up, D [s]", 1.0),
        (m.RTX, "packets sent again in 1500 s, thousands", 1e-3),
        (m.connection_loss, "share of connection packets lost, P_c", 1.0),
    )
    for each, (measure, title, scale) in zip(axes, rows, strict=True):
        for policy, (name, hue) in VARIANTS.items():
            cases = {rho: at(rho, policy) for rho in TRIED_RHOS}
            _over(each, runs, cases, measure, hue, name, scale=scale)
        each.set(title=title, xlabel="offered load rho", xticks=TRIED_RHOS)
        each.set_ylim(bottom=0)
    _printed(axes[0], runs, 1.6, 1.0, "fig6c.D_p3", label="paper: P3")
    axes[2].set_ylim(0, 1)
    axes[2].plot([], [], "x", label="paper: P3, D at rho 1.6", **CROSS)
    legend(axes[2], 8.5, loc="lower center")
    return figure


def provision(runs: Runs) -> Figure:
    """Draw provision."""
    figure, axes = panels(2, 9.6, 3.6)
    rows: Sequence[tuple[Measure, str, float]] = (
        (m.throughput, "throughput of an admitted flow, T [kbit/s]", 1e-3),
        (m.DA, "latency with the set-up, D_a [s]", 1.0),
    )
    for each, (measure, title, scale) in zip(axes, rows, strict=True):
        for share, hue in zip(SHARES, (PALETTE[4], PALETTE[5], PALETTE[0]), strict=True):
            cases = {start: step(start, share) for start in STARTS}
            _over(each, runs, cases, measure, hue, f"P_M = {share:g}", scale=scale)
        each.set(title=title, xlabel="x_m = x_M [packets of data waiting]", xticks=STARTS)
        each.set_ylim(bottom=0)
        legend(each, 8.5)
    return figure
