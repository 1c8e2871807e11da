"""Two hosts and a router between them, in network namespaces of this machine.

    left ---- cable ---- router ==== emulated link ==== right

`left` is the end that sends the data. The link is `tidegated emulate`, between the TUN devices
`tg0` of `router` and `right`. A gate runs at the router's `tg0`, and shapes the link so that the
queue is there. Everything is removed when the lab is left, after errors too.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.hosts import left_over, room, sysctl
from tidegate.scenario import toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

CHECKOUT = Path(__file__).parents[3]
LEFT, RIGHT = "10.78.1.1", "10.78.2.2"
ROUTER, NEAR = "10.78.1.2", "10.78.2.1"
PORT = 4433
PACKAGES = {"ip": "iproute2", "nft": "nftables", "nsenter": "util-linux"}
"""Debian's packages of programs, where they have another name."""

ALIKE = (
    "net.ipv4.ip_local_port_range=1024 65535",
    "net.ipv4.tcp_max_syn_backlog=65536",
    "net.core.somaxconn=65535",
)
"""Settings of both hosts: more ports and half-open connections than any scenario needs."""

LATE_MS, PACKET_BITS = 1.2, 12_000
"""Latest p95 of a link with which a run is valid, or the time of a packet, if that is longer."""
HOSTS_LATE_MS = 50
"""Latest p95 of the processes that open sessions with which a run is valid."""
ENDS = {"l": "the left host", "m": "the router", "r": "the right host"}

AHEAD = (("chrt", "--rr"), ("nice", "-n"))
"""Ways to give the processes that move packets priority over others ..."""
FIRST, SECOND = {"chrt": "30", "nice": "-19"}, {"chrt": "20", "nice": "-15"}
"""... the link before the hosts."""


class LabError(Exception):
    """Something in the lab did not work."""


class NoLab(LabError):
    """There can be no lab on this machine."""


class RanOut(LabError):
    """This machine had no room for a run: what was measured is this machine."""


T = TypeVar("T")
TRIES = 3


def valid(run: Callable[[], T], say: Callable[[str], object], tries: int = TRIES) -> T:
    """Run until this machine has room for the run; `say` is told why not; RanOut: it never had."""
    for _ in range(tries - 1):
        try:
            return run()
        except RanOut as reason:
            say(f"not valid, run again: {reason}")
    return run()


def program() -> Path | None:
    """Find tidegated: that of the environment, or the last built in a checkout, or in the path."""
    if path := os.environ.get("TIDEGATED"):
        return Path(path)
    built = [CHECKOUT / "target" / kind / "tidegated" for kind in ("release", "debug")]
    if found := [path for path in built if path.exists()]:
        return max(found, key=lambda path: path.stat().st_mtime)
    installed = shutil.which("tidegated")
    return Path(installed) if installed else None


def obstacle(*, gate: bool) -> str | None:
    """Return the reason why there can be no lab here, or None."""
    if os.geteuid() != 0:
        return "namespaces and TUN devices need root: run make test as root"
    if lacking := _not_installed(("ip", "nsenter")):
        return lacking
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    built = program()
    if built is None:
        return "there is no tidegated: make build, or install it (docs/tidegated.md)"
    name = f"tg{os.getpid()}-try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"no namespace can be made: {made.stderr.strip()}"
    run("ip", "netns", "delete", name)
    return _no_gate(built) if gate else None


def _not_installed(programs: Iterable[str]) -> str | None:
    """Return which of these programs are missing, and what installs them, or None."""
    missing = [name for name in programs if shutil.which(name) is None]
    packages = dict.fromkeys(PACKAGES.get(name, name) for name in missing)
    install = f"sudo apt-get install -y {' '.join(packages)}"
    return f"not installed: {', '.join(missing)} ({install})" if missing else None


def need(*, gate: bool, also: Sequence[str] = ()) -> None:
    """Raise NoLab where there can be no lab, or one of these programs is not there."""
    reason = obstacle(gate=gate) or _not_installed(also)
    if reason is not None:
        raise NoLab(reason)


def _no_gate(built: Path) -> str | None:
    if "\n  doctor " not in run(str(built), "--help"):
        return "tidegated is built without its gate: bash tools/live.sh features says why"
    answer = subprocess.run([built, "doctor"], capture_output=True, text=True, check=False).stdout
    wrong = [line for line in answer.splitlines() if line.startswith("WRONG")]
    return wrong[0] if wrong else None


def run(*command: str) -> str:
    """Run a command to its end; return what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a program of the lab."""


def interrupted(main: Callable[[], int]) -> int:
    """Run a program of the lab, and return its exit code: 2 without a lab, 1 if it did not work.

    Ctrl-C, SIGTERM and a closed terminal (SIGHUP) end it without a message, and remove the lab.
    """
    asked = []

    def end(number: int, _: object) -> None:
        asked.append(number)
        # removing the lab must not be interrupted
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for each in ENDING:
        # `nohup` wants a program to outlive its terminal
        if each != signal.SIGHUP or signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, end)
    try:
        return main()
    except KeyboardInterrupt:
        return 128 + asked[0]
    except NoLab as reason:
        sys.stderr.write(f"no lab here: {reason}\n")
        return 2
    except LabError as error:
        sys.stderr.write(f"{error}\n")
        return 1


@dataclass
class Lab:
    """The lab: made on entering, removed on leaving."""

    tidegated: str = field(default_factory=lambda: str(program()))
    name: str = field(default_factory=lambda: f"tg{os.getpid()}")
    may_run_out: frozenset[str] = frozenset()
    """What this run is to run out of (`room.COUNTED`): the backlog, where it is flooded."""
    late_ms: float | None = None
    """Latest p95 of a link with which a run is valid, or the time of a packet; none: any."""
    started: list[subprocess.Popen[str]] = field(default_factory=list)
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    """All that were started, for the watch on their files."""
    late: list[tuple[float, int, float]] = field(default_factory=list)
    """How late each link was (`lateness`), and the time of a packet on it, ms."""
    hosts_late_ms: list[float] = field(default_factory=list)
    """How late the processes of `tidegated traffic run` were woken (p95)."""

    def __enter__(self) -> Self:
        """Make the namespaces and the cable."""
        try:
            room.raise_limit()
        except OSError as error:
            raise LabError(error.strerror) from None
        for told in left_over.remove():
            sys.stderr.write(f"{told}\n")
        self.folder = Path(tempfile.mkdtemp(prefix=f"{left_over.FOLDER}{os.getpid()}-"))
        self.left, self.router, self.right = (f"{self.name}-{end}" for end in ("l", "m", "r"))
        try:
            for each in (self.left, self.router, self.right):
                run("ip", "netns", "add", each)
                run("ip", "-n", each, "link", "set", "lo", "up")
            cable = ("wan", "netns", self.left, "type", "veth", "peer", "lan", "netns", self.router)
            run("ip", "link", "add", *cable)
            self._up(self.left, "wan", f"{LEFT}/24")
            self._up(self.router, "lan", f"{ROUTER}/24")
            # single packets, as on a real link, not bundles of segments (GSO)
            run("ip", "-n", self.left, "link", "set", "wan", "gso_max_segs", "1")
            run("ip", "-n", self.left, "route", "add", "default", "via", ROUTER)
            for each in (self.left, self.right):
                self.put(each, *ALIKE)
            self.put(self.router, "net.ipv4.ip_forward=1")
            self.before = {each: self.counted(each) for each in self._namespaces}
            self.watch = room.Watch(self.running)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """End what was started here, and remove the namespaces; RanOut: the run is not valid."""
        self.watch.end()
        try:
            # the reason that is under way is not to be hidden
            met = [] if kind else self.ran_out()
        finally:
            self._remove()
        if met:
            raise RanOut("; ".join(met))

    @property
    def _namespaces(self) -> tuple[str, ...]:
        return (self.left, self.router, self.right)

    def counted(self, namespace: str) -> room.Counts:
        """Return what the kernel counts there where it has no room."""

        def read(file: str) -> str:
            # only cat reads the file of that namespace, and not each kernel has each file
            inside = ("nsenter", f"--net=/run/netns/{namespace}", "cat", file)
            return subprocess.run(inside, capture_output=True, text=True, check=False).stdout

        return room.counts(read)

    def ran_out(self) -> list[str]:
        """Return what this machine had no room for so far, as text; nothing: the run is valid."""
        self.watch.look()
        met = [
            f"{each.command} had {each.peak} files open, and may have {each.limit}"
            for each in self.watch.files.values()
            if each.full()
        ]
        for each in self.started:
            if each.poll():
                errors = each.communicate()[1].strip()
                met.append(f"{room.short(_words(each))} ended with {each.returncode}: {errors}")
        for namespace, before in self.before.items():
            for what, by in room.grown(before, self.counted(namespace)).items():
                if what not in self.may_run_out:
                    end = namespace.removeprefix(f"{self.name}-")
                    met.append(f"no room for {what} at {ENDS[end]}: {', '.join(by)}")
        for late, lost, packet in self.late:
            most = math.inf if self.late_ms is None else max(self.late_ms, packet)
            if late > most or (lost and self.late_ms is not None):
                allowed = f"{most:.2f} ms are allowed; {lost} packets were not read"
                met.append(f"the link was {late:.2f} ms late (p95), and {allowed}")
        if self.late_ms is not None and max(self.hosts_late_ms, default=0) > HOSTS_LATE_MS:
            late = max(self.hosts_late_ms)
            met.append(f"hosts were {late:.0f} ms late (p95), and {HOSTS_LATE_MS} ms are allowed")
        return met

    def _remove(self) -> None:
        for process in reversed(self.started):
            self.end(process)
        for each in (self.left, self.router, self.right):
            subprocess.run(["ip", "netns", "delete", each], capture_output=True, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _up(self, namespace: str, device: str, address: str, peer: str | None = None) -> None:
        other = ("peer", peer) if peer else ()
        run("ip", "-n", namespace, "address", "add", address, *other, "dev", device)
        run("ip", "-n", namespace, "link", "set", device, "up")

    def within(self, namespace: str, *command: str) -> str:
        """Run a command in a namespace (`ip netns exec` would remount /sys)."""
        return run("nsenter", f"--net=/run/netns/{namespace}", *command)

    def put(self, namespace: str, *settings: str) -> None:
        """Set these of a namespace's network, as NAME=VALUE; LabError: the kernel takes it not."""
        try:
            self.within(namespace, *sysctl.command(settings))
        except LabError as error:
            # without the command, which is none of the user's
            raise LabError(str(error).partition(": ")[2]) from None

    def start(self, namespace: str | None, *command: str) -> subprocess.Popen[str]:
        """Start a process there; it ends with the lab."""
        inside = ("nsenter", f"--net=/run/netns/{namespace}") if namespace else ()
        moves_packets = command[0] in {self.tidegated, sys.executable}
        ahead = _ahead(command[1:2] == ("emulate",)) if moves_packets else ()
        process = subprocess.Popen(
            [*ahead, *inside, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.started.append(process)
        self.running.append(process)
        return process

    def ready(self, namespace: str, *command: str) -> subprocess.Popen[str]:
        """Start a process there, and wait until it prints a line."""
        process = self.start(namespace, *command)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    def ended(self, process: subprocess.Popen[str]) -> str:
        """Wait until a process ends; return what it printed. LabError: it failed."""
        told, errors = process.communicate()
        self.started.remove(process)
        if process.returncode != 0:
            raise LabError(errors.strip())
        return told

    def end(self, process: subprocess.Popen[str]) -> str:
        """Interrupt a process, or kill it after 10 s; return what it printed."""
        if process in self.started:
            self.started.remove(process)
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0]

    def write(self, document: Mapping[str, Any]) -> tuple[Path, Path]:
        """Write a scenario; return its path, and the path for the table of its flows."""
        scenario = self.folder / "scenario.toml"
        scenario.write_text(toml.document(document), encoding="utf-8")
        return scenario, self.folder / "flows.csv"

    def serve(self, namespace: str, at: str) -> subprocess.Popen[str]:
        """Start a server of sessions at an address, and wait until it listens."""
        server = self.start(namespace, self.tidegated, "traffic", "serve", "--listen", at)
        assert server.stderr is not None
        if "serving" not in server.stderr.readline():
            raise LabError(f"the server does not start: {self.end(server)}")
        return server

    def link(self, scenario: Path, *settings: str, seed: int = 1) -> EmulatedLink:
        """Start the emulated link of a scenario's `bottleneck`."""
        process = self.start(
            None,
            *(self.tidegated, "emulate", str(scenario), "--json", "--seed", str(seed)),
            *("--left", f"{self.router}:tg0", "--right", f"{self.right}:tg0"),
            *_each("--set", settings),
        )
        for each, own, other in ((self.router, NEAR, RIGHT), (self.right, RIGHT, NEAR)):
            there = ("ip", "-n", each, "link", "show", "tg0")
            self.until(partial(_works, *there), f"device in {each}", process)
            self._up(each, "tg0", own, other)
        run("ip", "-n", self.right, "route", "add", "default", "via", NEAR)
        return EmulatedLink(self, process)

    def gate(self, text: str, metrics: str = "") -> subprocess.Popen[str]:
        """Start a gate at the router's end of the link, and wait until it is in place."""
        config, socket = self.folder / "gate.toml", self.folder / "gate.sock"
        head = f"socket = '{socket}'\nmetrics = '{metrics}'\nlog = '{self.log}'\n"
        if "[down]" not in text:
            head += "interface = 'tg0'\n"
        config.write_text(head + text, encoding="utf-8")
        process = self.start(self.router, self.tidegated, "gate", "--config", str(config))
        self.until(lambda: self.status().get("epochs"), "gate in place", process)
        return process

    def users(self, network: str, *others: str) -> None:
        """Let every address of a network be the right host, and lead `others` there too."""
        self.within(self.right, "ip", "route", "add", "local", network, "dev", "lo")
        for each in (network, *others):
            run("ip", "-n", self.router, "route", "add", each, "dev", "tg0")

    def counters(self, namespace: str) -> dict[str, int]:
        """Return the counters of TCP and IP of the kernel there, since the start."""
        counts: dict[str, int] = {}
        for table in ("/proc/net/snmp", "/proc/net/netstat"):
            lines = self.within(namespace, "cat", table).splitlines()
            for heads, values in zip(lines[::2], lines[1::2], strict=True):
                numbers = map(int, values.split()[1:])
                counts.update(zip(heads.split()[1:], numbers, strict=True))
        return counts

    def sent_again(self, namespace: str) -> float:
        """Return the share of data packets that the kernel sent again there, since the start."""
        counts = self.counters(namespace)
        # the SYN+ACKs sent again are no data
        again = counts["RetransSegs"] - counts["TCPSynRetrans"]
        return again / max(1, again + counts["TCPOrigDataSent"])

    @property
    def log(self) -> Path:
        """The gate's log of the decisions of its law."""
        return self.folder / "gate.jsonl"

    def status(self) -> dict[str, Any]:
        """Return the status of the gate; empty while it does not run."""
        command = [self.tidegated, "status", "--json", "--socket", f"{self.folder}/gate.sock"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer

    def traffic(
        self, scenario: Path, out: Path, *settings: str, download: bool, seed: int = 1
    ) -> None:
        """Run the sessions of a scenario between the hosts; the table of flows goes to `out`."""
        self.parts(scenario, out, ((),), *settings, download=download, seed=seed)

    def parts(
        self,
        scenario: Path,
        out: Path,
        parts: Sequence[Sequence[str]],
        *settings: str,
        download: bool | Sequence[bool],
        seed: int = 1,
    ) -> None:
        """Run each part of the classes by a pair of processes; one holds 20 thousand sessions.

        A part without a name is all classes. `download`: of all parts, or of each.
        """
        ways = [download] * len(parts) if isinstance(download, bool) else download
        down, up = (self.right, self.left, LEFT), (self.left, self.right, RIGHT)
        clients, tables, serving = [], [], []
        for number, way in enumerate(ways):
            _, server, at = down if way else up
            serving.append(self.serve(server, f"{at}:{PORT + number}"))
        for number, (classes, way) in enumerate(zip(parts, ways, strict=True)):
            opener, _, at = down if way else up
            tables.append(out.with_name(f"{number}-{out.name}"))
            clients.append(
                self.start(
                    opener,
                    *(self.tidegated, "traffic", "run", str(scenario)),
                    *("--to", f"{at}:{PORT + number}", "--out", str(tables[-1])),
                    *("--seed", str(seed), "--json"),
                    *(*_each("--set", settings), *_each("--class", classes)),
                )
            )
        for client in clients:
            self.hosts_late_ms.append(json.loads(self.ended(client))["late_p95_ms"])
        for each in serving:
            self.end(each)
        texts = [each.read_text(encoding="utf-8").splitlines(keepends=True) for each in tables]
        rows = [row for text in texts for row in text[1:]]
        out.write_text("".join([*texts[0][:1], *rows]), encoding="utf-8")

    def until(
        self,
        done: Callable[[], object],
        what: str,
        process: subprocess.Popen[str],
        seconds: float = 20,
    ) -> None:
        """Wait until a condition holds; raise LabError when the process ends or it takes longer."""
        end = time.monotonic() + seconds
        while not done():
            if process.poll() is not None:
                raise LabError(f"no {what}: {process.communicate()[1].strip()}")
            if time.monotonic() > end:
                raise LabError(f"no {what} within {seconds:g} s")
            time.sleep(0.05)


@dataclass
class EmulatedLink:
    """A running emulated link."""

    lab: Lab
    process: subprocess.Popen[str]

    def report(self) -> list[dict[str, Any]]:
        """End it; return what was asked for and reached, for each direction."""
        answer: list[dict[str, Any]] = json.loads(self.lab.end(self.process))
        packet = max(1e3 * PACKET_BITS / way["asked_bps"] for way in answer)
        self.lab.late.append((*lateness(answer), packet))
        return answer


def lateness(ways: Sequence[Mapping[str, Any]]) -> tuple[float, int]:
    """Return how late a link was, of its report.

    In ms, how late it wrote 95 of 100 packets at most, in the worse direction; and how many packets
    the kernel lost because the link was too slow.
    """
    # a way that has written no packet has no delay
    carried = [way for way in ways if way["delay_p95_ms"] is not None]
    late = max((float(way["delay_p95_ms"] - way["asked_delay_ms"]) for way in carried), default=0.0)
    return late, sum(int(way["not_read"]) for way in ways)


@cache
def _ahead(link: bool) -> tuple[str, ...]:
    """Return the first way that works here."""
    for way in AHEAD:
        whole = (*way, (FIRST if link else SECOND)[way[0]])
        if shutil.which(way[0]) and _works(*whole, "true"):
            return whole
    return ()


def _words(process: subprocess.Popen[str]) -> list[str]:
    assert isinstance(process.args, list)
    return [str(word) for word in process.args]


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


def _works(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
