"""Run ns-2 on a list of transfers, and read its trace."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SCRIPT = Path(__file__).with_name("flows.tcl")
INSTALL = "apt-get install -y ns2"

HEADER = 40
FIN, SYN = 0x01, 0x02


class MissingError(RuntimeError):
    """ns-2 is not installed."""


@dataclass(frozen=True)
class Flow:
    """One transfer: when it began, its size, when it was closed (NaN: not within the run)."""

    start: float
    size: int
    closed: float


@dataclass(frozen=True)
class Event:
    """One line of a trace: arrival (+), departure (-), loss (d) or delivery (r) of a packet."""

    kind: str
    time: float
    size: int
    flow: int
    sequence: int
    flags: int
    marked: bool
    """Whether it carries the mark of congestion (ECN)."""


def find() -> str:
    """Return the path of ns-2; raise MissingError with the command that installs it."""
    path = shutil.which("ns")
    if path is None:
        raise MissingError(f"ns-2 is not installed: {INSTALL}")
    return path


def run(
    flows: Sequence[tuple[float, int]],
    settings: Mapping[str, str],
    *,
    trace: Path | None = None,
    program: str | None = None,
) -> list[Flow]:
    """Run transfers, given as start in seconds and size in bytes (-1: without end), in this order.

    `settings` are those of flows.tcl. Transfers use its pairs of hosts in turn.
    """
    ns = program or find()
    pairs = int(settings.get("pairs", "1"))
    with tempfile.TemporaryDirectory() as folder:
        listed, closed = Path(folder) / "flows", Path(folder) / "closed"
        listed.write_text(
            "".join(
                f"{start:.12f} {size} {number % pairs}\n"
                for number, (start, size) in enumerate(flows)
            ),
            encoding="ascii",
        )
        command = [ns, str(SCRIPT), "flows", str(listed), "out", str(closed)]
        for key, value in settings.items():
            command += [key, value]
        if trace is not None:
            command += ["trace", str(trace)]
        subprocess.run(command, check=True)
        ends = dict(_closings(closed))
    return [
        Flow(start, size, ends.get(number, math.nan))
        for number, (start, size) in enumerate(flows, start=1)
    ]


def _closings(path: Path) -> Iterator[tuple[int, float]]:
    for line in path.read_text(encoding="ascii").splitlines():
        number, _start, _size, closed = line.split()
        yield int(number), float(closed)


def events(trace: Path) -> Iterator[Event]:
    """Read the trace of the bottleneck, forward direction only."""
    with trace.open(encoding="ascii") as lines:
        for line in lines:
            kind, time, source, _to, _type, size, marks, flow, *rest = line.split()
            if source == "0":
                yield Event(
                    kind,
                    float(time),
                    int(size),
                    int(flow),
                    int(rest[2]),
                    int(rest[5], 16),
                    "E" in marks,
                )
