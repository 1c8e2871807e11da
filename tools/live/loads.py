"""Scenarios of one link between two hosts, for the lab and for the simulator."""

from __future__ import annotations

from typing import Any

from tidegate.scenario.real_gate import REAL_GATE

HOST = {"tcp": {"profile": "linux"}}
TICKS = {"shared_ticks": True}
"""Of hosts of one machine."""
GATES: dict[str, dict[str, Any]] = {
    "none": {},
    "close-probe": {
        "gate": {
            "law": "close-probe",
            "limiter": "token-bucket",
            "relief": True,
            "tokens_keep": 2.0,
            **REAL_GATE,
        }
    },
    "tide": {"gate": {"law": "tide", "admit": "connections", **REAL_GATE}},
}
"""Controls of a port as a real gate has them."""

BUFFER = 150_000
LINK = {"rate": "10Mbit", "delay": "20ms", "buffer": f"{BUFFER // 1000}kB"}
HEAD = 1500
"""Bytes of the packet whose turn it is: tbf and HTB have it in the queue until that is over, and a
simulated link does not."""
BEHIND_HEAD = f"{BUFFER - HEAD}B"
"""The buffer of `LINK` in the simulator, where tbf has it in the lab."""
ACCESS = {"rate": "10Gbit", "delay": "0ms"}
SLOWER = {"rate": "1Gbit", "delay": "1ms"}
"""Access links with a delay; with 18 ms of the link a round trip of 40 ms."""


def document(
    seconds: float,
    traffic: dict[str, Any],
    port: dict[str, Any] | None = None,
    *,
    access: dict[str, str] = ACCESS,
    **link: object,
) -> dict[str, Any]:
    """Return a scenario of one link (`LINK` with `link`), with `port` for its gate and queue."""
    scenario: dict[str, Any] = {
        "name": "figures",
        "duration": f"{seconds}s",
        "topology": {"dumbbell": {"pairs": 1, "access": access, "bottleneck": LINK | link}},
        "traffic": traffic,
    }
    return {**scenario, "port": {"bottleneck": port}} if port else scenario


BACK = {"rate": "1Gbit", "buffer": "10MB"}
"""The way back in a lab whose router shapes one direction: what comes in does not wait. SYNs whose
timers have fired together come in together."""


def shaped(
    seconds: float,
    traffic: dict[str, Any],
    port: dict[str, Any] | None = None,
    *,
    access: dict[str, str] = ACCESS,
    back: str = "",
    **link: object,
) -> dict[str, Any]:
    """Return `document` for the simulator, where the lab has a router that shapes the link.

    The way back has the rate `back`, or that of the lab.
    """
    reverse = {**BACK, "rate": back or BACK["rate"]}
    return document(seconds, traffic, port, access=access, **link, reverse=reverse)


def on_a_machine(scenario: dict[str, Any], takes: str, processors: int) -> dict[str, Any]:
    """Return a scenario of `shaped` whose hosts are on one machine, as those of a lab are.

    A processor sends one packet after the other, each in `takes`, and the timers of all fire at the
    same ticks. As in the lab, data is sent by the first processor, which takes in the packets of
    the link, and SYNs by that of the program which connects: each has a client (which acknowledges
    there too). The classes are downloads. The names of the bottleneck's ports stay.
    """
    if any(each.get("opens") != "receiver" for each in scenario["traffic"].values()):
        raise ValueError("a machine is modelled for downloads")
    dumbbell = scenario["topology"]["dumbbell"]
    between = dumbbell["bottleneck"]
    numbers = range(1, processors + 1)
    clients = [f"client{number}" for number in numbers]
    ways = {"server.out": ("server", "processor1"), "server.in": ("left", "server")}
    routes = []
    for number, client in zip(numbers, clients, strict=True):
        ways[f"{client}.out"] = (client, f"processor{number}")
        ways[f"{client}.in"] = ("right", client)
        # nothing takes the second one: a medium has two ports at least
        for turn in (f"turn{number}", f"no turn{number}"):
            ways[turn] = (f"processor{number}", f"sent{number}")
        # what a host sends begins on its own side of the link
        for end, side in (("server", "right"), ("client", "left")):
            ways[f"{side}.on{number}"] = (f"sent{number}", side)
            to = clients if end == "client" else "server"
            routes.append({"at": f"sent{number}", "to": to, "via": f"{side}.on{number}"})
    wire = {"rate": "1000Gbit", "delay": "0ms", "buffer": "100000packets", "one_way": True}
    links = {name: {"from": start, "to": end, **wire} for name, (start, end) in ways.items()}
    for name, link in links.items():
        if name.endswith((".in", ".out")):
            link["delay"] = dumbbell["access"]["delay"]
    links["bottleneck"] = {"from": "left", "to": "right", **between, "users": "to"}
    ends = {"from": "server", "to": clients}
    turns = {
        name: {"medium": {"name": to, "gap": takes}}
        for name, (_, to) in ways.items()
        if "turn" in name
    }
    return scenario | {
        "topology": {"links": links},
        "route": routes,
        "traffic": {
            name: each | ends | {"transport": {"tcp": each["transport"]["tcp"] | TICKS}}
            for name, each in scenario["traffic"].items()
        },
        "port": scenario.get("port", {}) | turns,
    }


def pages(rate: float, opens: str = "receiver") -> dict[str, Any]:
    """Return sessions of 10 kB (Pareto 1.5), `rate` a second."""
    return {
        "opens": opens,
        "arrivals": {"poisson": f"{rate}/s"},
        "size": {"pareto": {"mean": "10kB", "shape": 1.5}},
        "transport": HOST,
    }


def page(rate: str, transport: dict[str, Any], **settings: object) -> dict[str, Any]:
    """Return a scenario of one page with 20 objects of 20 kB, over a link of this rate.

    `settings` are further ones of its `pages`.
    """
    web = {
        "arrivals": {"at": ["100ms"]},
        "size": "20kB",
        "pages": {**settings, "objects": 20},
        "transport": transport,
    }
    return document(20, {"web": web}, access=SLOWER, rate=rate, delay="18ms", buffer="100packets")


def endless(count: int, opens: str = "receiver") -> dict[str, Any]:
    """Return flows without end."""
    return {
        "opens": opens,
        "arrivals": {"uniform": count, "within": "1s"},
        "size": "unlimited",
        "transport": HOST,
    }
