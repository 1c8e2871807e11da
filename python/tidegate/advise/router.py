"""What to type on the router: lines of `tc` for each control in both directions, and a gate file.

Up is controlled at the outer interface, before the modem. Down is controlled where the downloads
leave the router: at the inner interface; or, with `ifb`, at an interface through which all that
comes in from outside is led first, as where there are several inner interfaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.advise.scene import BOTH, CAKE, FQ, GATE, LAW, NOW, TIDE
from tidegate.errors import UsageError

if TYPE_CHECKING:
    from tidegate.advise.fit import Link

MOST_NAME = 15
"""Letters of the name of an interface."""
_NAME = re.compile(rf"(?!\.{{1,2}}$)[A-Za-z0-9._@+][A-Za-z0-9._@+-]{{0,{MOST_NAME - 1}}}")


@dataclass(frozen=True)
class Router:
    """Its interfaces, and how the downlink is controlled."""

    outside: str = "wan0"
    inside: str = "lan0"
    ifb: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no name of an interface: root types the lines that have it."""
        for option, name in (("--outside", self.outside), ("--inside", self.inside)):
            if not _NAME.fullmatch(name):
                raise UsageError(
                    f"{option} {name!r} is no name of an interface.",
                    f"Give one that `ip link` shows, as eth0: at most {MOST_NAME} letters, digits"
                    " and . _ @ + -.",
                )
        if self.outside == self.inside:
            raise UsageError(
                f"--outside and --inside are both {self.outside}: the lines of one direction"
                " would take away those of the other.",
                "Name the two interfaces of the router; with one alone, give another --inside and"
                " add --ifb.",
            )

    @property
    def down(self) -> str:
        """The interface at which downloads are controlled."""
        return f"ifb-{self.outside}"[:MOST_NAME] if self.ifb else self.inside


@dataclass(frozen=True)
class Commands:
    """Lines for a shell of root, those that take them back, and the file of a gate."""

    control: str
    lines: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    gate: str = ""
    missing: str = ""
    """The option that is missing for one of two directions."""

    def leads_through(self, interface: str) -> bool:
        """Tell whether any line is about an interface."""
        return any(interface in line.split() for line in self.lines)

    def document(self) -> dict[str, object]:
        """Return it for machines."""
        return {
            "control": self.control,
            "commands": list(self.lines),
            "undo": list(self.undo),
            "gate_file": self.gate or None,
        }


def commands(link: Link, control: str, router: Router) -> Commands:
    """Return what to type for a control; of a direction without a known rate there is no line."""
    if control == NOW:
        return Commands(control)
    up = link.up.shaped_bps if control != TIDE else None
    down = link.down.shaped_bps
    lines: list[str] = []
    undo: list[str] = []
    law = _fq_codel if control == FQ else _cake
    if up is not None:
        lines += law(router.outside, up, ("dual-srchost", "nat"))
        undo.append(f"tc qdisc del dev {router.outside} root")
    if down is not None and control != TIDE:
        if router.ifb:
            lines += _ifb(router)
            undo += [
                f"tc qdisc del dev {router.outside} ingress",
                f"ip link del {router.down}",
            ]
        else:
            undo.append(f"tc qdisc del dev {router.inside} root")
        hosts = ("dual-dsthost", "nat", "ingress") if router.ifb else ("dual-dsthost",)
        lines += law(router.down, down, hosts)
    gate = ""
    if down is not None and control in (TIDE, BOTH):
        gate = _gate(router, down, shapes=control == TIDE or router.ifb)
    missing = ""
    if control != TIDE and (up is None) != (down is None):
        missing = "--up" if up is None else "--down"
    return Commands(control, tuple(lines), tuple(undo), gate, missing)


def _cake(interface: str, rate: float, words: tuple[str, ...]) -> list[str]:
    said = " ".join(("besteffort", *words))
    return [f"tc qdisc replace dev {interface} root cake bandwidth {tc_rate(rate)} {said}"]


def _fq_codel(interface: str, rate: float, _words: tuple[str, ...]) -> list[str]:
    shaped = tc_rate(rate)
    return [
        f"tc qdisc del dev {interface} root 2>/dev/null || true",
        f"tc qdisc add dev {interface} root handle 1: htb default 10",
        f"tc class add dev {interface} parent 1: classid 1:10 htb rate {shaped}"
        f" ceil {shaped} quantum 1514",
        f"tc qdisc add dev {interface} parent 1:10 handle 10: fq_codel",
    ]


def _ifb(router: Router) -> list[str]:
    """Return how all that comes in from outside is led through an interface of its own."""
    return [
        f"ip link show {router.down} >/dev/null 2>&1 || ip link add {router.down} type ifb",
        f"ip link set {router.down} up",
        f"tc qdisc del dev {router.outside} ingress 2>/dev/null || true",
        f"tc qdisc add dev {router.outside} handle ffff: ingress",
        f"tc filter add dev {router.outside} parent ffff: protocol all prio 1 matchall"
        f" action mirred egress redirect dev {router.down}",
    ]


def _gate(router: Router, rate: float, *, shapes: bool) -> str:
    """Return the file of a gate at the inner interface, which decides about downloads."""
    shaped = tc_rate(rate)
    law = ", ".join(f'{key} = "{value}"' for key, value in LAW.items())
    key = "shape" if shapes else "capacity"
    why = (
        "the gate shapes, so that the queue is here"
        if shapes
        else "CAKE shapes to this rate; the gate only has to know it"
    )
    return (
        "# Run it: tidegated gate --config gate.toml\n"
        "# It observes at first. To let it refuse: tidegated gate enforce --for 10min\n"
        f'interface = "{router.inside}"\n'
        'mode      = "observe"\n'
        f"law       = {{ {law} }}\n"
        f'onset     = "{GATE["onset"]}"\n'
        f'ends_of   = "{GATE["ends_of"]}"\n'
        f'{key:<9} = "{shaped}"  # {why}\n'
    )


def tc_rate(bps: float) -> str:
    """Return a rate as `tc` and tidegated read it, to a thousandth."""
    kbit = max(8, round(bps / 1e3))
    if kbit >= 100_000:
        kbit = round(kbit, -2)
    return f"{kbit // 1000}Mbit" if kbit % 1000 == 0 else f"{kbit}kbit"


__all__ = ["BOTH", "CAKE", "FQ", "NOW", "TIDE", "Commands", "Router", "commands", "tc_rate"]
