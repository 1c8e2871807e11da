"""The part of a page about one folder: a run, a comparison, a sweep or a paper."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

from tidegate.grid.axes import named
from tidegate.grid.grid_result import GridResult, warnings_of
from tidegate.show import of_grid, of_runs
from tidegate.show.measures import endless, measures
from tidegate.show.page import charts, claims, grids, motion, origin, tables, words
from tidegate.show.style import PALETTE
from tidegate.show.tables import PORTS, of_port

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidegate.grid.load import Loaded
    from tidegate.show.measures import Row
    from tidegate.show.page.sheet import Page
    from tidegate.show.picture import Picture

TABLES = ("flows.parquet", "ports.parquet")


def add(page: Page, loaded: Loaded, part: str) -> None:
    """Add the part of one folder."""
    titles = {"compare": "comparison", "sweep": "sweep", "run": "one run", "paper": "claims"}
    page.heading(part, f"{loaded.name}: {titles[loaded.command]}")
    adding = {"compare": _comparison, "sweep": _sweep, "run": _run, "paper": _paper}
    adding[loaded.command](page, loaded, part)


def _comparison(page: Page, loaded: Loaded, part: str) -> None:
    done = loaded.result(GridResult)
    subject, labels = done.subject, [named(row["settings"]) for row in done.averages]
    page.text(words.of_comparison(done, labels))
    _warnings(page, [*filter(None, [loaded.gaps]), *done.warnings])
    _bar(page, labels, part)
    chosen, seeds = measures(subject, done.averages), len(subject.seeds)
    _draw(page, part, of_grid.sides(done.averages, labels, chosen, seeds))
    if not endless(done.averages):
        _draw(page, part, of_grid.fates(done.averages, labels))
        for picture in of_grid.distributions(done):
            _draw(page, part, picture)
    if len(labels) > 1 and seeds > 1:
        _draw(page, part, of_grid.differences(done, labels, chosen))
    folders = {
        label: [run.folder for (index, _), run in loaded.runs.items() if index == number]
        for number, label in enumerate(point.label for point in subject.points)
        if label in labels
    }
    window = (subject.warmup_s, subject.duration_s)
    _over_time(page, part, folders, window, subject.seeds[0], subject.port)
    page.text("<h3>All measures</h3>")
    page.text(tables.averages(subject, done.averages, labels, part))
    page.text("<h3>Every run</h3>")
    page.text(tables.runs(done.rows, list(subject.axes), part))
    _origin(page, loaded)


def _run(page: Page, loaded: Loaded, part: str) -> None:
    summary = loaded.run.summary
    page.text(words.of_run(summary))
    _warnings(page, warnings_of(summary))
    label = f"seed {summary['seed']}"
    if not endless([summary["all"]]):
        _draw(page, part, of_grid.fates([summary["all"]], [label]))
    window = (summary["warmup_s"], summary["duration_s"])
    _over_time(page, part, {label: [loaded.folder]}, window, summary["seed"])
    _ports(page, summary, part)
    _origin(page, loaded)


def _sweep(page: Page, loaded: Loaded, part: str) -> None:
    done = loaded.result(GridResult)
    page.text(words.of_sweep(done))
    _warnings(page, [*filter(None, [loaded.gaps]), *done.warnings])
    chosen = measures(done.subject, done.averages)
    page.data[f"{part}-grid"] = charts.packed(grids.table(done, chosen))
    for chart in grids.drawn(done, f"{part}-grid", chosen):
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
        page.data[f"{part}-ratios"] = charts.packed(ratios)
        page.chart(part, claims.drawn(f"{part}-ratios", ratios.height))
    page.text("<h3>Every claim</h3>")
    if of := found["settings"].get("reasons_of"):
        page.text(words.paragraphs([of]))
    page.text(claims.filtered(found, part))
    again = f"tidegate paper {found['paper']}"
    page.text(f"<h3>How to repeat it</h3><pre>{escape(again)}</pre>")


def _draw(page: Page, part: str, picture: Picture | None) -> None:
    """Add a picture and its table, if there is anything to draw."""
    if picture is not None:
        needs = f"{part}-{picture.key}"
        page.data[needs] = charts.packed(picture.table)
        page.chart(part, charts.of(picture, needs))


def _warnings(page: Page, warnings: Sequence[str]) -> None:
    for warning in warnings:
        page.text(f'<p class="warning">Warning: {escape(warning)}.</p>')


def _bar(page: Page, labels: Sequence[str], part: str) -> None:
    """Add the switches of the controls."""
    if len(labels) < 2:
        return
    boxes = "".join(
        f'<label><input type="checkbox" checked value="{escape(label)}">'
        f'<i style="background:{PALETTE[index % len(PALETTE)]}"></i>{escape(label)}</label>'
        for index, label in enumerate(labels)
    )
    page.text(f'<div class="bar" data-part="{part}">{boxes}</div>')


def _over_time(
    page: Page,
    part: str,
    folders: Mapping[str, Sequence[Path]],
    window: tuple[float, float],
    seed: int,
    port: str | None = None,
) -> None:
    """Add the charts of the tables of flows and ports, if the folders have them."""
    first = {label: runs[0] for label, runs in folders.items() if runs}
    if not all((run / name).exists() for run in first.values() for name in TABLES):
        return
    note = f"Seed {seed}."
    flows = {label: of_runs.flows(run) for label, run in first.items()}
    _draw(page, part, of_runs.ports(folders, note))
    followed = list(of_runs.followed(folders, note))
    for picture in followed:
        page.data[f"{part}-{picture.key}"] = charts.packed(picture.table)
    page.text(motion.of(part, list(first), page.data, port, note))
    _draw(page, part, of_runs.classes(flows, first, window[1], note))
    for picture in followed:
        _draw(page, part, picture)
    _draw(page, part, of_runs.pages(folders, window[1], note))
    _draw(page, part, of_runs.by_size(folders, window[0]))
    _draw(page, part, of_runs.single(flows, note))
    _draw(page, part, of_runs.lasting(first, window, note))


def _ports(page: Page, summary: Mapping[str, Any], part: str) -> None:
    heads = ["port", *(row.title for row in PORTS)]
    lines = [
        [
            tables.Entry(port["name"], number=False),
            *(
                tables.Entry(of_port(row, port), _number(port.get(row.metric), row))
                for row in PORTS
            ),
        ]
        for port in summary["ports"]
    ]
    page.text("<h3>Ports</h3>" + tables.table(heads, lines, part))


def _number(value: float | None, row: Row) -> float | None:
    return None if value is None else value * row.scale


def _origin(page: Page, loaded: Loaded) -> None:
    """Add the scenario, the command that repeats the results, and version and cost."""
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
