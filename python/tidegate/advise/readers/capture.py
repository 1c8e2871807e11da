"""A packet capture: what the link carried, which says what it can carry at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.advise.facts import DOWN, UP, Fact, What
from tidegate.errors import TidegateError
from tidegate.scenario.recorded import read as recorded

if TYPE_CHECKING:
    from pathlib import Path

SIGNS = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)


def knows(data: bytes) -> bool:
    """Tell whether these are the first bytes of pcap or pcapng."""
    return data.startswith(SIGNS)


def read(path: Path, source: str) -> list[Fact]:
    """Read the connections; the sides that opened them are taken for the people's."""
    found = recorded(path)
    if found.span_s <= 0:
        raise TidegateError(
            f"Could not take facts from {path}: all its packets are of one instant.",
            "Capture for some minutes of a busy hour: tcpdump -i wan0 -s 96 -w evening.pcap",
        )
    totals = {DOWN: 0.0, UP: 0.0}
    for row in found.frame.select("size_bytes", "other_bytes", "direction").iter_rows():
        size, other, direction = row
        down = direction == "download"
        totals[DOWN if down else UP] += size
        totals[UP if down else DOWN] += other
    facts = []
    for way, total in totals.items():
        if total > 0:
            rate = 8 * total / found.span_s
            most = 8 * found.wire_bytes / found.span_s
            facts.append(
                Fact(
                    *(What.RATE, way, rate, rate, max(rate, most), source, found.packets),
                    note=f"mean over {found.span_s:.4g} s",
                )
            )
    return facts
