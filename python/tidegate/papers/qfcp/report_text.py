"""What the text of the report computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.qfcp.cases import FOUR, fct
from tidegate.papers.qfcp.measures import PACKET, PAYLOAD
from tidegate.papers.report_text import number

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

FIVE = (*FOUR, "vcp")
TEXT_CASES = (
    *(fct(name) for name in FIVE),
    *("fct/rcp-2006", "fct/rcp-own", "fct/without/pacing"),
    *("rtt/xcp", "rtt/qfcp", "rtt/qfcp-low"),
    *(f"crowd/{name}" for name in FIVE),
    *("crowd/without/pacing", "crowd/deep/pacing", "crowd/deep/none"),
    *(f"row/{name}" for name in ("qfcp", "rcp", "xcp")),
    *(f"mixed/{name}/{queue}" for name in ("qfcp", "xcp") for queue in ("drop-tail", "red")),
    *("halved/qfcp", "halved/xcp"),
)


def seconds(runs: Runs, case: str, measure: str) -> str:
    """Return a measure in milliseconds' resolution."""
    return f"{runs.mean(case, measure):.3f}"


def by_class(runs: Runs, case: str, duration_s: float) -> list[str]:
    """Return the mean rate of each class in Mbit/s, headers included."""

    def rates(record: SavedRun) -> list[float]:
        bits = [each["delivered_bytes"] * 8e-6 for each in record.summary["classes"]]
        return [each / duration_s * PACKET / PAYLOAD for each in bits]

    means = np.mean([rates(record) for record in runs.records(case)], axis=0)
    return [f"{each:.1f}" for each in means]


def halved(runs: Runs, case: str) -> list[str]:
    """Return utilisation, packets lost and mean queue while the capacity is halved."""
    columns = ("utilisation", "drops_queue_full", "queue_mean_packets")
    found = [_between(record, "middle", 20.0, 40.0) for record in runs.records(case)]
    used, lost, queue = ([each[name] for each in found] for name in columns)
    return [
        f"{np.mean([each.mean() for each in used]):.3f}",
        number(float(np.mean([each.sum() for each in lost]))),
        number(float(np.mean([each.mean() for each in queue]))),
    ]


def crowd_queue(runs: Runs, case: str) -> str:
    """Return the mean queue in the two seconds after the crowd begins, in packets."""
    tables = [_between(record, "bottleneck", 5.0, 7.0) for record in runs.records(case)]
    return number(float(np.mean([table["queue_mean_packets"].mean() for table in tables])))


def crowd_lost(runs: Runs, case: str) -> str:
    """Return the packets that the bottleneck loses in these two seconds."""
    tables = [_between(record, "bottleneck", 5.0, 7.0) for record in runs.records(case)]
    lost = [(table["drops_queue_full"] + table["drops_early"]).sum() for table in tables]
    return number(float(np.mean(lost)))


def crowd_fct(runs: Runs, case: str) -> str:
    """Return the mean FCT of the crowd in seconds."""
    means = [record.traffic("crowd")["fct_mean_s"] for record in runs.records(case)]
    return number(float(np.mean([each for each in means if each is not None])))


def crowd_repairs(runs: Runs, case: str) -> str:
    """Return the packets that the crowd sends again."""
    sent = [record.traffic("crowd")["retransmitted_packets"] for record in runs.records(case)]
    return number(float(np.mean(np.array(sent, dtype=np.float64))))


def _between(record: SavedRun, port: str, begin: float, end: float) -> dict[str, np.ndarray]:
    """Return the samples of a port within a span of time; they are told by their end."""
    table = record.ports(port)
    inside = (table["time_s"] > begin + 1e-6) & (table["time_s"] <= end + 1e-6)
    return {name: column[inside] for name, column in table.items()}
