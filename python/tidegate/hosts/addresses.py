"""Who has which address: each end of a lab has one, however many users open sessions there.

A gate that asks which client a session is of would judge one client between real hosts, and as many
as there are sessions between simulated ones. So the simulated ones get the addresses of the lab.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

BY_ADDRESS = ("clients", "visits")
USUAL = {"tide": "visits"}
"""Laws that ask for the client unless the gate is told otherwise."""


def asks(port: Mapping[str, Any]) -> str | None:
    """Return how the gate of a port asks for the client of a session; none: it does not."""
    gate = port.get("gate", {})
    written = gate.get("admit")
    if written in {*BY_ADDRESS, "connections"}:
        return written if written in BY_ADDRESS else None
    # the other words say which packet opens a session
    return USUAL.get(gate.get("law"))


def of_the_lab(tables: dict[str, Any], opened: Mapping[str, bool]) -> dict[str, Any]:
    """Return a scenario whose sessions have the addresses of a lab, where a gate asks for them.

    `opened`: of each class whether the receiver of the data opens its sessions.
    """
    if not any(asks(port) for port in tables.get("port", {}).values()):
        return tables
    shared, _ = _ends(opened)
    traffic = {
        name: _from_one(said, with_others=name in shared and len(shared) > 1)
        for name, said in tables["traffic"].items()
    }
    return {**tables, "traffic": traffic}


def apart(opened: Mapping[str, bool]) -> list[str]:
    """Return classes that share an address between real hosts, and not between simulated ones.

    The people of a scenario are at one end, so several classes at the other have one each.
    """
    _, others = _ends(opened)
    return others if len(others) > 1 else []


def _ends(opened: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """Return the classes that the end with more of them opens, and the others."""
    at_right = [name for name, receiver in opened.items() if receiver]
    at_left = [name for name, receiver in opened.items() if not receiver]
    return (at_right, at_left) if len(at_right) >= len(at_left) else (at_left, at_right)


def _from_one(said: Mapping[str, Any], *, with_others: bool) -> dict[str, Any]:
    left = {key: value for key, value in said.items() if key not in {"clients", "people"}}
    return {**left, "people": {"of": 1}} if with_others else {**left, "clients": 1}
