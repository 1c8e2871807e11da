"""What is measured in a saved run of this paper, beyond its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.results.measures import data_lost, of_class, of_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tidegate.papers.runs import Floats
    from tidegate.results.run_files import SavedRun

RTX, N, DONE = "retransmitted_packets", "open_mean", "completed_per_s"
TABLE1 = {"dt": "Drop-tail", "gr1": "G-R1", "gr2": "G-R2", "gr3": "G-R3"}
SHOWN = {"dt": "DT", "gr2": "G-RED", "p1": "P1", "p2": "P2", "p3": "P3"}
BUFFER = 90.0
CURVES: dict[str, tuple[tuple[float, float], ...]] = {
    "gr1": ((15, 0), (60, 0.1), (120, 1)),
    "gr2": ((15, 0), (45, 0.1), (90, 1)),
    "gr3": ((15, 0), (30, 0.4), (60, 1)),
    "p1": ((45, 0), (90, 0.4), (90, 1)),
    "p2": ((45, 0), (90, 0.7), (90, 1)),
    "p3": ((45, 0), (45, 1)),
}
"""The share of connection packets lost over the average queue, by its corners (dqm, fig. 4)."""


def _rates(record: SavedRun) -> tuple[Floats, dict[str, Floats]]:
    """Return bits per second since admission of all admitted flows, and their columns.

    Of a flow that has not finished, what was delivered until the end of the run.
    """
    flows = record.flows()
    ends = np.where(flows["open"] > 0, record.summary["duration_s"], flows["closed_s"])
    bits = 8.0 * np.where(flows["open"] > 0, flows["delivered_bytes"], flows["size_bytes"])
    return bits / np.maximum(ends - flows["admitted_s"], 1e-9), flows


def throughput(record: SavedRun) -> float:
    """Return T: the mean of size over latency of all admitted flows, bit/s."""
    return float(np.mean(_rates(record)[0]))


def finished_throughput(record: SavedRun) -> float:
    """Return T of the flows that finished."""
    rates, flows = _rates(record)
    return float(np.mean(rates[flows["open"] == 0]))


@of_values
def throughput_of(record: SavedRun, number: int) -> float:
    """Return T of one class of flows, by its place in the scenario."""
    rates, flows = _rates(record)
    return float(np.mean(rates[flows["class"] == number]))


def latency(record: SavedRun) -> float:
    """Return D: the mean time from admission to the end of all admitted flows, s.

    A flow that has not finished counts up to the end of the run, so that this is
    the mean number of flows present times the duration, over the admissions.
    """
    found = record.all
    return float(found["open_mean"] * record.summary["duration_s"] / found["admitted"])


def third_latency(record: SavedRun) -> float:
    """Return D of the flows over both links."""
    found = record.traffic("third")
    return float(found["open_mean"] * record.summary["duration_s"] / found["admitted"])


data_loss = data_lost("bottleneck")
"""P_d: the share of data packets that the bottleneck lost."""
upstream_waste = data_lost("link2")
"""The share of data that the second link lost after the first had carried it.

The second queue does not tell its two classes apart, so that its loss of data
is that of the flows which come over the first link.
"""


def connection_loss(record: SavedRun) -> float:
    """Return P_c: the share of SYNs that the bottleneck lost, retries counted like first ones."""
    port = record.port("bottleneck")
    return float(port["syn_dropped"] / port["syn_arrived"])


@of_values
def connection_loss_in_time(record: SavedRun, policy: str) -> float:
    """Return the share that would be lost of SYNs spread evenly over time.

    With drop-tail, the share of the time in which the queue is full.
    """
    samples = record.ports()
    if policy == "dt":
        return float(np.mean(samples["queue_packets"] >= BUFFER))
    corners = CURVES[policy]
    xs, ys = ([corner[place] for corner in corners] for place in (0, 1))
    return float(np.mean(np.interp(samples["avg_queue_packets"], xs, ys)))


def connections_tried(record: SavedRun) -> float:
    """Return how many SYNs a second arrive at the bottleneck, first ones and retries."""
    return float(record.port("bottleneck")["syn_arrived"] / record.summary["duration_s"])


def queue(record: SavedRun) -> float:
    """Return the time average of the packets waiting."""
    return float(record.port("bottleneck")["queue_mean_packets"])


def setup_time(record: SavedRun) -> float:
    """Return D_a - D: what the handshake of the admitted flows takes, retries included."""
    flows = record.flows()
    return float(np.mean(flows["admitted_s"] - flows["start_s"]))


def total_latency(record: SavedRun) -> float:
    """Return D_a: D and the set-up, of all admitted flows, s."""
    return latency(record) + setup_time(record)


D, DA = latency, total_latency


def never_finished(record: SavedRun) -> float:
    """Return the share of the admitted flows that have not finished at the end of the run."""
    return float(record.all["open"] / record.all["admitted"])


def most_waiting(record: SavedRun) -> float:
    """Return the most packets that waited at once, connection packets included."""
    return float(np.max(record.ports("bottleneck")["queue_packets"]))


def longest_pause(record: SavedRun) -> float:
    """Return the longest time without an admission, from the first one on, in whole seconds."""
    rates = record.rates()
    return float(longest_gap(rates["time_s"][rates["admitted"] > 0.0], rates["time_s"][-1]))


def longest_gap(times: NDArray[np.float64], end: float) -> float:
    """Return the longest time between two of them, or from the last one to the end."""
    if times.size == 0:
        return float("inf")
    return float(np.max(np.diff(np.append(times, end)), initial=0.0))


FINISHED_LATENCY = of_class("third", "fct_admitted_mean_s")
