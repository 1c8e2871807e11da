"""What is simulated: Tables I and II, Figures 5 to 7, and what the paper only names."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
}
"""Other settings under which RED was looked at for the paper's losses of SYNs, at rho 1.2."""


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


def at(rho: float, policy: str) -> str:
    """Return the key of a policy at a load."""
    return f"rho/{rho:g}/{policy}"


def two(rho: float, ratio: float, policy: str) -> str:
    """Return the key of a policy with two classes of flows."""
    return f"classes/{rho:g}/{ratio:g}/{policy}"


def red_otherwise(name: str, policy: str) -> str:
    """Return the key of a RED with another setting."""
    return f"otherwise/{name}/{policy}"


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
    return cases


SETS: dict[str, Sequence[object]] = {
    "congested": tuple(f"{rho:g}" for rho in CONGESTED),
    "light": LIGHT,
    "otherwise": tuple(RED_OTHERWISE),
    "line": tuple(f"{rho:g}" for rho in (1.0, *CONGESTED)),
    "policy": POLICIES,
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
