"""What is simulated: Tables I and II, Figures 5 to 7, and what the paper only names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.case import Case, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.scenario.document import Setting

CAPACITY_BPS = 100_000.0
PACKET_BITS = 576 * 8
SERVICE_S = PACKET_BITS / CAPACITY_BPS
"""What a packet takes on the bottleneck."""
SHORT, LONG = 20, 100
"""Mean sizes of flows, packets."""

POLICIES = ("dt", "gr2", "p1", "p2", "p3")
"""The policies of Figures 5 and 6."""
REDS = ("gr1", "gr2", "gr3")
RHOS = tuple(round(0.2 * step, 1) for step in range(1, 11))
CONGESTED = tuple(rho for rho in RHOS if rho > 1.0)
RATIOS = (1, 2, 5, 10, 20)
"""Short flows for each long one (R)."""
LIGHT = (0.6, 0.7)
TRIED = ("p3-gr2", "p3-all", "p3-moment", "p3-one-buffer", "p3-hold")
"""Policies that the paper names besides its own."""
TANDEM = ("gr2", "p3", "p3-gr2")
TRIED_RHOS = (1.2, 1.6, 2.0)
STARTS = (15, 30, 45, 60, 75)
"""Where connections begin to be lost, in the table of what provisioning can choose."""
SHARES = (0.4, 0.7, 1.0)
QUEUE = "port.bottleneck.queue"
TCP = "traffic.flows.transport.tcp"
RED_OTHERWISE: dict[str, tuple[str, tuple[Setting, ...]]] = {
    "marks": (
        "marking in place of dropping (ECN)",
        ((f"{QUEUE}.ecn", "true"), (f"{TCP}.ecn", "true")),
    ),
    "bytes": ("RED by bytes", ((f"{QUEUE}.bytes", "true"),)),
    "no-wait": ("no packets let by between two drops", ((f"{QUEUE}.wait", "false"),)),
    "w": ("weight 0.002", ((f"{QUEUE}.w", "0.002"),)),
    "abrupt": ("not gentle", ((f"{QUEUE}.gentle", "false"),)),
    "buffer": (
        "a buffer in bytes",
        (("topology.dumbbell.bottleneck.buffer", "51840B"),),
    ),
    "2001": ("ns-2 before 2002", ((f"{TCP}.profile", "ns2-2001"),)),
    "2006": ("ns-2 from 2006 on", ((f"{TCP}.profile", "ns2-2006"),)),
    "backoff": ("timers back off to twice at most", ((f"{TCP}.max_rto", "2x"),)),
}
"""Other settings under which RED was looked at for the paper's losses of SYNs, at rho 1.2."""
TAIL_OTHERWISE = ("buffer", "2001", "2006", "backoff")
"""Those of them that concern drop-tail too."""
PRINTED = {"dt": 0.30, "gr1": 0.77, "gr2": 0.60, "gr3": 0.57}
"""Table I's P_c."""
SPARED = '{ law = "dqm", x_m = 90, x_M = 90, P_M = 0, mean_packet = "576B", over = %s }'
"""A queue that loses no SYN, over another one."""
OVER = {
    "dt": '{ law = "drop-tail" }',
    "gr1": '{ law = "red", min_th = 15, max_th = 60, max_p = 0.1, mean_packet = "576B" }',
    "gr2": '{ law = "red", min_th = 15, max_th = 45, max_p = 0.1, mean_packet = "576B" }',
    "gr3": '{ law = "red", min_th = 15, max_th = 30, max_p = 0.4, mean_packet = "576B" }',
}
RETRIES = (0, 1, 2)
"""How often a SYN is sent again at most, in the cases that look at what retries do to P3."""


BEYOND_AT = 1.6
"""The load of what goes beyond the paper."""
CALL: Setting = (
    "traffic.call",
    '{ arrivals = { at = ["100s"] }, transport = { udp = { rate = "8kbit", packet = "60B" } } }',
)
"""A call of a low rate beside: it opens no connection, and no policy refuses it."""
BEYOND: dict[str, dict[str, tuple[Setting, ...]]] = {
    "marks": {
        "gr2": ((f"{QUEUE}.ecn", "true"), (f"{TCP}.ecn", "true")),
        "p3-gr2": ((f"{QUEUE}.over.ecn", "true"), (f"{TCP}.ecn", "true")),
    },
    "downloads": dict.fromkeys(("dt", "gr2", "p3"), (("traffic.flows.direction", "download"),)),
    "call": dict.fromkeys(("dt", "gr2", "p3"), (CALL,)),
    **{
        f"{kind}-first{name}": dict.fromkeys(("p1", "p3"), ((f"{QUEUE}.order", kind), *more))
        for kind in ("connections", "data")
        for name, more in {"": (), "-6s": ((f"{TCP}.min_rto", "6s"),)}.items()
    },
}
"""What the paper names and does not show, by the policies that it is run with."""


def rate(rho: float, mean: float = SHORT) -> float:
    """Return how many flows a second make up a load."""
    return rho / (SERVICE_S * mean)


DURATION_S = 1500.0
TRIES_S = np.array((0.0, 6.0, 18.0, 42.0, 90.0, 186.0, 378.0, 762.0))
"""When a connection that is lost again and again sends a SYN (6 s, doubling)."""
ARRIVING = rate(1.2)
"""Connections a second at the load of Table I."""


def admitted(loss: float) -> float:
    """Return how many connections a second are admitted, of a printed loss of each SYN.

    Those that come late in the run have fewer tries before its end.
    """
    left = DURATION_S - np.linspace(0.0, DURATION_S, 100_001)
    tries = np.searchsorted(TRIES_S, left, "right")
    return ARRIVING * float(np.mean(1.0 - loss**tries))


def at(rho: float, policy: str) -> str:
    """Return the key of a policy at a load."""
    return f"rho/{rho:g}/{policy}"


def two(rho: float, ratio: float, policy: str) -> str:
    """Return the key of a policy with two classes of flows."""
    return f"classes/{rho:g}/{ratio:g}/{policy}"


def red_otherwise(name: str, policy: str) -> str:
    """Return the key of a RED with another setting."""
    return f"otherwise/{name}/{policy}"


def spared(policy: str) -> str:
    """Return the key of a queue without losses of SYNs, and of flows as its printed P_c admits."""
    return f"spared/{policy}"


def light(rho: float, what: str) -> str:
    """Return the key of two classes of flows at light load, over a queue of the policies."""
    return f"light/{rho:g}/{what}"


def retried(times: int) -> str:
    """Return the key of P3 where a SYN is sent again so many times at most."""
    return f"retries/{times}"


def step(start: int, share: float) -> str:
    """Return the key of a curve that jumps to a share."""
    return f"provision/{start}/{share:g}"


def _arriving(rho: float) -> Setting:
    return "traffic.flows.arrivals.poisson", f"{rate(rho):.6g}/s"


def _single(rho: float, policy: str, seeds: int | None = None) -> Case:
    key = at(rho, policy)
    return Case(key, "single.toml", (policy,), (_arriving(rho),), seeds, weight=rho)


def _classes(rho: float, ratio: float, policy: str) -> Case:
    mean = (SHORT * ratio + LONG) / (ratio + 1.0)
    long = rate(rho, mean) / (ratio + 1.0)
    settings = (
        ("traffic.short.arrivals.poisson", f"{ratio * long:.6g}/s"),
        ("traffic.long.arrivals.poisson", f"{long:.6g}/s"),
    )
    return Case(two(rho, ratio, policy), "classes.toml", (policy,), settings, weight=rho)


def _provision(start: int, share: float) -> Case:
    settings = (
        _arriving(1.6),
        (f"{QUEUE}.x_m", str(start)),
        (f"{QUEUE}.x_M", str(start)),
        (f"{QUEUE}.P_M", str(share)),
    )
    return Case(step(start, share), "single.toml", ("p3",), settings, 5)


def _taken_away() -> list[Case]:
    """Return the cases that take one thing away, to see what a difference hangs on."""
    cases = []
    for policy, loss in PRINTED.items():
        settings = (
            ("traffic.flows.arrivals.poisson", f"{admitted(loss):.6g}/s"),
            (QUEUE, SPARED % OVER[policy]),
        )
        cases.append(Case(spared(policy), "single.toml", (), settings))
    cases += [
        Case(red_otherwise(name, "dt"), "single.toml", ("dt",), (_arriving(1.2), *more), 3)
        for name in TAIL_OTHERWISE
        for more in (RED_OTHERWISE[name][1],)
    ]
    for rho in LIGHT:
        over = _classes(rho, 5, "p3").having((f"{QUEUE}.over", OVER["gr2"]))
        cases.append(replace(over, key=light(rho, "p3-gr2")))
        cases.append(replace(_classes(rho, 5, "p3"), key=light(rho, "dt"), variants=()))
    cases += [
        Case(
            retried(times),
            "single.toml",
            ("p3",),
            (_arriving(1.6), (f"{TCP}.syn_retries", f"{{ limit = {times} }}")),
        )
        for times in RETRIES
    ]
    return cases


def _all() -> list[Case]:
    cases = [_single(rho, policy) for rho in RHOS for policy in POLICIES]
    cases += [_single(1.2, policy) for policy in REDS]
    cases += [_single(rho, policy) for rho in TRIED_RHOS for policy in TRIED]
    cases += [_classes(2.0, ratio, policy) for ratio in RATIOS for policy in ("gr2", "p3")]
    cases += [_classes(rho, 5, policy) for rho in LIGHT for policy in ("gr2", "p3")]
    cases += [Case(f"tandem/{policy}", "tandem.toml", (policy,)) for policy in TANDEM]
    cases += [
        Case(red_otherwise(name, policy), "single.toml", (policy,), (_arriving(1.2), *more), 3)
        for name, (_, more) in RED_OTHERWISE.items()
        for policy in REDS
    ]
    cases += [
        Case(f"{what}/{policy}", "single.toml", (policy,), (_arriving(BEYOND_AT), *more), 5)
        for what, policies in BEYOND.items()
        for policy, more in policies.items()
    ]
    cases += [_provision(start, share) for start in STARTS for share in SHARES]
    return cases + _taken_away()


SETS: dict[str, Sequence[object]] = {
    "congested": tuple(f"{rho:g}" for rho in CONGESTED),
    "light": LIGHT,
    "otherwise": tuple(RED_OTHERWISE),
    "line": tuple(f"{rho:g}" for rho in (1.0, *CONGESTED)),
    "policy": POLICIES,
    "tail": TAIL_OTHERWISE,
    "ratio": RATIOS,
    "red": REDS,
    "rho": tuple(f"{rho:g}" for rho in RHOS),
}
"""Parts of the keys of cases, by the name that `claims.csv` has for them."""

CASES = {case.key: case for case in _all()}

SCALE = Scale(
    seeds=10,
    quick=("setup", "table1", "table2", "fig6c", "text"),
    sensitive=("table1", "fig5*", "fig6*", "table2", "text.tradeoff", "text.waste"),
    sensitive_seeds=5,
    keep=("size_bytes", "start_s", "admitted_s", "closed_s", "class", "delivered_bytes", "open"),
)
