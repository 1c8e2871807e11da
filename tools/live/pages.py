"""One run of users who load pages through the router of the lab: its queue, its control, its load.

A page is a document of 12 kB and ten objects of 9 kB over six connections that stay open
(HTTP/1.1). The link has a round-trip time of 40 ms, and at 5 Mbit/s it carries nearly six pages a
second; users wait 30 s. The queue is a qdisc of the router's interface, of 150 kB per 10 Mbit/s; or
that of a provider before the router, whose gate then shapes at the inner interface. Users who stay
share fifty addresses, and load files of the size of a page.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import LEFT, PORT, Lab, LabError, RanOut, lateness
from tools.live.flood import SOURCES
from tools.live.loads import SLOWER, document
from tools.live.page_users import CONNECTIONS, PAGE_BYTES, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CLIENTS = "10.79"
"""The first half of the users' addresses."""
PAGE_ON_LINK = 1.07 * 8 * PAGE_BYTES
"""Bits that a page takes of a link: with headers, handshakes and acknowledgements of requests."""

LATE_MS = 2.4
"""Latest p95 of the emulated link, the time of a packet at 5 Mbit/s; a later run is not valid."""
USERS_LATE_MS = 50
"""The same of the program of the users."""

NOBODY = {"none": {"arrivals": {"at": ["1h"]}, "size": "1kB"}}
WIDE: dict[str, Any] = {"rate": "1Gbit", "delay": "18ms", "buffer": "1000packets"}
SCENARIO = document(3600, NOBODY, access=SLOWER, **WIDE)
"""The link of the lab; the queue is before it."""

LAWS = {
    "close-probe": '{ law = "close-probe" }',
    "tide": '{ law = "tide", admit = "connections" }',
    "tide by client": '{ law = "tide", admit = "clients" }',
    "tide visits": '{ law = "tide", admit = "visits" }',
    "DQM": '{ law = "none" }',
}
LIMITS = {"right": 1.0, "half": 0.5, "twice": 2.0}
"""Rates of the rules of nftables, of what the link carries."""
KEEPS_ITS_HASH = "net.core.txrehash=0"
"""Linux draws the hash of a connection anew at each timeout, and a router in the same kernel takes
it over: its queue would take what is sent again for another flow. A router of its own reads
addresses and ports."""
BURST = 5
"""Connections or users that a rule lets in at once after a pause: what nftables has by default."""
LIMITED = [f"nft {who}, {rate}" for who in ("connections", "users") for rate in LIMITS]
CONTROLS = ("none", *LIMITED, *LAWS)
QUEUES = ("drop-tail", "htb", "fq_codel", "cake")
PROVIDER = "provider"
"""The queue is the provider's, before the router: 150 kB per 10 Mbit/s, as drop-tail."""
SHAPED = 0.95
"""Rate of a gate that shapes, of the provider's."""
STAY = ("stay", "stay and once", "stay, greedy")
LOADS = (
    *("steady", "moving load", "moving capacity", "long flows"),
    *("light", "greedy", "flood", "patient", "every connection"),
    *STAY,
)
STAYING = 50
"""Addresses of those who stay ..."""
STAY_LOAD = 1.5
"""... and what they ask for, of what the link carries."""
LONGEST = 36
"""Seconds in which a user who never gives up is let in (docs/tide.md), and a round trip."""
FLOOD = 300
"""SYNs a second from forged addresses."""
GREED = 50
"""Openers of the greedy client for each of a user."""


SEVERAL = "; "
"""Between sysctls, whose values may have spaces."""


@dataclass(frozen=True)
class Cell:
    """A run."""

    queue: str
    control: str
    load: str
    seed: int = 1
    mbit: float = 5
    seconds: float = 40
    users: float = 2
    """Users a second under a steady load, of what the link carries."""
    gate: str = ""
    """Settings of the gate beside those of its control, as in its file."""
    sysctl: str = ""
    """Of the hosts, as NAME=VALUE; several with `SEVERAL` between them."""

    @property
    def sysctls(self) -> list[str]:
        """What is set of the hosts."""
        return self.sysctl.split(SEVERAL) if self.sysctl else []

    @property
    def carries(self) -> float:
        """Pages a second that the link carries."""
        return self.mbit * 1e6 / PAGE_ON_LINK

    @property
    def buffer(self) -> int:
        """Bytes of the queue: 120 ms."""
        return round(self.mbit * 15_000)

    def plan(self) -> Plan:
        """Return what the users do."""
        rate, end = self.users * self.carries, self.seconds
        third = end / 3
        plan = Plan(LEFT, PORT, CLIENTS, end, ((0, rate),), seed=self.seed)
        match self.load:
            case "moving load":
                # half of what the link carries, three times that, and twice
                steps = ((0, rate / 4), (third, 1.5 * rate), (2 * third, rate))
                changes: dict[str, Any] = {"steps": steps}
            case "long flows":
                changes = {"long": 5}
            case "light":
                changes = {"steps": ((0, self.carries / 2),)}
            case "flood":
                changes = {"steps": ((0, 0.75 * self.carries),)}
            case "every connection":
                changes = {"every": True}
            case "patient":
                changes = {"patient": 20}
            case "greedy":
                changes = {"greedy": GREED * CONNECTIONS * rate / 60}
            case load if load in STAY:
                changes = {"steps": ((0, STAY_LOAD * self.carries),), "stay": STAYING}
                changes |= {"once": 0.5 if load == "stay and once" else 0.0}
                changes |= {"greedy": 60.0 if load == "stay, greedy" else 0.0}
            case _:
                changes = {}
        return replace(plan, **changes)

    def moves(self) -> dict[int, float]:
        """Return the seconds at which a moving capacity changes, and to which part of it."""
        return {round(self.seconds / 3): 0.5, round(2 * self.seconds / 3): 1.0}


class Queue:
    """The qdisc of the router's interface to the link."""

    def __init__(self, lab: Lab, cell: Cell) -> None:
        """Put it there."""
        self.lab, self.cell = lab, cell
        self.device = "tg0"
        for host in (lab.left, lab.right):
            lab.put(host, KEEPS_ITS_HASH)
        if cell.queue == PROVIDER:
            self._before_the_router()
        words = {
            PROVIDER: "root handle 1: tbf rate {rate} burst 3100 limit {buffer}",
            "drop-tail": "root handle 1: tbf rate {rate} burst 3100 limit {buffer}",
            "htb": "root handle 1: htb default 10",
            "fq_codel": "root handle 1: tbf rate {rate} burst 3100 limit 10000000",
            "cake": "root handle 1: cake bandwidth {rate}",
        }
        self._tc("qdisc add", words[cell.queue])
        if cell.queue == "fq_codel":
            self._tc("qdisc add", "parent 1: fq_codel")
        self._rates("add", 1.0)
        if cell.queue == "htb":
            for leaf in (10, 20):
                self._tc("qdisc add", f"parent 1:{leaf} handle {leaf}: bfifo limit {{buffer}}")
            port = f"u32 match ip sport {PORT + 1} 0xffff flowid 1:20"
            self._tc("filter add", f"parent 1: protocol ip prio 1 {port}")
        self.before = self.sent()

    def _before_the_router(self) -> None:
        """Lead what comes in from the servers through an interface that has the queue.

        A queue of the servers' own would tell their TCP of each loss at once.
        """
        self.device = "provider"
        within = partial(self.lab.within, self.lab.router)
        within("ip", "link", "add", self.device, "type", "ifb")
        within("ip", "link", "set", self.device, "up")
        within("tc", "qdisc", "add", "dev", "lan", "ingress")
        every = ("parent", "ffff:", "protocol", "all", "u32", "match", "u32", "0", "0")
        redirect = ("action", "mirred", "egress", "redirect", "dev", self.device)
        within("tc", "filter", "add", "dev", "lan", *every, *redirect)

    def _tc(self, verb: str, words: str, of: float = 1.0) -> None:
        rate = self.cell.mbit * of
        filled = words.format(rate=f"{rate:g}mbit", buffer=self.cell.buffer)
        kind, act = verb.split()
        command = ("tc", kind, act, "dev", self.device, *filled.split())
        self.lab.within(self.lab.router, *command)

    def _rates(self, act: str, of: float) -> None:
        """Set the rates of classes: pages have four fifths of the link, long flows a fifth."""
        if self.cell.queue != "htb":
            return
        ceil = f"{self.cell.mbit * of:g}mbit"
        for parent, name, part in (("1:", "1:1", 1.0), ("1:1", "1:10", 0.8), ("1:1", "1:20", 0.2)):
            words = f"parent {parent} classid {name} htb rate {{rate}} ceil {ceil}"
            self._tc(f"class {act}", words, of * part)

    def move(self, of: float) -> None:
        """Set the rate of the link, of what it was."""
        match self.cell.queue:
            case "htb":
                self._rates("change", of)
            case "cake":
                self._tc("qdisc change", "root handle 1: cake bandwidth {rate}", of)
            case kind:
                limit = "10000000" if kind == "fq_codel" else "{buffer}"
                words = f"root handle 1: tbf rate {{rate}} burst 3100 limit {limit}"
                self._tc("qdisc change", words, of)

    def sent(self) -> int:
        """Return the bytes that it has sent."""
        words = f"-j -s qdisc show dev {self.device} root"
        text = self.lab.within(self.lab.router, "tc", *words.split())
        return int(json.loads(text)[0]["bytes"])


def limit(lab: Lab, control: str, cell: Cell) -> None:
    """Put rules of nftables in the place of a gate: so many connections or users a second."""
    _, who, rate = control.replace(",", "").split()
    a_minute = round(60 * LIMITS[rate] * cell.carries * (CONNECTIONS if who != "users" else 1))
    over = f"limit rate over {a_minute}/minute burst {BURST} packets drop"
    lines = [
        "table ip limits {",
        "set known { type ipv4_addr; flags dynamic,timeout; timeout 15s; size 65535; }",
        "chain forward {",
        "type filter hook forward priority 0; policy accept;",
        'iifname != "tg0" accept',
        "tcp flags & (syn | ack) != syn accept",
        "ip saddr @known update @known { ip saddr } accept",
        over,
        "add @known { ip saddr } accept",
        "}",
        "}",
    ]
    text = "\n".join(line for line in lines if who == "users" or "known" not in line)
    rules = lab.folder / "rules.nft"
    rules.write_text(text + "\n", encoding="utf-8")
    lab.within(lab.router, "nft", "-f", str(rules))


def gate(lab: Lab, control: str, cell: Cell) -> None:
    """Start a gate before the queue that is there; where that is the provider's, it shapes."""
    link = f"capacity = '{cell.mbit:g}Mbit'"
    if cell.queue == PROVIDER:
        link = f"shape = '{SHAPED * cell.mbit:g}Mbit'"
    text = f"{cell.gate}\nmode = 'enforce'\nlaw = {LAWS[control]}\n{link}\n"
    if control == "DQM":
        whole = cell.buffer // 1500
        text += f"dqm = {{ x_m = {whole // 2}, x_M = {whole // 2}, P_M = 1, "
        text += f"measure = 'instantaneous', buffer = {whole} }}\n"
    lab.gate(text)


class Sampler(threading.Thread):
    """Calls something every second until it is ended."""

    def __init__(self, look: Callable[[float], None]) -> None:
        """Start."""
        super().__init__(daemon=True)
        self.look, self.over = look, threading.Event()
        self.start()

    def run(self) -> None:
        """Look until the end."""
        second = 0.0
        while not self.over.wait(1):
            second += 1
            with suppress(LabError):
                self.look(second)

    def end(self) -> None:
        """End it."""
        self.over.set()
        self.join()


def measure(cell: Cell) -> dict[str, Any]:
    """Run a cell; return it with what was measured."""
    with Lab(late_ms=LATE_MS) as lab:
        link = lab.link(lab.write(SCENARIO)[0])
        if cell.sysctl:
            for host in (lab.left, lab.right):
                lab.put(host, *cell.sysctls)
        # the answers to forged SYNs cross the link, and end there
        lab.users(f"{CLIENTS}.0.0/16", SOURCES)
        queue = Queue(lab, cell)
        if control := LAWS.get(cell.control):
            gate(lab, cell.control, cell)
        elif cell.control != "none":
            limit(lab, cell.control, cell)
        ports = (str(PORT), str(PORT + 1))
        lab.ready(lab.left, sys.executable, "-m", "tools.live.page_server", LEFT, *ports)
        half_open: list[int] = []
        moves = cell.moves()

        def look(second: float) -> None:
            if cell.load == "moving capacity" and second in moves:
                queue.move(moves[int(second)])
            open_now = lab.within(lab.left, "ss", "-Htn", "state", "syn-recv")
            half_open.append(len(open_now.splitlines()))

        told = users(lab, cell, look)
        sent = queue.sent() - queue.before
        status = lab.status() if control else {}
        cookies = lab.counters(lab.left)["SyncookiesSent"]
        late_ms, not_read = lateness(link.report())
        if 1e3 * told["late_p95_s"] > USERS_LATE_MS:
            raise RanOut(f"users were {1e3 * told['late_p95_s']:.0f} ms late (p95)")
        files = lab.watch.most()
    return {
        **asdict(cell),
        **summary(told, sent, cell),
        "refused": refused(status),
        "half_open_most": max(half_open, default=0),
        "cookies": cookies,
        "alarm": status.get("alarm", False),
        "late_ms": late_ms,
        "not_read": not_read,
        "files_most": files.peak,
        "files_limit": files.limit,
        "kernel": os.uname().release,
    }


def users(lab: Lab, cell: Cell, look: Callable[[float], None]) -> dict[str, Any]:
    """Let the users of a cell load pages, and look at the lab every second."""
    command = ("-m", "tools.live.page_users", json.dumps(asdict(cell.plan())))
    loading = lab.start(lab.right, sys.executable, *command)
    if cell.load == "flood":
        words = (LEFT, str(PORT), str(FLOOD), str(cell.seconds))
        lab.start(lab.right, sys.executable, "-m", "tools.live.flood", *words)
    sampler = Sampler(look)
    try:
        told: dict[str, Any] = json.loads(lab.ended(loading))
    finally:
        sampler.end()
    return told


def refused(status: dict[str, Any]) -> int:
    """Return the openers that a gate refused; 0 without one."""
    packets = dict(status.get("packets", []))
    by_queue = status.get("connections") or (0, 0)
    return int(packets.get("session_refused", 0)) + int(by_queue[1])


def spread(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return how many of these got all, and their median and 95th percentile, s; NaN: nobody."""
    times = sorted(row["load_s"] for row in rows if "load_s" in row)
    at = [len(times) * part // 100 for part in (50, 95)]
    p50, p95 = (times[each] if times else math.nan for each in at)
    return {"came": len(rows), "done": len(times), "p50_s": p50, "p95_s": p95}


def summary(told: dict[str, Any], sent: float, cell: Cell) -> dict[str, Any]:
    """Return the measures of a run; times in seconds, NaN: nobody got so far."""
    rows = told["rows"]
    times = [row["load_s"] for row in rows if "load_s" in row]
    waits = sorted(row["connected_s"] for row in rows if "connected_s" in row)
    patient = [row for row in rows if row["patient"] and row["start_s"] < cell.seconds - LONGEST]
    useful = len(times) * PAGE_BYTES + told["long_bytes"]
    return {
        "came": len(rows),
        "done": len(times),
        "page_s": statistics.fmean(times) if times else float("nan"),
        "served": told["served"],
        "wait_mean_s": statistics.fmean(waits) if waits else float("nan"),
        "wait_p95_s": waits[len(waits) * 95 // 100] if waits else float("nan"),
        "wait_most_s": waits[-1] if waits else float("nan"),
        "never": len(rows) - len(waits),
        "patient": len(patient),
        "patient_in": sum("connected_s" in row for row in patient),
        "patient_wait_s": max((row.get("connected_s", math.inf) for row in patient), default=0.0),
        "wasted": max(0.0, 1 - useful / max(1.0, sent)),
        "sent_mbit_s": sent * 8e-6 / cell.seconds,
        "long_mbit_s": told["long_bytes"] * 8e-6 / cell.seconds,
        "greedy": told["greedy"],
        "users_late_ms": 1e3 * told["late_p95_s"],
        **({who: spread(some) for who, some in groups(rows).items()} if cell.load in STAY else {}),
    }


def groups(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return those who stay and those who come once."""
    return {
        who: [row for row in rows if row["stays"] is (who == "stay")] for who in ("stay", "once")
    }
