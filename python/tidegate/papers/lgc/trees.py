"""The network of a hundred nodes: how far filters go, and what is carried for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.effective import amount
from tidegate.papers.lgc.measures import scenario

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats
    from tidegate.results.run_files import SavedRun

FIRST_LEAF = 16
"""Routers 16 to 31 have the hosts; the parent of router n is n // 2, that of 1 the server."""
LEVELS = 5


def upstream_mb(record: SavedRun) -> float:
    """Return how much the links between routers carried towards the server, in MB."""
    links = scenario(record)["topology"]["links"]
    seconds = amount(str(scenario(record)["duration"]))
    bits = sum(
        record.port(name)["utilisation"] * amount(link["rate"]) * seconds
        for name, link in links.items()
        if name.startswith("up")
    )
    return float(bits) / 8e6


def delivered_mb(record: SavedRun) -> float:
    """Return how much the congested link carried, in MB."""
    rate = amount(scenario(record)["topology"]["links"]["last"]["rate"])
    seconds = amount(str(scenario(record)["duration"]))
    return float(record.port("last")["utilisation"] * rate * seconds) / 8e6


def filtered(record: SavedRun) -> dict[int, list[int]]:
    """Return the routers that filtered a node, from the server on, by the number of the node."""
    found: dict[int, list[int]] = {}
    for router in range(1, 2 * FIRST_LEAF):
        port = "last" if router == 1 else f"up{router}"
        events = record.events(port)
        for phase, node in zip(events["phase"], events["set"], strict=True):
            if phase in ("filter", "first-hop") and router not in found.setdefault(int(node), []):
                found[int(node)].append(router)
    return found


def hops(record: SavedRun) -> Floats:
    """Return how many filters went 0, 1, 2 ... hops up from the congested router."""
    counts = np.zeros(LEVELS)
    for routers in filtered(record).values():
        counts[max(routers).bit_length() - 1] += 1
    return counts


def caught(record: SavedRun) -> float:
    """Return how many hosts were filtered."""
    return float(len(filtered(record)))


def done_share(record: SavedRun) -> float:
    """Return the share of the sessions of the others that were done in time, in percent."""
    rest = record.traffic("rest")
    return 100.0 * float(rest["completed_share"])
