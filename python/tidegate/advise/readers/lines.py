"""Texts of tools of every system: `ping` and `ss -ti`."""

from __future__ import annotations

import re
from typing import NamedTuple

from tidegate.advise.facts import UP, Fact, What, least, share_of
from tidegate.advise.readers.phases import of_unknown_load, risen
from tidegate.scenario.tree import Damaged, in_range

_TIME = r"\w\s*[=<]\s*([\d.,]+)\s*(ms|s)\b"
_TRIP = re.compile(
    rf"\b(?:icmp_seq|seq|bytes|ttl)[=: ]?\s*\d+.*?{_TIME}|{_TIME}(?=.*\bttl=\d)", re.IGNORECASE
)
"""An answer, in whatever language: the words before the numbers differ."""
_COUNTS = re.compile(
    r"(\d+) packets transmitted, (\d+) (?:packets )?received"
    r"|= (\d+)[,\uff0c] ?[^\d=]+= (\d+)[,\uff0c] ?[^\d=]+= \d+"
    r"|^(\d+) [^\d,%]+, (\d+) [^\d,%]+,.* \d+(?:[.,]\d+)? ?%",
    re.MULTILINE,
)
_MOST_TRIP_S = 3600.0
SEGMENT = 1448
"""Bytes of payload in a full packet."""


def knows_ping(text: str) -> bool:
    """Tell whether this is what `ping` prints."""
    return bool(_TRIP.search(text)) or bool(_COUNTS.search(text))


def ping(text: str, source: str) -> list[Fact]:
    """Read ping of Linux, BusyBox, macOS and Windows."""
    trips = []
    for number, line in enumerate(text.splitlines(), 1):
        if found := _TRIP.search(line):
            time, unit_name = (each for each in found.groups() if each is not None)
            value = _number(time.replace(",", "."), f"line {number}: time")
            unit = 1.0 if unit_name.lower() == "s" else 1e-3
            trips.append(in_range(value * unit, f"line {number}: time", 0.0, _MOST_TRIP_S))
    counts = _COUNTS.search(text)
    sent, received = _counted(counts) if counts else (None, None)
    if received == 0:
        raise Damaged(f"none of {sent:g} packets came back: there is no round trip in it")
    if not trips:
        raise Damaged(
            "no line has an answer with a time that is understood. If it is in another language,"
            " record it with LC_ALL=C ping -c 50 HOST"
        )
    facts = of_unknown_load(trips, source)
    if sent is not None and received is not None:
        facts.append(share_of(What.LOSS, "", max(0, sent - received), sent, source))
    return facts


def _counted(counts: re.Match[str]) -> tuple[float, float]:
    """Return how many packets were sent, and how many came back."""
    # as floats: the interpreter reads no integer of more than 4300 digits
    sent, received = (
        in_range(float(each), "packets transmitted", 0.0, 1e12)
        for each in counts.groups()
        if each is not None
    )
    if not sent:
        raise Damaged("no packet was sent")
    return sent, received


_RATES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_DELIVERY = re.compile(r"\bdelivery_rate (\d+(?:\.\d+)?)([KMG]?)bps")


def knows_ss(text: str) -> bool:
    """Tell whether this is what `ss -ti` prints."""
    return bool(re.search(r"\brtt:[\d.]+/[\d.]+", text) and re.search(r"\bcwnd:\d+", text))


def ss(text: str, source: str) -> list[Fact]:
    """Read `ss -ti`: connections of this machine, which send away from it."""
    found = [
        connection
        for number, line in enumerate(text.splitlines(), 1)
        if (connection := _connection(line, number)) is not None
    ]
    if not found:
        raise Damaged("no connection has a round trip")
    facts = [least(What.IDLE, "", [each.least_s for each in found], source)]
    loaded = sorted(each.trip_s for each in found if each.busy and each.waits)
    if loaded:
        middle = loaded[len(loaded) // 2]
        facts.append(Fact(What.LOADED, UP, middle, loaded[0], loaded[-1], source, len(loaded)))
    rates = [each.rate for each in found if each.busy and each.rate > 0]
    if rates:
        total = sum(rates)
        said = "sum of the last delivery rates"
        facts.append(Fact(What.RATE, UP, total, max(rates), total, source, len(rates), note=said))
    sent, again = (sum(each.sent for each in found), sum(each.again for each in found))
    if sent > 0:
        packets = max(1.0, sent / SEGMENT)
        facts.append(share_of(What.LOSS, UP, min(again / SEGMENT, packets), packets, source))
    return facts


class _Connection(NamedTuple):
    trip_s: float
    least_s: float
    busy: bool
    """Whether something is outstanding, and the application has more to send."""
    rate: float
    sent: float
    again: float

    @property
    def waits(self) -> bool:
        return risen(self.least_s, self.trip_s)


def _connection(line: str, number: int) -> _Connection | None:
    """Read the line of a connection; None: it is none."""
    if not (trip := re.search(r"\brtt:([\d.]+)/[\d.]+", line)):
        return None
    where = f"line {number}: rtt"
    now = in_range(_number(trip[1], where) * 1e-3, where, 0.0, _MOST_TRIP_S)
    low = now
    if found := re.search(r"\bminrtt:([\d.]+)", line):
        low = in_range(_number(found[1], where) * 1e-3, where, 0.0, _MOST_TRIP_S)
    busy = "app_limited" not in line and re.search(r"\bunacked:\d", line) is not None
    rate = 0.0
    if said := _DELIVERY.search(line):
        rate = in_range(_number(said[1], f"line {number}") * _RATES[said[2]], f"line {number}")
    sent, again = _count(line, "bytes_sent"), _count(line, "bytes_retrans")
    return _Connection(now, low, busy, rate, sent, again)


def _count(line: str, key: str) -> float:
    found = re.search(rf"\b{key}:(\d{{1,18}})\b", line)
    return float(found[1]) if found else 0.0


def _number(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise Damaged(f"{place} is {text}, which is no number") from error
