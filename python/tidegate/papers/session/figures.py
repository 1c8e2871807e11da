"""Figures 2 to 9 redrawn, and pictures of what the authors ran and did not show."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.papers.plots import (
    CROSS,
    bars,
    horizontal_bars,
    legend,
    legend_above,
    panels,
    statistics,
)
from tidegate.papers.session.cases import ARRIVALS, CELLS, CP, GSS, LOADS, NAMES, NC
from tidegate.papers.session.measures import curve, served
from tidegate.show.style import GREY, LINES, PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tidegate.papers.runs import Floats, Runs
    from tidegate.results.run_files import SavedRun

    Series = Mapping[str, Sequence[Floats]]

ADMITTED, COMPLETED = PALETTE[4], PALETTE[1]
COLOURS = {"none": GREY, "optimal": PALETTE[2], "gssga": PALETTE[4], "cp": PALETTE[1]}
SHOWN = {"none": "no control", "optimal": "optimal (brute force)", "gssga": "GSS+GA", "cp": "CP"}
CONTROLS = ("none", "gssga", "cp")
TABLE1 = {65: 64.716, 100: 99.84, 150: 102.6, 250: 107.088, 1000: 43.944}
"""Admit rates and completions of Table I, sessions/s."""


def _bars(
    axes: Axes,
    title: str,
    groups: Sequence[str],
    found: Series,
    paper: Sequence[Sequence[float | None]] = (),
) -> None:
    """Draw a bar for each control in each group."""
    bars(axes, groups, [(SHOWN[name], COLOURS[name], each) for name, each in found.items()], paper)
    axes.set_title(title, loc="left", fontsize=9)
    legend_above(axes, 1.12)


def _timeline(axes: Axes, record: SavedRun, title: str) -> None:
    """Draw admissions and completions of one run, in bins of two seconds: the longer epoch."""
    rates = record.rates()
    bins = rates["time_s"].size // 2
    times = rates["time_s"][: 2 * bins].reshape(bins, 2)[:, 0]
    lines = {
        name: rates[name][: 2 * bins].reshape(bins, 2).mean(axis=1)
        for name in ("admitted", "completed")
    }
    for (name, values), hue in zip(lines.items(), (ADMITTED, COMPLETED), strict=True):
        axes.plot(times, values, color=hue, lw=1.1, label=name)
    top = max(float(np.percentile(each, 98)) for each in lines.values())
    axes.set_xlim(0, float(rates["time_s"][-1]))
    axes.set_ylim(0, 1.25 * top + 1.0)
    axes.set_title(title, loc="left", fontsize=9)
    legend_above(axes)


def figure2(runs: Runs) -> Figure:
    """Draw Figure 2."""
    figure, (axes,) = panels(1, 7.0, 3.8)
    found = curve(runs)
    rates = sorted(found)
    means, spread = statistics([np.array(found[rate]) for rate in rates])
    hue, label = COLOURS["optimal"], "tidegate, fixed admit rate"
    axes.fill_between(rates, means - spread, means + spread, color=hue, alpha=0.2, lw=0)
    axes.plot(rates, means, "o-", color=hue, ms=4, label=label)
    free = runs.mean(NC, "completed_per_s")
    axes.plot([1000], [free], "D", color=COLOURS["none"], ms=7, label="tidegate, no control")
    axes.plot([*TABLE1], [*TABLE1.values()], "x", label="paper, Table I", **CROSS)
    axes.plot([0, 160], [0, 160], ":", color=GREY, lw=1)
    axes.annotate("all admitted complete", (150, 148), color=GREY, fontsize=8, ha="left")
    axes.set(xlim=(0, 1040), xlabel="admit rate [sessions/s]")
    axes.set(ylim=(0, 160), ylabel="completions [sessions/s]")
    legend(axes, 8.5, loc="lower right")
    return figure


def figure3(runs: Runs) -> Figure:
    """Draw Figure 3."""
    figure, both = panels(2, 10.0, 3.6)
    for axes, cells in zip(both, (CELLS[:2], CELLS[2:]), strict=True):
        series = dict(_family(runs, [f"static/{cell}" for cell in cells], "completed"))
        best = [runs.best(f"optimum/{cell}")[1] for cell in cells]
        series["optimal"] = [runs.values(case, "completed") for case in best]
        groups = [f"{cell.partition('-')[2]} arrivals/s" for cell in cells]
        title = f"mean size {cells[0].partition('k')[0]} kB"
        _bars(axes, title, groups, {name: series[name] for name in SHOWN})
    both[0].set_ylabel("sessions completed in 250 s")
    return figure


def figure4(runs: Runs) -> Figure:
    """Draw Figure 4."""
    figure, (axes,) = panels(1, 7.0, 3.6)
    edges = np.arange(0.0, 101.0, 1.0)
    for name, case in (("none", NC), ("gssga", GSS), ("cp", CP)):
        shares = []
        for record in runs.records(case):
            flows = record.flows()
            taken = flows["closed_s"] - flows["start_s"]
            counts, _ = np.histogram(taken, edges)
            shares.append(counts / taken.size)
        mean = 100 * np.convolve(np.mean(shares, axis=0), np.ones(3) / 3, "same")
        axes.plot((edges[1:] + edges[:-1]) / 2, mean, color=COLOURS[name], label=SHOWN[name])
    axes.set(xlim=(0, 100), xlabel="duration, first SYN to close [s]")
    axes.set(yscale="log", ylim=(0.01, 50.0), ylabel="% of completed sessions a second")
    axes.legend(frameon=False)
    return figure


Level = tuple[str, float, float]
"""A claim with a level of a time line, and the seconds between which it applies."""


def _lines(
    runs: Runs,
    cases: tuple[tuple[str, str], ...],
    marks: tuple[float, ...] = (),
    levels: Mapping[str, Sequence[Level]] | None = None,
) -> Figure:
    figure, many = panels(1, 9.0, 1.2 + 1.9 * len(cases), len(cases), sharex=True)
    for axes, (case, title) in zip(many, cases, strict=True):
        for name, start, end in (levels or {}).get(case, ()):
            level = runs.paper.claim(name).expected
            low = level[0] if isinstance(level, tuple) else level or np.nan
            axes.plot((start, end), (low, low), color="black", lw=1.8, label="paper")
        _timeline(axes, runs.records(case)[0], title)
        for mark in marks:
            axes.axvline(mark, color=GREY, lw=0.8, ls=":")
    many[-1].set_xlabel("time [s]")
    figure.supylabel("sessions per second", fontsize=9)
    return figure


def figure5(runs: Runs) -> Figure:
    """Draw Figure 5."""
    cases = ((NC, "no session control"), (GSS, "GSS+GA"), (CP, "CP"))
    return _lines(runs, cases, levels={NC: (("fig5.nc_level", 50.0, 250.0),)})


def figure6(runs: Runs) -> Figure:
    """Draw Figure 6."""
    figure, three = panels(3, 10.0, 2.8)
    families = (
        ("arrivals", "arrival rate", "sessions per second"),
        ("size/100", "mean size of a session", "kB"),
        ("capacity/100", "capacity of the bottleneck", "Mbit/s"),
    )
    for axes, (family, title, label) in zip(three, families, strict=True):
        way = "down-" if family.startswith("capacity") else ""
        for number, load in enumerate((*(f"{way}{each}" for each in LOADS), "pulses")):
            times, values = _course(runs, f"{family}/{load}/none")
            name = load.removeprefix("down-").upper() if number < 3 else "pulses"
            axes.plot(times, values, lw=2.2 - 0.4 * number, ls=LINES[number], label=name)
        axes.set(title=title, ylim=(0, None), ylabel=label, xlabel="time [s]")
    legend(three[2], loc="lower left")
    return figure


def _course(runs: Runs, case: str) -> tuple[list[float], list[float]]:
    """Return the changing quantity of a case as times and values."""
    document = tomllib.loads(runs.paper.document(runs.case(case)).load().show())
    first = {
        "arrivals": document["traffic"]["web"]["arrivals"]["poisson"],
        "size": document["traffic"]["web"]["size"]["pareto"]["mean"],
        "capacity": document["topology"]["dumbbell"]["bottleneck"]["rate"],
    }[case.partition("/")[0]]
    times, values = [0.0], [_number(first)]
    for change in document["change"]:
        at, to, now = _number(change["at"]), _number(change["to"]), values[-1]
        times.append(at)
        values.append(now)
        if "pulse" in change:
            end = at + _number(change["pulse"])
            times += [at, end, end]
            values += [to, to, now]
        else:
            times.append(_number(change["until"]) if "until" in change else at)
            values.append(to)
    return [*times, 300.0], [*values, values[-1]]


def _number(text: str) -> float:
    """Return the number of a quantity, in its own unit; times are in seconds."""
    found = re.fullmatch(r"([\d.]+)(\D*)", text)
    if found is None:
        raise ValueError(f"{text} is no quantity")
    return float(found[1]) / (1000.0 if found[2] == "ms" else 1.0)


def _family(runs: Runs, cells: Sequence[str], measure: str) -> Series:
    return {name: [runs.values(f"{cell}/{name}", measure) for cell in cells] for name in CONTROLS}


def figure7(runs: Runs) -> Figure:
    """Draw Figure 7."""
    figure, both = panels(2, 10.0, 3.4)
    cells, groups = [f"arrivals/{load}" for load in LOADS], [load.upper() for load in LOADS]
    printed = [
        [runs.paper.claim(f"table3.{load}.{name}.fct").number for load in LOADS] for name in NAMES
    ]
    _bars(both[0], "completions", groups, _family(runs, cells, "completed"))
    _bars(both[1], "FCT (Table III)", groups, _family(runs, cells, "fct_mean_s"), printed)
    both[0].set_ylabel("sessions completed in 300 s")
    both[1].set_ylabel("FCT, mean [s]")
    return figure


def figure8(runs: Runs) -> Figure:
    """Draw Figure 8."""
    cases = (("arrivals/load3/none", "no session control"), ("arrivals/load3/cp", "CP"))
    levels = {cases[0][0]: (("fig8.nc_before", 50.0, 125.0), ("fig8.nc_after", 200.0, 300.0))}
    return _lines(runs, cases, (125.0, 175.0), levels)


def by_capacity(runs: Runs, way: str) -> Figure:
    """Draw completions where the capacity goes up or down."""
    figure, both = panels(2, 10.0, 3.4)
    groups = [load.upper() for load in LOADS]
    for axes, rate in zip(both, ARRIVALS, strict=True):
        cells = [f"capacity/{rate}/{way}-{load}" for load in LOADS]
        _bars(axes, f"{rate} arrivals/s", groups, _family(runs, cells, "completed"))
    both[0].set_ylabel("sessions completed in 300 s")
    return figure


PULSES = {
    "arrival rate": "arrivals/pulses",
    **{
        f"{what}\n{rate}/s": f"{what}/{rate}/pulses"
        for what in ("size", "capacity")
        for rate in ARRIVALS
    },
}


def pulses(runs: Runs) -> Figure:
    """Draw pulses."""
    figure, (many, line) = panels(1, 9.0, 5.6, rows=2)
    _bars(many, "pulses of 25 s", [*PULSES], _family(runs, [*PULSES.values()], "completed"))
    many.set_ylabel("sessions completed")
    title = "CP, capacity 10, 5 and 10 Mbit/s, 1000 arrivals/s"
    _timeline(line, runs.records("capacity/1000/pulses/cp")[0], title)
    line.set_xlabel("time [s]")
    return figure


OPTIMA = {
    "10 Mbit/s": {
        "10k-300": "300 arrivals/s",
        "10k-600": "600 arrivals/s",
        "10k-1000": "1000 arrivals/s",
    },
    "1000 arrivals/s": {
        "5M": "5 Mbit/s",
        "udp": "10 Mbit/s, 5 of UDP",
        "10k-1000": "10 Mbit/s",
        "20M": "20 Mbit/s",
    },
}


def optima(runs: Runs) -> Figure:
    """Draw optima."""
    figure, both = panels(2, 10.0, 3.4)
    for axes, (title, lines) in zip(both, OPTIMA.items(), strict=True):
        for style, (name, label) in zip(LINES, lines.items(), strict=False):
            rates, flows = np.transpose(runs.curve(f"optimum/{name}"))
            axes.plot(rates, flows / 250.0, marker=".", lw=1.3, label=label, ls=style)
        axes.set_title(f"completions over the admit rate, {title}")
        axes.set_xlabel("admit rate [sessions/s]")
        axes.set(ylabel="completions [sessions/s]", ylim=(0, None))
        legend(axes)
    return figure


def ablations(runs: Runs) -> Figure:
    """Draw ablations."""
    pairs = (
        ((GSS, "GSS+GA"), ("ablation/gss-alone", "GSS alone"), "1000 arrivals/s"),
        (
            ("capacity/1000/up-load3/gssga", "with the way back to GSS"),
            ("ablation/up-load3-no-way-back", "without"),
            "10 to 20 Mbit/s at 150 s",
        ),
        ((CP, "CP"), ("ablation/no-smoothing", "without smoothing"), "1000 arrivals/s"),
    )
    figure, three = panels(1, 9.0, 6.6, rows=3, sharex=True)
    for axes, (mine, without, title) in zip(three, pairs, strict=True):
        for (case, label), hue in ((without, COMPLETED), (mine, ADMITTED)):
            events = runs.records(case)[0].events()
            epoch = 1.0 if "CP" in label or "smoothing" in label else 2.0
            look: dict[str, Any] = {"where": "post", "color": hue, "lw": 1.1, "label": label}
            axes.step(events["time_s"], events["set"] / epoch, **look)
        axes.set_title(title, loc="left", fontsize=9)
        axes.set(xlim=(0, 300), ylim=(0, None))
        legend_above(axes)
    three[-1].set_xlabel("time [s]")
    figure.supylabel("allowed [sessions/s]", fontsize=9)
    return figure


BEYOND = (
    ("no control", NC),
    ("CP", CP),
    ("CP, refusing by RST", "refuse/rst"),
    ("CP, 10 % of sessions encrypted", "opaque/10"),
    ("downloads, no control", "downloads/none"),
    ("downloads, CP on SYN+ACK", "downloads/cp"),
    ("5 Mbit/s of UDP, no control", "udp/none"),
    ("5 Mbit/s of UDP, CP", "udp/cp"),
    ("10 and 5 Mbit/s in series, no control", "series/none"),
    ("in series, CP on the first", "series/first"),
    ("in series, CP on the second", "series/second"),
    ("in series, CP on both", "series/both"),
    ("CP, all FINs seen", "paths/1000/all"),
    ("CP, 5 % of FINs unseen", "paths/1000/fin5"),
    ("CP, 15 % of FINs unseen", "paths/1000/fin15"),
    ("CP, 15 % of SYNs unseen", "paths/1000/syn15"),
    ("SYN retries at 3, 6, 12 s ..., no control", "hosts/3s/none"),
    ("SYN retries at 3, 6, 12 s ..., CP", "hosts/3s/cp"),
    ("SYN retries at 1, 2, 4 s ..., no control", "hosts/1s/none"),
    ("SYN retries at 1, 2, 4 s ..., CP", "hosts/1s/cp"),
    ("SYN retries 1, 1, 1, 1, 2 s, then given up, no control", "hosts/linear/none"),
    ("SYN retries 1, 1, 1, 1, 2 s, then given up, CP", "hosts/linear/cp"),
    ("SYN retries up to half as late again, no control", "hosts/jitter/none"),
    ("SYN retries up to half as late again, CP", "hosts/jitter/cp"),
    ("SYN retries at 15, 30, 60 s ..., no control", "hosts/15s/none"),
    ("SYN retries at 15, 30, 60 s ..., CP", "hosts/15s/cp"),
)
"""Cases that the paper names and does not run."""


def beyond(runs: Runs) -> Figure:
    """Draw beyond."""
    figure, both = panels(2, 10.0, 7.0, sharey=True)

    def fct(record: SavedRun) -> float:
        return float(record.traffic("web")["fct_mean_s"])

    labels = [label for label, _ in BEYOND]
    hues = [COLOURS["none" if "no control" in label else "cp"] for label in labels]
    completions = [runs.values(case, served) / 250.0 for _, case in BEYOND]
    horizontal_bars(both[0], labels, completions, hues)
    horizontal_bars(both[1], labels, [runs.values(case, fct) for _, case in BEYOND], hues)
    both[0].set(title="how many complete", xlabel="completions [sessions/s]")
    both[1].set(title="how long they take", xlabel="FCT of those served, mean [s]")
    return figure
