"""What is taken from a run: completion times by size, throughput flow by flow, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.qfcp.cases import JOINS, PHASES
from tidegate.results.measures import SLACK, jain, of_values, port_mean, within

if TYPE_CHECKING:
    from tidegate.papers.runs import Floats, Runs
    from tidegate.results.run_files import SavedRun

PAYLOAD, PACKET = 960.0, 1000.0
CAPACITY_BPS = 150e6
"""The rate of the bottleneck of Figure 1."""
CAPACITY_2_MBPS = 45.0
"""The rate of the bottleneck of Figure 2."""
drained = port_mean("bottleneck", "queue_mean_packets", 5.0, 7.0)
"""The mean queue in the two seconds after the crowd came, in packets."""
standing = port_mean("middle", "queue_mean_packets", 20.0, 60.0)
"""The mean queue from 20 s on, in packets."""
recovered = port_mean("middle", "utilisation", 31.3, 32.3)
"""The utilisation from 0.3 to 1.3 s after an outage that ends at 31 s."""
SHORT = 100
"""Packets up to which a flow is short (Figure 1 (b) looks closely at some hundred)."""
BINS = np.unique(np.round(np.geomspace(5, 3000, 33)))
"""Bounds of the bins of sizes, in packets."""


def packets(record: SavedRun) -> tuple[Floats, Floats, Floats]:
    """Return size in packets, completion time and packets sent again, of the finished flows."""
    flows = record.flows()
    size = np.ceil(flows["size_bytes"] / PAYLOAD)
    return size, flows["closed_s"] - flows["start_s"], flows["retransmitted_packets"]


def afct(record: SavedRun) -> tuple[Floats, Floats]:
    """Return the sizes that occur (packets), and the mean completion time of each."""
    size, fct, _ = packets(record)
    sizes, place = np.unique(size, return_inverse=True)
    return sizes, np.bincount(place, fct) / np.bincount(place)


def binned(record: SavedRun) -> Floats:
    """Return the mean completion time of each bin of sizes; NaN where there is no flow."""
    size, fct, _ = packets(record)
    place = np.digitize(size, BINS)
    counts = np.bincount(place, minlength=BINS.size + 1)[1:]
    sums = np.bincount(place, fct, minlength=BINS.size + 1)[1:]
    means: Floats = np.divide(sums, counts, out=np.full(BINS.size, np.nan), where=counts > 0)
    return means


def short_fct(record: SavedRun) -> float:
    """Return the mean completion time of short flows."""
    size, fct, _ = packets(record)
    return float(np.mean(fct[size <= SHORT]))


def held_up(record: SavedRun) -> float:
    """Return how many short flows took longer than the first retransmission timeout, 6 s."""
    size, fct, _ = packets(record)
    return float(np.sum(fct[size <= SHORT] > 6.0))


def long_fct(record: SavedRun) -> float:
    """Return the mean completion time of the others."""
    size, fct, _ = packets(record)
    return float(np.mean(fct[size > SHORT]))


def oscillation(record: SavedRun) -> float:
    """Return the mean step of AFCT from one size to the next, in logarithms, up to 100 packets."""
    sizes, means = afct(record)
    steps = np.abs(np.diff(np.log(means[sizes <= SHORT])))
    return float(np.mean(steps))


def penalty(record: SavedRun) -> float:
    """Return by how much flows with losses take longer than others of their size (up to 100)."""
    size, fct, again = packets(record)
    ratios = []
    for packet in range(5, SHORT + 1):
        here = size == packet
        with_loss, without = here & (again > 0), here & (again == 0)
        if with_loss.sum() >= 5 and without.sum() >= 5:
            ratios.append(float(np.mean(fct[with_loss]) / np.mean(fct[without])))
    return float(np.mean(ratios)) if ratios else float("nan")


def goodput(record: SavedRun) -> float:
    """Return what was delivered in order, in Mbit/s over the run."""
    return float(record.all["delivered_bytes"]) * 8e-6 / 60.0


def goodput_open(record: SavedRun) -> float:
    """Return the same over the time from the sample in which data first leaves the bottleneck.

    A lost SYN+ACK keeps a flow out for as long as the timer says: nothing of it
    is the feedback's.
    """
    table = record.ports("middle")
    first = int(np.argmax(table["departed_bytes"] >= PACKET))
    out_s = float(table["time_s"][first - 1]) if first else 0.0
    return goodput(record) * 60.0 / (60.0 - out_s)


def throughputs(record: SavedRun, flows: int) -> tuple[Floats, Floats]:
    """Return the ends of the samples and the throughput of each flow (Mbit/s, with headers)."""
    tables = [record.ports(f"out{k}") for k in range(1, flows + 1)]
    times = tables[0]["time_s"]
    spans = np.diff(times, prepend=0.0)
    return times, np.array([table["departed_bytes"] * 8e-6 / spans for table in tables])


def mean_rates(record: SavedRun, flows: int, start: float, end: float) -> Floats:
    """Return each flow's mean throughput between two instants (Mbit/s)."""
    times, rates = throughputs(record, flows)
    inside = within(times, start, end, SLACK)
    return np.asarray(rates[:, inside].mean(axis=1))


SHARE = 4.5
"""A tenth of 45 Mbit/s."""


def _late_rates(record: SavedRun) -> Floats:
    return mean_rates(record, 10, 20.0, 60.0)


def fair(record: SavedRun) -> float:
    """Return Jain's index of the ten flows' mean throughput from 20 s on."""
    return jain(_late_rates(record))


def furthest_off(record: SavedRun) -> float:
    """Return by which share of it one of the ten flows is furthest from its share, from 20 s on."""
    return float(np.max(np.abs(_late_rates(record) / SHARE - 1.0)))


def largest_rate(record: SavedRun) -> float:
    """Return what the fastest of the ten flows gets, from 20 s on, Mbit/s."""
    return float(np.max(_late_rates(record)))


def smallest_rate(record: SavedRun) -> float:
    """Return what the slowest of them gets."""
    return float(np.min(_late_rates(record)))


@of_values
def time_to_fair(record: SavedRun, threshold: float) -> float:
    """Return from when on Jain's index of the ten flows stays above a threshold.

    In windows of 1 s.
    """
    times, rates = throughputs(record, 10)
    width = 5
    smooth = np.array([np.convolve(each, np.ones(width) / width, "valid") for each in rates])
    index = np.array([jain(column) for column in smooth.T])
    bad = np.flatnonzero(index < threshold)
    if bad.size == 0:
        return float(times[width - 1])
    last = int(bad[-1]) + width
    return float(times[min(last, times.size - 1)])


def head_start(record: SavedRun) -> float:
    """Return how much more the three shortest round trips got than the three longest in 3 s."""
    rates = mean_rates(record, 10, 0.0, 3.0)
    return float(np.sum(rates[:3]) / np.sum(rates[-3:]))


def bias(record: SavedRun) -> float:
    """Return the correlation of throughput and round trip over the ten flows, from 20 s on."""
    rates = _late_rates(record)
    return float(np.corrcoef(np.arange(10), rates)[0, 1])


@of_values
def settled(record: SavedRun, when: float, end: float, active: int) -> float:
    """Return how long after a change all active flows are within 10 % of their share, for good.

    In windows of 0.3 s; for good: to the next change.
    """
    times, rates = throughputs(record, 4)
    smooth = np.array([np.convolve(each, np.ones(3) / 3, "same") for each in rates[:active]])
    share = CAPACITY_2_MBPS / active
    good = np.all(np.abs(smooth / share - 1.0) < 0.1, axis=0)
    inside = (times > when + 1e-6) & (times <= end - 0.15)
    wrong = times[inside & ~good]
    return float(wrong[-1] - when) if wrong.size else 0.0


def utilisation(record: SavedRun, after: float = 0.5) -> float:
    """Return the mean utilisation of Figure 2, without so many seconds behind each change."""
    table = record.ports("middle")
    times = table["time_s"]
    inside = np.zeros(times.size, dtype=bool)
    for begin, end, _ in PHASES:
        inside |= within(times, begin + after, end, SLACK)
    return float(np.mean(table["utilisation"][inside]))


def newcomer(record: SavedRun) -> float:
    """Return what a newcomer gets in 0.1 to 0.4 s after joining, over what the first flow gets."""
    times, rates = throughputs(record, 4)
    found = []
    for place, when in enumerate(JOINS, 1):
        inside = within(times, when + 0.1, when + 0.4, SLACK)
        found.append(float(rates[place, inside].mean() / rates[0, inside].mean()))
    return float(np.mean(found))


def estimate_error(record: SavedRun) -> float:
    """Return the mean relative error of the estimate of ten flows, from 5 s on."""
    events = record.events("middle")
    late = events["time_s"] > 5.0
    return float(np.mean(np.abs(events["from"][late] / 10.0 - 1.0)))


def after_join(record: SavedRun) -> float:
    """Return the mean queue in the second after each join of Figure 2, in packets."""
    table = record.ports("middle")
    times, queue = table["time_s"], table["queue_mean_packets"]
    found = [queue[within(times, when, when + 1.0, SLACK)].mean() for when in JOINS]
    return float(np.mean(found))


def swing(record: SavedRun) -> float:
    """Return how far the granted rate swings in the second after each join of Figure 2.

    Its standard deviation from 0.1 s after a join on, as a share of the fair rate.
    """
    events = record.events("middle")
    found = []
    for active, when in enumerate(JOINS, 2):
        inside = within(events["time_s"], when + 0.1, when + 1.0, SLACK)
        found.append(float(np.std(events["set"][inside])) / (1e6 * CAPACITY_2_MBPS / active))
    return float(np.mean(found))


def _factor_off(estimate: Floats, there: Floats) -> float:
    """Return by which factor estimates are off, as a geometric mean; 1 would be exact."""
    return float(np.exp(np.mean(np.abs(np.log(estimate / there)))))


def count_error(record: SavedRun) -> float:
    """Return by which factor the estimate is off the number of flows under way, while flows come.

    QFCP estimates y/R (eq. 2) and RCP C/R; each port notes its own. From 20 to 90 s.
    """
    flows, events = record.flows(), record.events("bottleneck")
    inside = (events["time_s"] > 20.0) & (events["time_s"] < 90.0)
    times = events["time_s"][inside]
    begun = np.searchsorted(np.sort(flows["start_s"]), times)
    ended = np.searchsorted(np.sort(flows["closed_s"]), times)
    return _factor_off(events["from"][inside], np.maximum(begun - ended, 1))


def known_count_error(record: SavedRun) -> float:
    """Return the same for the flows of Figure 2, of which each sends what it may."""
    events = record.events("middle")
    times, estimate = events["time_s"], events["from"]
    there = np.full(times.size, np.nan)
    for begin, end, active in PHASES:
        there[within(times, begin, end)] = active
    known = np.isfinite(there)
    return _factor_off(estimate[known], there[known])


def _first_phase(record: SavedRun) -> tuple[Floats, Floats]:
    events = record.events("middle")
    alone = within(events["time_s"], *PHASES[0][:2])
    return events["time_s"][alone], events["from"][alone]


def time_to_know_one(record: SavedRun) -> float:
    """Return how long the estimate takes until it stays within a tenth of one flow, s."""
    times, estimate = _first_phase(record)
    wrong = times[np.abs(estimate - 1.0) > 0.1]
    return float(wrong[-1]) if wrong.size else 0.0


DESIRED, LEFT = 5.0, 17.5
"""What two flows ask for, and what 45 Mbit/s leave to each of two others, Mbit/s."""


def _settled_rates(record: SavedRun) -> Floats:
    return mean_rates(record, 4, 5.0, 14.0)


def asked_off(record: SavedRun) -> float:
    """Return by which share the flows that ask for less are off what they ask for."""
    return float(np.max(np.abs(_settled_rates(record)[:2] / DESIRED - 1.0)))


def rest_off(record: SavedRun) -> float:
    """Return by which share the two others are off an equal part of what is left."""
    return float(np.max(np.abs(_settled_rates(record)[2:] / LEFT - 1.0)))


def by_bins(runs: Runs, case: str) -> Floats:
    """Return the binned completion times of each seed, as rows."""
    return np.array([binned(record) for record in runs.records(case)])
