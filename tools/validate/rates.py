"""XCP, and Reno over RED, in ns-2 and here: the experiments of the QFCP paper, side by side.

One-way agents of ns-2 have no handshake, but their first packet stands for a SYN: on an idle link
every flow takes as long as here, to a tenth of a millisecond.
"""

from __future__ import annotations

import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import tidegate
from tidegate.papers import load
from tidegate.papers.qfcp.cases import protocol
from tidegate.results.csv_text import csv_text
from tidegate.results.measures import SLACK, jain, within
from tools.validate import ns2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tidegate import Result
    from tools.validate.measure import Measures

    Pair = tuple[Measures, Measures]
    Floats = NDArray[np.float64]

SCRIPT = Path(__file__).with_name("rates.tcl")
PACKET, PAYLOAD = 1000, 960
MANY = 60_000


@dataclass(frozen=True)
class Flow:
    """A flow: start, stop (0: never) in seconds, size in packets (0: without end), RTT in ms."""

    start: float
    stop: float = 0.0
    size: int = 0
    rtt: int = 40


def in_ns2(name: str, flows: Sequence[Flow], **settings: object) -> tuple[Floats, Floats]:
    """Run in ns-2; return packets acknowledged at the end of each step, and when each was done."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "flows"), Path(folder, "out")
        lines = [f"{each.start} {each.stop} {each.size} {each.rtt}" for each in flows]
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        given = {"protocol": "reno" if name == "tcp" else name, "flows": source, "out": target}
        words = [str(word) for pair in (given | settings).items() for word in pair]
        subprocess.run(
            [ns2.find(), str(SCRIPT), *words], check=True, capture_output=True, text=True
        )
        rows = [row.partition("--") for row in target.read_text(encoding="utf-8").splitlines()]
    marks = np.array([[float(each) + 1 for each in row[0].split()] for row in rows])
    ends = np.array([float(row[2]) if row[2].strip() else np.nan for row in rows])
    return marks, ends


def here(name: str, scenario: str, seed: int, settings: dict[str, object]) -> Result:
    """Run the paper's scenario here."""
    path = Path(str(load("qfcp").folder / "scenarios" / f"{scenario}.toml"))
    return tidegate.run(path, seed=seed, settings=dict(protocol(name, scenario)) | settings)


def rates_here(result: Result, flows: int, start: float, end: float) -> Floats:
    """Return what each flow got between two instants, in Mbit/s with headers."""
    ports = result.ports
    found = []
    for flow in range(1, flows + 1):
        table = ports.filter(ports["port"].cast(str) == f"out{flow}")
        inside = within(table["time_s"].to_numpy(), start, end, SLACK)
        octets = float(table["departed_bytes"].to_numpy()[inside].sum())
        found.append(octets * 8e-6 / (end - start))
    return np.array(found)


def staggered(name: str, seed: int) -> Pair:
    """Compare four flows that join every two seconds, in the last second before the next change.

    They start up to 0.1 s later than that, so that seeds differ: little else is random.
    """
    late = np.random.default_rng(seed).uniform(0.0, 0.1, 4).round(6).tolist()
    starts = [2 * k + more for k, more in enumerate(late)]
    flows = [Flow(start, stop) for start, stop in zip(starts, (14, 12, 10, 8), strict=True)]
    marks, _ = in_ns2(name, flows, until=15, step=1, seed=seed)
    given = {
        f"traffic.f{flow}.arrivals": {"at": [f"{start:.6f}s"]}
        for flow, start in enumerate(starts, start=1)
    }
    result = here(name, "adapt", seed, dict(given))
    mine: dict[str, float] = {}
    theirs: dict[str, float] = {}
    for active, end in ((1, 2), (2, 4), (3, 6), (4, 8)):
        rates = (marks[:active, end - 1] - marks[:active, end - 2]) * PACKET * 8e-6
        both = ((theirs, rates), (mine, rates_here(result, active, end - 1, end)))
        for found, each in both:
            found[f"{active}_least"] = float(np.min(each))
            found[f"{active}_most"] = float(np.max(each))
    return mine, theirs


def round_trips(name: str, seed: int) -> Pair:
    """Compare ten flows with round trips from 40 to 220 ms, from 20 to 60 s."""
    flows = [Flow(0, rtt=40 + 20 * k) for k in range(10)]
    marks, _ = in_ns2(name, flows, until=60, step=20, buffer=731, seed=seed)
    theirs = (marks[:, 2] - marks[:, 0]) * PACKET * 8e-6 / 40
    mine = rates_here(here(name, "rtt", seed, {}), 10, 20, 60)

    def measures(rates: Floats) -> Measures:
        return {
            "jain": jain(rates),
            "rtt_40ms": float(rates[0]),
            "rtt_220ms": float(rates[-1]),
            "all": float(rates.sum()),
        }

    return measures(mine), measures(theirs)


def lossy(name: str, seed: int) -> Pair:
    """Compare one flow over a link that loses data or ACKs: packets acknowledged in 60 s."""
    mine: dict[str, float] = {}
    theirs: dict[str, float] = {}
    for where, share, measure in LOSSES:
        given: dict[str, object] = {"until": 60, "step": 60, "rate": "100Mb", "buffer": 500}
        marks, _ = in_ns2(name, [Flow(0)], **given, **{f"loss_{where}": share}, seed=seed)
        theirs[measure] = float(marks[0, 0]) * PACKET * 8e-6 / 60
        both = {"data": 0.0, "ack": 0.0} | {where: share}
        result = here(name, "lossy", seed, {"topology.links.middle.loss": both})
        delivered = float(result.flows["delivered_bytes"].to_numpy()[0])
        mine[measure] = delivered * PACKET / PAYLOAD * 8e-6 / 60
    return mine, theirs


def many(name: str, seed: int) -> Pair:
    """Compare the completion times of 60,000 flows, the very same in both."""
    draw = np.random.default_rng(seed)
    starts = np.sort(draw.uniform(0.0, 96.0, MANY))
    sizes = np.ceil(5.0 / draw.uniform(size=MANY) ** (1 / 1.2)).astype(int)
    flows = [
        Flow(float(start), size=int(size), rtt=100)
        for start, size in zip(starts, sizes, strict=True)
    ]
    given: dict[str, object] = {"until": 200, "step": 0, "rate": "150Mb", "delay": 48}
    _, ends = in_ns2(name, flows, **given, buffer=1875, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "flows.csv")
        rows = zip(starts, sizes * PAYLOAD, strict=True)
        path.write_text(csv_text(("start_s", "size_bytes"), rows), encoding="utf-8")
        took = replayed(name, seed, path).flows["fct_s"].to_numpy()

    def measures(fct: Floats) -> Measures:
        return {
            "fct_mean_s": float(np.nanmean(fct)),
            "finished": float(np.count_nonzero(~np.isnan(fct))),
        }

    return measures(took), measures(ends - starts)


def replayed(name: str, seed: int, path: Path) -> Result:
    """Run the flows of a table here, in the network of the 60,000 flows."""
    scenario = Path(str(load("qfcp").folder / "scenarios" / "fct.toml"))
    document = tomllib.loads(scenario.read_text(encoding="utf-8"))
    web = document["traffic"]["web"]
    del web["arrivals"], web["size"]
    web["flows"] = str(path)
    return tidegate.run(document, seed=seed, settings=dict(protocol(name, "fct")))


@dataclass(frozen=True)
class Experiment:
    """One experiment with one protocol, in both simulators."""

    name: str
    about: str
    protocol: str
    measures: tuple[str, ...]
    compare: Callable[[str, int], Pair]
    seeds: int = 3
    peer: str = "ns-2"


LOSSES = (
    ("data", 1e-3, "data_loss_0.1%"),
    ("data", 1e-2, "data_loss_1%"),
    ("ack", 1e-2, "ack_loss_1%"),
)
JOINING = tuple(f"{active}_{which}" for active in range(1, 5) for which in ("least", "most"))


def _experiments(protocol: str, key: str, title: str) -> tuple[Experiment, ...]:
    join = "four flows join, one every 2 s, 45 Mbit/s; least and most of 1 to 4 of them, Mbit/s"
    round_trip_text = (
        "ten flows with RTTs from 40 to 220 ms, 45 Mbit/s, 20 to 60 s; Jain's index, Mbit/s"
    )
    lose = "one flow over a link that loses data or ACKs, 100 Mbit/s, RTT 40 ms, 60 s; Mbit/s"
    pareto = "60,000 flows (Pareto 1.2, at least 5 packets), 150 Mbit/s, RTT 100 ms, 96 s"
    times = ("fct_mean_s", "finished")
    shares = ("jain", "rtt_40ms", "rtt_220ms", "all")
    losses = tuple(measure for _, _, measure in LOSSES)
    drawn = 10 if protocol == "tcp" else 3  # RED's choices make a share of long round trips wide
    return (
        # the longest first, so that the last one does not run alone
        Experiment(f"{key}-many", f"{title}: {pareto}", protocol, times, many, 1),
        Experiment(f"{key}-joining", f"{title}: {join}", protocol, JOINING, staggered, 10),
        Experiment(
            f"{key}-round-trips",
            f"{title}: {round_trip_text}",
            protocol,
            shares,
            round_trips,
            drawn,
        ),
        Experiment(f"{key}-losses", f"{title}: {lose}", protocol, losses, lossy),
    )


EXPERIMENTS = (
    *_experiments("xcp", "xcp", "XCP"),
    *_experiments("tcp", "reno", "Reno over RED"),
)
