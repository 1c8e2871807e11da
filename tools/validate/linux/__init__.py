"""Queue laws of Linux in a program: their source as it is, with a clock and a link of its own.

The source of `sch_dualpi2` is compiled as it is, from Debian's package `linux-source` (of sid,
checked by the archive's keys; 164 MB are downloaded once). `kernel.h` has what it asks of its
kernel; `queue.c` is the link, and the flows before it. So every packet arrives at the very instant
that was asked for, on however slow or busy a machine, and the same seed gives the same results.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidegate.hosts import archive as debian
from tools.peers.install import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
BUILD = HERE.parents[2] / "build" / "linux-queue"
RELEASE = "sid"
SOURCES = {"net/sched/sch_dualpi2.c": "", "include/uapi/linux/pkt_sched.h": "linux/"}
"""What is taken from Linux's source, and where it is looked for."""
EMPTY = (
    *("linux/const", "linux/errno", "linux/hrtimer", "linux/if_vlan", "linux/kernel"),
    *("linux/limits", "linux/module", "linux/skbuff", "linux/types"),
    *("net/gso", "net/inet_ecn", "net/pkt_cls", "net/pkt_sched"),
)
"""Headers that the source includes; `kernel.h` has all of them."""
TOOLS = {"gcc": "gcc", "xz": "xz-utils", "apt-cache": "apt", "dpkg-deb": "dpkg"}
VERSION = "version"

Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Flow:
    """A flow of UDP at a constant rate."""

    start: float
    every: float
    """Between two packets, in seconds."""
    size: int
    """Of a packet on the link, in bytes."""
    ecn: int
    """What its packets carry: 0, 1 for ECT(1), 2 for ECT(0)."""


@dataclass(frozen=True)
class Seen:
    """What left the queue, and its probability."""

    left: Numbers
    """Rows: flow, when it was sent and when its transmission ended in ns, whether it is marked."""
    steps: Numbers
    """Rows: time in ns, base probability in units of 2^-32."""


def find() -> Path:
    """Return the program; build it if it is not there, or older than its source here."""
    program = BUILD / "queue"
    own = [HERE / "kernel.h", HERE / "queue.c"]
    try:
        debian.need(TOOLS)
        if not (BUILD / VERSION).exists():
            fetch()
    except debian.Obstacle as reason:
        raise UnavailableError(f"Linux's source is not to be had here: {reason}") from reason
    if not program.exists() or program.stat().st_mtime < max(one.stat().st_mtime for one in own):
        part = BUILD / f"queue.{os.getpid()}"
        words = ["gcc", "-O2", "-w", "-std=gnu11", f"-I{BUILD}", f"-I{BUILD / 'include'}"]
        words += ["-include", str(own[0]), '-DSOURCE="sch_dualpi2.c"', str(own[1]), "-o", str(part)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UnavailableError(f"Linux's sch_dualpi2 cannot be compiled here:\n{done.stderr}")
        part.rename(program)
    return program


def fetch() -> None:
    """Take the source from Debian's archive."""
    archive = debian.Archive(RELEASE, BUILD / "apt")
    source = next(one for one in archive.needs("linux-source") if one[-1].isdigit())
    archive.download(source)
    [package] = archive.place.glob("*.deb")
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        place = Path(folder)
        subprocess.run(["dpkg-deb", "-x", package, place], check=True)
        [packed] = place.rglob("linux-source-*.tar.xz")
        words = ["tar", "-xf", str(packed), "-C", folder, "--strip-components=1", "--wildcards"]
        subprocess.run([*words, *(f"*/{path}" for path in SOURCES)], check=True)
        for name in EMPTY:
            header = BUILD / "include" / f"{name}.h"
            header.parent.mkdir(parents=True, exist_ok=True)
            header.touch()
        for path, where in SOURCES.items():
            target = BUILD / "include" / where / Path(path).name
            shutil.move(place / path, target)
    (BUILD / VERSION).write_text(package.name.split("_")[1])
    package.unlink()


def run(rate: int, until: float, flows: Sequence[Flow], seed: int) -> Seen:
    """Send these flows through DualPI2 before a link of this rate, in bit/s."""
    lines = [f"{rate} {until} {seed}"]
    lines += [f"{one.start!r} {one.every!r} {one.size} {one.ecn}" for one in flows]
    with tempfile.TemporaryDirectory() as folder:
        left, steps = Path(folder, "left"), Path(folder, "steps")
        words = [str(find()), str(left), str(steps)]
        subprocess.run(words, input="\n".join(lines), text=True, check=True)
        return Seen(
            np.fromfile(left, dtype=np.int64).reshape(-1, 4),
            np.fromfile(steps, dtype=np.int64).reshape(-1, 2),
        )
