"""What the text of the report computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.qfcp.cases import BETAS, BURSTY, FOUR, PEER_LOSSES, PEERS, fct
from tidegate.papers.qfcp.measures import PACKET, PAYLOAD, by_bins, mean_rates
from tidegate.papers.report_text import named, number
from tidegate.results.measures import port_mean, port_sum

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs
    from tidegate.results.run_files import SavedRun

FIVE = (*FOUR, "vcp")
TEXT_CASES = (
    "fct/{qfcp,rcp,xcp,tcp,vcp} fct/{rcp-2006,rcp-own,without/pacing} rtt/{xcp,qfcp,qfcp-low} "
    "crowd/{qfcp,rcp,xcp,tcp,vcp} crowd/{without/pacing,deep/pacing,deep/none} "
    "adapt/{qfcp,rcp,rcp-2006} adapt/{beta,late}/{beta} "
    "fct/{qfcp,rcp}/rto/{3,1}s desire/{qfcp,rcp} desire/{qfcp,rcp}/none "
    "bursty/{qfcp,rcp,xcp,tcp}/{0.001,0.01} reverse/{qfcp,rcp,xcp,tcp} "
    "peers/{peer}/{none,0.0001,0.001,0.01} peers/{peer}/rtt row/{qfcp,rcp,xcp} "
    "mixed/{qfcp,xcp}/{drop-tail,red} halved/{qfcp,xcp}"
)


def seconds(runs: Runs, case: str, measure: str) -> str:
    """Return a measure in milliseconds' resolution."""
    return f"{np.mean(runs.evaluated(case, measure)):.3f}"


def by_class(runs: Runs, case: str, duration_s: float) -> list[str]:
    """Return the mean rate of each class in Mbit/s, headers included."""

    def rates(record: SavedRun) -> list[float]:
        bits = [each["delivered_bytes"] * 8e-6 for each in record.summary["classes"]]
        return [each / duration_s * PACKET / PAYLOAD for each in bits]

    means = np.mean([rates(record) for record in runs.records(case)], axis=0)
    return [f"{each:.1f}" for each in means]


def over_qfcp(runs: Runs, rto: int) -> str:
    """Return RCP's completion times over QFCP's, all sizes alike, at a first timeout."""
    end = "" if rto == 6 else f"/rto/{rto}s"
    one, other = (by_bins(runs, fct(name) + end) for name in ("rcp", "qfcp"))
    there = (one > 0) & (other > 0)  # sizes of which there are flows
    both = np.log(np.divide(one, other, where=there, out=np.ones_like(one)))
    logs = both.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    deviation = float(np.std(logs, ddof=1))
    return f"{np.exp(np.mean(logs)):.3f} ± {deviation:.3f}"


def each_rate(runs: Runs, case: str) -> str:
    """Return the throughput of each of four flows once all have begun, Mbit/s."""
    means = np.mean([mean_rates(record, 4, 5.0, 14.0) for record in runs.records(case)], axis=0)
    return ", ".join(f"{each:.1f}" for each in means)


def halved(runs: Runs, case: str) -> list[str]:
    """Return utilisation, packets lost and mean queue while the capacity is halved."""
    used, queue = (
        runs.mean(case, port_mean("middle", name, 20.0, 40.0))
        for name in ("utilisation", "queue_mean_packets")
    )
    lost = runs.mean(case, port_sum("middle", "drops_queue_full", 20.0, 40.0))
    return [f"{used:.3f}", number(lost), number(queue)]


def crowd_lost(runs: Runs, case: str) -> str:
    """Return the packets that the bottleneck loses in the two seconds after the crowd begins."""
    both = (port_sum("bottleneck", name, 5.0, 7.0) for name in ("drops_queue_full", "drops_early"))
    return number(sum(runs.mean(case, each) for each in both))


def crowd_fct(runs: Runs, case: str) -> str:
    """Return the mean FCT of the crowd in seconds."""
    means = [record.traffic("crowd")["fct_mean_s"] for record in runs.records(case)]
    return number(float(np.mean([each for each in means if each is not None])))


def crowd_repairs(runs: Runs, case: str) -> str:
    """Return the packets that the crowd sends again."""
    sent = [record.traffic("crowd")["retransmitted_packets"] for record in runs.records(case)]
    return number(float(np.mean(np.array(sent, dtype=np.float64))))


TEMPLATE_NAMES = named(
    fct,
    seconds,
    by_class,
    halved,
    over_qfcp,
    each_rate,
    crowd_lost,
    crowd_fct,
    crowd_repairs,
    BETAS=BETAS,
    FIVE=FIVE,
    BURSTY=BURSTY,
    BURSTY_NAMES=FOUR,
    PEERS=PEERS,
    PEER_LOSSES=PEER_LOSSES,
)
"""What the template of the report uses."""
