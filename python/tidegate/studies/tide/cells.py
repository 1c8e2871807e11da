"""The matrix of loads, hosts, links and queues, and the half of each cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING
from zlib import crc32

from tidegate.papers.case import Case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.scenario.document import Setting

GATES = {
    "none": '{ law = "none" }',
    "cp": '{ law = "close-probe" }',
    "relief": '{ law = "close-probe", relief = true }',
    "tide": '{ law = "tide", admit = "connections" }',
}
HOSTS = {
    "ns2": '{ tcp = { profile = "ns2-2005" } }',
    "linux": '{ tcp = { profile = "linux", control = "cubic" } }',
}
OFFERED = (50, 90, 120, 200, 1000)
SHAPES = ("steady", "step", "ramp", "pulse", "on-off")
CAPACITY = 10e6
"""bit/s, unless a cell has another."""
BUSY = 0.9
"""Underload: the bytes of the sessions at the highest load are below this share of the link."""


@dataclass(frozen=True)
class MatrixCell:
    """One cell of the matrix."""

    hosts: str = "ns2"
    offered: int = 100
    mean_kb: int = 10
    rtt_ms: int = 200
    queue: str = "drop-tail"
    shape: str = "steady"
    greedy: int = 0
    unseen: int | None = None
    download: bool = False
    patience: bool = False
    mbit: int = 10

    @property
    def key(self) -> str:
        """Its name: hosts, load, sizes, RTT, queue, shape, and what is special."""
        parts = [
            self.hosts,
            str(self.offered),
            f"{self.mean_kb}kB",
            f"{self.rtt_ms}ms",
            self.queue,
            self.shape,
            *self.special,
        ]
        return "/".join(parts)

    @property
    def special(self) -> list[str]:
        """What it has besides the axes of the matrix."""
        found = [f"{self.greedy}greedy"] if self.greedy else []
        found += [] if self.unseen is None else [f"unseen{self.unseen}"]
        found += ["download"] if self.download else []
        found += ["patience"] if self.patience else []
        return found + ([] if self.mbit == 10 else [f"{self.mbit}Mbit"])

    @property
    def half(self) -> str:
        """`chosen`: constants may be chosen on it; `held out`: they may not."""
        return "chosen" if crc32(self.key.encode()) % 2 == 0 else "held out"

    @property
    def over(self) -> bool:
        """Whether the highest load is more than the link can carry."""
        return self.offered * self.mean_kb * 8e3 >= BUSY * self.mbit * 1e6

    @property
    def kind(self) -> str:
        """The kind of its aims."""
        if self.greedy:
            return "greedy flows"
        if self.unseen:
            return "unseen FINs"
        return "overload" if self.over else "underload"

    @property
    def seen(self) -> MatrixCell:
        """The same cell with every FIN seen."""
        return replace(self, unseen=0)

    def case(self, gate: str) -> str:
        """Return the key of its case under a gate."""
        return f"{self.key}:{gate}"


def cells() -> list[MatrixCell]:
    """Return every cell: those with a steady load, then the special ones, then the rest."""
    steady: list[MatrixCell] = []
    moving: list[MatrixCell] = []
    for shape, queue, rtt, mean, hosts, offered in product(
        SHAPES, ("drop-tail", "fq-codel"), (200, 40), (10, 30), HOSTS, OFFERED
    ):
        cell = MatrixCell(hosts, offered, mean, rtt, queue, shape)
        (steady if shape == "steady" else moving).append(cell)
    return [*steady, *_special(), *moving]


def _special() -> Iterator[MatrixCell]:
    for hosts, rtt in product(HOSTS, (200, 40)):
        plain = MatrixCell(hosts, rtt_ms=rtt)
        for offered, greedy in product((100, 1000), (5, 50)):
            yield replace(plain, offered=offered, greedy=greedy)
        for offered, unseen in product((90, 1000), (0, 5, 15)):
            yield replace(plain, offered=offered, unseen=unseen)
        for offered in (90, 1000):
            yield replace(plain, offered=offered, download=True)
            yield replace(plain, offered=offered, patience=True)
        for mbit, offered in ((2, 18), (2, 200), (50, 450), (50, 2000)):
            yield replace(plain, mbit=mbit, offered=offered)


def settings(cell: MatrixCell, gate: str) -> tuple[Setting, ...]:
    """Return what a case sets in the scenario of the matrix."""
    opener = ', opener = "syn-ack" }' if cell.download and gate != "none" else " }"
    own: list[Setting] = [
        ("port.bottleneck.gate", gate.removesuffix(" }") + opener),
        ("traffic.web.size.pareto.mean", f"{cell.mean_kb}kB"),
        ("traffic.web.transport", HOSTS[cell.hosts]),
    ]
    if cell.queue != "drop-tail":
        own.append(("port.bottleneck.queue", f'{{ law = "{cell.queue}" }}'))
    if cell.unseen is not None:
        return (*own, *_unseen(cell, cell.unseen))
    link = "topology.dumbbell.bottleneck"
    own += [
        ("traffic.web.arrivals.poisson", f"{_first(cell):g}/s"),
        (f"{link}.delay", f"{cell.rtt_ms // 2 - 2}ms"),
        (f"{link}.rate", f"{cell.mbit}Mbit"),
    ]
    if cell.greedy:
        own.append(("traffic.greedy.arrivals.uniform", str(cell.greedy)))
        own.append(("traffic.greedy.transport", HOSTS[cell.hosts]))
    if cell.download:
        own.append(("traffic.web.direction", "download"))
    if cell.patience:
        own.append(("traffic.web.patience", "8s"))
    if cell.shape != "steady":
        own.append(("change", f"[{', '.join(_changes(cell))}]"))
    return tuple(own)


def _unseen(cell: MatrixCell, percent: int) -> list[Setting]:
    share = cell.offered * percent / 100
    return [
        ("topology.links.bottleneck.delay", f"{cell.rtt_ms // 2 - 2}ms"),
        ("topology.links.roundabout.delay", f"{cell.rtt_ms // 2 - 2}ms"),
        ("traffic.web.arrivals.poisson", f"{cell.offered - share:g}/s"),
        ("traffic.odd.arrivals.poisson", f"{max(share, 0.001):g}/s"),
        ("traffic.odd.transport", HOSTS[cell.hosts]),
    ]


def _first(cell: MatrixCell) -> float:
    """Return the load before it changes: a quiet link's, or the half of a low one."""
    return cell.offered if cell.shape == "steady" else min(50.0, cell.offered / 2)


def _changes(cell: MatrixCell) -> list[str]:
    def change(at: int, more: str = "") -> str:
        what = 'what = "traffic.web.arrivals"'
        return f'{{ {what}, at = "{at}s", to = "{cell.offered}/s"{more} }}'

    return {
        "step": [change(60)],
        "ramp": [change(40, ', until = "160s"')],
        "pulse": [change(80, ', pulse = "40s"')],
        "on-off": [change(at, ', pulse = "20s"') for at in (30, 70, 110, 150)],
    }[cell.shape]


def case(cell: MatrixCell, name: str, gate: str) -> Case:
    """Return a cell under a gate that is given as a scenario writes it."""
    scenario = "matrix.toml" if cell.unseen is None else "unseen.toml"
    variants = ("greedy",) if cell.greedy else ()
    weight = 1.0 + cell.offered / 100
    return Case(cell.case(name), scenario, variants, settings(cell, gate), weight=weight)


def matrix() -> list[Case]:
    """Return every cell under every gate."""
    return [case(cell, name, gate) for cell in cells() for name, gate in GATES.items()]
