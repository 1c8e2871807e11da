"""The first screen of a scenario with guests: what they feel, and how full the link is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidegate.show.advice import SAID, users_of
from tidegate.show.experience import KINDS, PAGES
from tidegate.show.measures import Block, Row, centre

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidegate.show.experience import Measure

TITLES = {
    "pages": "Pages (readers)",
    "video": "Video (viewers)",
    "calls": "Calls, what guests hear",
    "calls-up": "Calls, what the others hear",
    "meetings": "Meetings, what guests see and hear",
    "meetings-up": "Meetings, what the others see and hear",
    "updates": "Updates",
    "photos": "Photos sent",
}
"""What the classes of guests are called here; others by their own name."""
WORDS = {
    "sessions completed": "completed",
    "mean FCT": "mean time",
    "pages loaded": "loaded",
    "mean page load time": "mean load time",
}
"""Shorter words for what stands below the name of its class."""
WAYS = {"download": "down", "upload": "up"}


SEVERAL = 3
"""So many classes of users have more measures than a screen has room for."""


def first(
    people: Sequence[str], classes: Sequence[str], columns: Sequence[Mapping[str, Any]]
) -> Sequence[str]:
    """Return the classes that a first screen is about; none: it shows all measures.

    They are the classes of guests, or all of several where some load pages, watch or speak.
    """
    if people or len(classes) < SEVERAL:
        return people
    found = users_of(classes, None, _centres(columns))
    return classes if any(users.kind in KINDS for users in found) else ()


def _centres(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, float | None]]:
    return [
        {name: centre(value) for name, value in column.items() if name != "settings"}
        for column in columns
    ]


def felt(
    classes: Sequence[str],
    people: Sequence[str],
    columns: Sequence[Mapping[str, Any]],
    guests: Sequence[str],
) -> list[Block]:
    """Return what people feel, a block for each class of theirs.

    `columns` have the metrics of each setting, `guests` are the classes of `[guests]`. The
    measures are those that recommendations go by.
    """
    flat, found = _centres(columns), []
    for users in users_of(classes, None, flat, guests):
        rows = [_row(measure, users.prefix) for measure in users.kind.measures]
        if users.kind is PAGES:
            rows.append(Row("responsiveness under load [RPM]", f"{users.prefix}rpm"))
        there = [row for row in rows if any(column.get(row.metric) is not None for column in flat)]
        if there and users.name in people:
            found.append(Block(TITLES.get(users.name, users.name), tuple(there)))
    return found


MAIN = (
    "pages_loaded_share",
    "page_load_mean_s",
    "stalled_share",
    "video_rate_mean_bps",
    "call_mos",
    "fct_mean_s",
)
"""One or two measures of each kind, where there is a line for each of many settings."""


def main(
    classes: Sequence[str],
    people: Sequence[str],
    columns: Sequence[Mapping[str, Any]],
    guests: Sequence[str],
) -> list[Row]:
    """Return the main measures that people feel, each with a title that stands alone."""
    return [
        replace(row, title=f"{_said(row, people)}: {row.title}")
        for block in felt(classes, people, columns, guests)
        for row in block.rows
        if row.metric.rpartition(".")[2] in MAIN
    ]


def _said(row: Row, people: Sequence[str]) -> str:
    name = row.metric.rpartition(".")[0] or people[0]
    return SAID.get(name, name)


def _row(measure: Measure, prefix: str) -> Row:
    words = WORDS.get(measure.words, measure.words)
    title = f"{words} [{measure.unit}]" if measure.unit else words
    return Row(title, f"{prefix}{measure.metric}", measure.scale)


def links(ways: Mapping[str, str], ports: Sequence[str]) -> list[Block]:
    """Return how full the ports are that are no access links, and how long packets wait there."""
    rows = [row for port in ports for row in _of_port(port, ways)]
    return [Block("Link", tuple(rows))] if rows else []


def _of_port(port: str, ways: Mapping[str, str]) -> Iterator[Row]:
    way = WAYS.get(ways.get(port, ""))
    name = f"{port} ({way})" if way else port
    yield Row(f"{name}: utilisation [%]", f"{port}.utilisation", 100)
    yield Row(f"{name}: queue delay, p95 [ms]", f"{port}.queue_delay_p95_s", 1e3)
