"""Texts of tools of every system: `ping` and `ss -ti`."""

from __future__ import annotations

import re
from enum import Enum, auto
from ipaddress import ip_address
from typing import NamedTuple

from tidegate.advise.facts import UP, Fact, What, least, share_of
from tidegate.advise.readers.phases import of_unknown_load, risen
from tidegate.scenario.tree import Damaged, in_range

_TIME = r"\w\s*[=<]\s*([\d.,]+)\s*(ms|s|\u043c?\u0441)\b"
_TRIP = re.compile(
    rf"\b(?:icmp_seq|seq|bytes|ttl)[=: ]?\s*\d+.*?{_TIME}|{_TIME}(?=.*\bttl=\d)|:\s\S*{_TIME}\s*$",
    re.IGNORECASE,
)
"""An answer, in whatever language: the words before the numbers differ."""
_COUNTS = re.compile(
    r"(\d+) packets transmitted, (\d+) (?:packets )?received"
    r"|= (\d+)[,\uff0c] ?[^\d=]+= (\d+)[,\uff0c] ?[^\d=]+= \d+"
    r"|^(\d+) [^\d,%]+, (\d+) [^\d,%]+,.* \d+(?:[.,]\d+)? ?%",
    re.MULTILINE,
)
_MOST_TRIP_S = 3600.0


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
            unit = 1.0 if unit_name.lower() in ("s", "\u0441") else 1e-3
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
    """Read `ss -ti`: connections of this machine, which send away from it.

    Those to this machine itself do not cross the link, and those to private addresses count where
    there are no others. What they sent again tells nothing of the link: most of it was lost in the
    queue that is looked for.
    """
    by_reach: dict[_Reach, list[_Connection]] = {each: [] for each in _Reach}
    reach = _Reach.UNKNOWN
    for number, line in enumerate(text.splitlines(), 1):
        reach = _reach(line) or reach
        if (connection := _connection(line, number)) is not None:
            by_reach[reach].append(connection)
            reach = _Reach.UNKNOWN
    found = by_reach[_Reach.GLOBAL] + by_reach[_Reach.UNKNOWN] or by_reach[_Reach.PRIVATE]
    if not found and by_reach[_Reach.HOST]:
        raise Damaged("all its connections are of a machine to itself: record it at a busy sender")
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
    return facts


class _Reach(Enum):
    """How far away the other end of a connection is."""

    HOST = auto()
    PRIVATE = auto()
    GLOBAL = auto()
    UNKNOWN = auto()


_PEER = re.compile(r"(\[[0-9A-Fa-f:.]+(?:%\w+)?\]|[\d.]+)(?:%\w+)?:\d+")


def _reach(line: str) -> _Reach | None:
    """Return where the line of a connection leads; None: it names no two addresses."""
    ends = _PEER.findall(line)
    if len(ends) < 2:
        return None
    try:
        address = ip_address(ends[1].strip("[]").split("%")[0])
    except ValueError:
        return None
    if mapped := getattr(address, "ipv4_mapped", None):
        address = mapped
    if address.is_loopback or ends[0] == ends[1]:
        return _Reach.HOST
    return _Reach.PRIVATE if address.is_private or address.is_link_local else _Reach.GLOBAL


class _Connection(NamedTuple):
    trip_s: float
    least_s: float
    busy: bool
    """Whether something is outstanding, and the application has more to send."""
    rate: float

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
    return _Connection(now, low, busy, rate)


def _number(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise Damaged(f"{place} is {text}, which is no number") from error
