"""What is simulated: each protocol in each scenario of the paper, and what goes beyond it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate.papers.case import Case, Scale
from tidegate.papers.qfcp.controls import LAWS

if TYPE_CHECKING:
    from collections.abc import Sequence

PROTOCOLS = ("qfcp", "rcp", "xcp", "tcp", "vcp")
FLOWS: dict[str, tuple[str, ...]] = {"fct": ("web",), "lossy": ("f1",)}
FLOWS |= {"crowd": ("old", "crowd"), "mixed": ("rates",)}
FLOWS |= {"row": ("whole", "first", "second", "third")}
FLOWS |= {"adapt": tuple(f"f{k}" for k in range(1, 5)), "rtt": tuple(f"f{k}" for k in range(1, 11))}
"""The traffic classes of each scenario whose transport is varied."""
PORTS: dict[str, tuple[str, ...]] = dict.fromkeys(("adapt", "rtt", "lossy"), ("middle",))
PORTS |= dict.fromkeys(("fct", "crowd", "mixed"), ("bottleneck",))
PORTS |= {"row": ("link1", "link2", "link3")}
BUFFERS = {"fct": 1875, "adapt": 225, "rtt": 731, "lossy": 500, "crowd": 225, "mixed": 225}
"""Packets of the bottleneck's buffer."""

_ALIKE = 'profile = "ns2-2005", mss = "960B", window = "none", nagle = false, fin_waits = false'
_EXACT = f'{_ALIKE}, tick = "0s"'
_ONE_WAY = 'timer_rule = "rfc", loss_rule = "one-way"'
_RATE = f'{_EXACT}, timer_rule = "rfc", loss_rule = "rfc", lost_syn = "nothing"'
TRANSPORTS = {
    "qfcp": f"{{ qfcp = {{ {_RATE} }} }}",
    "rcp": f"{{ rcp = {{ {_RATE} }} }}",
    "xcp": f"{{ xcp = {{ {_EXACT}, {_ONE_WAY}, timestamps = true }} }}",
    "vcp": f"{{ vcp = {{ {_EXACT}, {_ONE_WAY} }} }}",
    "tcp": f"{{ tcp = {{ {_ALIKE}, {_ONE_WAY} }} }}",
}
"""One-way Reno of ns-2 but for what each protocol brings itself."""
FOUR = ("qfcp", "rcp", "xcp", "tcp")
"""The protocols of Figure 1."""
BURSTY = (0.001, 0.01)
"""Shares of packets that a wireless link loses in bursts."""
REVERSE = (
    "traffic.back",
    '{ direction = "upload", size = "unlimited", stop = "96s",'
    ' arrivals = { uniform = 20, within = "2s" },'
    ' transport = { tcp = { profile = "ns2-2005", mss = "960B", window = "none" } } }',
)
"""Twenty long TCP flows the other way: the ACKs of Figure 1 wait in a full buffer, and get lost."""
LOSSES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
RTOS = (3, 1)
"""First retransmission timeouts besides 6 s, s."""
BETAS = (0.1, 0.25, 0.5, 1.0, 2.0)
TWO_ROUND_TRIPS = "80ms"
"""Of Figure 2: a control period in which a granted rate arrives before it is corrected."""

Setting = tuple[str, str]


def _red(buffer: int) -> str:
    return (
        f'{{ law = "red", min_th = {buffer / 3:.4g}, max_th = {buffer / 1.5:.4g},'
        ' gentle = true, mean_packet = "1000B" }'
    )


def protocol(name: str, scenario: str, *more: str, **law: object) -> tuple[Setting, ...]:
    """Return the settings that put a scenario under a protocol.

    `more` are further settings of the senders, `law` those of the ports' law.
    """
    transport = TRANSPORTS[name]
    if more:
        transport = transport.replace(" } }", "".join(f", {each}" for each in more) + " } }")
    settings = [(f"traffic.{flow}.transport", transport) for flow in FLOWS[scenario]]
    for port in PORTS[scenario]:
        values = "".join(f", {key} = {_toml(value)}" for key, value in law.items())
        stamp = "none" if name == "tcp" else name
        settings.append((f"port.{port}.stamp", f'{{ law = "{stamp}"{values} }}'))
        if name == "tcp" and scenario in BUFFERS:
            settings.append((f"port.{port}.queue", _red(BUFFERS[scenario])))
    return tuple(settings)


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def loss(where: str, share: float) -> Setting:
    """Return the setting that makes the bottleneck lose a share of data or of ACKs."""
    both = {"data": 0.0, "ack": 0.0} | {where: share}
    text = f"{{ data = {both['data']}, ack = {both['ack']} }}"
    return ("topology.links.middle.loss", text)


def bursty(share: float) -> Setting:
    """Return the setting that loses a share of all packets in bursts of ten in the mean."""
    enter = 0.1 * share / (1.0 - share)
    return ("topology.links.middle.loss", f"{{ burst = {{ enter = {enter:.4g}, leave = 0.1 }} }}")


def fct(name: str) -> str:
    """Return the case of a protocol in Figure 1."""
    return f"fct/{name}"


def lossy(name: str, where: str, share: float) -> str:
    """Return a case of Figure 4."""
    return f"lossy/{name}/{where}/{share}"


def _case(key: str, scenario: str, settings: tuple[Setting, ...], weight: float = 1.0) -> Case:
    return Case(key, f"{scenario}.toml", (), settings, weight=weight)


def _of_the_paper() -> dict[str, Case]:
    cases = [
        _case(f"{scenario}/{name}", scenario, protocol(name, scenario), weight)
        for scenario, weight in (("fct", 4.0), ("adapt", 1.0), ("rtt", 1.0))
        for name in PROTOCOLS
    ]
    for name in PROTOCOLS:
        cases.append(_case(f"lossy/{name}/none", "lossy", protocol(name, "lossy"), 2.0))
        cases += [
            _case(
                f"lossy/{name}/{where}/{share}",
                "lossy",
                (*protocol(name, "lossy"), loss(where, share)),
                2.0,
            )
            for where in ("data", "ack")
            for share in LOSSES
        ]
    return {case.key: case for case in cases}


def _parts() -> dict[str, Case]:
    """Return the cases that take a part of QFCP away, or change one."""
    off: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
        "average": ((), {"average": False}),
        "virtual-queue": ((), {"virtual_queue": False}),
        "pacing": (("pacing = false",), {}),
    }
    cases = [
        _case(f"{scenario}/without/{what}", scenario, protocol("qfcp", scenario, *more, **law))
        for what, (more, law) in off.items()
        for scenario in ("fct", "adapt", "rtt", "crowd")
    ]
    deep = ("topology.dumbbell.bottleneck.buffer", '"20000packets"')
    cases += [
        _case("crowd/deep/pacing", "crowd", (*protocol("qfcp", "crowd"), deep)),
        _case("crowd/deep/none", "crowd", (*protocol("qfcp", "crowd", "pacing = false"), deep)),
    ]
    cases += [
        _case(f"fct/beta/{beta}", "fct", protocol("qfcp", "fct", beta=beta), 4.0) for beta in BETAS
    ]
    cases += [
        _case(
            f"adapt/beta/{beta}",
            "adapt",
            (*protocol("qfcp", "adapt", beta=beta), ("sample", '"10ms"')),
        )
        for beta in BETAS
    ]
    cases += [
        _case(
            f"adapt/late/{beta}",
            "adapt",
            (
                *protocol("qfcp", "adapt", beta=beta),
                ("port.middle.stamp.least_interval", f'"{TWO_ROUND_TRIPS}"'),
                ("sample", '"10ms"'),
            ),
        )
        for beta in BETAS
    ]
    cases.append(
        _case("fct/without/slow-start", "fct", protocol("tcp", "fct", "initial_ssthresh = 2"), 4.0)
    )
    cases.append(_case("rtt/qfcp-low", "rtt", protocol("qfcp", "rtt", initial_rate=0.05)))
    cases += [
        _case("fct/rcp-2006", "fct", protocol("rcp", "fct", alpha=0.1, beta=1.0), 4.0),
        _case("fct/rcp-own", "fct", protocol("rcp", "fct", 'reliability = "own"'), 4.0),
        _case("adapt/rcp-2006", "adapt", protocol("rcp", "adapt", alpha=0.1, beta=1.0)),
    ]
    cases += [
        replace(
            _case(
                f"fct/{name}/rto/{rto}s",
                "fct",
                protocol(name, "fct", f'initial_rto = "{rto}s"'),
                4.0,
            ),
            seeds=5,
        )
        for name in ("qfcp", "rcp")
        for rto in RTOS
    ]
    return {case.key: case for case in cases}


def _desiring() -> dict[str, Case]:
    """Return the cases in which two of four flows ask for less than their share."""
    starts = tuple((f"traffic.f{flow}.arrivals.at", '["0s"]') for flow in range(2, 5))
    stops = tuple((f"traffic.f{flow}.stop", '"14s"') for flow in range(2, 5))
    together = (*starts, *stops)
    cases = []
    for name in ("qfcp", "rcp"):
        less = protocol(name, "adapt", 'request = "5Mbit"')[:2]
        settings = (*protocol(name, "adapt"), *less, *together)
        cases.append(_case(f"desire/{name}", "adapt", settings))
        cases.append(_case(f"desire/{name}/none", "adapt", (*protocol(name, "adapt"), *together)))
    return {case.key: case for case in cases}


PEERS = (*LAWS, "cubic", "tcp", "qfcp")
"""Controls beside each other: those of `controls.py`, the simulator's CUBIC and Reno, QFCP."""
PEER_LOSSES = ("none", "0.0001", "0.001", "0.01")


def _peer(name: str, scenario: str, key: str, *more: Setting) -> Case:
    """Return a case of one control at a drop-tail queue; it repairs losses by SACK."""
    if name == "qfcp":
        settings = protocol("qfcp", scenario)
    else:
        own = f'python = {{ name = "{name}"' if name in LAWS else "tcp = { "
        own += ", " if name in LAWS else ""
        own += 'control = "cubic", ' if name == "cubic" else ""
        transport = f'{{ {own}mss = "960B", sack = true }} }}'
        settings = tuple((f"traffic.{flow}.transport", transport) for flow in FLOWS[scenario])
        settings += tuple((f"port.{port}.stamp", '{ law = "none" }') for port in PORTS[scenario])
    return replace(_case(key, scenario, (*settings, *more), 2.0), seeds=2)


def _peers() -> dict[str, Case]:
    cases = [_peer(name, "rtt", f"peers/{name}/rtt") for name in PEERS]
    for name in PEERS:
        for share in PEER_LOSSES:
            more = () if share == "none" else (loss("data", float(share)),)
            cases.append(_peer(name, "lossy", f"peers/{name}/{share}", *more))
    return {case.key: case for case in cases}


def _beyond() -> dict[str, Case]:
    outage = (
        "change",
        '[{ what = "middle.rate", at = "30s", to = "10kbit", pulse = "1s" }]',
    )
    halved = (
        "change",
        '[{ what = "middle.rate", at = "20s", to = "22500kbit", pulse = "20s" }]',
    )
    cases = [_case(f"crowd/{name}", "crowd", protocol(name, "crowd")) for name in PROTOCOLS]
    cases += [_case(f"row/{name}", "row", protocol(name, "row")) for name in ("qfcp", "rcp", "xcp")]
    for name in ("qfcp", "xcp"):
        settings = protocol(name, "mixed")
        cases.append(_case(f"mixed/{name}/drop-tail", "mixed", settings))
        red = ("port.bottleneck.queue", _red(225))
        cases.append(_case(f"mixed/{name}/red", "mixed", (*settings, red)))
    cases += [
        _case(f"outage/{name}", "lossy", (*protocol(name, "lossy"), outage), 2.0)
        for name in ("qfcp", "tcp")
    ]
    cases += [_case(f"halved/{n}", "rtt", (*protocol(n, "rtt"), halved)) for n in ("qfcp", "xcp")]
    cases += [
        _case(f"bursty/{name}/{share}", "lossy", (*protocol(name, "lossy"), bursty(share)), 2.0)
        for name in FOUR
        for share in BURSTY
    ]
    cases += [
        replace(_case(f"reverse/{name}", "fct", (*protocol(name, "fct"), REVERSE), 8.0), seeds=2)
        for name in FOUR
    ]
    return {case.key: case for case in cases}


JOINS, LEAVES = (2.0, 4.0, 6.0), (8.0, 10.0, 12.0)
"""When flows of Figure 2 join and leave."""
PHASES = tuple(
    zip((0.0, *JOINS, *LEAVES), (*JOINS, *LEAVES, 14.0), (1, 2, 3, 4, 3, 2, 1), strict=True)
)
"""Begin, end and number of flows between two changes of Figure 2."""
SETS: dict[str, Sequence[object]] = {
    "beta": BETAS,
    "loss": LOSSES,
    "peer": PEERS,
    "phase": PHASES,
}
"""Parts of the keys of cases, by the name that `claims.csv` has for them."""

CASES = _of_the_paper() | _parts() | _desiring() | _beyond() | _peers()

SCALE = Scale(
    seeds=10,
    quick=("setup", "fig1", "fig2", "fig3", "text.beta", "text.same_rate", "text.stabilisation"),
    sensitive=("fig*", "text.*"),
    keep=("size_bytes", "start_s", "closed_s", "retransmitted_packets"),
)
