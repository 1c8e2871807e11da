"""The report: which control serves most users in time, on each kind of link."""

from __future__ import annotations

import io
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.studies.study import table
from tidegate.studies.today.cases import CONTROLS, HOSTS, LINKS, LOADS, OWN_HOSTS, name

if TYPE_CHECKING:
    from tidegate.results.run_files import SavedRun
    from tidegate.studies.study import FinishedRuns
    from tidegate.studies.today.cases import Link

IN_TIME_S = 10.0
"""A session that takes longer from its first SYN counts as failed."""
ALL = tuple("+".join(stages) for stages in CONTROLS)


@dataclass(frozen=True)
class Served:
    """What users get under one control."""

    in_time: float
    """Share of the sessions that completed within `IN_TIME_S`."""
    median_s: float
    tail_s: float
    """The 95th percentile of the completed sessions."""
    goodput: float
    """Delivered data as a share of the link, with long transfers."""
    again: float
    delay_ms: float
    """Mean wait in the queue of the link."""


def served(record: SavedRun, link: Link) -> Served:
    """Return what users get in one run."""
    flows, rates = record.flows(), record.rates()
    end = float(link.duration_s) - IN_TIME_S
    second = rates["time_s"]  # the end of each second
    came = float(np.sum(rates["started"][(second > link.warmup_s) & (second <= end)]))
    inside = (flows["start_s"] >= link.warmup_s) & (flows["start_s"] < end)
    took = (flows["closed_s"] - flows["start_s"])[inside]
    web = record.traffic("web")
    port = record.port("bottleneck")
    delivered = float(record.all["delivered_bytes"])
    waits = port["queue_mean_packets"] / max(port["departed"], 1)
    return Served(
        in_time=float(np.sum(took <= IN_TIME_S)) / came if came else nan,
        median_s=_known(web["fct_p50_s"]),
        tail_s=_known(web["fct_p95_s"]),
        goodput=delivered * 8 / (link.mbit * 1e6 * link.duration_s),
        again=float(record.all["retransmitted_share"] or 0.0),
        delay_ms=1e3 * waits * (link.duration_s - link.warmup_s),
    )


def _known(value: float | None) -> float:
    return nan if value is None else float(value)


def pages(there: FinishedRuns) -> dict[str, bytes]:
    """Return the report and its picture."""
    found = _found(there)
    runs = f"{len(there.cases)} of {there.planned} cases were run, {there.runs.seeds} seed(s)."
    lines = [
        "# Which control helps on a link of today?",
        "",
        "Made by `tidegate study today`; [docs/today.md](../../today.md) has the summary.",
        "",
        f"{runs} *In time* is the share of the sessions that completed within"
        f" {IN_TIME_S:g} s of their first SYN.",
    ]
    for link in LINKS:
        lines += ["", f"## {link.name}: {link.says}", ""]
        for load, says in LOADS.items():
            lines += [f"### {load}: {says}", "", *_table(found, link, load), ""]
    pictures = {"pictures/in-time.png": _picture(found)} if found else {}
    return {"REPORT.md": "\n".join(lines).encode(), **pictures}


def _found(there: FinishedRuns) -> dict[str, Served]:
    by_name = {link.name: link for link in LINKS}
    return {
        key: served(there.runs.records(key)[0], by_name[key.partition("/")[0]])
        for key in sorted(there.cases)
    }


def _table(found: dict[str, Served], link: Link, load: str) -> list[str]:
    head = [
        "hosts",
        "control",
        "in time %",
        "FCT median s",
        "FCT 95 % s",
        "goodput %",
        "again %",
        "queue ms",
    ]
    rows = [(hosts, control) for hosts in HOSTS for control in ALL]
    rows += [("own", control) for control in OWN_HOSTS]
    lines = []
    for hosts, control in rows:
        got = found.get(name(link, load, hosts, control))
        if got is not None:
            shares = (f"{100 * share:.0f}" for share in (got.goodput, got.again))
            times = (_seconds(got.median_s), _seconds(got.tail_s))
            delay = f"{got.delay_ms:.0f}"
            lines.append((hosts, control, f"{100 * got.in_time:.0f}", *times, *shares, delay))
    return table(head, lines)


def _seconds(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}"


def _picture(found: dict[str, Served]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 9), layout="constrained")
    grid = figure.subplots(len(LINKS), len(LOADS), sharex=True, sharey=True)
    places = np.arange(len(ALL))
    for row, link in enumerate(LINKS):
        for column, load in enumerate(LOADS):
            axes = grid[row][column]
            for number, hosts in enumerate(HOSTS):
                got = [found.get(name(link, load, hosts, control)) for control in ALL]
                shares = [0.0 if each is None else 100 * each.in_time for each in got]
                axes.barh(places + 0.4 * number - 0.2, shares, 0.38, label=hosts)
            axes.set_yticks(places, ALL)
            axes.set_xlim(0, 100)
            axes.grid(axis="x", alpha=0.3)
            axes.set_title(f"{link.name}, {load}", fontsize=10)
    grid[0][0].invert_yaxis()
    grid[0][0].legend(fontsize=8)
    figure.supxlabel(f"sessions completed within {IN_TIME_S:g} s of the first SYN (%)")
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110, metadata={"Software": ""})
    return out.getvalue()
