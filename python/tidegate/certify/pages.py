"""The pages of a certificate: a table for the terminal, REPORT.md, JSON and pictures."""

from __future__ import annotations

import json
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from tidegate.certify.verdicts import BETTER, LIKE, UNSETTLED, WORSE
from tidegate.papers.page import png
from tidegate.papers.page import table as markdown
from tidegate.results.digits import significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from rich.console import RenderableType

    from tidegate.certify.certificate import Certificate, Judged
    from tidegate.certify.conditions import Suite
    from tidegate.certify.verdicts import Measured

COLOURS = {WORSE: "tab:red", BETTER: "tab:green", LIKE: "tab:gray", UNSETTLED: "tab:blue"}

CHANGED = "†"
"""The mark of a condition in which something was changed for the control."""

RULE = (
    "*Worse*: more harm than the worst of those that it is compared with, by more than the limit,"
    " with 95 % confidence over the seeds. *Better*: less than the best of them, likewise."
    " *Like*: not worse, for certain. *Not settled*: the interval over the seeds reaches beyond the"
    " limit, so more seeds (`--seeds`) tell whether it is worse. A condition is better where one of"
    " its measures is, and none is worse."
    " ± is the 95 % interval of a mean."
    " No RFC gives the limits; they stand in one table for each suite."
)


def number(value: float) -> str:
    """Return a value with three digits."""
    return "none" if isnan(value) else significant(value)


def _sizes(each: Measured) -> str:
    theirs = ", ".join(
        f"{name} {number(float(np.mean(found)))}" for name, found in each.references.items()
    )
    unit = f" {each.limit.unit}" if each.limit.unit else ""
    return f"{with_interval(each)}{unit} ({theirs})"


def with_interval(each: Measured) -> str:
    """Return the mean of the control's values with its 95 % interval."""
    if isnan(each.half):
        return number(each.mean)
    half = f"{each.half:.0f}" if each.half >= 10 else f"{round(each.half, 9):.1g}"
    return f"{number(each.mean)} ± {half}"


def what(each: Measured) -> str:
    """Return what was measured, in words."""
    where = "" if each.of == "bottleneck" else f" of {each.of}"
    return f"{each.limit.says}{where}"


def table(done: Certificate) -> RenderableType:
    """Return one line per condition."""
    from tidegate.papers.tables import of_verdicts

    rows = (
        (each.condition.section, f"{each.condition.id}{_mark(each)}", each.verdict, _decisive(each))
        for each in done.judged
    )
    heads = ("section", "condition", "verdict", "measured (standard controls)")
    below = [summary(done), *(f"{CHANGED} {said}." for said in _changes(done))]
    return of_verdicts(dict.fromkeys(heads), rows, " ".join(below))


def _mark(judged: Judged) -> str:
    return f" {CHANGED}" if judged.changed else ""


def _decisive(judged: Judged) -> str:
    if not judged.measured:
        return judged.reason
    shown = [each for each in judged.measured if each.verdict == judged.verdict]
    return "; ".join(f"{what(each)}: {_sizes(each)}" for each in shown[:2])


def summary(done: Certificate) -> str:
    """Return the verdicts counted, in a sentence."""
    names = " and ".join(each.name for each in done.against)
    worse, like, better, open_ = map(done.count, (WORSE, LIKE, BETTER, UNSETTLED))
    rest = len(done.judged) - worse - like - better - open_
    more = f", not settled in {open_} (more --seeds tell)" if open_ else ""
    more += f", {rest} without a verdict" if rest else ""
    return (
        f"{done.control.name} beside {names}: worse in {worse} conditions, like them in {like},"
        f" better in {better}{more}."
    )


def files(certificates: Sequence[Certificate]) -> dict[str, bytes]:
    """Return the files of certificates by name; the first is the one to read first."""
    found: dict[str, bytes] = {}
    if len(certificates) > 1:
        found[f"{certificates[0].suite.name}.md"] = overview(certificates).encode()
    keys = [each.control.key for each in certificates]
    for number, done in enumerate(certificates):
        again = keys[:number].count(done.control.key)
        place = f"{done.suite.name}/{done.control.key}" + (f"-{again + 1}" if again else "")
        found |= {
            f"{place}/REPORT.md": _page(done).encode(),
            f"{place}/certificate.json": _json(done),
            f"{place}/badge.svg": _badge(done),
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
        f"{each.section:6} {each.id}: {each.title} ({display(suite.folder / suite.scenario(each))})"
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
        "Red: worse. Green: better. Grey: like. Blue: not settled. Orange: not known.",
        "",
        *markdown(
            ("section", "condition", "verdict", "measured (compared with)", "limit"),
            (row for each in done.judged for row in _rows(each)),
        ),
        "",
        "![Throughput and queue over time](pictures/conditions.png)",
        "",
        "The bottleneck in the first seed of each condition: throughput (above, Mbit/s) and packets"
        f" that wait (below); blue {done.control.name}, grey {done.against[-1].name}.",
        "",
        *_not_covered(done.suite),
        "A condition is a scenario: `tidegate certify --list` shows where each one is.",
        "",
    ]
    return "\n".join(lines)


def _not_covered(suite: Suite) -> list[str]:
    rows = [f"- {each.section} {each.title}: {each.reason}." for each in suite.not_covered]
    return ["## Not covered", "", *rows, ""] if rows else []


def _rows(judged: Judged) -> list[tuple[str, ...]]:
    condition = judged.condition
    changed = f"; {judged.changed}" if judged.changed else ""
    first = (condition.section, f"`{condition.id}`: {condition.title}{changed}")
    if not judged.measured:
        return [(*first, judged.verdict, judged.reason, "")]
    return [
        (
            *(("", "") if place else first),
            one.verdict,
            f"{what(one)}: {_sizes(one)}",
            one.limit.text,
        )
        for place, one in enumerate(judged.measured)
    ]


def _in_title(each: Certificate) -> str:
    """Return a control; one with settings as code, in which a site leaves the quotes alone."""
    name = each.control.name
    return f"`{name}`" if "{" in name else name


def overview(certificates: Sequence[Certificate]) -> str:
    """Return the verdicts of several controls as one table in Markdown."""
    first = certificates[0]
    lines = [
        f"# The suite {first.suite.name}: {', '.join(map(_in_title, certificates))}",
        "",
        f"Compared with {' and '.join(each.name for each in first.against)},"
        f" {first.runs.seeds} seeds. {RULE}",
        "",
    ]
    rows = [
        (f"`{judged.condition.id}`", *(_cell(each.judged[place]) for each in certificates))
        for place, judged in enumerate(first.judged)
    ]
    rows.append(("", *(_counted(each) for each in certificates)))
    head = ("condition", *(each.control.name for each in certificates))
    return "\n".join([*lines, *markdown(head, rows), "", *_notes(certificates)])


def _notes(certificates: Sequence[Certificate]) -> list[str]:
    """Say below the table what its marks mean, and why conditions were not run."""
    found: dict[tuple[str, str], list[str]] = {}
    for done in certificates:
        for said in _changes(done):
            found.setdefault((CHANGED, said), []).append(done.control.name)
        for reason in dict.fromkeys(each.reason for each in done.judged if each.reason):
            ids = ", ".join(
                f"`{each.condition.id}`" for each in done.judged if each.reason == reason
            )
            found.setdefault((f"Not run: {ids}:", reason), []).append(done.control.name)
    return [
        line
        for (first, said), names in found.items()
        for line in (f"{first} {', '.join(names)}: {said}.", "")
    ]


def _changes(done: Certificate) -> list[str]:
    return list(dict.fromkeys(each.changed for each in done.judged if each.changed))


def _counted(done: Certificate) -> str:
    found = f"{done.count(WORSE)} worse, {done.count(BETTER)} better"
    open_ = done.count(UNSETTLED)
    return f"{found}, {open_} not settled" if open_ else found


def _cell(judged: Judged) -> str:
    """Return the verdict, and the measures that it rests on."""
    if judged.verdict not in (WORSE, BETTER, UNSETTLED):
        return f"{judged.verdict}{_mark(judged)}"
    decisive = [each for each in judged.measured if each.verdict == judged.verdict]
    sizes = ", ".join(f"{each.limit.name} {with_interval(each)}" for each in decisive[:2])
    word = judged.verdict if judged.verdict == UNSETTLED else f"**{judged.verdict}**"
    return f"{word}{_mark(judged)}: {sizes}"


def _badge(done: Certificate) -> bytes:
    """Draw the suite and the verdicts counted as a badge, red if any is worse."""
    left, right = (len(text) * 6.5 + 12 for text in (done.suite.title, _counted(done)))
    texts = ((done.suite.title, 0.0, left, "#555"), (_counted(done), left, right, _shade(done)))
    parts = "".join(
        f'<rect x="{x:g}" width="{width:g}" height="20" fill="{fill}"/>'
        f'<text x="{x + width / 2:g}" y="14" fill="#fff" text-anchor="middle"'
        f' font-family="sans-serif" font-size="11">{text}</text>'
        for text, x, width, fill in texts
    )
    label = f"{done.suite.title}: {_counted(done)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:g}" height="20" role="img"'
        f' aria-label="{label}">{parts}</svg>\n'
    ).encode()


def _shade(done: Certificate) -> str:
    return "#b42318" if done.count(WORSE) else "#2e7d32"


def _verdicts(done: Certificate) -> bytes:
    from matplotlib.figure import Figure

    rows = [(judged, one) for judged in done.judged for one in judged.measured]
    figure = Figure(figsize=(10, 1.2 + 0.2 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, (_, one) in enumerate(rows):
        _row(axes, place, one)
    names = [f"{judged.condition.id}: {what(one)}" for judged, one in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=7)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.axvspan(-1, 1, color="tab:gray", alpha=0.15)
    axes.set_xlim(-6.3, 6.3)
    others = " and ".join(each.name for each in done.against)
    axes.set_xlabel(f"distance from {others}, in limits: left better, right worse")
    axes.grid(axis="x", alpha=0.3)
    return png(figure, 100)


def _row(axes: Axes, place: int, one: Measured) -> None:
    """Draw a measure and its interval in units of its limit."""
    colour = COLOURS.get(one.verdict, "tab:orange")
    if isnan(one.distance):
        axes.plot([5.9], [place], marker=">", color=colour)
        return
    centre, low, high = np.clip((one.distance, one.low, one.high), -6, 6)
    axes.plot([low, high], [place, place], color=colour, linewidth=1)
    axes.plot([centre], [place], marker="o", markersize=4, color=colour)


def _conditions(done: Certificate) -> bytes:
    from matplotlib.figure import Figure

    shown = [each for each in done.judged if each.measured]
    columns = 4
    rows = -(-len(shown) // columns) or 1
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
    return png(figure, 100)


def _over_time(done: Certificate, judged: Judged, rate: Axes, queue: Axes) -> None:
    key = judged.condition.id
    other = list(judged.measured[0].references)[-1]
    for name, colour in ((other, "0.6"), (done.control.name, "tab:blue")):
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
