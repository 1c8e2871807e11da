"""What the simulator says of a run of users who load pages (`tools.live.pages`)."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from functools import cache, reduce
from itertools import product, takewhile
from operator import or_
from typing import TYPE_CHECKING, Any

import tidegate
from tidegate.scenario.real_gate import REAL_GATE
from tools.live import loads
from tools.live.loads import GATES, HEAD, HOST, TICKS, endless
from tools.live.page_server import head
from tools.live.page_users import (
    CONNECTIONS,
    DOCUMENT,
    OBJECT,
    OBJECTS,
    PAGE_BYTES,
    REQUEST,
    arrivals,
)
from tools.live.pages import BURST, LIMITS, LOADS, PROVIDER, Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTROLS: dict[str, dict[str, Any]] = {
    **GATES,
    "tide by client": {"gate": {"law": "tide", "admit": "clients", **REAL_GATE}},
    "tide visits": {"gate": {"law": "tide", "admit": "visits", **REAL_GATE}},
}
QUEUES: dict[str, dict[str, Any]] = {
    "drop-tail": {},
    "htb": {},
    # a turn is a packet of the link, without a header of Ethernet (psched_mtu)
    "fq_codel": {"law": "fq-codel", "quantum": "1500B", "backlog": "all"},
    "cake": {"law": "cake"},
}
ROOM = {"fq_codel": "10240packets", "cake": "2500kB"}
"""What waits at most: the limit of fq_codel, and what fits into the 4 MiB of CAKE, which counts
the memory that packets take (2.42 to 2.55 MB of them in three runs). Queues without a law have the
bytes of the cell behind the packet that is being sent (`HEAD`)."""


def port(cell: Cell) -> dict[str, Any] | None:
    """Return the gate and the queue of a cell; none: the simulator has no such control or queue."""
    queue = dict(QUEUES.get(cell.queue, {}))
    if cell.queue == "cake":
        queue["bandwidth"] = f"{cell.mbit:g}Mbit"
    said: dict[str, Any] = {"queue": queue} if queue else {}
    if cell.control.startswith("nft connections"):
        rate = LIMITS[cell.control.split()[-1]] * CONNECTIONS * cell.carries
        fixed: dict[str, Any] = {"law": "fixed-rate", "rate": f"{rate:.3f}/s"}
        # nft sees the SYN that comes in
        fixed |= {"limiter": "token-bucket", "burst": BURST, "refuse_at": "ingress"}
        return {**said, "gate": fixed}
    if cell.control == "DQM":
        whole = cell.buffer // 1500
        law: dict[str, Any] = {"law": "dqm", "x_m": whole // 2, "x_M": whole // 2, "P_M": 1.0}
        law |= {"measure": "instantaneous", "counts": "all", "queues": 1}
        law["refuse_at"] = "ingress"
        return {"queue": law} if cell.queue in {"drop-tail", "htb"} else None
    if cell.gate or cell.control not in CONTROLS:
        return None
    control = CONTROLS[cell.control]
    if "gate" in control:
        # the file of the gate has a capacity, whatever the link carries later
        control = {"gate": {**control["gate"], "capacity": f"{cell.mbit:g}Mbit"}}
    return {**said, **control}


WITHOUT: dict[str, dict[str, Any]] = {
    "net.ipv4.tcp_sack=0": dict.fromkeys(("sack", "prr", "rack", "tlp"), False),
    "net.ipv4.tcp_timestamps=0": {"timestamps": False, "mss": "1460B", "header": "40B"},
    "net.ipv4.tcp_early_retrans=0": {"tlp": False},
    # simulated hosts have neither
    "net.ipv4.tcp_frto=0": {},
    "net.ipv4.tcp_dsack=0": {},
}
"""What simulated hosts have where real ones have a sysctl."""
LACKS: dict[str, dict[str, Any]] = {"undo": {"undo": False}, "quick-again": {"quick_again": 0}}
"""What simulated hosts have that do not do this."""


def document(
    cell: Cell, said: dict[str, Any], later: float = 0, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the scenario of a cell: the users of the lab, `later` by so many seconds.

    Its hosts lack what `without` says.
    """
    plan = cell.plan()
    taken = [WITHOUT[setting] for setting in cell.sysctls] + [LACKS[one] for one in without]
    transport = {"tcp": reduce(or_, taken, HOST["tcp"] | TICKS)}
    come = takewhile(lambda due: due < cell.seconds, (due + later for due, _ in arrivals(plan)))
    link = {"rate": f"{cell.mbit:g}Mbit", "delay": "18ms"}
    link["buffer"] = ROOM.get(cell.queue, f"{cell.buffer - HEAD}B")
    pages = {
        "document": f"{DOCUMENT + len(head(DOCUMENT))}B",
        "objects": OBJECTS,
        "connections": CONNECTIONS,
        "request": f"{len(REQUEST.format(OBJECT))}B",
        # what is not connected when the page has come is given up (`page_users`)
        "cancels": True,
        # a user connects before it asks: the SYN+ACKs enter the queue before the answer
        "server": "10us",
    }
    web: dict[str, Any] = {
        "direction": "download",
        "arrivals": {"at": [f"{due:.6f}s" for due in come]},
        "size": f"{OBJECT + len(head(OBJECT))}B",
        "pages": pages,
        "patience": f"{plan.patience:g}s",
        "transport": transport,
    }
    long = {
        **endless(plan.long),
        "transport": transport,
        "arrivals": {"at": [f"{later:.6f}s"] * plan.long},
    }
    changes = []
    if cell.load == "moving capacity":
        for second, part in cell.moves().items():
            to, when = f"{cell.mbit * part:g}Mbit", f"{second + later:.6f}s"
            changes.append({"what": "bottleneck.rate", "at": when, "to": to})
    traffic = {"web": web, **({"long": long} if plan.long else {})}
    # in the kernel with a clock of its own a packet takes no time but on the link
    access = loads.SLOWER | {"rate": "1000Gbit"}
    scenario = loads.shaped(cell.seconds + later, traffic, said, access=access, **link)
    return {**scenario, "change": changes} if changes else scenario


SEEDS = tuple(range(1, 11))
"""Of a prediction for users in general: with others a cell may have half or twice as many pages."""
LATER = [0.069 * number for number in range(4)]
"""Each seed's users come at these times, in seconds, after their own: a run of real hosts begins at
any time between the ticks of their clocks, and many sessions repeat their packets at the same tick.
(They lie at four places of the 4, 32 and 256 ms between ticks.) So even the same users load a tenth
more or less."""


@cache
def predict(
    cell: Cell, seeds: Sequence[int], without: Sequence[str] = ()
) -> dict[str, float] | None:
    """Simulate a cell with the users of these seeds; none: the simulator does not have it.

    A run of the lab with a seed has the same users. Hosts lack what `without` says.
    """
    said = port(cell)
    # its link changes and is no shaper; its HTB has no classes
    where = (cell.queue, cell.load)
    absent = cell.load in LOADS[5:] or cell.queue == PROVIDER or where == ("htb", "long flows")
    unknown = not set(cell.sysctls) <= WITHOUT.keys()
    if said is None or absent or unknown or where == ("cake", "moving capacity"):
        return None
    done, times = [], []
    for seed, later in product(seeds, LATER):
        result = tidegate.run(document(replace(cell, seed=seed), said, later, without), seed=seed)
        found = [float(each) for each in result.pages["load_time_s"] if each is not None]
        loaded = [each for each in found if not math.isnan(each)]
        done.append(len(loaded))
        times += loaded
    return {
        "done": statistics.fmean(done),
        "least": min(done),
        "most": max(done),
        "page_s": statistics.fmean(times) if times else float("nan"),
        "useful_mbit_s": statistics.fmean(done) * PAGE_BYTES * 8e-6 / cell.seconds,
    }
