"""Results in sentences: who was served, how long it took, which differences are significant."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from tidegate.show.measures import shown

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
    """Return the results of a comparison: each control, the best ones, the differences."""
    subject, averages = done.subject, done.averages
    seeds = len(subject.seeds)
    first = averages[0]
    opening = (
        f"{len(labels)} settings with the same flows"
        f"{f', {seeds} seeds each' if seeds > 1 else ', one seed'}:"
        f" {_mean(first, 'offered_per_s')} sessions a second were offered under {_b(labels[0])}."
        f" Means are over {subject.warmup_s:g} to {subject.duration_s:g} s."
    )
    each = [
        f"{_b(label)}: {_served(row)}"
        for label, row in zip(labels[:LINES], averages[:LINES], strict=True)
    ]
    texts = paragraphs([opening]) + _listed(each)
    for name, prefix in _viewers(subject.classes, averages):
        seen = zip(labels[:LINES], averages[:LINES], strict=True)
        texts += paragraphs([f"Viewers{name}, on average:"])
        texts += _listed(f"{_b(label)}: {_watched(row, prefix)}." for label, row in seen)
    if len(averages) < 2:
        return texts
    return texts + paragraphs([_best(averages, labels), _certain(done, labels)])


def _served(row: Mapping[str, Any]) -> str:
    return (
        f"{_mean(row, 'completed_share', 100)} % of the sessions were served to the end,"
        f" {_mean(row, 'never_admitted_share', 100)} % were never admitted. The mean FCT of those"
        f" served was {_mean(row, 'fct_mean_s')} s."
    )


def _viewers(
    classes: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield for each class of viewers its name in a sentence, and the prefix of its metrics."""
    names = {f" of {_b(name)}": f"{name}." for name in classes} if len(classes) > 1 else {"": ""}
    for name, prefix in names.items():
        if any(_number(row, f"{prefix}viewers") for row in rows):
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


def _best(averages: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> str:
    """Return which control completes the most sessions, and which serves them soonest."""
    most = _extreme(averages, labels, "completed_per_s", 1.0)
    soonest = _extreme(averages, labels, "fct_mean_s", -1.0)
    if most is None or soonest is None:
        return ""
    if most == soonest:
        return f"On average {_b(most)} completes the most sessions, in the shortest time."
    return (
        f"On average {_b(most)} completes the most sessions; {_b(soonest)} has the shortest mean"
        " FCT. The mean covers served sessions only: read it together with the share served."
    )


def _extreme(
    averages: Sequence[Mapping[str, Any]], labels: Sequence[str], metric: str, sign: float
) -> str | None:
    known = [
        (sign * row[metric]["mean"], label)
        for row, label in zip(averages, labels, strict=True)
        if row[metric]["mean"] is not None
    ]
    return max(known)[1] if known else None


def _certain(done: GridResult, labels: Sequence[str]) -> str:
    """Return the significant differences from the first control, and how many are not."""
    if len(done.subject.seeds) < 2:
        return "One seed does not show how much results vary by chance: use --seeds for more."
    told, open_ones = [], 0
    for label, found in zip(labels[1:], done.differences, strict=True):
        for metric, scale, verb, unit in TOLD:
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
            told.append(f"{_b(label)} {verb} {shown(size, scale)} {unit} {more}")
    if not told:
        return f"With these seeds no difference from {_b(labels[0])} is significant."
    rest = f" {open_ones} more {'is' if open_ones == 1 else 'are'} not significant."
    return (
        f"Significant at 95 %, compared with {_b(labels[0])} on the same flows:"
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
        f"One run, seed {summary['seed']}: {_mean(every, 'offered_per_s')} sessions a second were"
        f" offered between {summary['warmup_s']:g} and {summary['duration_s']:g} s;"
        f" {_served(every)}"
    )
    classes = {each["name"]: each for each in summary["classes"]}
    seen = [
        f"Viewers of {_b(name)}, on average: {_watched(each, '')}."
        for name, each in classes.items()
        if each.get("viewers")
    ]
    return paragraphs([text, *seen])


def of_sweep(done: GridResult) -> str:
    """Return the results of a sweep: its best settings."""
    subject = done.subject
    axes = ", ".join(f"{escape(key)} ({len(values)})" for key, values in subject.axes.items())
    texts = [
        f"{len(done.averages)} settings of {axes}; {len(done.rows)} of {len(subject.jobs)} runs are"
        f" complete, {len(subject.seeds)} seeds for each setting."
        f" Means are over {subject.warmup_s:g} to {subject.duration_s:g} s."
    ]
    for metric, sign, words in (
        ("completed_per_s", 1.0, "Most sessions are completed at"),
        ("fct_mean_s", -1.0, "The shortest mean FCT is at"),
    ):
        known = [row for row in done.averages if row[metric]["mean"] is not None]
        if known:
            best = max(known, key=lambda row: sign * row[metric]["mean"])
            says = ", ".join(f"{escape(k)} = {escape(v)}" for k, v in best["settings"].items())
            texts.append(
                f"{words} {says}: {shown(best[metric])}"
                f" {'a second' if sign > 0 else 's'}, with"
                f" {_mean(best, 'completed_share', 100)} % served."
            )
    return paragraphs(texts)
