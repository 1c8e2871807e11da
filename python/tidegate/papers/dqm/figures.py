"""Figures 5 to 7 redrawn, and pictures of what the paper names and does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tidegate.papers.dqm.cases import (
    POLICIES,
    RATIOS,
    REDS,
    RHOS,
    SHARES,
    STARTS,
    TRIED,
    TRIED_RHOS,
    at,
    step,
    two,
)
from tidegate.papers.dqm.measures import (
    DA,
    DONE,
    RTX,
    SHOWN,
    TABLE1,
    D,
    N,
    connection_loss,
    connection_loss_in_time,
    data_loss,
    queue,
    throughput,
    throughput_of,
)
from tidegate.papers.study import PaperPicture
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tidegate.papers.runs import Measure, Runs

COLOURS = dict(zip(("dt", "gr2", "p1", "p2", "p3"), (6, 1, 4, 5, 0), strict=True))
READINGS = ("share of SYNs lost", "flows never admitted", "average over time")
TRIED_MEASURES: tuple[tuple[Measure, float], ...] = (
    (D, 1.0),
    (RTX, 1e-3),
    (connection_loss, 1.0),
)
TRIED_TITLES = (
    "latency without the set-up, D [s]",
    "packets sent again in 1500 s, thousands",
    "share of connection packets lost, P_c",
)
PROVIDED: tuple[tuple[Measure, float], ...] = ((throughput, 1e-3), (DA, 1.0))
NAMES = {
    "p3": "P3 over drop-tail",
    "p3-moment": "by the queue at the moment",
    "p3-one-buffer": "one buffer for both",
    "p3-hold": "holding, not dropping",
    "p3-gr2": "over G-R2",
    "p3-all": "x of all packets",
}


def _panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height))
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def _curve(
    axes: Axes,
    xs: Sequence[float],
    values: Sequence[np.ndarray],
    hue: str,
    label: str,
    style: str = "-",
) -> None:
    """Draw the mean over the seeds, in a band of one standard deviation."""
    means = np.array([float(np.mean(each)) for each in values])
    spread = np.array([float(np.std(each, ddof=1)) if len(each) > 1 else 0.0 for each in values])
    axes.fill_between(xs, means - spread, means + spread, color=hue, alpha=0.15, lw=0)
    axes.plot(xs, means, style, marker="o", ms=3.2, color=hue, lw=1.5, label=label)


def _printed(
    axes: Axes, runs: Runs, rho: float, scale: float, *claims: str, label: str = "paper"
) -> None:
    """Mark what the paper prints at a load: a cross each."""
    said = [(runs.paper.claim(name).number or np.nan) * scale for name in claims]
    axes.plot([rho] * len(said), said, "x", color="black", ms=8, mew=2, label=label, zorder=4)


def _over_rho(
    axes: Axes,
    runs: Runs,
    measure: Measure,
    title: str,
    policies: Sequence[str] = POLICIES,
    scale: float = 1.0,
) -> None:
    for policy in policies:
        values = [runs.values(at(rho, policy), measure) * scale for rho in RHOS]
        _curve(axes, RHOS, values, PALETTE[COLOURS[policy]], SHOWN[policy])
    axes.set_title(title)
    axes.set_xlabel("offered load rho")
    axes.set_ylim(bottom=0)


def _figure5(runs: Runs) -> Figure:
    figure, axes = _panels(2, 2, 9.6, 6.4)
    _over_rho(axes[0], runs, throughput, "throughput of an admitted flow, T [kbit/s]", scale=1e-3)
    _printed(
        axes[0], runs, 1.2, 1e-3, "table1.dt.T", "table1.gr2.T", label="paper, Table I: DT, G-RED"
    )
    _over_rho(axes[1], runs, RTX, "packets sent again in 1500 s, thousands", scale=1e-3)
    _over_rho(axes[2], runs, N, "admitted flows present, on average")
    _over_rho(axes[3], runs, queue, "packets waiting, on average")
    axes[0].set_yscale("log")
    axes[0].set_ylim(0.4, 90)
    axes[0].set_yticks([0.5, 1, 2, 5, 10, 20, 50], ["0.5", "1", "2", "5", "10", "20", "50"])
    axes[0].legend(frameon=False, fontsize=8.5, loc="lower left")
    return figure


def _figure6(runs: Runs) -> Figure:
    figure, axes = _panels(1, 3, 12.6, 3.8)
    _over_rho(axes[0], runs, DONE, "flows completed per second")
    axes[0].axhline(1.085, color=GREY, ls=":", lw=1)
    axes[0].annotate(
        "capacity", (0.2, 1.085), (0, 3), textcoords="offset points", color=GREY, fontsize=8
    )
    axes[0].legend(frameon=False, fontsize=8.5, loc="lower right")
    axes[0].set_ylim(0, 1.25)
    for policy in ("gr2", "p2", "p3"):
        hue = PALETTE[COLOURS[policy]]
        for measure, name, style in ((connection_loss, "P_c", "-"), (data_loss, "P_d", "--")):
            values = [runs.values(at(rho, policy), measure) for rho in RHOS]
            _curve(axes[1], RHOS, values, hue, f"{SHOWN[policy]}, {name}", style)
        for key, name, style in ((DA, "D_a", "-"), (D, "D", "--")):
            values = [runs.values(at(rho, policy), key) for rho in RHOS]
            _curve(axes[2], RHOS, values, hue, f"{SHOWN[policy]}, {name}", style)
    axes[1].set_title("share lost: connection packets P_c, data P_d")
    axes[2].set_title("latency [s]: D_a with the set-up, D without")
    _printed(
        axes[1],
        runs,
        1.2,
        1.0,
        "table1.gr2.Pc",
        "table1.gr2.Pd",
        label="paper: G-RED, P_c and P_d",
    )
    _printed(axes[2], runs, 1.6, 1.0, "fig6c.D_p3", label="paper: G-RED and P3, D")
    share = (runs.paper.claim("fig6c.D_ratio").number or np.nan) / 100.0
    _printed(axes[2], runs, 1.6, 1.0 / share, "fig6c.D_p3", label="")
    _printed(axes[2], runs, 1.2, 1.0, "table1.gr2.D", label="")
    for each in axes[1:]:
        each.set_xlabel("offered load rho")
        each.set_ylim(0, 1.5 * each.get_ylim()[1])
        each.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
    return figure


def _figure7(runs: Runs) -> Figure:
    figure, axes = _panels(2, 2, 9.6, 6.4)

    def draw(place: int, measure: Measure, policy: str, label: str, style: str = "-") -> None:
        values = [runs.values(two(2.0, ratio, policy), measure) for ratio in RATIOS]
        _curve(axes[place], RATIOS, values, PALETTE[COLOURS[policy]], label, style)

    for policy in ("gr2", "p3"):
        name = SHOWN[policy]
        draw(0, throughput_of(1), policy, f"{name}, long flows")
        draw(0, throughput_of(0), policy, f"{name}, short flows", "--")
        draw(1, N, policy, name)
        draw(2, queue, policy, name)
        draw(3, connection_loss, policy, name)
    axes[0].set_yscale("log")
    titles = (
        "throughput of an admitted flow, T [bit/s]",
        "admitted flows present, on average",
        "packets waiting, on average",
        "share of connection packets lost, P_c",
    )
    axes[0].set_ylim(100, 12_000)
    for each, title in zip(axes, titles, strict=True):
        each.set_title(title)
        each.set_xscale("log")
        each.set_xticks(RATIOS, [str(ratio) for ratio in RATIOS])
        each.minorticks_off()
        each.set_xlabel("short flows for each long one")
        each.legend(frameon=False, fontsize=8.5)
    for each in axes[1:]:
        each.set_ylim(bottom=0)
    ticks = (200, 500, 1000, 2000, 5000, 10_000)
    axes[0].set_yticks(ticks, [f"{each:,}" for each in ticks])
    axes[0].minorticks_off()
    return figure


def _readings(runs: Runs) -> Figure:
    figure, (axes,) = _panels(1, 1, 7.4, 3.6)
    policies = ("dt", *REDS)
    for place, policy in enumerate(policies):
        case = at(1.2, policy)
        values = [
            runs.values(case, connection_loss),
            runs.values(case, "never_admitted_share"),
            runs.values(case, connection_loss_in_time(policy)),
        ]
        for number, (name, each) in enumerate(zip(READINGS, values, strict=True)):
            axes.bar(
                place + (number - 1) * 0.24,
                float(np.mean(each)),
                0.22,
                yerr=float(np.std(each, ddof=1)) if runs.seeds > 1 else 0.0,
                color=PALETTE[(0, 4, 5)[number]],
                error_kw={"lw": 0.8},
                label=name if place == 0 else None,
            )
        said = runs.paper.claim(f"table1.{policy}.Pc").number or np.nan
        axes.plot(
            [place - 0.4, place + 0.4], [said, said], color="black", lw=1.6,
            label="paper, Table I" if place == 0 else None,
        )  # fmt: skip
    axes.set_xticks(range(len(policies)), [TABLE1[policy] for policy in policies])
    axes.grid(visible=False, axis="x")
    axes.set_axisbelow(True)
    axes.set_ylabel("share of connections lost, P_c, rho 1.2")
    axes.set_ylim(0, 1)
    axes.legend(frameon=False, fontsize=8.5, ncols=2, loc="upper right")
    return figure


def _tried(runs: Runs) -> Figure:
    figure, axes = _panels(1, 3, 12.6, 3.4)
    for number, (policy, name) in enumerate(NAMES.items()):
        for place, (measure, scale) in enumerate(TRIED_MEASURES):
            values = [runs.values(at(rho, policy), measure) * scale for rho in TRIED_RHOS]
            hue = PALETTE[(0, 1, 3, 4, 2, 6)[number]]
            _curve(axes[place], TRIED_RHOS, values, hue, name)
    for each, title in zip(axes, TRIED_TITLES, strict=True):
        each.set_title(title)
        each.set_xlabel("offered load rho")
        each.set_xticks(TRIED_RHOS)
        each.set_ylim(bottom=0)
    _printed(axes[0], runs, 1.6, 1.0, "fig6c.D_p3", label="paper: P3")
    axes[2].set_ylim(0, 1)
    axes[2].plot([], [], "x", color="black", ms=8, mew=2, label="paper: P3, D at rho 1.6")
    axes[2].legend(frameon=False, fontsize=8.5, loc="lower center")
    return figure


def _provision(runs: Runs) -> Figure:
    figure, axes = _panels(1, 2, 9.6, 3.6)
    for number, share in enumerate(SHARES):
        for place, (measure, scale) in enumerate(PROVIDED):
            values = [runs.values(step(start, share), measure) * scale for start in STARTS]
            hue = PALETTE[(4, 5, 0)[number]]
            _curve(axes[place], STARTS, values, hue, f"P_M = {share:g}")
    for each, title in zip(
        axes,
        ("throughput of an admitted flow, T [kbit/s]", "latency with the set-up, D_a [s]"),
        strict=True,
    ):
        each.set_title(title)
        each.set_xlabel("x_m = x_M [packets of data waiting]")
        each.set_xticks(STARTS)
        each.set_ylim(bottom=0)
        each.legend(frameon=False, fontsize=8.5)
    return figure


def _keys(policies: Sequence[str], rhos: Sequence[float]) -> tuple[str, ...]:
    return tuple(at(rho, policy) for rho in rhos for policy in policies)


PICTURES = (
    PaperPicture(
        "fig5",
        "Figure 5: throughput per flow, retransmissions, admitted flows and queue over the load;"
        " bands are one standard deviation over the seeds.",
        _keys(POLICIES, RHOS),
        _figure5,
    ),
    PaperPicture(
        "fig6",
        "Figure 6: completions, losses of connection packets and of data, latencies.",
        _keys(POLICIES, RHOS),
        _figure6,
    ),
    PaperPicture(
        "fig7",
        "Figure 7: short and long flows at rho 2, by how many short ones come for a long one.",
        tuple(two(2.0, ratio, policy) for ratio in RATIOS for policy in ("gr2", "p3")),
        _figure7,
    ),
    PaperPicture(
        "readings",
        "Table I's P_c in three readings, beside the paper's.",
        _keys(("dt", *REDS), (1.2,)),
        _readings,
    ),
    PaperPicture(
        "tried",
        "P3 as it might be otherwise: by the queue at the moment, over G-R2, with one buffer"
        " for both sorts of packets, and holding connections back instead of dropping them.",
        _keys(("p3", *TRIED), TRIED_RHOS),
        _tried,
    ),
    PaperPicture(
        "provision",
        "What the triple provides for, at rho 1.6: throughput per flow and latency with its"
        " set-up, over where connections begin to be lost and how many of them.",
        tuple(step(start, share) for start in STARTS for share in SHARES),
        _provision,
    ),
)
