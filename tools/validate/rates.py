"""XCP, and Reno over RED, in ns-2 and here: the experiments of the QFCP paper, side by side.

    python -m tools.validate.rates

One-way agents of ns-2 have no handshake; `HANDSHAKE` says what that means for completion times.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

import tidegate
from tidegate.papers import load
from tidegate.papers.qfcp.cases import protocol
from tools.validate import ns2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tidegate.results import Result

    Floats = NDArray[np.float64]

SCRIPT = Path(__file__).with_name("rates.tcl")
SEEDS = (1, 2, 3)
LISTS = (1,)
"""Seeds of the list of 60,000 flows: ns-2 takes minutes for each."""
PACKET, PAYLOAD = 1000, 960
HANDSHAKE = {"xcp": 0.0, "tcp": 0.1}
"""What of a completion time here has no match there, in s: the first round trip of ns-2's XCP
only tells it how long that is, which the handshake does here."""
WITHIN = 0.1
"""Means that are closer than this, or within two standard deviations, agree."""


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
        times = table["time_s"].to_numpy()
        inside = (times > start + 1e-6) & (times <= end + 1e-6)
        octets = float(table["departed_bytes"].to_numpy()[inside].sum())
        found.append(octets * 8e-6 / (end - start))
    return np.array(found)


def jain(rates: Floats) -> float:
    """Return Jain's index."""
    return float(rates.sum() ** 2 / (rates.size * np.sum(rates**2)))


Row = tuple[str, list[float], list[float]]


def staggered(name: str) -> list[Row]:
    """Compare four flows that join every two seconds, in the last second before the next change."""
    flows = [Flow(start, stop) for start, stop in ((0, 14), (2, 12), (4, 10), (6, 8))]
    picks: dict[str, tuple[list[float], list[float]]] = {}
    for seed in SEEDS:
        marks, _ = in_ns2(name, flows, until=15, step=1, seed=seed)
        result = here(name, "adapt", seed, {})
        for active, end in ((1, 2), (2, 4), (3, 6), (4, 8)):
            theirs = (marks[:active, end - 1] - marks[:active, end - 2]) * PACKET * 8e-6
            ours = rates_here(result, active, end - 1, end)
            for what, both in (("least", np.min), ("most", np.max)):
                row = picks.setdefault(f"{active} flows, {what} [Mbit/s]", ([], []))
                row[0].append(float(both(theirs)))
                row[1].append(float(both(ours)))
    return [(what, *row) for what, row in picks.items()]


def round_trips(name: str) -> list[Row]:
    """Compare ten flows with round trips from 40 to 220 ms, from 20 to 60 s."""
    flows = [Flow(0, rtt=40 + 20 * k) for k in range(10)]
    theirs, ours = [], []
    for seed in SEEDS:
        marks, _ = in_ns2(name, flows, until=60, step=20, buffer=731, seed=seed)
        theirs.append((marks[:, 2] - marks[:, 0]) * PACKET * 8e-6 / 40)
        ours.append(rates_here(here(name, "rtt", seed, {}), 10, 20, 60))
    picks: tuple[tuple[str, Callable[[Floats], float]], ...] = (
        ("Jain's index", jain),
        ("40 ms [Mbit/s]", lambda rates: float(rates[0])),
        ("220 ms [Mbit/s]", lambda rates: float(rates[-1])),
        ("all together [Mbit/s]", lambda rates: float(rates.sum())),
    )
    return [(what, [pick(a) for a in theirs], [pick(b) for b in ours]) for what, pick in picks]


def lossy(name: str) -> list[Row]:
    """Compare one flow over a link that loses data or ACKs: packets acknowledged in 60 s."""
    rows: list[Row] = []
    for where, share in (("data", 1e-3), ("data", 1e-2), ("ack", 1e-2)):
        theirs, ours = [], []
        for seed in SEEDS:
            given: dict[str, object] = {"until": 60, "step": 60, "rate": "100Mb", "buffer": 500}
            marks, _ = in_ns2(name, [Flow(0)], **given, **{f"loss_{where}": share}, seed=seed)
            theirs.append(float(marks[0, 0]) * PACKET * 8e-6 / 60)
            both = {"data": 0.0, "ack": 0.0} | {where: share}
            result = here(name, "lossy", seed, {"topology.links.middle.loss": both})
            delivered = float(result.flows["delivered_bytes"].to_numpy()[0])
            ours.append(delivered * PACKET / PAYLOAD * 8e-6 / 60)
        rows.append((f"{where} loss {share:g} [Mbit/s]", theirs, ours))
    return rows


def completion(name: str) -> list[Row]:
    """Compare the mean completion time of 60,000 flows, the very same in both."""
    theirs, ours = [], []
    for seed in LISTS:
        draw = np.random.default_rng(seed)
        starts = np.sort(draw.uniform(0.0, 96.0, 60_000))
        sizes = np.ceil(5.0 / draw.uniform(size=60_000) ** (1 / 1.2)).astype(int)
        flows = [Flow(*pair, rtt=100) for pair in zip(starts, [0.0] * 60_000, sizes, strict=True)]
        given: dict[str, object] = {"until": 200, "step": 0, "rate": "150Mb", "delay": 48}
        _, ends = in_ns2(name, flows, **given, buffer=1875, seed=seed)
        theirs.append(float(np.nanmean(ends - starts)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "flows.csv")
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(("start_s", "size_bytes"))
                writer.writerows(zip(starts, sizes * PAYLOAD, strict=True))
            result = replayed(name, seed, path)
        ours.append(float(np.nanmean(result.flows["fct_s"].to_numpy())) - HANDSHAKE[name])
    return [("60,000 flows, mean FCT [s]", theirs, ours)]


def replayed(name: str, seed: int, path: Path) -> Result:
    """Run the flows of a table here, in the network of the 60,000 flows."""
    scenario = Path(str(load("qfcp").folder / "scenarios" / "fct.toml"))
    document = tomllib.loads(scenario.read_text(encoding="utf-8"))
    web = document["traffic"]["web"]
    del web["arrivals"], web["size"]
    web["flows"] = str(path)
    return tidegate.run(document, seed=seed, settings=dict(protocol(name, "fct")))


def verdict(theirs: list[float], ours: list[float]) -> str:
    """Return whether the two agree."""
    one, other = float(np.mean(theirs)), float(np.mean(ours))
    spread = 2 * float(np.hypot(np.std(theirs), np.std(ours)))
    return "yes" if abs(one - other) <= max(WITHIN * abs(one), spread) else "no"


def main() -> None:
    """Print all rows."""
    table = Table("protocol", "what", "ns-2", "tidegate", "ratio", "agree")
    for name in ("xcp", "tcp"):
        for part in (staggered, round_trips, lossy, completion):
            for what, theirs, ours in part(name):
                cells = [f"{np.mean(each):.4g} ± {np.std(each):.2g}" for each in (theirs, ours)]
                ratio = f"{np.mean(ours) / np.mean(theirs):.3f}"
                shown = {"xcp": "XCP", "tcp": "Reno over RED"}[name]
                table.add_row(shown, what, *cells, ratio, verdict(theirs, ours))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
