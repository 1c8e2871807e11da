"""What a machine may run out of while it makes load, and whether it did.

A connection that this machine has no room for never reaches the network: the load becomes smaller,
and nobody says so. A run in which that happened measures the machine.

| resource   | how it shows |
|------------|--------------|
| files      | EMFILE, ENFILE; open files near the limit, which is 1024 at many logins |
| ports      | EADDRNOTAVAIL, EADDRINUSE: an address has no port left for a server |
| memory     | ENOMEM, ENOBUFS; counts of the kernel: TCP is short of it |
| buffers    | counts: a socket's were full |
| backlog    | counts: connections that were not accepted soon enough |
| input      | counts: packets that waited for a processor |
| devices    | counts: packets dropped at a cable |
| conntrack  | counts: connections that its table had no room for |
| neighbours | counts: addresses that its table had no room for |
| processor  | how late the link and the users are (`lab.Lab.late_ms`) |
"""

from __future__ import annotations

import errno
import re
import resource
import threading
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence

NO_ROOM = frozenset(
    {
        *(errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL),
        # what bind(2) says where an address has no port left
        errno.EADDRINUSE,
    }
)
"""What fails for want of files, memory or ports of this machine, and not on the way."""

OPEN, LEAST_OPEN = 1 << 16, 1 << 13
"""Files that a process of a lab may open, if it can be, and at least; each connection is one."""
FULL = 0.95
"""A process that had so much of its files open may have wanted more."""
LOOK_S = 0.25
"""How often open files are counted."""

# linux/snmp.h and net/ipv4: what is counted where a packet or a connection of this host is lost for
# want of room
COUNTED = {
    "memory": ("TcpExt.TCPMemoryPressures", "TcpExt.TCPAbortOnMemory"),
    "buffers": (
        *("TcpExt.RcvPruned", "TcpExt.TCPRcvQDrop", "TcpExt.TCPBacklogDrop"),
        *("Udp.RcvbufErrors", "Udp.SndbufErrors"),
    ),
    "backlog": (
        *("TcpExt.ListenOverflows", "TcpExt.TCPReqQFullDrop", "TcpExt.TCPReqQFullDoCookies"),
    ),
    "conntrack": tuple(f"nf_conntrack.{name}" for name in ("drop", "early_drop", "insert_failed")),
    "neighbours": ("arp_cache.table_fulls",),
    "input": ("softnet.dropped",),
    "devices": ("lan.dropped", "wan.dropped", "lo.dropped"),
}
"""Counts that stand still as long as there is room, by resource."""
TABLES = ("/proc/net/snmp", "/proc/net/netstat")
STATISTICS = ("nf_conntrack", "arp_cache")
Counts = dict[str, int]


def raise_limit() -> None:
    """Let this process, and those that it starts, open more files; OSError: it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    if soft == endless or soft >= OPEN:
        return
    if hard != endless and hard < OPEN:
        # the superuser may raise this one too, but not in every container
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN, OPEN))
            return
    most = OPEN if hard == endless else min(hard, OPEN)
    if most < LEAST_OPEN:
        reason = f"a process may open {hard} files here, and {LEAST_OPEN} are needed at least"
        raise OSError(errno.EMFILE, f"{reason}: ulimit -Hn")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def of_tables(text: str) -> Counts:
    """Read tables as /proc/net/snmp: a line of names and one of values, each behind `Head:`."""
    lines, counts = text.splitlines(), {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        head, *names_of = names.split()
        numbers = map(int, values.split()[1:])
        counts.update(
            {f"{head[:-1]}.{name}": value for name, value in zip(names_of, numbers, strict=True)}
        )
    return counts


def of_processors(head: str, text: str) -> Counts:
    """Read a table as /proc/net/stat/arp_cache: names, then a line of hexadecimals a processor."""
    names, *lines = text.splitlines()
    counts: Counts = defaultdict(int)
    for line in lines:
        for name, value in zip(names.split(), line.split(), strict=False):
            counts[f"{head}.{name}"] += int(value, 16)
    return dict(counts)


def of_softnet(text: str) -> Counts:
    """Read /proc/net/softnet_stat: the second number of a processor is what it had no room for."""
    return {"softnet.dropped": sum(int(line.split()[1], 16) for line in text.splitlines())}


def of_devices(text: str) -> Counts:
    """Read /proc/net/dev: packets dropped on either way, by device."""
    counts = {}
    for line in text.splitlines()[2:]:
        name, _, values = line.partition(":")
        numbers = values.split()
        counts[f"{name.strip()}.dropped"] = int(numbers[3]) + int(numbers[11])
    return counts


def counts(read: Callable[[str], str]) -> Counts:
    """Return the counts of a host; `read` returns a file as it is there, or nothing."""
    found: Counts = {}
    for table in TABLES:
        found |= of_tables(read(table))
    for name in STATISTICS:
        if text := read(f"/proc/net/stat/{name}"):
            found |= of_processors(name, text)
    found |= of_softnet(read("/proc/net/softnet_stat"))
    return found | of_devices(read("/proc/net/dev"))


def grown(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, list[str]]:
    """Return what a host ran out of, and by which counts."""
    met: dict[str, list[str]] = defaultdict(list)
    for what, names in COUNTED.items():
        for name in names:
            if more := after.get(name, 0) - before.get(name, 0):
                met[what].append(f"{name} +{more}")
    return dict(met)


def opened(process: int) -> int:
    """Return how many files a process has open; 0: it is over."""
    folder = Path(f"/proc/{process}/fd")
    try:
        # from Linux 6.2 on the folder says it; before it is 0
        return folder.stat().st_size or len(list(folder.iterdir()))
    except OSError:
        return 0


def limit(process: int) -> int:
    """Return how many files a process may open; 0: it is over."""
    try:
        lines = Path(f"/proc/{process}/limits").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    [soft] = [line.split()[3] for line in lines if line.startswith("Max open files")]
    return OPEN if soft == "unlimited" else int(soft)


@dataclass
class Files:
    """The open files of a process."""

    command: str
    limit: int = 0
    peak: int = 0

    def look(self, process: int) -> None:
        """Count them now."""
        self.peak = max(self.peak, opened(process))
        self.limit = limit(process) or self.limit

    def full(self) -> bool:
        """Whether it may have wanted more."""
        return 0 < self.limit <= self.peak / FULL


@dataclass
class Watch:
    """Counts the open files of processes until it is ended."""

    processes: Sequence[subprocess.Popen[str]]
    """Those that run; others may join."""
    files: dict[int, Files] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin."""
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def look(self) -> None:
        """Count once."""
        for process in list(self.processes):
            if process.pid not in self.files:
                assert isinstance(process.args, list)
                self.files[process.pid] = Files(short([str(word) for word in process.args]))
            self.files[process.pid].look(process.pid)

    def _run(self) -> None:
        while not self.over.wait(LOOK_S):
            self.look()

    def end(self) -> None:
        """End it."""
        self.over.set()
        self.thread.join()

    def most(self) -> Files:
        """Return the process that came nearest to its limit."""
        return max(
            self.files.values(),
            key=lambda each: each.peak / max(1, each.limit),
            default=Files("none"),
        )


def short(command: Sequence[str]) -> str:
    """Name a command: without what starts it, and without its options."""
    ahead = {"chrt", "nice", "nsenter"}
    names = (Path(word).name for word in command if not word.startswith("-"))
    words = (name for name in names if re.fullmatch(r"[A-Za-z][\w.]*", name))
    return " ".join([word for word in words if word not in ahead][:3])
