"""Results in sentences: who was served, how long it took, which differences are significant."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from tidegate.show.hints import alike, fullest
from tidegate.show.measures import endless, flows_in_words, lasting, shown
from tidegate.show.recommendation import recommendation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tidegate.grid.grid_result import GridResult

    Value = Mapping[str, float | None]

TOLD = (
    ("completed_per_s", 1.0, "completes", "sessions a second"),
    ("completed_share", 100.0, "serves", "percentage points of the sessions"),
    ("fct_mean_s", 1.0, "takes", "s of mean FCT"),
)
"""Differences in words: metric, scale, verb and unit."""
TOLD_OF_ENDLESS = (
    ("throughput_bps", 1e-6, "delivers", "Mbit/s"),
    ("flow_rate_jain", 1.0, "has a Jain's index of", ""),
    ("rtt_mean_s", 1e3, "has a mean RTT of", "ms"),
    ("retransmitted_share", 100.0, "sends again", "percentage points of the data packets"),
)
"""The same of flows without end."""
LINES = 6
"""Controls that have a line each."""


def paragraphs(texts: Iterable[str]) -> str:
    """Return paragraphs; the texts are HTML already."""
    return "".join(f"<p>{_kept(text)}</p>" for text in texts if text)


def _listed(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_kept(text)}</li>' for text in texts)}</ul>"


def _kept(text: str) -> str:
    """Join each number to its unit by a space that does not break."""
    return re.sub(r"(\d) (%|s\b|kbit/s)", r"\1&nbsp;\2", text)


def of_comparison(done: GridResult, labels: Sequence[str]) -> str:
    """Return the results of a comparison: each control, what to take, the differences."""
    subject, averages = done.subject, done.averages
    seeds = len(subject.seeds)
    first = averages[0]
    opening = (
        f"{len(labels)} settings {flows_in_words(done.same_flows)}"
        f"{f', {seeds} seeds each' if seeds > 1 else ', one seed'}:"
        f" {_offered(first)} under {_b(labels[0])}."
        f" Means are over {done.period}."
    )
    each = [
        f"{_b(label)}: {_fared(row, subject.port)}"
        for label, row in zip(labels[:LINES], averages[:LINES], strict=True)
    ]
    texts = paragraphs([opening]) + _listed(each)
    for opening, sign, told in (("Viewers", "viewers", _watched), ("Pages", "pages", _loaded)):
        for name, prefix in _having(sign, subject.classes, averages):
            seen = zip(labels[:LINES], averages[:LINES], strict=True)
            texts += paragraphs([f"{opening}{name}, on average:"])
            texts += _listed(f"{_b(label)}: {told(row, prefix)}." for label, row in seen)
    if len(averages) < 2:
        return texts
    taken = f"<b>{escape(recommendation(done))}</b>"
    full = escape(fullest(done) or "")
    return texts + paragraphs([taken, full, *map(escape, alike(done)), _certain(done, labels)])


def _offered(row: Mapping[str, Any]) -> str:
    if endless([row]):
        return f"{_number(row, 'flows'):g} flows without end were there"
    if lasting([row]):
        return f"{_number(row, 'flows'):g} flows were there all the time"
    return f"{_mean(row, 'offered_per_s')} sessions a second were offered"


def _fared(row: Mapping[str, Any], port: str | None) -> str:
    return _lasted(row, port) if lasting([row]) else _served(row)


def _lasted(row: Mapping[str, Any], port: str | None = None) -> str:
    """Return what flows without end got."""
    rates = [_mean(row, f"flow_rate_{each}_bps", 1e-6) for each in ("min", "mean", "max")]
    text = (
        f"{_mean(row, 'throughput_bps', 1e-6)} Mbit/s were delivered; a flow got {rates[1]} Mbit/s"
        f" on average, the slowest {rates[0]}, the fastest {rates[2]} (Jain's index"
        f" {_mean(row, 'flow_rate_jain')})."
    )
    if port and _number(row, f"{port}.queue_delay_mean_s") is not None:
        text += (
            f" The queue delay was {_mean(row, f'{port}.queue_delay_mean_s', 1e3)} ms on average"
            f" and {_mean(row, f'{port}.queue_delay_p95_s', 1e3)} ms at percentile 95;"
            f" {_mean(row, f'{port}.utilisation', 100)} % of the link were used."
        )
    return text


def _served(row: Mapping[str, Any]) -> str:
    return (
        f"{_mean(row, 'completed_share', 100)} % of the sessions completed,"
        f" {_mean(row, 'never_admitted_share', 100)} % were never admitted."
        + (
            f" The mean FCT of those served was {_mean(row, 'fct_mean_s')} s."
            if _number(row, "fct_mean_s") is not None
            else ""
        )
    )


def _having(
    sign: str, classes: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield for each class with a metric its name in a sentence, and the prefix of its metrics."""
    names = {f" of {_b(name)}": f"{name}." for name in classes} if len(classes) > 1 else {"": ""}
    for name, prefix in names.items():
        if any(_number(row, f"{prefix}{sign}") for row in rows):
            yield name, prefix


def _number(row: Mapping[str, Any], metric: str) -> float | None:
    value = row.get(metric)
    found: float | None = value["mean"] if isinstance(value, dict) else value
    return found


def _watched(row: Mapping[str, Any], prefix: str) -> str:
    """Return what viewers saw."""
    never = f"{prefix}never_started_share"
    unseen = f"; for {_mean(row, never, 100)} % it never began" if _number(row, never) else ""
    return (
        f"playback began after {_mean(row, f'{prefix}startup_mean_s')} s{unseen};"
        f" {_mean(row, f'{prefix}stalled_viewers_share', 100)} % saw a stall;"
        f" {_mean(row, f'{prefix}video_rate_mean_bps', 1e-3)} kbit/s"
    )


def _loaded(row: Mapping[str, Any], prefix: str) -> str:
    """Return how long pages took."""
    return (
        f"{_mean(row, f'{prefix}pages_loaded_share', 100)} % were loaded;"
        f" half of them within {_mean(row, f'{prefix}page_load_p50_s')} s,"
        f" 95 % within {_mean(row, f'{prefix}page_load_p95_s')} s"
    )


def _certain(done: GridResult, labels: Sequence[str]) -> str:
    """Return the significant differences from the first control, and how many are not."""
    if len(done.subject.seeds) < 2:
        return "One seed does not show how much results vary by chance: use --seeds for more."
    told, open_ones = [], 0
    port = done.subject.port
    known = list(TOLD_OF_ENDLESS if lasting(done.averages) else TOLD)
    if port:
        known.append((f"{port}.utilisation", 100.0, "uses", "percentage points of the link"))
        known.append((f"{port}.queue_delay_mean_s", 1e3, "has a mean queue delay of", "ms"))
    for label, found in zip(labels[1:], done.differences, strict=True):
        for metric, scale, verb, unit in known:
            value = found.get(metric)
            if value is None or value["low"] is None or value["high"] is None:
                continue
            if value["low"] <= 0.0 <= value["high"]:
                open_ones += 1
                continue
            more = "more" if value["mean"] > 0 else "less"
            size = {name: abs(each) for name, each in value.items()}
            if value["mean"] < 0:
                size = {"mean": size["mean"], "low": size["high"], "high": size["low"]}
            told.append(" ".join(f"{_b(label)} {verb} {shown(size, scale)} {unit} {more}".split()))
    if not told:
        return f"With these seeds no difference from {_b(labels[0])} is significant."
    rest = f" {open_ones} more {'is' if open_ones == 1 else 'are'} not significant."
    return (
        f"Significant at 95 %, compared with {_b(labels[0])}"
        f" {flows_in_words(done.same_flows)}:"
        f" {'; '.join(told[: 2 * LINES])}.{rest if open_ones else ''}"
    )


def _b(label: str) -> str:
    return f"<b>{escape(label)}</b>"


def _mean(row: Mapping[str, Any], metric: str, scale: float = 1.0) -> str:
    mean = _number(row, metric)
    return "no" if mean is None else shown(mean, scale)


def of_run(summary: Mapping[str, Any]) -> str:
    """Return the results of one run."""
    every = summary["all"]
    text = (
        f"One run, seed {summary['seed']}: {_offered(every)} between {summary['warmup_s']:g} and"
        f" {summary['duration_s']:g} s; {_fared(every, None)}"
    )
    classes = {each["name"]: each for each in summary["classes"]}
    seen = [
        f"Viewers of {_b(name)}, on average: {_watched(each, '')}."
        for name, each in classes.items()
        if each.get("viewers")
    ]
    return paragraphs([text, *seen])


def of_sweep(done: GridResult) -> str:
    """Return the results of a sweep: its size, and what to take under each load."""
    subject = done.subject
    axes = ", ".join(f"{escape(key)} ({len(values)})" for key, values in subject.axes.items())
    texts = [
        f"{len(done.averages)} settings of {axes}; {len(done.rows)} of {len(subject.jobs)} runs are"
        f" complete, {len(subject.seeds)} seeds for each setting."
        f" Means are over {done.period}."
    ]
    lines = escape(recommendation(done)).splitlines()
    return paragraphs(texts) + (paragraphs(lines) if len(lines) == 1 else _listed(lines))
