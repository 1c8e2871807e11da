"""What is compared: the cases of each other simulator, and how it is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.validate import dualpi2, explained, linux, ns2, ns3, queues, quinn
from tools.validate.cases import CASES, IDLE, idle
from tools.validate.measured import ALONE
from tools.validate.rates import EXPERIMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tools.validate.dumbbell import Case
    from tools.validate.rates import Experiment


@dataclass(frozen=True)
class Part:
    """Cases of one kind of transfers in another simulator."""

    title: str
    find: Callable[[], object]
    """Finds or builds the simulator; raises MissingError or UnavailableError."""
    cases: Sequence[Case | Experiment]
    idle: str = ""
    """Name of the table of single flows on an idle link."""
    flows: Mapping[str, Case] | None = None
    """Those flows, by what distinguishes them."""
    may_lack: bool = False
    """Whether it is left out where the other one is missing and nobody asked for it by name."""

    @property
    def peer(self) -> str:
        """The other simulator."""
        return self.cases[0].peer

    @property
    def tables(self) -> dict[str, str]:
        """What each table is about, by name."""
        alone = {self.idle: ALONE} if self.idle else {}
        return alone | {case.name: case.about for case in self.cases}

    @property
    def measures(self) -> dict[str, tuple[str, ...]]:
        """The rows of each table, by name."""
        alone = {self.idle: tuple(self.flows)} if self.flows else {}
        return alone | {case.name: case.measures for case in self.cases}


PARTS = {
    "ns2": Part(
        "FullTcp of ns-2 2.35",
        ns2.find,
        CASES,
        "idle",
        {f"MSS {mss} B, {size} B": idle(mss, size) for mss, size in IDLE},
    ),
    "rates": Part("The one-way agents of ns-2", ns2.find, EXPERIMENTS),
    "ns3": Part(
        "ns-3 3.44",
        ns3.build,
        queues.CASES3,
        "idle-ns3",
        {f"{control}, {size} B": queues.idle3(control, size) for control, size in queues.IDLE3},
    ),
    "linux": Part("sch_dualpi2 of Linux 7.2", linux.find, dualpi2.EXPERIMENTS, may_lack=True),
    "quinn": Part("quinn 0.11", quinn.find, quinn.CASES, may_lack=True),
}

NAMES = [name for part in PARTS.values() for name in part.tables]
"""All tables, in the order of measured.csv."""

EXPLANATIONS = (*explained.EXPLANATIONS, *quinn.EXPLANATIONS)
"""Why rows differ."""
