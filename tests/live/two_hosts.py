"""The two hosts of the live tests, and what their gates are measured by."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tools.live.lateness import TooBusy

ROOT = Path(__file__).parents[2]
TCX = str(ROOT / "tools/live/tcx.py")
NEAR, FAR = "10.77.0.1", "10.77.0.2"
KERNEL = tuple(map(int, os.uname().release.split(".")[:2]))
PORT = 4433

SERVER = """
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=4096)
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    connection.close()
"""

# how many of N connections get in before a refused SYN would be sent again (after 1 s)
CLIENT = """
import select, socket, sys, time
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
waiting, begun = [], time.monotonic()
for _ in range(count):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex((address, port))
    waiting.append(one)
end, got = time.monotonic() + 0.7, 0
while waiting and time.monotonic() < end:
    _, ready, _ = select.select([], waiting, [], max(0, end - time.monotonic()))
    for one in ready:
        got += one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        one.close(); waiting.remove(one)
print(got, time.monotonic() - begun)
"""
AGAIN_S = 1.0
"""A SYN is sent again after so long: an attempt that takes longer has asked twice."""


def run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert not check or done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def tidegated() -> Path | None:
    """Find the program that was built last."""
    if path := os.environ.get("TIDEGATED"):
        return Path(path)
    built = [ROOT / "target" / kind / "tidegated" for kind in ("release", "debug")]
    found = [path for path in built if path.exists()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def obstacle() -> str | None:
    """Say why nothing here can run, if that is so."""
    if os.geteuid() != 0:
        return "namespaces and BPF need root: run make test as root"
    if missing := [name for name in ("ip", "tc", "nsenter") if shutil.which(name) is None]:
        return f"not installed: {', '.join(missing)}"
    program = tidegated()
    if program is None:
        return "tidegated is not built: make build"
    if "\n  doctor " not in run(str(program), "--help"):
        return "tidegated is built without its gate: bash tools/live.sh features says why"
    name = f"tg{os.getpid()}-try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"no namespace can be made: {made.stderr.strip()}"
    run("ip", "netns", "delete", name)
    doctor = run(str(program), "doctor", check=False)
    wrong = [line for line in doctor.splitlines() if line.startswith("WRONG")]
    return wrong[0] if wrong else None


def compiles() -> bool:
    """Say whether this kernel compiles BPF; one that cannot has no such setting."""
    setting = Path("/proc/sys/net/core/bpf_jit_enable")
    return setting.exists() and setting.read_text().strip() != "0"


class Lab:
    """Two hosts: `near`, where a gate may stand at `wan`, and `far`, which serves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = str(tidegated())
        self.near, self.far = (f"tg{os.getpid()}-{end}" for end in ("near", "far"))
        self.started: list[subprocess.Popen[str]] = []
        self.config = folder / "gate.toml"
        self.socket = folder / "gate.sock"

    def __enter__(self) -> "Lab":
        for name in (self.near, self.far):
            run("ip", "netns", "add", name)
        self.cable()
        self.serve()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            process.kill()
            process.communicate()
        for name in (self.near, self.far):
            run("ip", "netns", "delete", name, check=False)

    def cable(self) -> None:
        ends = f"wan netns {self.near} type veth peer wan netns {self.far}"
        run("ip", "link", "add", *ends.split())
        for name, address in ((self.near, NEAR), (self.far, FAR)):
            self.within(name, "ip", "address", "add", f"{address}/24", "dev", "wan")
            self.within(name, "ip", "link", "set", "wan", "up")
            self.within(name, "ip", "link", "set", "lo", "up")
        # until the kernel has noticed the carrier it drops what `wan` sends: the first ARP request
        for name in (self.near, self.far):
            self.until(lambda name=name: " UP " in self.link(name), "carrying")

    def link(self, name: str) -> str:
        """Return the state of `wan` there."""
        return self.within(name, "ip", "-br", "link", "show", "wan")

    def within(self, name: str, *command: str, check: bool = True) -> str:
        return run("nsenter", f"--net=/run/netns/{name}", *command, check=check)

    def tc(self, words: str) -> str:
        return self.within(self.near, "tc", *words.split())

    def fill(self, seconds: float) -> None:
        """Send 2 Mbit/s of UDP for so long, and wait until it has begun."""
        code = f"""if True:
            import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            print("begun", flush=True); began, sent = time.monotonic(), 0
            while (past := time.monotonic() - began) < {seconds}:
                while sent < 250 * past: s.sendto(bytes(1000), ("{FAR}", 9)); sent += 1
                time.sleep(0.004)
        """
        process = self.start(self.near, sys.executable, "-c", code)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)

    def start(self, name: str, *command: str, **options: object) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{name}", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if options.get("merge") else None,
            text=True,
        )
        self.started.append(process)
        return process

    def serve(self, name: str | None = None, port: int = PORT) -> None:
        name = name or self.far
        address = FAR if name == self.far else NEAR
        server = self.start(name, sys.executable, "-c", SERVER, address, str(port))
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"

    def write(self, text: str) -> None:
        head = f"interface = 'wan'\nsocket = '{self.socket}'\n"
        if "metrics" not in text:
            head += "metrics = ''\n"
        # all of these tests can be run at one of the two hooks
        if "hook" not in text and (hook := os.environ.get("TIDEGATE_HOOK")):
            text += f"hook = '{hook}'\n"
        self.config.write_text(head + text)

    def command(self, *words: str, by: tuple[str, ...] = ()) -> list[str]:
        """Return the program with these words, at `near`; `by` is what starts it."""
        return ["nsenter", f"--net=/run/netns/{self.near}", *by, self.program, *words]

    def gate(self, text: str, by: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
        """Start a gate with this file and wait until it is in place."""
        process = self.begin(text, by)
        self.until(
            lambda: self.status().get("attached") and self.status()["epochs"] > 0,
            "in place",
            process,
        )
        return process

    def begin(self, text: str, by: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
        """Start a gate with this file."""
        self.write(text)
        command = self.command("gate", "--config", str(self.config), by=by)
        with (self.folder / "gate.log").open("a") as log:
            process = subprocess.Popen(command, stderr=log, text=True)
        self.started.append(process)
        return process

    def attempt(self, text: str, by: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        """Run a gate with this file that does not start."""
        self.write(text)
        command = self.command("gate", "--config", str(self.config), by=by)
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    def log(self) -> str:
        return (self.folder / "gate.log").read_text()

    def status(self) -> dict[str, object]:
        text = run(self.program, "status", "--json", "--socket", str(self.socket), check=False)
        return json.loads(text) if text else {}

    def lapsed(self) -> int:
        """Return how many packets passed as the lease of its gates had lapsed, by their status."""
        text = run(self.program, "status", "--json", "--socket", str(self.socket), check=False)
        gates = [json.loads(line) for line in text.splitlines()]
        return sum(dict(gate["packets"]).get("lease_lapsed", 0) for gate in gates)

    def until(
        self,
        done: Callable[[], object],
        what: str,
        process: "subprocess.Popen[str] | None" = None,
        seconds: float = 60,
    ) -> None:
        end = time.monotonic() + seconds
        while not done():
            ended = process is not None and process.poll() is not None
            late = time.monotonic() > end
            if ended or late:
                pytest.fail(f"not {what}\n{self.log()}")
            time.sleep(0.1)

    def connect(self, count: int, port: int = PORT) -> int:
        """So many connections at once; how many get in at the first attempt."""
        return self._attempt(self.near, FAR, port, count)

    def download(self, count: int) -> int:
        """The same from the far end: their data would leave by the gate's interface."""
        return self._attempt(self.far, NEAR, PORT, count)

    def _attempt(self, name: str, to: str, port: int, count: int) -> int:
        said = self.within(name, sys.executable, "-c", CLIENT, to, str(port), str(count))
        got, took_s = said.split()
        if float(took_s) >= AGAIN_S:
            raise TooBusy(f"{count} attempts to connect took {float(took_s):.2f} s")
        return int(got)

    def flood(self, rate: int, seconds: float) -> "subprocess.Popen[str]":
        program = str(ROOT / "tools/live/flood.py")
        where = (FAR, str(PORT), str(rate), str(seconds))
        return self.start(self.near, sys.executable, program, *where)

    def filters(self, side: str = "egress", device: str = "wan") -> str:
        return self.within(self.near, "tc", "filter", "show", "dev", device, side, check=False)

    def at_tcx(self, device: str = "wan") -> dict[str, list[dict[str, object]]]:
        """Return the programs at tcx: id and name, by side."""
        if KERNEL < (6, 6):
            return {}
        return json.loads(self.within(self.near, sys.executable, TCX, "list", device))

    def programs(self, side: str = "egress", device: str = "wan") -> list[str]:
        """Return the names of the programs at that side, in their order: at tcx, then at clsact."""
        names = [program["name"] for program in self.at_tcx(device).get(side, [])]
        return names + re.findall(r"(\w+):\[", self.filters(side, device))

    def put_at_tcx(self, name: str, *words: str, side: str = "egress") -> "subprocess.Popen[str]":
        """Put a program of somebody else before all others."""
        other = self.start(self.near, sys.executable, TCX, "put", "wan", side, name, *words)
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        return other

    def take_away(self, hook: str) -> None:
        """Take the gate's program away at egress, as somebody else may."""
        if hook == "tcx":
            self.within(self.near, sys.executable, TCX, "take", "wan", "egress", "tidegate_gate")
        else:
            self.tc("filter delete dev wan egress")

    def leave_no_place(self, hook: str, side: str) -> None:
        """Let others have what a program of the gate needs: all places, or its priority."""
        if hook == "tcx":
            self.put_at_tcx("foreign", "-1", "--fill", side=side)
        else:
            self.tc(f"filter add dev wan {side} protocol all prio 7700 u32 match u32 0 0")

    def queues(self, device: str = "wan") -> str:
        return self.within(self.near, "tc", "qdisc", "show", "dev", device)
