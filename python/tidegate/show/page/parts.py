"""What a page says of one folder: of a run, a comparison, a sweep or a paper."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from tidegate.grid.axes import named
from tidegate.grid.grid_result import GridResult, warnings_of
from tidegate.show.page import charts, claims, frames, grids, origin, series, tables, words
from tidegate.show.style import PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidegate.grid.load import Loaded
    from tidegate.show.page.sheet import Page
    from tidegate.show.tables import Row

FATES = (
    ("served", "completed_share"),
    ("admitted, unfinished", "unfinished_share"),
    ("never admitted", "never_admitted_share"),
)
TABLES = ("flows.parquet", "ports.parquet")


def add(page: Page, loaded: Loaded, part: str) -> None:
    """Add the part of one folder."""
    titles = {"compare": "comparison", "sweep": "sweep", "run": "one run", "paper": "claims"}
    page.heading(part, f"{loaded.name}: {titles[loaded.command]}")
    adding = {"compare": _comparison, "sweep": _sweep, "run": _run, "paper": _paper}
    adding[loaded.command](page, loaded, part)


def _comparison(page: Page, loaded: Loaded, part: str) -> None:
    done = loaded.result(GridResult)
    labels = [named(row["settings"]) for row in done.averages]
    page.text(words.of_comparison(done, labels))
    _warnings(page, [*filter(None, [loaded.gaps]), *done.warnings])
    _bar(page, labels, part)
    metrics = tables.metrics(done.subject, done.averages, labels)
    titles = {name: row.title for name, row in metrics.items()}
    page.data[f"{part}-sides"] = _long(done.averages, labels, metrics)
    page.chart(part, charts.sides(f"{part}-sides", labels, titles, len(done.subject.seeds)))
    page.data[f"{part}-fates"] = _fates(done.averages, labels)
    page.chart(part, charts.fates(f"{part}-fates", labels))
    page.data[f"{part}-fct"] = frames.packed(
        frames.distributions(dict(zip(labels, done.curves.values(), strict=True)))
    )
    page.chart(part, charts.distribution(f"{part}-fct", labels))
    if len(labels) > 1 and len(done.subject.seeds) > 1:
        found = [{}, *done.differences]
        page.data[f"{part}-more"] = _long(found, labels, metrics)
        page.chart(part, charts.differences(f"{part}-more", labels, titles))
    kept = {
        label: [run.folder for (place, _), run in loaded.runs.items() if place == number]
        for number, label in enumerate(point.label for point in done.subject.points)
        if label in labels
    }
    window = (done.subject.warmup_s, done.subject.duration_s)
    _over_time(page, part, kept, window, _access(done.subject.ports), done.subject.seeds[0])
    page.text("<h3>All measures</h3>")
    page.text(tables.averages(done.subject, done.averages, labels, part))
    page.text("<h3>Every run</h3>")
    page.text(tables.runs(done.rows, list(done.subject.axes), part))
    _origin(page, loaded)


def _run(page: Page, loaded: Loaded, part: str) -> None:
    summary = loaded.run.summary
    page.text(words.of_run(summary))
    _warnings(page, warnings_of(summary))
    label = f"seed {summary['seed']}"
    _bar(page, [label], part)
    page.data[f"{part}-fates"] = _fates([summary["all"]], [label])
    page.chart(part, charts.fates(f"{part}-fates", [label]))
    ports = [port["name"] for port in summary["ports"]]
    window = (summary["warmup_s"], summary["duration_s"])
    _over_time(page, part, {label: [loaded.folder]}, window, _access(ports), summary["seed"])
    _ports(page, summary, part)
    _origin(page, loaded)


def _sweep(page: Page, loaded: Loaded, part: str) -> None:
    done = loaded.result(GridResult)
    page.text(words.of_sweep(done))
    _warnings(page, [*filter(None, [loaded.gaps]), *done.warnings])
    metrics = tables.metrics(done.subject, done.averages, ["one"])
    page.data[f"{part}-grid"] = frames.packed(grids.table(done, metrics))
    for chart in grids.drawn(done, f"{part}-grid", metrics):
        page.chart(part, chart)
    page.text("<h3>Every run</h3>")
    page.text(tables.runs(done.rows, list(done.subject.axes), part))
    _origin(page, loaded)


def _paper(page: Page, loaded: Loaded, part: str) -> None:
    found = loaded.claims
    counted = ", ".join(f"{number} {verdict}" for verdict, number in found["counts"].items())
    seeds = found["settings"]["seeds"]
    page.text(words.paragraphs([f"{len(found['claims'])} claims over {seeds} seeds: {counted}."]))
    ratios = claims.ratios(found["claims"])
    if ratios.height:
        page.data[f"{part}-ratios"] = frames.packed(ratios)
        page.chart(part, claims.drawn(f"{part}-ratios", ratios.height))
    page.text("<h3>Every claim</h3>")
    page.text(claims.table(found, part))
    again = f"tidegate paper {found['paper']}"
    page.text(f"<h3>How to repeat it</h3><pre>{escape(again)}</pre>")


def _warnings(page: Page, warnings: Sequence[str]) -> None:
    for warning in warnings:
        page.text(f'<p class="warning">Warning: {escape(warning)}.</p>')


def _bar(page: Page, labels: Sequence[str], part: str) -> None:
    """Add the switches of the controls."""
    if len(labels) < 2:
        return
    boxes = "".join(
        f'<label><input type="checkbox" checked value="{escape(label)}">'
        f'<i style="background:{PALETTE[place % len(PALETTE)]}"></i>{escape(label)}</label>'
        for place, label in enumerate(labels)
    )
    page.text(f'<div class="bar" data-part="{part}">{boxes}</div>')


def _long(
    rows: Sequence[Mapping[str, Any]], labels: Sequence[str], metrics: Mapping[str, Row]
) -> frames.Columns:
    """Return a line per control and metric, with its interval, in the units of the titles."""
    lines = []
    for label, row in zip(labels, rows, strict=True):
        for metric, each in metrics.items():
            value = row.get(metric)
            if value is None or value["mean"] is None:
                continue
            mean = value["mean"]
            low, high = (mean if value[end] is None else value[end] for end in ("low", "high"))
            lines.append(
                {
                    "control": label,
                    "metric": metric,
                    "mean": mean * each.scale,
                    "low": low * each.scale,
                    "high": high * each.scale,
                }
            )
    return frames.packed(pl.DataFrame(lines))


def _fates(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> frames.Columns:
    lines = []
    for label, row in zip(labels, rows, strict=True):
        for order, (fate, metric) in enumerate(FATES):
            value = row[metric]
            mean = value["mean"] if isinstance(value, dict) else value
            line = {"control": label, "fate": fate, "order": order, "share": (mean or 0.0) * 100}
            lines.append(line)
    return frames.packed(pl.DataFrame(lines))


def _access(names: Sequence[str]) -> frozenset[str]:
    """Return the ports of hosts, of which nothing is drawn."""
    return frozenset(name for name in names if name.startswith("access."))


def _over_time(
    page: Page,
    part: str,
    kept: Mapping[str, Sequence[Path]],
    window: tuple[float, float],
    access: frozenset[str],
    seed: int,
) -> None:
    """Add what the tables of flows and ports say, where these were kept."""
    labels = list(kept)
    first = {label: runs[0] for label, runs in kept.items() if runs}
    if not all((run / name).exists() for run in first.values() for name in TABLES):
        return
    ports = frames.ports(first, access)
    if ports.height:
        page.data[f"{part}-ports"] = frames.packed(ports)
        names = ports["port"].unique(maintain_order=True).to_list()
        page.chart(part, charts.ports(f"{part}-ports", labels, names, seed))
    flows = {label: frames.flows(run) for label, run in first.items()}
    over = frames.together(
        (label, frames.classes(each, window[1])) for label, each in flows.items()
    )
    page.data[f"{part}-classes"] = frames.packed(over)
    # that which has most to show first: viewers may watch to the end, and none completes
    ended = pl.col("completed_per_s").sum()
    most = over.group_by("class", maintain_order=True).agg(ended)
    names = most.sort("completed_per_s", descending=True, maintain_order=True)["class"].to_list()
    page.chart(part, charts.classes(f"{part}-classes", labels, names, seed))
    series.add(page, part, first, seed)
    every = {label: pl.concat([frames.flows(run) for run in runs]) for label, runs in kept.items()}
    sizes = frames.together(
        (label, frames.by_size(each, window[0])) for label, each in every.items()
    )
    if sizes.height:
        page.data[f"{part}-sizes"] = frames.packed(sizes)
        page.chart(part, charts.sizes(f"{part}-sizes", labels))
    points = frames.together((label, frames.some(each)) for label, each in flows.items())
    if points.height:
        page.data[f"{part}-flows"] = frames.packed(points)
        page.chart(part, charts.single(f"{part}-flows", labels, seed))


def _ports(page: Page, summary: Mapping[str, Any], part: str) -> None:
    heads = [
        "port",
        "utilisation [%]",
        "queue, mean [packets]",
        "SYNs",
        "refused",
        "data packets",
        "dropped",
    ]
    lines = [
        [
            tables.Cell(port["name"], number=False),
            tables.Cell(f"{port['utilisation'] * 100:.1f}", port["utilisation"] * 100),
            tables.Cell(f"{port['queue_mean_packets']:.1f}", port["queue_mean_packets"]),
            *(
                tables.Cell(f"{port[name]:,}", float(port[name]))
                for name in ("syn_arrived", "syn_refused", "data_arrived", "data_dropped")
            ),
        ]
        for port in summary["ports"]
    ]
    page.text("<h3>Ports</h3>" + tables.table(heads, lines, part))


def _origin(page: Page, loaded: Loaded) -> None:
    """Add the scenario, how to repeat it, and what made the numbers."""
    effective = loaded.manifest["effective_scenario"]
    data = base64.b64encode(effective.encode()).decode()
    manifest = loaded.manifest
    made = (
        f"tidegate {manifest['tidegate']}, commit {str(manifest['commit'] or 'unknown')[:12]}, code"
        f" {manifest['code_hash'][:12]}; {manifest.get('cpu_s', 0.0):.1f} s of CPU time"
    )
    page.text("<h3>How to repeat it</h3>")
    page.text(
        f'<p>Save the scenario as <a download="scenario.toml" href="data:text/plain;base64,{data}">'
        f"scenario.toml</a>, and give the command. The same version gives the same numbers, bit for"
        f" bit.</p><pre>{escape(origin.repeated(loaded))}</pre><p class='soft'>{escape(made)}.</p>"
    )
    if loaded.command != "run":
        page.text(origin.variants(loaded))
    page.text(f"<details open><summary>The scenario</summary>{origin.marked(effective)}</details>")
