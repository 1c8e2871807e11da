"""The pages of a certificate: a table for the terminal, REPORT.md, JSON and pictures."""

from __future__ import annotations

import io
import json
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.certify.conditions import FOLDER
from tidegate.certify.verdicts import BETTER, LIKE, WORSE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from tidegate.certify.certificate import Certificate, Judged
    from tidegate.certify.conditions import Suite
    from tidegate.certify.verdicts import Measured

STYLES = {WORSE: "red", BETTER: "green", LIKE: "default"}
COLOURS = {WORSE: "tab:red", BETTER: "tab:green", LIKE: "tab:gray"}


RULE = (
    "*Worse*: more harm than the worst of those that it is compared with, by more than the limit,"
    " with 95 % confidence over the seeds. *Better*: less than the best of them, likewise."
    " No RFC gives the limits; they were chosen before the first run."
)


def number(value: float) -> str:
    """Return a value with three digits."""
    return "none" if isnan(value) else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _sizes(each: Measured) -> str:
    theirs = ", ".join(
        f"{name} {number(float(np.mean(found)))}" for name, found in each.references.items()
    )
    unit = f" {each.limit.unit}" if each.limit.unit else ""
    return f"{number(each.mean)}{unit} ({theirs})"


def what(each: Measured) -> str:
    """Return what was measured, in words."""
    where = "" if each.of == "bottleneck" else f" of {each.of}"
    return f"{each.limit.says}{where}"


def table(done: Certificate) -> RenderableType:
    """Return one line per condition."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=None, pad_edge=False)
    for head in ("section", "condition", "verdict", "measured (standard controls)"):
        rows.add_column(head, overflow="fold")
    for each in done.judged:
        rows.add_row(
            each.condition.section,
            each.condition.id,
            Text(each.verdict, style=STYLES.get(each.verdict, "yellow")),
            _decisive(each),
        )
    return Group(rows, Text(""), Text(summary(done)))


def _decisive(judged: Judged) -> str:
    if not judged.measured:
        return judged.reason
    shown = [each for each in judged.measured if each.verdict == judged.verdict]
    return "; ".join(f"{what(each)}: {_sizes(each)}" for each in shown[:2])


def summary(done: Certificate) -> str:
    """Return the verdicts counted, in a sentence."""
    names = " and ".join(each.name for each in done.against)
    counts = {
        verdict: sum(each.verdict == verdict for each in done.judged)
        for verdict in (WORSE, LIKE, BETTER)
    }
    rest = len(done.judged) - sum(counts.values())
    more = f", {rest} without a verdict" if rest else ""
    return (
        f"{done.control.name} beside {names}: worse in {counts[WORSE]} conditions, like them in"
        f" {counts[LIKE]}, better in {counts[BETTER]}{more}."
    )


def files(certificates: Sequence[Certificate]) -> dict[str, bytes]:
    """Return the files of certificates by name; the first is the one to read first."""
    found: dict[str, bytes] = {}
    if len(certificates) > 1:
        found[f"{certificates[0].suite.name}.md"] = overview(certificates).encode()
    for done in certificates:
        place = f"{done.suite.name}/{done.control.key}"
        found |= {
            f"{place}/REPORT.md": _page(done).encode(),
            f"{place}/certificate.json": _json(done),
            f"{place}/pictures/verdicts.png": _verdicts(done),
            f"{place}/pictures/conditions.png": _conditions(done),
        }
    return found


def _json(done: Certificate) -> bytes:
    return (json.dumps(done.document(), indent=1, allow_nan=False) + "\n").encode()


def listed(suite: Suite) -> str:
    """Return every condition with its section and its scenario, and what is not covered."""
    from tidegate.results.store import display

    rows = [
        f"{each.section:6} {each.id}: {each.title} ({display(FOLDER / suite.scenario(each))})"
        for each in suite.conditions
    ]
    rest = [
        f"{each.section:6} not covered: {each.title}: {each.reason}" for each in suite.not_covered
    ]
    return "\n".join(rows + rest)


def _page(done: Certificate) -> str:
    lines = [
        f"# {done.control.name} under the conditions of the suite {done.suite.name}",
        "",
        summary(done),
        "",
        f"Made by `tidegate certify` with {done.runs.seeds} seeds. {RULE}",
        "",
        "![How far the control is from the standard ones](pictures/verdicts.png)",
        "",
        "| section | condition | verdict | measured (compared with) | limit |",
        "|---|---|---|---|---|",
    ]
    for each in done.judged:
        lines += _rows(each)
    lines += [
        "",
        "![Throughput and queue over time](pictures/conditions.png)",
        "",
        "The bottleneck in the first seed of each condition: throughput (above, Mbit/s) and packets"
        f" that wait (below); blue {done.control.name}, grey {done.against[-1].name}.",
        "",
        "## Not covered",
        "",
        *(f"- {each.section} {each.title}: {each.reason}." for each in done.suite.not_covered),
        "",
        "A condition is a scenario: `tidegate certify --list` shows where each one is.",
        "",
    ]
    return "\n".join(lines)


def _rows(judged: Judged) -> list[str]:
    condition = judged.condition
    first = f"| {condition.section} | `{condition.id}`: {condition.title}"
    if not judged.measured:
        return [f"{first} | {judged.verdict} | {judged.reason} | |"]
    return [
        f"{'| | ' if place else first} | {one.verdict} | {what(one)}: {_sizes(one)}"
        f" | {one.limit.text} |"
        for place, one in enumerate(judged.measured)
    ]


def overview(certificates: Sequence[Certificate]) -> str:
    """Return the verdicts of several controls as one table in Markdown."""
    first = certificates[0]
    lines = [
        f"# The suite {first.suite.name}: {', '.join(each.control.name for each in certificates)}",
        "",
        f"Compared with {' and '.join(each.name for each in first.against)},"
        f" {first.runs.seeds} seeds. {RULE}",
        "",
        f"| condition | {' | '.join(each.control.name for each in certificates)} |",
        f"|---|{'---|' * len(certificates)}",
    ]
    for place, judged in enumerate(first.judged):
        cells = (_cell(each.judged[place]) for each in certificates)
        lines.append(f"| `{judged.condition.id}` | {' | '.join(cells)} |")
    counted = ((each.worse, each.better) for each in certificates)
    totals = (f"{worse} worse, {better} better" for worse, better in counted)
    return "\n".join([*lines, f"| | {' | '.join(totals)} |", ""])


def _cell(judged: Judged) -> str:
    """Return the verdict, and the measures that it rests on."""
    if judged.verdict not in (WORSE, BETTER):
        return judged.verdict
    decisive = [each for each in judged.measured if each.verdict == judged.verdict]
    sizes = ", ".join(f"{each.limit.name} {number(each.mean)}" for each in decisive[:2])
    return f"**{judged.verdict}**: {sizes}"


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=100, metadata={"Software": ""})
    return out.getvalue()


def _verdicts(done: Certificate) -> bytes:
    from matplotlib.figure import Figure

    rows = [(judged, one) for judged in done.judged for one in judged.measured]
    figure = Figure(figsize=(10, 1.2 + 0.2 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, (_, one) in enumerate(rows):
        _row(axes, place, one)
    names = [f"{judged.condition.id}: {what(one)}" for judged, one in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axvspan(-1, 1, color="tab:gray", alpha=0.15)
    axes.set_xlim(-6.3, 6.3)
    others = " and ".join(each.name for each in done.against)
    axes.set_xlabel(f"distance from {others}, in limits: left better, right worse")
    axes.grid(axis="x", alpha=0.3)
    return _png(figure)


def _row(axes: Axes, place: int, one: Measured) -> None:
    """Draw a measure and its interval in units of its limit."""

    def limits(distance: float) -> float:
        if one.limit.points is not None:
            return distance / one.limit.points
        return float(np.log(distance) / np.log(one.limit.ratio or np.e))

    colour = COLOURS.get(one.verdict, "tab:orange")
    if isnan(one.distance):
        axes.plot([5.9], [place], marker=">", color=colour)
        return
    centre, low, high = (
        float(np.clip(limits(d), -6, 6)) for d in (one.distance, one.low, one.high)
    )
    axes.plot([low, high], [place, place], color=colour, linewidth=1)
    axes.plot([centre], [place], marker="o", markersize=4, color=colour)


def _conditions(done: Certificate) -> bytes:
    from matplotlib.figure import Figure

    shown = [each for each in done.judged if each.measured]
    columns = 4
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(15, 2.6 * rows), layout="constrained")
    grid = figure.subplots(2 * rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for place, judged in enumerate(shown):
        row, column = divmod(place, columns)
        _over_time(done, judged, grid[2 * row][column], grid[2 * row + 1][column])
        if column == 0:
            grid[2 * row][0].set_ylabel("Mbit/s", fontsize=7)
            grid[2 * row + 1][0].set_ylabel("packets", fontsize=7)
    if shown:
        figure.legend(*grid[1][0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        figure.supxlabel("time [s]", fontsize=8)
    return _png(figure)


def _over_time(done: Certificate, judged: Judged, rate: Axes, queue: Axes) -> None:
    key = judged.condition.id
    for name, colour in ((done.against[-1].name, "0.6"), (done.control.name, "tab:blue")):
        series = done.runs.records(f"{key}/{name}")[0].ports()
        time = series["time_s"]
        steps = np.diff(time, prepend=0.0)
        rate.plot(time, series["departed_bytes"] * 8e-6 / steps, color=colour, linewidth=0.9)
        queue.plot(time, series["queue_mean_packets"], color=colour, linewidth=0.9, label=name)
    rate.set_title(f"{key}: {judged.verdict}", fontsize=8)
    for axes in (rate, queue):
        axes.axis("on")
        axes.tick_params(labelsize=6)
        axes.set_ylim(bottom=0)
