"""The ports of access links, summed by role: a network of 300 pairs has 1,200 of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_ONE = re.compile(r"(access\.[a-z]+)\d+((?:\.reverse)?)")
SHARES = ("utilisation", "queue_mean_packets", "offered_load")
"""What is averaged over the ports of a role; counts are summed."""


def role(name: str) -> str | None:
    """Return the role of the port of an access link, as `access.sources`; None of any other."""
    found = _ONE.fullmatch(name)
    return f"{found[1]}s{found[2]}" if found else None


def by_role(ports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the ports of a summary, those of access links put together by their role.

    Counts are sums over the ports of a role, utilisation and queue are means over them.
    """
    found: list[dict[str, Any]] = []
    roles: dict[str, list[dict[str, Any]]] = {}
    for port in ports:
        mine = role(port["name"])
        if mine is None:
            found.append(port)
        else:
            roles.setdefault(mine, []).append(port)
    return found + [_together(name, each) for name, each in roles.items()]


def _together(name: str, ports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    one: dict[str, Any] = {"name": name}
    for key, value in ports[0].items():
        if key == "drops":
            one[key] = {reason: sum(port[key][reason] for port in ports) for reason in value}
        elif key != "name":
            known = [port[key] for port in ports if port[key] is not None]
            total = sum(known) if known else None
            one[key] = total / len(known) if total is not None and key in SHARES else total
    return one
