"""Hosts alone, over random loss: flows that share nothing, real beside simulated.

A flow meets no crowd and no queue here, so only its own repairs decide how long it takes. Each cell
is a control, a round trip and a share of the data packets lost; flows of each size start at fixed
intervals. What is compared is the mean time of a size, in which a flow that is not over after 10 s
counts as 10 s; and, where half is lost, how many flows of 8 segments are over in 2, 3 and 10 s.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import LATE_MS, Lab, valid
from tools.live import loads
from tools.live.measure import Flow, read, simulate
from tools.validate.judge import Row, Verdict, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tools.validate.measure import Measures

SIZES, LOSSES, RTTS_MS = (4, 8, 30, 100), (0.01, 0.1, 0.3, 0.5), (20, 100, 300)
SEGMENT = 1448
LONGEST_S = 10
FLOWS, WITHIN_S = 100, 20
SECONDS = WITHIN_S + LONGEST_S + 1
SIDE_BY_SIDE = 6
"""Labs at once: each is idle most of its time."""
SOON_S = (2, 3, 10)


@dataclass(frozen=True)
class Cell:
    """Flows of each size by one control over one link."""

    control: str
    rtt_ms: int
    loss: float

    @property
    def measures(self) -> list[str]:
        """What is compared."""
        shares = [f"done_8_{soon}s" for soon in SOON_S] if self.loss == LOSSES[-1] else []
        return [*(f"time_{size}" for size in SIZES), *shares]

    def document(self) -> dict[str, Any]:
        """Return its scenario: 1 Gbit/s, so that nobody waits for anybody."""
        host = {"tcp": {"profile": "linux", "control": self.control}}
        traffic = {
            f"of-{size}": {
                "arrivals": {"uniform": FLOWS, "within": f"{WITHIN_S}s"},
                "size": f"{size * SEGMENT}B",
                "transport": host,
            }
            for size in SIZES
        }
        link: dict[str, Any] = {"rate": "1Gbit", "delay": f"{self.rtt_ms / 2:g}ms"}
        link |= {"buffer": "10000packets", "loss": {"data": self.loss, "ack": 0}}
        # what a real receiver sends to say that it has everything is not to be lost
        return loads.document(SECONDS, traffic, **link, reverse={"loss": 0.0})


def name(control: str) -> str:
    """Name the cells of a control among the cases."""
    return f"alone-{control}"


def cells(control: str) -> list[Cell]:
    """Return the cells of a control."""
    return [Cell(control, rtt, loss) for rtt in RTTS_MS for loss in LOSSES]


def measured(flows: Sequence[Flow]) -> Measures:
    """Measure a run: NaN of a time compares as false, so a flow that is not over is none."""
    found = {}
    for size in SIZES:
        times = [flow.fct for flow in flows if flow.size == size * SEGMENT]
        # min() returns its first argument where the second is NaN
        found[f"time_{size}"] = fmean(min(LONGEST_S, time) for time in times)
        for soon in SOON_S:
            found[f"done_{size}_{soon}s"] = fmean(time <= soon for time in times)
    return found


def in_the_lab(cell: Cell, seed: int, number: int) -> Measures:
    """Run real hosts, which forget each flow when it is over."""
    with Lab(name=f"tga{number}", late_ms=LATE_MS) as lab:
        for namespace in (lab.left, lab.right):
            lab.put(namespace, "net.ipv4.tcp_no_metrics_save=1")
        path, table = lab.write(cell.document())
        link = lab.link(path, seed=seed)
        lab.traffic(path, table, download=False, seed=seed)
        link.report()
        return measured(read(table))


def compared(
    control: str, seeds: int, say: Callable[[str], object]
) -> list[tuple[Cell, list[Row]]]:
    """Run the cells of a control in both."""
    runs = [(cell, seed) for cell in cells(control) for seed in range(1, seeds + 1)]

    def one(number: int) -> Measures:
        cell, seed = runs[number]
        return valid(partial(in_the_lab, cell, seed, number), say)

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        real = list(pool.map(one, range(len(runs))))
    here = [measured(simulate(cell.document(), seed, {})[0]) for cell, seed in runs]
    found = []
    for at, cell in enumerate(cells(control)):
        pairs = list(zip(here, real, strict=True))[at * seeds : (at + 1) * seeds]
        found.append((cell, rows(name(control), cell.measures, pairs, ())))
    return found


HEAD = ("RTT", "loss", *(f"{size} segments, s" for size in SIZES), "8 segments in 2, 3, 10 s")


def lines(found: Sequence[tuple[Cell, Sequence[Row]]]) -> list[list[str]]:
    """Return a line of a table for each cell."""
    return [
        [
            f"{cell.rtt_ms} ms",
            f"{cell.loss:.0%}",
            *map(both, each[: len(SIZES)]),
            ", ".join(map(both, each[len(SIZES) :])),
        ]
        for cell, each in found
    ]


def both(row: Row) -> str:
    """Return simulated / real, and whether they differ by the rule of the other cases."""
    text = f"{fmean(row.mine):.2f} / {fmean(row.theirs):.2f}"
    return f"{text} {Verdict.DIFFERS.value}" if row.verdict is Verdict.DIFFERS else text
