"""The report: which control serves most users in time, on each kind of link."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.page import png, table
from tidegate.results.measures import in_time, known
from tidegate.studies.today.cases import (
    FITTED,
    HOSTS,
    LINKS,
    LOADS,
    OWN_HOSTS,
    TAKEN_AWAY,
    TAKEN_FROM,
    controls,
    name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun
    from tidegate.studies.today.cases import TodayLink

IN_TIME_S = 10.0
"""A session or a page that takes longer counts as failed."""

TAKEN_HEAD = ("changed", "in time %", "median s")


@dataclass(frozen=True)
class Served:
    """What users get under one control."""

    in_time: float
    """Share of the sessions, or of the pages, that completed within `IN_TIME_S`."""
    median_s: float
    tail_s: float
    """The 95th percentile of the completed ones."""
    goodput: float
    """Delivered data as a share of the link, with long transfers."""
    again: float
    delay_ms: float
    """Mean wait in the queue of the link."""


def served(record: SavedRun, link: TodayLink) -> Served:
    """Return what users get in one run."""
    web = record.traffic("web")
    port = record.port("bottleneck")
    delivered = float(record.all["delivered_bytes"])
    waits = port["queue_mean_packets"] / max(port["departed"], 1)
    # users give a page up after `IN_TIME_S`: every page that was loaded was in time
    page = web.get("pages") is not None
    time = "page_load" if page else "fct"
    return Served(
        in_time=known(web["pages_loaded_share"]) if page else in_time(IN_TIME_S)(record),
        median_s=known(web[f"{time}_p50_s"]),
        tail_s=known(web[f"{time}_p95_s"]),
        goodput=delivered * 8 / (link.mbit * 1e6 * link.duration_s),
        again=float(record.all["retransmitted_share"] or 0.0),
        delay_ms=1e3 * waits * (link.duration_s - link.warmup_s),
    )


def pages(runs: Runs) -> dict[str, bytes]:
    """Return the report and its picture."""
    found = _found(runs)
    lines = [
        "# Which control helps on a link of today?",
        "",
        "Made by `tidegate study today`; [docs/today.md](../../today.md) has the summary.",
        "",
        f"{len(runs.declared)} of {len(runs.paper.cases)} cases were run, each with {runs.seeds}"
        f" seed(s). *In time* is the share of the sessions that completed within {IN_TIME_S:g} s"
        f" of their first SYN; of pages, the share that was loaded within {IN_TIME_S:g} s of the"
        " click. It is the mean over the seeds, and in brackets the lowest and the highest. The"
        " other columns are means; times are those of what completed.",
    ]
    for link in LINKS:
        lines += ["", f"## {link.name}: {link.says}", ""]
        if any(stage in FITTED.values() for stages in controls(link, "cubic") for stage in stages):
            lines += [_fitted(), ""]
        for load, says in LOADS.items():
            lines += [f"### {load}: {says}", "", *_table(found, link, load), ""]
            if TAKEN_FROM.startswith(name(link, load, "cubic", "")):
                lines += _taken_away(found)
    pictures = {"pictures/in-time.png": _picture(found)} if found else {}
    return {"REPORT.md": "\n".join(lines).encode(), **pictures}


def _fitted() -> str:
    names = " and ".join(FITTED.values())
    return (
        f"FQ-CoDel and CAKE expect round trips of about 100 ms by default. {names} have the"
        " interval that fits this link, and 5 % of it as the target."
    )


def _found(runs: Runs) -> dict[str, list[Served]]:
    by_name = {name(link, "", "", "").partition("/")[0]: link for link in LINKS}
    return {
        key: [served(record, by_name[key.partition("/")[0]]) for record in runs.records(key)]
        for key in sorted(runs.declared)
    }


def _names(link: TodayLink, hosts: str) -> tuple[str, ...]:
    return tuple("+".join(stages) for stages in controls(link, hosts))


def _every(link: TodayLink) -> tuple[str, ...]:
    """Return the controls of a link, whatever the hosts."""
    return tuple(dict.fromkeys(each for hosts in HOSTS for each in _names(link, hosts)))


def _table(found: dict[str, list[Served]], link: TodayLink, load: str) -> list[str]:
    head = (
        "hosts",
        "control",
        "in time %",
        "median s",
        "95 % s",
        "goodput %",
        "again %",
        "queue ms",
    )
    rows = [(hosts, control) for hosts in HOSTS for control in _names(link, hosts)]
    rows += [("own", control) for control in OWN_HOSTS]
    lines = []
    for hosts, control in rows:
        got = found.get(name(link, load, hosts, control))
        if got:
            shares = (f"{100 * _mean(got, each):.0f}" for each in ("goodput", "again"))
            times = (_seconds(_mean(got, each)) for each in ("median_s", "tail_s"))
            delay = f"{_mean(got, 'delay_ms'):.0f}"
            lines.append((hosts, control, in_brackets(got), *times, *shares, delay))
    return table(head, lines)


def _taken_away(found: dict[str, list[Served]]) -> list[str]:
    """Return what `tide` serves where it loses, whole and without each possible cause."""
    keys = {"nothing": TAKEN_FROM, **{part: f"{TAKEN_FROM}, {part}" for part in TAKEN_AWAY}}
    rows = [
        (part, in_brackets(found[key]), _seconds(_mean(found[key], "median_s")))
        for part, key in keys.items()
        if key in found
    ]
    if len(rows) < 2:
        return []
    return ["`tide` there, with one thing changed:", "", *table(TAKEN_HEAD, rows), ""]


def _mean(runs: list[Served], measure: str) -> float:
    return float(np.mean([getattr(run, measure) for run in runs]))


def in_brackets(runs: list[Served]) -> str:
    """Return the mean share in time (%), and of several runs the lowest and the highest."""
    shares = sorted(100 * run.in_time for run in runs)
    mean = f"{np.mean(shares):.0f}"
    return mean if len(shares) == 1 else f"{mean} ({shares[0]:.0f} to {shares[-1]:.0f})"


def _seconds(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}"


def _picture(found: dict[str, list[Served]]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 19), layout="constrained")
    every = [_every(link) for link in LINKS]
    counts = [len(each) for each in every]
    grid = figure.subplots(len(LINKS), len(LOADS), sharex=True, sharey="row", height_ratios=counts)
    for row, (link, there) in enumerate(zip(LINKS, every, strict=True)):
        for axes, load in zip(grid[row], LOADS, strict=True):
            for number, hosts in enumerate(HOSTS):
                got = [found.get(name(link, load, hosts, control)) for control in there]
                _bars(axes, got, 0.27 * (number - 1), hosts)
            axes.set_yticks(np.arange(len(there)), there, fontsize=8)
            axes.set_xlim(0, 100)
            axes.grid(axis="x", alpha=0.3)
            axes.set_title(f"{link.name}, {load}", fontsize=10)
    for axes in grid[:, 0]:
        axes.invert_yaxis()
    handles, names = grid[0][LOADED].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper right", ncols=len(HOSTS))
    figure.supxlabel(
        f"sessions completed, or pages loaded, within {IN_TIME_S:g} s (%); lines: all seeds"
    )
    return png(figure, 100)


LOADED = list(LOADS).index("pages")
"""A load that all hosts have."""


def _bars(axes: Axes, runs: list[list[Served] | None], shift: float, hosts: str) -> None:
    shares = {
        row: 100 * np.array([each.in_time for each in got]) for row, got in enumerate(runs) if got
    }
    means = np.array([each.mean() for each in shares.values()])
    spread = np.array(
        [[each.mean() - each.min(), each.max() - each.mean()] for each in shares.values()]
    )
    rows = np.array(list(shares)) + shift
    if shares:
        axes.barh(rows, means, 0.26, label=hosts, xerr=spread.T, error_kw={"linewidth": 1})
