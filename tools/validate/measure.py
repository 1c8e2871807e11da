"""The same measures of a run of either simulator."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import tidegate
from tools.validate import ns2, ns3

if TYPE_CHECKING:
    from tools.validate.dumbbell import Case

Measures: TypeAlias = Mapping[str, float]
Flows: TypeAlias = list[tuple[float, int]]
"""Start in seconds and size in bytes (-1: without end)."""

PORT = "bottleneck"


@dataclass(frozen=True)
class Transfer:
    """The outcome of a flow."""

    size: int
    """In bytes; -1: without end."""
    fct: float
    """First SYN to close, in seconds; NaN: not within the run."""
    delivered: float
    """Bytes handed to the receiver, in order."""
    again: float
    """Data packets that were sent again."""


def of_tidegate(case: Case, seed: int) -> tuple[Measures, Flows]:
    """Run tidegate; return what it measured and the flows that it drew."""
    result = tidegate.run(case.document, seed=seed)
    table = result.flows
    sizes = [-1 if size is None else int(size) for size in table["size_bytes"]]
    fct = [math.nan if each is None else float(each) for each in table["fct_s"]]
    rows = zip(sizes, fct, table["delivered_bytes"], table["retransmitted_packets"], strict=True)
    transfers = [Transfer(*row) for row in rows]
    [port] = [each for each in result.summary["ports"] if each["name"] == PORT]
    seconds = result.summary["duration_s"]
    measures = {
        **of_transfers(transfers, seconds),
        "departed_per_s": port["departed"] / seconds,
        "drops": float(sum(port["drops"].values()) - port["drops"]["link_loss"]),
        "marked": float(port["marked"]),
        "queue_mean": port["queue_mean_packets"],
    }
    drawn = [(float(start), size) for start, size in zip(table["start_s"], sizes, strict=True)]
    return measures, drawn


def of_ns3(settings: Mapping[str, str], seed: int, flows: Flows) -> Measures:
    """Run ns-3 on the same flows and measure the same."""
    seconds = float(settings["until"])
    found = ns3.run(flows, {**settings, "seed": str(seed)})
    transfers = [
        Transfer(
            size,
            each["closed"] - start if each["closed"] >= 0 else math.nan,
            each["delivered"],
            each["again"],
        )
        for (start, size), each in zip(flows, found["flows"], strict=True)
    ]
    return {
        **of_transfers(transfers, seconds),
        "departed_per_s": found["departed"] / seconds,
        "drops": float(found["drops"]),
        "marked": float(found["marked"]),
        "queue_mean": found["queue_mean"],
    }


def of_transfers(transfers: Sequence[Transfer], seconds: float) -> Measures:
    """Measure the outcomes of flows."""
    over = [each for each in transfers if not math.isnan(each.fct)]
    fct = [each.fct for each in over]
    endless = np.array([each.delivered for each in transfers if each.size < 0])
    squares = float(endless.size * np.sum(endless**2))
    return {
        **of_closed(fct, [each.size for each in over], seconds),
        "goodput_mbit_s": sum(each.delivered for each in transfers) * 8e-6 / seconds,
        "jain": float(endless.sum()) ** 2 / squares if squares else math.nan,
        "retransmitted": float(sum(each.again for each in transfers)),
    }


def of_ns2(case: Case, seed: int, flows: Flows, program: str | None = None) -> Measures:
    """Run ns-2 (by default the one that is installed) on the same flows and measure the same."""
    seconds = float(case.settings["until"])
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        settings = {**case.settings, "seed": str(seed)}
        closed = ns2.run(flows, settings, trace=trace, program=program)
        port = of_trace(trace, seconds)
    over = [flow for flow in closed if not math.isnan(flow.closed)]
    fct = [flow.closed - flow.start for flow in over]
    return {**of_closed(fct, [flow.size for flow in over], seconds), **port}


def of_closed(fct: Sequence[float], sizes: Sequence[float], seconds: float) -> Measures:
    """Measure the flows that were closed, by their completion times in seconds and sizes in bytes.

    The goodput of a flow is its size over its completion time, as in the paper on session control.
    """
    none = not fct
    rates = [8e-3 * size / took for size, took in zip(sizes, fct, strict=True)]
    return {
        "completed_per_s": len(fct) / seconds,
        "fct_mean_s": math.nan if none else float(np.mean(fct)),
        "fct_p95_s": math.nan if none else float(np.percentile(fct, 95)),
        "goodput_mean_kbit_s": math.nan if none else float(np.mean(rates)),
        "size_mean_bytes": math.nan if none else float(np.mean(sizes)),
        "power": power(fct, sizes, seconds),
    }


def power(fct: Sequence[float], sizes: Sequence[float], seconds: float) -> float:
    """Return useful bits per second over the mean completion time, Mbit/s per s."""
    if not fct:
        return 0.0
    return sum(sizes) * 8e-6 / seconds / (sum(fct) / len(fct))


def of_trace(trace: Path, seconds: float) -> Measures:
    """Measure the bottleneck: losses, repeated data, departures and the mean queue in packets."""
    departed = dropped = marked = again = waiting = 0
    area = last = 0.0
    highest: dict[int, int] = {}
    for event in ns2.events(trace):
        if event.kind == "r":
            continue
        area += waiting * (event.time - last)
        last = event.time
        if event.kind == "+":
            waiting += 1
            if event.size > ns2.HEADER:
                if event.sequence <= highest.get(event.flow, -1):
                    again += 1
                else:
                    highest[event.flow] = event.sequence
        else:
            waiting -= 1
            departed += event.kind == "-"
            dropped += event.kind == "d"
            marked += event.kind == "-" and event.marked
    area += waiting * (seconds - last)
    return {
        "departed_per_s": departed / seconds,
        "drops": float(dropped),
        "marked": float(marked),
        "retransmitted": float(again),
        "queue_mean": area / seconds,
    }
