"""The people at a link: how many, where, and what they do there in an evening."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 2000
"""More people are not simulated."""
TCP = {"tcp": {"profile": "linux"}}

PLACES: dict[str, tuple[float, float, float, float, float]] = {
    "hotel": (0.30, 0.20, 0.04, 0.02, 0.05),
    "school": (0.50, 0.10, 0.02, 0.03, 0.02),
    "cafe": (0.45, 0.08, 0.04, 0.01, 0.06),
    "village": (0.20, 0.20, 0.03, 0.02, 0.03),
    "ship": (0.25, 0.05, 0.03, 0.01, 0.08),
    "office": (0.30, 0.03, 0.12, 0.03, 0.04),
}
"""Shares of the people who at one time load pages, watch video, call, update, send photos."""


@dataclass(frozen=True)
class People:
    """So many people at a kind of place."""

    place: str
    number: int

    def having(self, number: int) -> People:
        """Return another number of them."""
        return People(self.place, number)

    def __str__(self) -> str:
        return f"{self.place}:{self.number}"


def people(text: str) -> People:
    """Read `hotel:300`."""
    found = re.fullmatch(r"\s*([a-zé-]+)\s*:\s*(\d{1,9})\s*", text.lower())
    place = found[1].replace("é", "e") if found else ""
    if found is None or place not in PLACES or not 1 <= int(found[2]) <= MOST:
        raise UsageError(
            f"Could not understand --people {text}.",
            f"Write PLACE:NUMBER, as in hotel:300, with 1 to {MOST} people; places are"
            f" {', '.join(PLACES)}.",
        )
    return People(place, int(found[2]))


def traffic(who: People, guests: Sequence[str]) -> dict[str, Any]:
    """Return the classes of traffic of people, each of whom is a node of the network."""
    counts = [round(share * who.number) for share in PLACES[who.place]]
    counts[0] = max(1, counts[0])
    pages, video, calls, updates, photos = counts
    ends = iter(guests)
    nodes = {
        name: [next(ends) for _ in range(count)]
        for name, count in zip(
            ("pages", "video", "calls", "updates", "photos"), counts, strict=True
        )
    }
    down = {name: {"from": "internet", "to": those} for name, those in nodes.items()}
    came = {"within": "15s"}
    found = {
        "pages": {
            **down["pages"],
            "arrivals": {"uniform": pages, **came},
            "size": {"lognormal": {"mean": "25kB", "sigma": 1.0}},
            "pages": {
                "document": "50kB",
                "objects": 25,
                "connections": 6,
                "server": "20ms",
                "count": "unlimited",
                "think": {"exponential": {"mean": "20s"}},
            },
            "patience": "30s",
            "direction": "download",
            "transport": TCP,
        },
        "video": {
            **down["video"],
            "arrivals": {"uniform": video, **came},
            "video": {"ladder": ["0.5Mbit", "1Mbit", "2.5Mbit", "5Mbit"]},
            "direction": "download",
            "transport": TCP,
        },
        "calls": {
            **down["calls"],
            "arrivals": {"uniform": calls, **came},
            "size": "unlimited",
            "transport": {"udp": {"rate": "80kbit", "packet": "200B"}},
        },
        "voices": {
            "from": nodes["calls"],
            "to": "internet",
            "arrivals": {"uniform": calls, **came},
            "size": "unlimited",
            "transport": {"udp": {"rate": "80kbit", "packet": "200B"}},
        },
        "updates": {
            **down["updates"],
            "arrivals": {"uniform": updates, **came},
            "size": "unlimited",
            "direction": "download",
            "transport": TCP,
        },
        "photos": {
            "from": nodes["photos"],
            "to": "internet",
            "arrivals": {"poisson": f"{photos / 60:.6g}/s"},
            "size": "3MB",
            "transport": TCP,
        },
    }
    empty = {"pages": pages, "video": video, "calls": calls, "voices": calls, "updates": updates}
    empty["photos"] = photos
    return {name: found[name] for name, count in empty.items() if count}
