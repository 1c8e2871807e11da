"""The pictures of comparisons and sweeps, as data."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidegate.grid.axes import named, numbers, titled
from tidegate.show.measures import Row, centre, endless, measures, of_users
from tidegate.show.picture import Label, Picture, frame, scaled
from tidegate.show.style import PALETTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from tidegate.grid.grid_result import GridResult
    from tidegate.results.curves import Curves
    from tidegate.results.statistics import Floats

    Point = dict[str, str]

FATES = (
    ("served", "completed_share", "#009E73"),
    ("admitted, unfinished", "unfinished_share", "#E69F00"),
    ("never admitted", "never_admitted_share", "#999999"),
)
"""What became of the offered sessions: name, metric, colour."""
COMPLETED = Row("completed [1/s]", "completed_per_s")
MEASURES = (
    COMPLETED,
    Row("FCT of those served, mean [s]", "fct_mean_s"),
    Row("wait for admission, p95 of those admitted [s]", "wait_p95_s"),
    Row("goodput of those served, mean [kbit/s]", "goodput_mean_bps", 1e-3),
    Row("data packets sent again [%]", "retransmitted_share", 100.0),
)
LASTING = (
    Row("delivered [Mbit/s]", "throughput_bps", 1e-6),
    Row("rate of a long flow, least [Mbit/s]", "flow_rate_min_bps", 1e-6),
    Row("Jain's index of the rates of long flows", "flow_rate_jain"),
    Row("RTT, mean [ms]", "rtt_mean_s", 1e3),
    Row("data packets sent again [%]", "retransmitted_share", 100.0),
)
"""What flows without end are about."""
SWEPT = (
    COMPLETED,
    Row("completed [% of offered]", "completed_share", 100.0),
    *MEASURES[1:],
)
LINES = 7
"""Lines that one picture can carry with a label each."""
INSTANTS = 300
"""Points of a distribution."""


def shown_measures(done: GridResult, usual: Sequence[Row] = MEASURES) -> list[Row]:
    """Return the measures of a picture: those chosen, else of the usual ones all that are known."""
    if done.metrics:
        return measures(done.subject, done.averages, done.metrics)
    port = done.subject.port
    rows = list(usual)
    if endless(done.averages):
        queue = Row("queue delay, mean [ms]", f"{port}.queue_delay_mean_s", 1e3)
        used = Row("utilisation [%]", f"{port}.utilisation", 100.0)
        rows = [*LASTING, *([queue, used] if port else [])]
    rows += of_users(done.subject.classes, done.averages)
    known = [
        row
        for row in rows
        if any(centre(each.get(row.metric)) is not None for each in done.averages)
    ]
    return known or rows


def interval(seeds: int) -> str:
    """Return what values and intervals are."""
    return f"mean and 95 % interval over {seeds} seeds" if seeds > 1 else "one seed"


def sides(
    rows: Sequence[Mapping[str, Any]], labels: Sequence[str], chosen: Sequence[Row], seeds: int
) -> Picture:
    """Return measures of all controls, with their intervals."""
    return Picture(
        "sides",
        "Side by side",
        frame(
            [
                {"control": each, **scaled(row, chosen)}
                for each, row in zip(labels, rows, strict=True)
            ]
        ),
        {},
        {row.metric: row.title for row in chosen},
        note=f"{interval(seeds).capitalize()}.",
        mark="interval",
        columns=3,
        size=(3.53, 1.0 + 0.34 * len(labels)),
    )


def differences(done: GridResult, labels: Sequence[str], chosen: Sequence[Row]) -> Picture:
    """Return by how much each control differs from the first."""
    same = done.same_flows
    how = ", seed by seed" if same else "; they did not meet the same flows"
    note = (
        f"The value of each minus that of {labels[0]}{how}: mean and 95 % interval. Where"
        " the interval does not include zero, these seeds show a difference."
    )
    every = sides(done.differences, labels[1:], chosen, len(done.subject.seeds))
    title = f"{'Paired' if same else 'Unpaired'} differences"
    hues = (*PALETTE[1:], PALETTE[0])
    return replace(every, key="more", title=title, note=note, hues=hues)


def fates(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Picture:
    """Return what became of the offered sessions, in parts of a bar for each control."""
    lines = []
    for label, row in zip(labels, rows, strict=True):
        for fate, metric, _ in FATES:
            mean = row[metric]["mean"] if isinstance(row[metric], dict) else row[metric]
            lines.append({"control": label, "fate": fate, "share": (mean or 0.0) * 100})
    return Picture(
        "fates",
        "What became of the sessions",
        frame(lines),
        {},
        {"share": "% of offered sessions"},
        by="fate",
        note="Of all that were offered.",
        mark="stack",
        hues=tuple(hue for _, _, hue in FATES),
    )


def distributions(done: GridResult) -> list[Picture]:
    """Return how long sessions take, and how long pages take; each only where there are any."""
    curves = done.curves
    medians = {
        label: centre(row["fct_p50_s"])
        for label, row in zip(curves, done.averages, strict=False)
        if "fct_p50_s" in row
    }
    pages = page_loads(curves)
    timed = any(run.served_share[-1] > 0 for runs in curves.values() for run in runs)
    found = [distribution(curves, medians)] if timed or pages is None else []
    return found + ([pages] if pages is not None else [])


def distribution(
    curves: Mapping[str, Sequence[Curves]], medians: Mapping[str, float | None]
) -> Picture:
    """Return how long sessions take, as shares of all offered and of those served.

    `medians` are those of the table: a picture is not to name another one.
    """
    return _within(
        curves,
        ("offered_share", "served_share"),
        Picture(
            "fct",
            "How long sessions take (FCT)",
            pl.DataFrame(),
            {"fct_s": "time from the first SYN to the last acknowledgement [s]"},
            {
                "of all offered": "share of all offered sessions finished within a time [%]",
                "of those served": "share of the sessions served, within a time [%]",
            },
            note="Mean over the seeds. Of all offered, a curve ends at the share that was served.",
        ),
        "served",
        medians,
    )


def page_loads(curves: Mapping[str, Sequence[Curves]]) -> Picture | None:
    """Return how long pages take, as shares of all started and of those loaded; None: no pages."""
    known = {
        label: runs
        for label, runs in curves.items()
        if runs and all(run.started_pages_share.size for run in runs)
    }
    if not known:
        return None
    return _within(
        known,
        ("started_pages_share", "loaded_pages_share"),
        Picture(
            "pages",
            "How long pages take (page load time)",
            pl.DataFrame(),
            {"load_time_s": "time from the start of a page to its last object [s]"},
            {
                "of all started": "share of all started pages loaded within a time [%]",
                "of those loaded": "share of the pages loaded, within a time [%]",
            },
            note="Mean over the seeds. Of all started, a curve ends at the share that was loaded.",
        ),
        "loaded",
    )


def _within(
    curves: Mapping[str, Sequence[Curves]],
    fields: tuple[str, str],
    about: Picture,
    word: str,
    medians: Mapping[str, float | None] | None = None,
) -> Picture:
    """Return a distribution of times over all and over those that came to an end.

    A distribution over finished flows alone favours a link that turns nearly
    everybody away: of all offered, a curve ends at the share that was served.
    """
    (time,), (of_all, of_served) = about.x, about.y
    means = {
        label: (_mean(runs, fields[0]) * 100, _mean(runs, fields[1]) * 100)
        for label, runs in curves.items()
    }
    grids = {label: runs[0].fct_grid_s for label, runs in curves.items()}
    risen = [index for pair in means.values() for index in np.flatnonzero(pair[1] > 0)[:1]]
    full = [int(np.flatnonzero(pair[1] >= pair[1][-1])[0]) for pair in means.values()]
    end = len(next(iter(grids.values()))) - 1
    last = min(max(full) + 12, end) if risen else end
    positions = np.unique(
        np.linspace(max(min(risen, default=0) - 30, 0), last, INSTANTS).astype(int)
    )
    parts, labels = [], []
    for label, (offered, served) in means.items():
        grid = grids[label]
        columns = {
            time: grid[positions],
            of_all: offered[positions],
            of_served: served[positions],
        }
        parts.append(pl.DataFrame(columns).with_columns(control=pl.lit(label)))
        share = float(offered[-1])
        labels.append(Label(of_all, label, f"{label}: {share:.1f} % {word}", share))
        if served[-1] >= 50:
            half = float(grid[np.searchsorted(served, 50)])
            # the points of a curve are so far apart that their third digit says nothing
            median = (medians or {}).get(label)
            time_s = f"{half:.2g}" if median is None else f"{median:.3g}"
            text = f"{label}: half within {time_s} s"
            labels.append(Label(of_served, label, text, 50.0, half))
    return replace(
        about,
        table=pl.concat(parts),
        log=("x",),
        labels=tuple(labels),
        columns=2,
        size=(5.55, 3.8),
    )


def _mean(runs: Sequence[Curves], name: str) -> Floats:
    """Return one curve's mean over the seeds."""
    return np.asarray(np.mean([getattr(run, name) for run in runs], axis=0), dtype=np.float64)


def rates(done: GridResult) -> Picture:
    """Return admissions and completions over time, a panel for each control."""
    rows, labels, tops = [], [], []
    for control, runs in done.curves.items():
        times = runs[0].times_s
        means = {name: _mean(runs, name) for name in ("offered", "admitted", "completed")}
        panel = f"{control}   (offered: {float(np.mean(means['offered'])):,.0f}/s)"
        columns = {"time_s": times - times[0] / 2, "sessions low": means["completed"]}
        for event in ("admitted", "completed"):
            values = {**columns, "sessions": means[event], "sessions high": means[event]}
            known = {"panel": pl.lit(panel), "event": pl.lit(event)}
            rows.append(pl.DataFrame(values).with_columns(**known))
            level = float(np.mean(means[event][len(times) // 2 :]))
            labels.append(Label(panel, event, f"{event} {level:,.0f}/s", level))
            tops.append(float(np.percentile(means[event], 98)))
    return Picture(
        "rates",
        "Sessions over time",
        pl.concat(rows),
        {"time_s": "time [s]"},
        {"sessions": "sessions per second"},
        by="event",
        split=("panel",),
        hues=(PALETTE[4], PALETTE[1]),
        warmup_s=done.subject.warmup_s,
        top=max(tops) * 1.25 + 1.0,  # not stretched by a few extreme bins
        labels=tuple(labels),
        size=(9.1, 1.75),
    )


def number_over_axes(axes: Mapping[str, Sequence[str]]) -> int:
    """Return how many pictures `over_axes` makes, before anything has run."""
    drawn = (key for key, values in axes.items() if len((numbers(values) or ([],))[0]) > 1)
    return sum(len(list(_lines(key, axes))) for key in drawn)


def over_axes(done: GridResult) -> Iterator[Picture]:
    """Yield metrics over each axis of several numbers, a line per setting of the other axes."""
    axes, seeds = done.subject.axes, len(done.subject.seeds)
    found = {frozenset(row["settings"].items()): row for row in done.averages}
    alone = {key: values[0] for key, values in axes.items() if len(values) == 1}
    chosen = shown_measures(done, SWEPT)
    for key, values in axes.items():
        positions, unit = numbers(values) or ([], "")
        if len(positions) < 2:
            continue
        for fixed, lines in _lines(key, axes):
            shown = _thinned(lines)
            rows = [
                {"place": x, "setting": named(says), **scaled(row, chosen)}
                for says in shown
                for x, value in sorted(zip(positions, values, strict=True))
                if (row := found.get(frozenset((alone | says | fixed | {key: value}).items())))
            ]
            left = [named(says) for says in lines if says not in shown]
            some = f"; {len(shown)} of {len(lines)} settings drawn, {without(left)}" if left else ""
            where = f", {named(fixed)}" if fixed else ""
            picture = Picture(
                _file_name(key, fixed),
                f"{done.subject.name}{where}: {interval(seeds)}{some}",
                frame(rows),
                {"place": titled(key, unit) if unit else key},
                {row.metric: row.title for row in chosen},
                by="setting",
                fixed=named(fixed) if fixed else "",
                columns=min(len(chosen), 3),
                size=(4.5, 2.9),
            )
            if rows:
                yield _with_ends(picture)


def without(left: Sequence[str], most: int = 4) -> str:
    """Return in words which settings a picture leaves out."""
    more = len(left) - most
    if more <= 0:
        return f"without {', '.join(left)}"
    return f"without {', '.join(left[:most])} and {more} more (all are in the table)"


def _with_ends(picture: Picture) -> Picture:
    """Name each line where it ends, if there are several."""
    if len(picture.names) < 2:
        return picture
    ends = [
        Label(field, line.name, line.name, line.y[-1])
        for field, panel in zip(picture.y, picture.panels(), strict=True)
        for line in panel.series
        if line.y
    ]
    return replace(picture, labels=tuple(ends))


def _file_name(key: str, fixed: Point) -> str:
    """Return the name of a file without ending: the axis, and what is fixed."""
    parts = [f"over-{key}", *([named(fixed)] if fixed else [])]
    return re.sub(r"[^A-Za-z0-9._=+-]+", "-", " ".join(parts)).strip("-.")[:120]


def _lines(key: str, axes: Mapping[str, Sequence[str]]) -> Iterator[tuple[Point, list[Point]]]:
    """Yield what is fixed in a picture, and its lines: several pictures where many would cross."""
    others = {other: values for other, values in axes.items() if other != key and len(values) > 1}
    whole = _points(others)
    if len(whole) <= LINES or len(others) == 1:
        yield {}, whole
        return
    # the lines are the axis with the most values that still fit
    fitting = [other for other, values in others.items() if len(values) <= LINES]
    along = max(fitting or others, key=lambda other: len(others[other]))
    for fixed in _points({other: others[other] for other in others if other != along}):
        yield fixed, _points({along: others[along]})


def _points(axes: Mapping[str, Sequence[str]]) -> list[Point]:
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _thinned(lines: list[Point]) -> list[Point]:
    """Return at most LINES of them, first and last included."""
    if len(lines) <= LINES:
        return lines
    last = len(lines) - 1
    return [lines[round(index * last / (LINES - 1))] for index in range(LINES)]
