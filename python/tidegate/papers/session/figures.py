"""Figures 2 to 9 redrawn, and pictures of what the authors ran and did not show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from tidegate.papers.session.cases import ARRIVALS, CELLS, CP, GSS, LOADS, NAMES, NC, SWEEP
from tidegate.papers.session.measures import curve, served
from tidegate.papers.study import PaperPicture
from tidegate.show.style import GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

ADMITTED, COMPLETED = PALETTE[4], PALETTE[1]
COLOURS = {"none": GREY, "optimal": PALETTE[2], "gssga": PALETTE[4], "cp": PALETTE[1]}
ABOVE: dict[str, Any] = {
    "frameon": False,
    "fontsize": 8,
    "loc": "lower right",
    "bbox_to_anchor": (1.0, 1.02),
    "borderaxespad": 0.0,
    "handlelength": 1.6,
    "columnspacing": 1.0,
}
PAPER = "paper"
DASH: dict[str, Any] = {"color": "black", "ms": 15, "mew": 2.2, "zorder": 4}
"""What the paper prints, beside a bar."""
SHOWN = {"none": "no control", "optimal": "optimal (brute force)", "gssga": "GSS+GA", "cp": "CP"}


def panels(
    rows: int,
    columns: int,
    *,
    width: float,
    height: float,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with its panels in one list."""
    figure = Figure(figsize=(width, height))
    return figure, list(
        figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey).flat
    )


def bars(
    axes: Axes,
    title: str,
    groups: Sequence[str],
    series: Mapping[str, Sequence[np.ndarray]],
    paper: Mapping[str, Sequence[float | None]] | None = None,
) -> None:
    """Draw a group of bars each, with the standard deviation over the seeds and the value.

    `paper` has what the paper prints for some of the bars: a dash over each.
    """
    width = 0.84 / len(series)
    axes.set_axisbelow(True)
    for place, (name, values) in enumerate(series.items()):
        xs = np.arange(len(groups)) + (place - (len(series) - 1) / 2) * width
        means = np.array([float(np.mean(each)) for each in values])
        spread = [float(np.std(each, ddof=1)) if len(each) > 1 else 0.0 for each in values]
        axes.bar(
            xs,
            means,
            width * 0.94,
            yerr=spread,
            color=COLOURS[name],
            label=SHOWN[name],
            error_kw={"lw": 0.8},
        )
        printed = (paper or {}).get(name)
        if printed is not None:
            label = "" if place else PAPER
            axes.plot(xs, np.array(printed, dtype=float), "_", label=label, **DASH)
        for x, mean, error in zip(xs, means, spread, strict=True):
            text = f"{mean / 1000:.1f}k" if mean >= 1000 else f"{mean:.3g}"
            axes.annotate(
                text, (x, mean + error), (0, 2), textcoords="offset points", ha="center", fontsize=7
            )
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)
    axes.set_title(title, loc="left", fontsize=9)
    above(axes, len(series) + (paper is not None), 1.12)


def beside(axes: Axes, labels: Sequence[str], values: Sequence[np.ndarray], title: str) -> None:
    """Draw one horizontal bar for each label, with its value."""
    means = [float(np.mean(each)) for each in values]
    spread = [float(np.std(each, ddof=1)) if len(each) > 1 else 0.0 for each in values]
    hues = [COLOURS["none"] if "no control" in label else COLOURS["cp"] for label in labels]
    axes.barh(range(len(labels)), means, 0.7, xerr=spread, color=hues, error_kw={"lw": 0.8})
    for place, (mean, error) in enumerate(zip(means, spread, strict=True)):
        axes.annotate(
            f"{mean:.3g}",
            (mean + error, place),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_axisbelow(True)
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.1)
    axes.set_xlabel(title)


def timeline(axes: Axes, record: SavedRun, title: str) -> None:
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
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    axes.legend(once.values(), once.keys(), **ABOVE, ncols=len(once))


def above(axes: Axes, columns: int, height: float = 1.02) -> None:
    """Put the legend above the panel, in one row at its right: titles are at its left.

    Where the row is as wide as the panel it has to stand above the title too.
    """
    axes.legend(**ABOVE | {"bbox_to_anchor": (1.0, height)}, ncols=columns)


CONTROLS = ("none", "gssga", "cp")
TABLE1 = {65: 64.716, 100: 99.84, 150: 102.6, 250: 107.088, 1000: 43.944}
"""Admit rates and completions of Table I, sessions/s."""


def _figure2(runs: Runs) -> Figure:
    figure, (axes,) = panels(1, 1, width=7.0, height=3.8)
    found = curve(runs)
    rates = sorted(found)
    means = np.array([np.mean(found[rate]) for rate in rates])
    spread = np.array([np.std(found[rate], ddof=1) if runs.seeds > 1 else 0.0 for rate in rates])
    axes.fill_between(
        rates, means - spread, means + spread, color=COLOURS["optimal"], alpha=0.2, lw=0
    )
    axes.plot(
        rates, means, "o-", color=COLOURS["optimal"], ms=4, label="tidegate, fixed admit rate"
    )
    axes.plot(
        [1000],
        [runs.mean(NC, "completed_per_s")],
        "D",
        color=COLOURS["none"],
        ms=7,
        label="tidegate, no control",
    )
    axes.plot(
        list(TABLE1), list(TABLE1.values()), "x", color="black", ms=8, mew=2, label="paper, Table I"
    )
    axes.plot([0, 160], [0, 160], ":", color=GREY, lw=1)
    axes.annotate("all admitted complete", (150, 148), color=GREY, fontsize=8, ha="left")
    axes.set_xlim(0, 1040)
    axes.set_ylim(0, 160)
    axes.set_xlabel("admit rate [sessions/s]")
    axes.set_ylabel("completions [sessions/s]")
    axes.legend(frameon=False, fontsize=8.5, loc="lower right")
    return figure


def _figure3(runs: Runs) -> Figure:
    figure, both = panels(1, 2, width=10.0, height=3.6)
    for axes, cells in zip(both, (CELLS[:2], CELLS[2:]), strict=True):
        series = {
            "none": [runs.values(f"static/{cell}/none", "completed") for cell in cells],
            "optimal": [
                runs.values(runs.best(f"optimum/{cell}")[1], "completed") for cell in cells
            ],
            "gssga": [runs.values(f"static/{cell}/gssga", "completed") for cell in cells],
            "cp": [runs.values(f"static/{cell}/cp", "completed") for cell in cells],
        }
        size = cells[0].partition("k")[0]
        groups = [f"{cell.partition('-')[2]} arrivals/s" for cell in cells]
        bars(axes, f"mean size {size} kB", groups, series)
    both[0].set_ylabel("sessions completed in 250 s")
    return figure


def _figure4(runs: Runs) -> Figure:
    figure, (axes,) = panels(1, 1, width=7.0, height=3.6)
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
    axes.set_yscale("log")
    axes.set_ylim(0.01, 50.0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("duration, first SYN to close [s]")
    axes.set_ylabel("% of completed sessions a second")
    axes.legend(frameon=False)
    return figure


Level = tuple[str, float, float]
"""The claim that has a number of a time line, and between which seconds it is said of."""


def _lines(
    runs: Runs,
    cases: tuple[tuple[str, str], ...],
    marks: tuple[float, ...] = (),
    levels: Mapping[str, Sequence[Level]] | None = None,
) -> Figure:
    figure, many = panels(len(cases), 1, width=9.0, height=1.2 + 1.9 * len(cases), sharex=True)
    for axes, (case, title) in zip(many, cases, strict=True):
        for name, start, end in (levels or {}).get(case, ()):
            level = runs.paper.claim(name).said
            low = level[0] if isinstance(level, tuple) else level or np.nan
            axes.plot((start, end), (low, low), color="black", lw=1.8, label=PAPER)
        timeline(axes, runs.records(case)[0], title)
        for mark in marks:
            axes.axvline(mark, color=GREY, lw=0.8, ls=":")
    many[-1].set_xlabel("time [s]")
    figure.supylabel("sessions per second", fontsize=9)
    return figure


def _figure5(runs: Runs) -> Figure:
    cases = ((NC, "no session control"), (GSS, "GSS+GA"), (CP, "CP"))
    return _lines(runs, cases, levels={NC: (("fig5.nc_level", 50.0, 250.0),)})


def _figure6(runs: Runs) -> Figure:
    figure, three = panels(1, 3, width=10.0, height=2.8)
    families = (
        ("arrivals", "arrival rate", "sessions per second"),
        ("size/100", "mean size of a session", "kB"),
        ("capacity/100", "capacity of the bottleneck", "Mbit/s"),
    )
    for axes, (family, title, label) in zip(three, families, strict=True):
        way = "down-" if family.startswith("capacity") else ""
        for number, load in enumerate((*(f"{way}{each}" for each in LOADS), "pulses")):
            times, values = _course(runs, f"{family}/{load}/none")
            axes.plot(
                times,
                values,
                lw=2.2 - 0.4 * number,
                ls=("-", "--", "-.", ":")[number],
                label=load.removeprefix("down-").upper() if number < 3 else "pulses",
            )
        axes.set_title(title)
        axes.set_ylim(0, None)
        axes.set_ylabel(label)
        axes.set_xlabel("time [s]")
    three[2].legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def _course(runs: Runs, case: str) -> tuple[list[float], list[float]]:
    """Return what changes in a case, as points of a line."""
    import tomllib

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


def _family(runs: Runs, cells: list[tuple[str, str]], measure: str) -> dict[str, list[np.ndarray]]:
    return {
        name: [runs.values(f"{cell}/{name}", measure) for _, cell in cells] for name in CONTROLS
    }


def _two(
    runs: Runs,
    left: tuple[str, list[tuple[str, str]]],
    right: tuple[str, list[tuple[str, str]]],
    measure: str,
    label: str,
) -> Figure:
    figure, both = panels(1, 2, width=10.0, height=3.4)
    for axes, (title, cells) in zip(both, (left, right), strict=True):
        bars(axes, title, [name for name, _ in cells], _family(runs, cells, measure))
    both[0].set_ylabel(label)
    return figure


def _figure7(runs: Runs) -> Figure:
    cells = [(load.upper(), f"arrivals/{load}") for load in LOADS]
    figure, both = panels(1, 2, width=10.0, height=3.4)
    loads = [name for name, _ in cells]
    printed = {
        name: [runs.paper.claim(f"table3.{load}.{there}.fct").number for load in LOADS]
        for there, name in NAMES.items()
    }
    bars(both[0], "completions", loads, _family(runs, cells, "completed"))
    both[0].set_ylabel("sessions completed in 300 s")
    bars(both[1], "FCT (Table III)", loads, _family(runs, cells, "fct_mean_s"), printed)
    both[1].set_ylabel("FCT, mean [s]")
    return figure


def _figure8(runs: Runs) -> Figure:
    cases = (("arrivals/load3/none", "no session control"), ("arrivals/load3/cp", "CP"))
    levels = {cases[0][0]: (("fig8.nc_before", 50.0, 125.0), ("fig8.nc_after", 200.0, 300.0))}
    return _lines(runs, cases, (125.0, 175.0), levels)


def _by_capacity(runs: Runs, way: str) -> Figure:
    sides = [
        (f"{rate} arrivals/s", [(load.upper(), f"capacity/{rate}/{way}-{load}") for load in LOADS])
        for rate in ARRIVALS
    ]
    return _two(runs, sides[0], sides[1], "completed", "sessions completed in 300 s")


def _pulses(runs: Runs) -> Figure:
    cells = [("arrival rate", "arrivals/pulses")]
    cells += [
        (f"{what}\n{rate}/s", f"{what}/{rate}/pulses")
        for what in ("size", "capacity")
        for rate in ARRIVALS
    ]
    figure, both = panels(2, 1, width=9.0, height=5.6)
    groups = [name for name, _ in cells]
    bars(both[0], "pulses of 25 s", groups, _family(runs, cells, "completed"))
    both[0].set_ylabel("sessions completed")
    timeline(
        both[1],
        runs.records("capacity/1000/pulses/cp")[0],
        "CP, capacity 10, 5 and 10 Mbit/s, 1000 arrivals/s",
    )
    both[1].set_xlabel("time [s]")
    return figure


def _optima(runs: Runs) -> Figure:
    figure, both = panels(1, 2, width=10.0, height=3.4)
    arrivals = (
        ("10k-300", "300 arrivals/s"),
        ("10k-600", "600 arrivals/s"),
        ("10k-1000", "1000 arrivals/s"),
    )
    capacities = (
        ("5M", "5 Mbit/s"),
        ("udp", "10 Mbit/s, 5 of UDP"),
        ("10k-1000", "10 Mbit/s"),
        ("20M", "20 Mbit/s"),
    )
    titles = ("10 Mbit/s", "1000 arrivals/s")
    for axes, lines, title in zip(both, (arrivals, capacities), titles, strict=True):
        for number, (name, label) in enumerate(lines):
            points = runs.curve(f"optimum/{name}")
            per_s = [(rate, flows / 250.0) for rate, flows in points]
            axes.plot(
                *zip(*per_s, strict=True),
                marker=".",
                lw=1.3,
                label=label,
                ls=("-", "--", "-.", ":")[number],
            )
        axes.set_title(f"completions over the admit rate, {title}")
        axes.set_xlabel("admit rate [sessions/s]")
        axes.set_ylabel("completions [sessions/s]")
        axes.set_ylim(0, None)
        axes.legend(frameon=False, fontsize=8)
    return figure


def _ablations(runs: Runs) -> Figure:
    pairs = (
        ((GSS, "GSS+GA"), ("ablation/gss-alone", "GSS alone"), "1000 arrivals/s"),
        (
            ("capacity/1000/up-load3/gssga", "with the way back to GSS"),
            ("ablation/up-load3-no-way-back", "without"),
            "10 to 20 Mbit/s at 150 s",
        ),
        ((CP, "CP"), ("ablation/no-smoothing", "without smoothing"), "1000 arrivals/s"),
    )
    figure, three = panels(3, 1, width=9.0, height=6.6, sharex=True)
    for axes, (mine, without, title) in zip(three, pairs, strict=True):
        for (case, label), hue in ((without, COMPLETED), (mine, ADMITTED)):
            record = runs.records(case)[0]
            events = record.events()
            epoch = 1.0 if "CP" in label or "smoothing" in label else 2.0
            axes.step(
                events["time_s"],
                events["set"] / epoch,
                where="post",
                color=hue,
                lw=1.1,
                label=label,
            )
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlim(0, 300)
        axes.set_ylim(0, None)
        above(axes, 2)
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
"""What the paper names and does not run."""


def _beyond(runs: Runs) -> Figure:
    figure, both = panels(1, 2, width=10.0, height=7.0, sharey=True)
    completions = [runs.values(case, served) / 250.0 for _, case in BEYOND]
    times = [
        np.array(
            [record.traffic("web")["fct_mean_s"] for record in runs.records(case)], dtype=float
        )
        for _, case in BEYOND
    ]
    labels = [label for label, _ in BEYOND]
    beside(both[0], labels, completions, "completions [sessions/s]")
    beside(both[1], labels, times, "FCT of those served, mean [s]")
    both[0].set_title("how many complete")
    both[1].set_title("how long they take")
    return figure


def _cells(*families: str) -> tuple[str, ...]:
    return tuple(f"{family}/{name}" for family in families for name in CONTROLS)


def _loads(family: str, way: str = "") -> tuple[str, ...]:
    return _cells(*(f"{family}/{way}{load}" for load in LOADS))


PICTURES = (
    PaperPicture(
        "fig2", "Figure 2: completions over the admit rate, 1000 arrivals/s", (*SWEEP, NC), _figure2
    ),
    PaperPicture(
        "fig3",
        "Figure 3: sessions completed under traffic that does not change",
        (*_cells(*(f"static/{cell}" for cell in CELLS)), *(f"optimum/{cell}" for cell in CELLS)),
        _figure3,
    ),
    PaperPicture("fig4", "Figure 4: how long completed sessions took", (NC, GSS, CP), _figure4),
    PaperPicture(
        "fig5", "Figure 5: admitted and completed over time (seed 1)", (NC, GSS, CP), _figure5
    ),
    PaperPicture("fig6", "Figure 6: how traffic and link change, as reconstructed", (), _figure6),
    PaperPicture(
        "fig7", "Figure 7 and Table III: the arrival rate changes", _loads("arrivals"), _figure7
    ),
    PaperPicture(
        "fig8",
        "Figure 8: LOAD3 of the arrival rate over time (seed 1)",
        ("arrivals/load3/none", "arrivals/load3/cp"),
        _figure8,
    ),
    PaperPicture(
        "fig9",
        "Figure 9: the capacity falls from 10 to 5 Mbit/s",
        tuple(case for rate in ARRIVALS for case in _loads(f"capacity/{rate}", "down-")),
        lambda runs: _by_capacity(runs, "down"),
    ),
    PaperPicture(
        "capacity-up",
        "Run by the authors, not shown: the capacity rises from 10 to 20 Mbit/s",
        tuple(case for rate in ARRIVALS for case in _loads(f"capacity/{rate}", "up-")),
        lambda runs: _by_capacity(runs, "up"),
    ),
    PaperPicture(
        "pulses",
        "Run by the authors, not shown: pulses of 25 s at 50, 150 and 250 s",
        _cells(
            "arrivals/pulses",
            *(f"{what}/{rate}/pulses" for what in ("size", "capacity") for rate in ARRIVALS),
        ),
        _pulses,
    ),
    PaperPicture(
        "optima",
        "The brute-force optimum for other arrival rates and capacities",
        tuple(f"optimum/{name}" for name in ("10k-300", "10k-600", "10k-1000", "5M", "20M", "udp")),
        _optima,
    ),
    PaperPicture(
        "ablations",
        "The laws without one of their parts (seed 1)",
        (
            GSS,
            CP,
            "ablation/gss-alone",
            "capacity/1000/up-load3/gssga",
            "ablation/up-load3-no-way-back",
            "ablation/no-smoothing",
        ),
        _ablations,
    ),
    PaperPicture(
        "beyond",
        "Beyond the paper: 1000 arrivals/s of 10 kB",
        tuple(case for _, case in BEYOND),
        _beyond,
    ),
)
