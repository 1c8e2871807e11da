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
POWER = ("power", "completed_per_s", "fct_mean_s", "drops")
STREAMS = ("departed_per_s", "drops", "retransmitted", "queue_mean")


def _case(
    name: str,
    about: str,
    *,
    traffic: dict[str, Any],
    seconds: int,
    seeds: int,
    measures: tuple[str, ...],
    rate: str = "10Mbit",
    access: str = "100Mbit",
    delay_ms: int = 98,
    buffer: int = 217,
    pairs: int = 10,
    tcp: dict[str, Any] | None = None,
    red: dict[str, Any] | None = None,
) -> Case:
    """Say one dumbbell to both: access links with 1 ms, one bottleneck."""
    given = {"mss": 536, "window": 20} | (tcp or {})
    transport = {"tcp": {"profile": NS2_2006, "mss": f"{given['mss']}B", "window": given["window"]}}
    document = {
        "name": name,
        "duration": f"{seconds}s",
        "topology": {
            "dumbbell": {
                "pairs": pairs,
                "access": {"rate": access, "delay": "1ms"},
                "bottleneck": {
                    "rate": rate,
                    "delay": f"{delay_ms}ms",
                    "buffer": f"{buffer}packets",
                },
            }
        },
        "traffic": {"all": {**traffic, "transport": transport}},
    }
    settings = {
        "until": str(seconds),
        "rate": rate.removesuffix("it"),
        "access_rate": access.removesuffix("it"),
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


SLOW_RED = {"min_th": 15, "max_th": 45, "max_p": 0.1, "w": 0.002, "gentle": True}
"""G-R2 of the paper on dual queues, with the older of ns-2's weights."""


def _slow(name: str, about: str, red: dict[str, Any] | None) -> Case:
    """Return the bottleneck of the paper on dual queues, at 1.2 times its capacity."""
    size = {"exponential": {"mean": "10720B"}}
    return _case(
        name,
        f"1.3 sessions/s of 10.7 kB (exponential), {about}: 0.1 Mbit/s, 50 ms, 90 packets, 600 s",
        traffic={"arrivals": {"poisson": "1.30208/s"}, "size": size},
        seconds=600,
        seeds=10,
        measures=SESSIONS,
        rate="100kbit",
        access="10Mbit",
        delay_ms=23,
        buffer=90,
        red=red,
    )


def _power(rate: int) -> Case:
    """Return a point of Reno's power curve, in the reference network of the paper on Blitz."""
    return _case(
        f"power-{rate}",
        f"{rate} files/s of 100 kB: 150 Mbit/s, RTT 30 ms, 1125 packets, MSS 460 B, 20 s",
        traffic={"arrivals": {"poisson": f"{rate}/s"}, "size": "100000B"},
        seconds=20,
        seeds=3,
        measures=POWER,
        rate="150Mbit",
        access="150Mbit",
        delay_ms=13,
        buffer=1125,
        pairs=50,
        tcp={"mss": 460, "window": UNLIMITED},
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
    _slow("slow-drop-tail", "drop-tail", None),
    _slow("slow-gentle-red", "gentle RED (15, 45, 0.1)", SLOW_RED),
    *(_power(rate) for rate in (60, 130, 160, 220)),
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
