"""The same measures of a run of either simulator."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tools.validate import ns2

if TYPE_CHECKING:
    from tools.validate.dumbbell import Case

Measures: TypeAlias = Mapping[str, float]
Flows: TypeAlias = list[tuple[float, int]]
"""Start in seconds and size in bytes (-1: without end)."""

PORT = "bottleneck"


def of_tidegate(case: Case, seed: int) -> tuple[Measures, Flows]:
    """Run tidegate; return what it measured and the flows that it drew."""
    from tidegate.runner import simulate
    from tidegate.scenario import read

    outcome = simulate(read(case.document, None).load(), seed, None)
    flows, totals = outcome.tables["flows"], outcome.tables["port_totals"]
    codes, names = totals["port"]
    row = [names[code] for code in codes].index(PORT)
    closed = ~np.isnan(flows["fct_s"])
    fct = flows["fct_s"][closed]
    seconds = outcome.scenario.duration_s
    measures = {
        "completed_per_s": fct.size / seconds,
        "fct_mean_s": float(np.mean(fct)) if fct.size else math.nan,
        "power": power(list(fct), list(flows["size_bytes"][closed]), seconds),
        "departed_per_s": float(totals["departed_packets"][row]) / seconds,
        "drops": float(sum(totals[name][row] for name in totals if name.startswith("drops_"))),
        "marked": float(totals["marked"][row]),
        "retransmitted": float(np.sum(flows["retransmitted_packets"])),
        "queue_mean": float(totals["queue_mean_packets"][row]),
    }
    sizes = np.nan_to_num(np.asarray(flows["size_bytes"], dtype=float), nan=-1.0)
    drawn = [(float(start), int(size)) for start, size in zip(flows["start_s"], sizes, strict=True)]
    return measures, drawn


def of_ns2(case: Case, seed: int, flows: Flows) -> Measures:
    """Run ns-2 on the same flows and measure the same."""
    seconds = float(case.settings["until"])
    with tempfile.TemporaryDirectory() as place:
        trace = Path(place) / "trace"
        settings = {**case.settings, "seed": str(seed)}
        closed = ns2.run(flows, settings, trace=trace)
        port = of_trace(trace, seconds)
    over = [flow for flow in closed if not math.isnan(flow.closed)]
    fct = [flow.closed - flow.start for flow in over]
    return {
        "completed_per_s": len(fct) / seconds,
        "fct_mean_s": sum(fct) / len(fct) if fct else math.nan,
        "power": power(fct, [flow.size for flow in over], seconds),
        **port,
    }


def power(fct: Sequence[float], sizes: Sequence[float], seconds: float) -> float:
    """Return useful bits per second over the mean completion time, Mbit/s per s."""
    if not fct:
        return 0.0
    return sum(sizes) * 8e-6 / seconds / (sum(fct) / len(fct))


def of_trace(trace: Path, seconds: float) -> Measures:
    """Measure the bottleneck: losses, repeated data, departures, mean number of waiting packets."""
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
