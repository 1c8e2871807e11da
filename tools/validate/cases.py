"""The cases of ns-2. CONTRIBUTING.md says how to add one."""

from __future__ import annotations

from dataclasses import replace

from tools.validate.dumbbell import (
    ECN,
    MINUTES,
    POWER,
    SESSIONS,
    STREAMS,
    UNLIMITED,
    Case,
    Dumbbell,
    Red,
    Tcp,
    case,
    sessions,
    streams,
)

LONG = Dumbbell(delay_ms=48, buffer=60, tcp=Tcp(mss=1000, window=UNLIMITED))
"""For flows without end: RTT 100 ms, 60 packets, MSS 1000 B."""

SHORT = Dumbbell()
"""For sessions: RTT 200 ms, 217 packets, MSS 536 B, a window of 20."""

PLAIN = Red(min_th=5, max_th=15, max_p=0.1, gentle=False)
GENTLE = replace(PLAIN, gentle=True)
WIDE = Red(min_th=15, max_th=45, max_p=0.1, gentle=True)

SLOW = Dumbbell(rate="100kbit", access="10Mbit", delay_ms=23, buffer=90)
"""The bottleneck of the paper on dual-queue management."""

FAST = Dumbbell(
    rate="150Mbit",
    access="150Mbit",
    delay_ms=13,
    buffer=1125,
    pairs=50,
    tcp=Tcp(mss=460, window=UNLIMITED),
)
"""The reference network of the paper on Blitz."""

IDLE = tuple(
    (mss, size)
    for mss in (536, 1000, 1460)
    for size in (100, 536, 1000, 1072, 4000, 10_000, 100_000, 1_000_000)
)
"""Segment and file sizes, in bytes, of single flows on an idle link."""


def idle(mss: int, size: int) -> Case:
    """Return one flow on an idle link."""
    return case(
        "idle",
        f"one flow of {size} B, MSS {mss} B, on an idle link",
        Dumbbell(pairs=1, tcp=Tcp(mss=mss)),
        {"arrivals": {"at": ["0s"]}, "size": f"{size}B"},
        ("fct_mean_s",),
        seconds=60,
        seeds=1,
    )


def _streams(name: str, count: int, network: Dumbbell, queue: str, *, seeds: int = 10) -> Case:
    flows = {1: "one flow", 10: "ten flows", 30: "thirty flows"}[count]
    about = f"{flows} without end over {queue}: RTT 100 ms, 60 packets, MSS 1000 B, 100 s"
    measures = ECN if network.tcp.ecn else STREAMS
    network = replace(network, pairs=min(count, 10))
    return case(name, about, network, streams(count), measures, seconds=100, seeds=seeds)


def _sessions(
    name: str, rate: int, network: Dumbbell, queue: str, *, seconds: int, seeds: int
) -> Case:
    about = (
        f"{rate} sessions/s of 10 kB (Pareto 1.5) over {queue}: "
        f"RTT 200 ms, 217 packets, MSS 536 B, {seconds} s"
    )
    return case(name, about, network, sessions(rate), SESSIONS, seconds=seconds, seeds=seeds)


MANY = replace(SHORT, wakes=False)
"""For sessions of which none is small: no receiver checks for delayed ACKs."""


def _minutes(rate: int, network: Dumbbell = MANY, also: str = "", name: str = "") -> Case:
    """Return five minutes of larger sessions at a rate of Table I of the session control paper."""
    about = (
        f"{rate} sessions/s of 30 kB (Pareto 1.5) over drop-tail, nothing refused{also}: "
        "RTT 200 ms, 217 packets, MSS 536 B, 300 s"
    )
    return case(
        f"sessions-{rate}{name}",
        about,
        network,
        sessions(rate, "30kB"),
        MINUTES,
        seconds=300,
        seeds=1,
    )


def _slow(name: str, about: str, red: Red | None) -> Case:
    """Return the bottleneck of the paper on dual-queue management, at 1.2 times its capacity."""
    return case(
        name,
        f"1.3 sessions/s of 10.7 kB (exponential), {about}: 0.1 Mbit/s, 50 ms, 90 packets, 600 s",
        replace(SLOW, red=red),
        {"arrivals": {"poisson": "1.30208/s"}, "size": {"exponential": {"mean": "10720B"}}},
        SESSIONS,
        seconds=600,
        seeds=10,
    )


def _power(rate: int) -> Case:
    """Return a point of Reno's power curve, in the reference network of the paper on Blitz."""
    return case(
        f"power-{rate}",
        f"{rate} files/s of 100 kB: 150 Mbit/s, RTT 30 ms, 1125 packets, MSS 460 B, 20 s",
        FAST,
        {"arrivals": {"poisson": f"{rate}/s"}, "size": "100000B"},
        POWER,
        seconds=20,
        seeds=3,
    )


CASES = (
    # the longest first, so that the last one does not run alone
    _minutes(1000),
    _minutes(250),
    _minutes(
        250,
        replace(MANY, answer_rto_s=3 - 1e-9),
        also=", and in ns-2 SYN+ACKs are sent again 1 ns earlier",
        name="-earlier",
    ),
    _minutes(150),
    _minutes(100),
    _minutes(65),
    _streams("one-stream", 1, LONG, "drop-tail"),
    _streams("one-stream-red", 1, replace(LONG, red=PLAIN), "RED (5, 15, 0.1)"),
    _streams("one-stream-gentle", 1, replace(LONG, red=GENTLE), "gentle RED (5, 15, 0.1)"),
    _streams("ten-streams", 10, LONG, "drop-tail"),
    _streams("ten-streams-red", 10, replace(LONG, red=PLAIN), "RED (5, 15, 0.1)"),
    _streams("ten-streams-gentle", 10, replace(LONG, red=GENTLE), "gentle RED (5, 15, 0.1)"),
    _streams("ten-streams-wide", 10, replace(LONG, red=WIDE), "gentle RED (15, 45, 0.1)"),
    _streams(
        "ten-streams-ecn",
        10,
        replace(LONG, red=replace(WIDE, ecn=True), tcp=replace(LONG.tcp, ecn=True)),
        "gentle RED (15, 45, 0.1) with ECN",
    ),
    _streams(
        "thirty-streams-red", 30, replace(LONG, red=replace(PLAIN, max_p=0.05)), "RED (5, 15, 0.05)"
    ),
    _streams(
        "thirty-streams-gentle",
        30,
        replace(LONG, red=replace(GENTLE, max_p=0.05)),
        "gentle RED (5, 15, 0.05)",
    ),
    _sessions("moderate-sessions", 70, SHORT, "drop-tail", seconds=45, seeds=4),
    _sessions("busy-sessions", 120, SHORT, "drop-tail", seconds=45, seeds=6),
    _sessions(
        "busy-sessions-red",
        110,
        replace(SHORT, red=replace(WIDE, gentle=False)),
        "RED (15, 45, 0.1)",
        seconds=45,
        seeds=6,
    ),
    _sessions(
        "busy-sessions-gentle",
        110,
        replace(SHORT, red=WIDE),
        "gentle RED (15, 45, 0.1)",
        seconds=45,
        seeds=6,
    ),
    _sessions("overload", 1000, SHORT, "drop-tail, nothing refused", seconds=15, seeds=4),
    _slow("slow-drop-tail", "drop-tail", None),
    _slow("slow-gentle-red", "gentle RED (15, 45, 0.1)", WIDE),
    *(_power(rate) for rate in (60, 130, 160, 220)),
)
