"""What is run in both simulators, and how each is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

NS2_2006 = "ns2-2006"
"""The profile of tidegate that has the defaults of the ns-2 that is packaged (2.35)."""

UNLIMITED = 1_000_000
"""A window that no flow reaches: ns-2 has no word for none."""


@dataclass(frozen=True)
class Case:
    """One scenario: its document for tidegate and the settings of flows.tcl that say the same."""

    name: str
    about: str
    document: dict[str, Any]
    settings: dict[str, str]
    seeds: int
    measures: tuple[str, ...]


SESSIONS = ("completed_per_s", "fct_mean_s", "drops", "retransmitted", "queue_mean")
STREAMS = ("departed_per_s", "drops", "retransmitted", "queue_mean")


def _case(
    name: str,
    about: str,
    *,
    traffic: dict[str, Any],
    seconds: int,
    seeds: int,
    measures: tuple[str, ...],
    delay_ms: int = 98,
    buffer: int = 217,
    pairs: int = 10,
    tcp: dict[str, Any] | None = None,
    red: dict[str, Any] | None = None,
) -> Case:
    """Say one dumbbell to both: access 100 Mbit/s and 1 ms, bottleneck 10 Mbit/s."""
    given = {"mss": 536, "window": 20} | (tcp or {})
    transport = {"tcp": {"profile": NS2_2006, "mss": f"{given['mss']}B", "window": given["window"]}}
    document = {
        "name": name,
        "duration": f"{seconds}s",
        "topology": {
            "dumbbell": {
                "pairs": pairs,
                "access": {"rate": "100Mbit", "delay": "1ms"},
                "bottleneck": {
                    "rate": "10Mbit",
                    "delay": f"{delay_ms}ms",
                    "buffer": f"{buffer}packets",
                },
            }
        },
        "traffic": {"all": {**traffic, "transport": transport}},
    }
    settings = {
        "until": str(seconds),
        "rate": "10Mb",
        "delay": f"{delay_ms}ms",
        "buffer": str(buffer),
        "pairs": str(pairs),
        "mss": str(given["mss"]),
        "window": str(given["window"]),
    }
    if red is not None:
        document["port"] = {"bottleneck": {"queue": {"law": "red", **red}}}
        settings |= {
            "queue": "RED",
            "min_thresh": str(red["min_th"]),
            "max_thresh": str(red["max_th"]),
            "max_p": str(red["max_p"]),
            "weight": str(red["w"]),
            "gentle": str(int(red["gentle"])),
        }
    return Case(name, about, document, settings, seeds, measures)


def _sessions(rate: int) -> dict[str, Any]:
    size = {"pareto": {"mean": "10kB", "shape": 1.5}}
    return {"arrivals": {"poisson": f"{rate}/s"}, "size": size}


def _streams(count: int) -> dict[str, Any]:
    return {"arrivals": {"uniform": count, "within": "5s"}, "size": "unlimited"}


LONG = {"mss": 1000, "window": UNLIMITED}


def _red(name: str, about: str, *, gentle: bool) -> Case:
    return _case(
        name,
        f"thirty flows without end over {about}: thresholds 5 and 15, max_p 0.05, w 0.002, 100 s",
        traffic=_streams(30),
        seconds=100,
        seeds=10,
        measures=STREAMS,
        delay_ms=48,
        buffer=60,
        tcp=LONG,
        red={"min_th": 5, "max_th": 15, "max_p": 0.05, "w": 0.002, "gentle": gentle},
    )


CASES = (
    _case(
        "one-stream",
        "one flow without end over drop-tail: RTT 100 ms, 60 packets, MSS 1000 B, 100 s",
        traffic=_streams(1),
        seconds=100,
        seeds=5,
        measures=STREAMS,
        delay_ms=48,
        buffer=60,
        pairs=1,
        tcp=LONG,
    ),
    _case(
        "ten-streams",
        "ten flows without end over drop-tail: RTT 100 ms, 60 packets, MSS 1000 B, 100 s",
        traffic=_streams(10),
        seconds=100,
        seeds=10,
        measures=STREAMS,
        delay_ms=48,
        buffer=60,
        tcp=LONG,
    ),
    _red("red", "RED", gentle=False),
    _red("gentle-red", "gentle RED", gentle=True),
    _case(
        "moderate-sessions",
        "70 sessions/s of 10 kB (Pareto 1.5): RTT 200 ms, 217 packets, MSS 536 B, 60 s",
        traffic=_sessions(70),
        seconds=60,
        seeds=5,
        measures=SESSIONS,
    ),
    _case(
        "busy-sessions",
        "110 sessions/s of 10 kB (Pareto 1.5): RTT 200 ms, 217 packets, MSS 536 B, 60 s",
        traffic=_sessions(110),
        seconds=60,
        seeds=5,
        measures=SESSIONS,
    ),
    _case(
        "overload",
        "1000 sessions/s of 10 kB (Pareto 1.5), nothing refused: otherwise the same, 15 s",
        traffic=_sessions(1000),
        seconds=15,
        seeds=3,
        measures=SESSIONS,
    ),
)

IDLE = tuple(
    (mss, size)
    for mss in (536, 1000, 1460)
    for size in (100, 536, 1000, 1072, 4000, 10_000, 100_000, 1_000_000)
)
"""Segment and file sizes, in bytes, of single flows on an idle link."""


def idle(mss: int, size: int) -> Case:
    """Return one flow on an idle link."""
    traffic = {"arrivals": {"at": ["0s"]}, "size": f"{size}B"}
    about = f"one flow of {size} B, MSS {mss} B, on an idle link"
    return _case(
        "idle",
        about,
        traffic=traffic,
        seconds=60,
        seeds=1,
        measures=("fct_mean_s",),
        pairs=1,
        tcp={"mss": mss},
    )
