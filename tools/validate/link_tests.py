"""Measurements of a link whose truth is known, in the files of the programs that make them.

The link is simulated while flows fill it, down, then up, or both ways. Probes see the queues that
stand then. What programs would have seen is written as their files; `tidegate advise` reads them.
"""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass, field
from typing import Any

import tidegate
from tidegate.advise.facts import DOWN, UP
from tidegate.scenario import toml

IDLE_S, GAP_S = 5.0, 4.0
"""Of a test: nothing before the load, and nothing behind it."""
STEP_S = 0.1
PAYLOAD_OF_IP = 1448 / 1500


@dataclass(frozen=True)
class Truth:
    """A link, and how its queues are."""

    down_bps: float
    up_bps: float
    rtt_s: float
    down_s: float
    """How long a full buffer of the downlink takes to leave, and of the uplink."""
    up_s: float
    loss: float = 0.0
    law: dict[str, Any] = field(default_factory=lambda: {"law": "drop-tail"})
    """The queue law of both directions at the link itself."""
    flows: int = 8
    window: int = 0
    """The most segments in the window of a flow of the test; 0: no bound."""
    load_s: float = 15.0
    """How long a test loads the link."""


@dataclass(frozen=True)
class Seen:
    """What a test saw: times in seconds, round trips, and payload delivered each way."""

    trips: list[tuple[float, float]]
    down: list[tuple[float, float]]
    up: list[tuple[float, float]]
    lost: int
    """Of the probes."""
    load_s: float

    def during(self, begin: float, end: float) -> list[float]:
        """Return the round trips of a span."""
        return [trip for time, trip in self.trips if begin <= time < end]

    @property
    def idle(self) -> list[float]:
        """The round trips before the load."""
        return self.during(0.0, IDLE_S)

    @property
    def loaded(self) -> list[float]:
        """The round trips under load, once it has settled."""
        return self.during(IDLE_S + 0.3 * self.load_s, IDLE_S + self.load_s)


def scenario(truth: Truth, *ways: str) -> str:
    """Return the scenario of a test that loads these directions."""
    end = IDLE_S + truth.load_s
    tcp: dict[str, Any] = {"profile": "linux"}
    if truth.window:
        tcp["window"] = truth.window
    ends = {DOWN: ("server", "client"), UP: ("client", "server")}
    traffic = {
        way: {
            "from": ends[way][0],
            "to": ends[way][1],
            "arrivals": {"at": [f"{IDLE_S + 0.05 * each:.2f}s" for each in range(truth.flows)]},
            "size": "unlimited",
            "stop": f"{end}s",
            "transport": {"tcp": tcp},
        }
        for way in ways
    }
    tables = {
        "name": "a test of a link",
        "duration": f"{end + GAP_S}s",
        "sample": f"{STEP_S}s",
        "topology": {
            "links": {
                "line": {
                    "from": "server",
                    "to": "client",
                    "rate": f"{truth.down_bps / 1e3:.0f}kbit",
                    "delay": f"{truth.rtt_s / 2 * 1e3:.3f}ms",
                    "buffer": _bytes(truth.down_s * truth.down_bps),
                    "loss": truth.loss,
                    "reverse": {
                        "rate": f"{truth.up_bps / 1e3:.0f}kbit",
                        "buffer": _bytes(truth.up_s * truth.up_bps),
                        "loss": truth.loss,
                    },
                }
            }
        },
        "port": {"line": {"queue": truth.law}, "line.reverse": {"queue": truth.law}},
        "traffic": traffic,
        "series": {"classes": list(ways), "every": f"{STEP_S}s"},
    }
    return toml.document(tables)


def _bytes(bits: float) -> str:
    return f"{max(15_000, round(bits / 8))}B"


def test(truth: Truth, seed: int, *ways: str) -> Seen:
    """Run a test that loads these directions at once."""
    run = tidegate.run(scenario(truth, *ways), seed=seed)
    chance = random.Random(seed)
    waits: dict[float, float] = {}
    for name, bps in (("line", truth.down_bps), ("line.reverse", truth.up_bps)):
        rows = run.ports.filter(run.ports["port"] == name)
        for time, queued in zip(rows["time_s"], rows["queue_bytes"], strict=True):
            waits[time] = waits.get(time, 0.0) + 8 * queued / bps
    trips, lost = [], 0
    for time, wait in sorted(waits.items()):
        if chance.random() < 1 - (1 - truth.loss) ** 2:
            lost += 1
        else:
            # what hosts and the rest of the path add by chance
            trips.append((time, truth.rtt_s + wait + chance.expovariate(1 / 0.0003)))
    rates: dict[str, list[tuple[float, float]]] = {DOWN: [], UP: []}
    series = run.class_series
    for time, way, bps in zip(series["time_s"], series["class"], series["rate_bps"], strict=True):
        if IDLE_S < time <= IDLE_S + truth.load_s:
            rates[str(way)].append((time, bps))
    return Seen(trips, rates[DOWN], rates[UP], lost, truth.load_s)


def flent(seen: Seen) -> bytes:
    """Return the data file of Flent."""
    times = [time for time, _ in seen.trips]
    results: dict[str, list[float | None]] = {
        "Ping (ms) ICMP": [1e3 * trip for _, trip in seen.trips]
    }
    for name, series in (("TCP download", seen.down), ("TCP upload", seen.up)):
        if series:
            at = {round(time, 3): bps / 1e6 for time, bps in series}
            results[f"{name}::1"] = [at.get(round(time, 3)) for time in times]
    document = {"version": 4, "x_values": times, "results": results, "metadata": {}}
    return gzip.compress(json.dumps(document).encode(), mtime=0)


def _mean(series: list[tuple[float, float]]) -> float:
    """Return the rate that a program reports: without the first third."""
    values = [bps for _, bps in series[len(series) // 3 :]]
    return sum(values) / len(values) if values else 0.0


def network_quality(down: Seen, up: Seen) -> bytes:
    """Return JSON of networkQuality; both are the same test where it loads both ways at once."""
    trips = {"dl_": down, "ul_": up} if down is not up else {"": down}
    document: dict[str, Any] = {
        "base_rtt": 1e3 * min(down.idle),
        "il_tcp_handshake_443": [1e3 * trip for trip in down.idle[:8]],
        "dl_throughput": round(_mean(down.down)),
        "ul_throughput": round(_mean(up.up)),
    }
    for sign, seen in trips.items():
        some = seen.loaded[::3]
        document[f"lud_foreign_{sign}tcp_handshake_443"] = [1e3 * trip for trip in some]
    return json.dumps(document).encode()


def goresponsiveness(down: Seen, up: Seen) -> bytes:
    """Return what goresponsiveness prints."""
    lines = [f"Baseline RPM: {60 / _middle(down.idle):5.0f} (P90)", "Results:", "========"]
    for name, seen, series in (("Download", down, down.down), ("Upload", up, up.up)):
        lines += [
            f"{name}:",
            f"\tThroughput: {_mean(series) / 1e6:.3f} Mbps (0 MBps), using 8 parallel connections.",
            f"\tRPM: {60 / _middle(seen.loaded):.0f} (P90)",
            "========",
        ]
    return "\n".join(lines).encode()


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def crusader(down: Seen, up: Seen) -> bytes:
    """Return the JSON of `crusader export`: a download, then an upload."""
    later = IDLE_S + down.load_s + GAP_S
    groups, pings = [], []
    for begin, seen, series, way in ((0.0, down, down.down, True), (later, up, up.up, False)):
        got = 0.0
        data = [{"time": _seconds(begin + IDLE_S), "bytes": 0}]
        for time, bps in series:
            got += bps * STEP_S / 8
            data.append({"time": _seconds(begin + time), "bytes": round(got)})
        groups.append({"download": way, "both": False, "streams": [{"data": data}]})
        for time, trip in seen.trips:
            latency = {"total": _seconds(trip), "up": _seconds(trip / 2)}
            pings.append({"index": 0, "sent": _seconds(begin + time), "latency": latency})
        pings += [{"index": 0, "sent": _seconds(begin), "latency": None}] * seen.lost
    return json.dumps({"version": 2, "stream_groups": groups, "pings": pings}).encode()


def _seconds(time: float) -> dict[str, int]:
    nanos = round(time * 1e9)
    return {"secs": nanos // 10**9, "nanos": nanos % 10**9}


def autorate(down: Seen, up: Seen, truth: Truth) -> bytes:
    """Return a log of cake-autorate, whose shapers let through a little more than the link."""
    from tidegate.advise.readers.autorate import HEAD

    lines = [f"DATA_HEADER; {HEAD}"]
    half = truth.rtt_s / 2
    for seen, series, sign in ((down, down.down, "DL"), (up, up.up, "UL")):
        at = {round(time, 3): bps for time, bps in series}
        best = 1.05 * (truth.down_bps if sign == "DL" else truth.up_bps)
        for time, trip in seen.trips:
            row = dict.fromkeys((each.strip() for each in HEAD.split(";")), "0")
            rate = at.get(round(time, 3), 0.0) / PAYLOAD_OF_IP
            row |= {
                f"{sign}_ACHIEVED_RATE_KBPS": f"{rate / 1e3:.0f}",
                f"{sign}_LOAD_PERCENT": f"{100 * rate / best:.0f}",
                "DL_OWD_BASELINE": f"{1e6 * half:.0f}",
                "UL_OWD_BASELINE": f"{1e6 * half:.0f}",
                f"{sign}_OWD_DELTA_US": f"{1e6 * max(0.0, trip - truth.rtt_s):.0f}",
                "DL_ADJ_DELAY_THR": "30000",
                "UL_ADJ_DELAY_THR": "30000",
            }
            lines.append("DATA; " + "; ".join(row.values()))
    return "\n".join(lines).encode()


def ping(seen: Seen) -> bytes:
    """Return the output of ping at a quiet hour."""
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={number} ttl=57 time={1e3 * trip:.3g} ms"
        for number, trip in enumerate(seen.idle, 1)
    ]
    sent = len(seen.idle) + seen.lost
    lines.append(f"{sent} packets transmitted, {len(seen.idle)} received, 0% packet loss")
    return "\n".join(lines).encode()


def irtt(seen: Seen) -> bytes:
    """Return JSON of irtt, which ran through all of the test."""
    trips = [
        {"seqno": 0, "lost": "false", "delay": {"rtt": round(1e9 * trip)}} for _, trip in seen.trips
    ]
    return json.dumps({"version": {}, "stats": {}, "round_trips": trips}).encode()


def ss(seen: Seen, truth: Truth) -> bytes:
    """Return `ss -ti` of the sender of an upload, in its middle."""
    trip = 1e3 * _middle(seen.loaded)
    rate = _mean(seen.up) / truth.flows / 1e6
    line = (
        f"\t cubic rto:300 rtt:{trip:.3f}/5 mss:1448 cwnd:60 bytes_sent:9000000 bytes_retrans:9000"
        f" delivery_rate {rate:.2f}Mbps unacked:40 minrtt:{1e3 * min(seen.idle):.3f}"
    )
    return "\n".join(["ESTAB 0 0 192.0.2.7:443 198.51.100.2:50118", line] * truth.flows).encode()


def tc(truth: Truth, share: float) -> bytes:
    """Return `tc -s qdisc` where CAKE shapes both directions to a share of the link."""
    text = ""
    for name, bps in (("wan0", truth.up_bps), ("lan0", truth.down_bps)):
        text += (
            f"qdisc cake 8001: dev {name} root refcnt 2 bandwidth {share * bps / 1e3:.0f}Kbit"
            " besteffort\n Sent 1000000 bytes 1000 pkt (dropped 9, overlimits 5 requeues 0)\n"
            " backlog 0b 0p requeues 0\n"
        )
    return text.encode()
