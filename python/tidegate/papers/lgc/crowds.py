"""One connection that does not give way among many that do: who holds the queue."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tidegate import _native
from tidegate.papers.lgc.measures import arrivals, scenario

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats
    from tidegate.results.run_files import SavedRun

EVERY = 20
"""One in this many arrivals is examined."""
WARM_UP_S = 20.0


class Held(NamedTuple):
    """The queue at one arrival each: of the greedy one, of all, how many there are, the average."""

    greedy: Floats
    packets: Floats
    connections: Floats
    average: Floats


@cache
def held(record: SavedRun) -> Held:
    """Return who held the queue; the greedy connection is the one most packets come from."""
    came = arrivals(record)
    names, origins = np.unique(came["origin"].to_numpy(), return_inverse=True)
    greedy = int(np.argmax(np.bincount(origins, minlength=names.size)))
    taken = came["fate"].to_numpy() == "queued"
    queued = origins[taken]
    # how many were taken before each arrival: the queue is the last of them, first in, first out
    before = np.cumsum(taken) - taken
    times, waiting = came["time_s"].to_numpy(), came["queue_packets"].to_numpy().astype(int)
    average = came["avg_queue_packets"].to_numpy()
    rows = []
    for place in range(0, times.size, EVERY):
        if times[place] < WARM_UP_S or waiting[place] == 0:
            continue
        end = before[place]
        inside = queued[end - waiting[place] : end]
        rows.append(
            (np.sum(inside == greedy), waiting[place], np.unique(inside).size, average[place])
        )
    columns = np.array(rows, dtype=np.float64).T if rows else np.zeros((4, 0))
    return Held(*columns)


def above_permitted(record: SavedRun) -> float:
    """Return how many times what it may hold the greedy one holds, on average."""
    found = held(record)
    permitted = np.array(
        [_native.lgc_permissible_percent(int(each)) / 100 for each in found.connections]
    )
    return float(np.mean(found.greedy / found.packets / permitted))


def _further(record: SavedRun, *, above: bool) -> float:
    """Return how many packets more the greedy one holds than another does, by the average queue."""
    found = held(record)
    several = found.connections > 1
    over = found.average > scenario(record)["port"]["bottleneck"]["queue"]["max_th"]
    chosen = several & (over if above else ~over)
    if not chosen.any():
        return float("nan")
    others = (found.packets - found.greedy)[chosen] / (found.connections[chosen] - 1)
    return float(np.mean(found.greedy[chosen] - others))


def disparity_above(record: SavedRun) -> float:
    """Return it while the average is above max_th."""
    return _further(record, above=True)


def disparity_below(record: SavedRun) -> float:
    """Return it while the average is not above max_th."""
    return _further(record, above=False)


def taken_share(record: SavedRun) -> float:
    """Return the share of what arrived that the greedy one sent."""
    mine = record.traffic("greedy")["delivered_bytes"]
    return float(mine / record.all["delivered_bytes"])
