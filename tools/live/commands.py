"""Measure what curl and iperf3 get behind `tidegated emulate FILE -- COMMAND`.

    sudo .venv/bin/python -m tools.live.commands [--runs 5] [--seconds 10]

Prints a table of docs/emulate-tables.md: for each link the rate, delay or loss that its scenario
asks for, and what the command measures. Servers run on this machine; the command reaches them
through the link. Use an idle machine.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import LabError, interrupted, need, program
from tidegate.scenario import toml
from tools.live import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PAYLOAD, PACKET = 1448, 1500
"""Data in a full packet of Linux's TCP, with timestamps, and its length."""
DATAGRAM = 200
"""Payload of iperf3's UDP packets, in bytes: small ones, so that many are drawn for a loss."""
CONNECTS = 21
SEEDS = count(1)
"""Each run draws its losses anew."""
GREETINGS = 9
"""iperf3 greets by one UDP packet, and ends at once where that is lost: so often it is tried."""
CURL = ("curl", "--silent", "--output", "/dev/null", "--write-out")


@dataclass(frozen=True)
class Asked:
    """One line of the table: a link, and what is measured behind it."""

    what: str
    command: str
    unit: str
    expected: float
    bottleneck: dict[str, Any]
    measure: Callable[[Asked, float], float]


def document(asked: Asked) -> str:
    """Return the scenario of a link that carries no traffic but the command's."""
    nothing = {"none": {"arrivals": {"at": ["1h"]}, "size": "1kB"}}
    return toml.document(loads.document(3600, nothing, **{"buffer": "100ms"} | asked.bottleneck))


def behind(asked: Asked, *command: str) -> str:
    """Run a command behind the link; return what it printed."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(document(asked))
        file.flush()
        seed = ("--seed", str(next(SEEDS)))
        words = [str(program()), "emulate", file.name, *seed, "--", *command]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def serving(size: int) -> Iterator[int]:
    """Answer each HTTP request with `size` bytes, by CUBIC; give the port."""
    with socket.create_server(("0.0.0.0", 0), backlog=64) as server:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    connection.recv(65536)
                    head = f"HTTP/1.0 200 OK\r\nContent-Length: {size}\r\n\r\n"
                    connection.sendall(head.encode() + bytes(size))
                    connection.shutdown(socket.SHUT_WR)
                    connection.recv(1)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=5)


def downloaded(asked: Asked, seconds: float) -> float:
    """Return the rate in Mbit/s at which curl receives a file, from its first byte on."""
    size = int(asked.expected * 1e6 / 8 * seconds)
    shown = "%{time_starttransfer} %{time_total} %{size_download}"
    with serving(size) as port:
        url = f'"http://$TIDEGATE_OUTSIDE:{port}/"'
        found = behind(asked, "sh", "-c", f"{' '.join(CURL)} '{shown}' {url}")
    first, total, got = map(float, found.split())
    return got * 8 / (total - first) / 1e6


def connected(asked: Asked, _: float) -> float:
    """Return the median time in ms that curl takes to connect: a round trip."""
    with serving(1) as port:
        url = f'"http://$TIDEGATE_OUTSIDE:{port}/"'
        once = f"{' '.join(CURL)} '%{{time_connect}}\\n' {url}"
        found = behind(asked, "sh", "-c", f"for n in $(seq {CONNECTS}); do {once}; done")
    return 1e3 * statistics.median(map(float, found.split()))


def iperf3(asked: Asked, seconds: float, *options: str) -> dict[str, Any]:
    """Receive from an iperf3 server through the link; return the end of its report."""
    with socket.create_server(("0.0.0.0", 0)) as free:
        port = str(free.getsockname()[1])
    command = ["iperf3", "--server", "--one-off", "--forceflush", "--port", port]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, text=True, stdout=pipe, stderr=nothing) as server:
        assert server.stdout is not None
        server.stdout.readline()  # it listens once it has printed its first line
        words = ["iperf3", "--port", port, "--reverse", "--json", "--time", f"{seconds:g}"]
        client = f'{" ".join([*words, *options])} --client "$TIDEGATE_OUTSIDE"'
        try:
            found = json.loads(behind(asked, "sh", "-c", client))
        finally:
            server.terminate()
    if "error" in found:
        raise LabError(f"iperf3: {found['error']}")
    return dict(found["end"])


def streamed(asked: Asked, seconds: float) -> float:
    """Return the rate in Mbit/s of iperf3's TCP, behind its slow start."""
    end = iperf3(asked, seconds, "--omit", "2", "--congestion", "cubic")
    return float(end["sum_received"]["bits_per_second"]) / 1e6


def lost(asked: Asked, seconds: float) -> float:
    """Return the share in % of iperf3's UDP packets that are lost."""
    options = ("--udp", "--bitrate", "7M", "--length", str(DATAGRAM))
    for _ in range(GREETINGS):
        with suppress(LabError):
            return float(iperf3(asked, seconds, *options)["sum"]["lost_percent"])
    raise LabError("iperf3 has not got its first packet through")


def _rate(mbit: int, command: str, measure: Callable[[Asked, float], float]) -> Asked:
    goodput = mbit * PAYLOAD / PACKET
    return Asked(f"{mbit} Mbit/s", command, "Mbit/s", goodput, {"rate": f"{mbit}Mbit"}, measure)


ROWS = (
    _rate(10, "curl", downloaded),
    _rate(50, "curl", downloaded),
    _rate(10, "iperf3", streamed),
    _rate(50, "iperf3", streamed),
    Asked("20 ms each way", "curl", "ms", 40.0, {}, connected),
    Asked("100 ms each way", "curl", "ms", 200.0, {"delay": "100ms"}, connected),
    Asked("loss of 10 %", "iperf3 --udp", "%", 10.0, {"loss": 0.1, "reverse": {"loss": 0}}, lost),
)


def row(asked: Asked, found: Sequence[float]) -> str:
    """Return a line of the table."""
    middle = statistics.median(found)
    spread = f"{middle:.4g} ({min(found):.4g} to {max(found):.4g})"
    off = 100 * (middle / asked.expected - 1)
    cells = (asked.what, asked.command, f"{asked.expected:.4g} {asked.unit}", spread, f"{off:+.2f}")
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Measure every line, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.live.commands", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each line")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a transfer")
    given = parser.parse_args()
    need(gate=False, also=["curl", "iperf3"])
    print("| link | command | expected | measured: median (least to most) | difference % |")
    print("|---|---|---|---|---|")
    for asked in ROWS:
        found = [asked.measure(asked, given.seconds) for _ in range(given.runs)]
        print(row(asked, found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
