"""What files say of a link: measured facts, each with its interval and its source."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from tidegate.results.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Sequence


class What(Enum):
    """What a fact is about, and its unit."""

    RATE = ("rate carried", "bit/s")
    """What the link carried, counted as IP packets."""
    SHAPED = ("rate of a shaper", "bit/s")
    IDLE = ("round trip without load", "s")
    LOADED = ("round trip under load", "s")
    PEAK = ("round trip under load, 95 % of them", "s")
    """Near that of a full buffer, where queues are first in, first out."""
    QUEUE = ("delay that the queue adds", "s")
    LOSS = ("share of packets lost", "")
    DROPPED = ("share of packets dropped by the queue", "")
    BACKLOG = ("backlog", "B")
    LAW = ("queue law", "")
    """The name of the law is the `note`; the value is 1 where it shapes, else 0."""

    def __init__(self, words: str, unit: str) -> None:
        self.words, self.unit = words, unit


DOWN, UP, BOTH = "down", "up", "both"
"""Directions, as the people at the link see them; both: it was measured with both loaded."""


@dataclass(frozen=True)
class Fact:
    """One measured thing: its value, its 95 % interval, what it is of, and where it stands."""

    what: What
    direction: str
    value: float
    low: float
    high: float
    source: str
    samples: int
    full: bool = False
    """Of a rate: whether the link was full, so that it could not carry more."""
    note: str = ""

    def document(self) -> dict[str, object]:
        """Return it for machines."""
        return {
            "what": self.what.words,
            "unit": self.what.unit,
            "direction": self.direction,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "samples": self.samples,
            "link_full": self.full if self.what is What.RATE else None,
            "note": self.note,
            "source": self.source,
        }


BATCHES = 10
"""Samples in a row depend on each other: the interval is that of the means of so many batches."""

IP_OF_PAYLOAD = 1500 / 1448
"""Bytes of IP packets of 1500 B for a byte of payload of TCP with timestamps (20 + 20 + 12 B)."""

ACKNOWLEDGED = 52 / 3000
"""Bytes that acknowledge a byte of IP packets: 52 B for two packets of 1500 B, as a receiver
acknowledges at least every second one (RFC 9293, section 3.8.6.3)."""


def of_samples(
    what: What, direction: str, samples: Sequence[float], source: str, *, share: float = 0.5
) -> Fact:
    """Return the quantile `share` of samples in the order of their times, and its interval.

    The interval is that of the same quantile of ten batches; of fewer than twenty samples it is
    their span.
    """
    ordered = sorted(samples)
    value = quantile(ordered, share)
    low, high = ordered[0], ordered[-1]
    if len(samples) >= 2 * BATCHES:
        size = len(samples) / BATCHES
        cuts = [round(number * size) for number in range(BATCHES + 1)]
        parts = [sorted(samples[one:two]) for one, two in itertools.pairwise(cuts)]
        found = interval(quantile(part, share) for part in parts)
        around = ((found["high"] or value) - (found["low"] or value)) / 2
        low, high = value - around, value + around
    return Fact(what, direction, value, max(0.0, low), high, source, len(samples))


def mean_of(what: What, direction: str, samples: Sequence[float], source: str) -> Fact:
    """Return the mean of samples that are far apart, and its interval (Student's t).

    What is late in one second comes in the next: so of a rate the mean tells most. Of fewer than
    three samples the interval is their span.
    """
    value = sum(samples) / len(samples)
    low, high = min(samples), max(samples)
    if len(samples) > 2:
        found = interval(samples)
        low, high = found["low"] or 0.0, found["high"] or value
    return Fact(what, direction, value, max(0.0, low), high, source, len(samples))


def both_loaded(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts of a test of both directions; what acknowledges one takes of the other.

    A host may join packets before it acknowledges, so how much that is stays open: the interval
    goes from nothing to what acknowledges every second packet, and the rate is in the middle.
    """
    carried = {fact.direction: fact.value for fact in facts if fact.what is What.RATE}
    if not carried.keys() >= {DOWN, UP}:
        return list(facts)
    most = {DOWN: ACKNOWLEDGED * carried[UP], UP: ACKNOWLEDGED * carried[DOWN]}
    return [
        replace(
            fact,
            value=fact.value + most[fact.direction] / 2,
            high=fact.high + most[fact.direction],
        )
        if fact.what is What.RATE
        else fact
        for fact in facts
    ]


def least(what: What, direction: str, samples: Sequence[float], source: str) -> Fact:
    """Return the least of samples; the interval ends at their lower tenth.

    Waiting only adds: so the least is nearest to what the path takes by itself.
    """
    ordered = sorted(samples)
    near = quantile(ordered, 0.1)
    return Fact(
        *(what, direction, ordered[0], max(0.0, 2 * ordered[0] - near), near),
        *(source, len(samples)),
    )


def share_of(what: What, direction: str, number: float, total: float, source: str) -> Fact:
    """Return a share of a count, with the interval of Wilson (1927) at 95 %."""
    z = 1.96
    part = number / total
    middle = (part + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(part * (1 - part) / total + z * z / (4 * total * total))
    half /= 1 + z * z / total
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Fact(what, direction, part, min(low, part), max(high, part), source, int(total))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, linear between two of them."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
