"""Load pages behind the emulated link by clients that know nothing of the simulator, and in it.

    sudo .venv/bin/python -m tools.live.page_loads [--pages 9] [--write]

Prints the tables *Page loads* of docs/emulate-tables.md: a page over so many connections, each of
which has one request out at a time. Real: the median of the pages. Use an idle machine; pages whose
link or ends were too late are loaded again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import tidegate
from tidegate.hosts.lab import LATE_MS, LabError, RanOut, interrupted, lateness, need, program
from tidegate.hosts.lab import valid as until_valid
from tidegate.scenario import toml
from tools.live import loads
from tools.live.lateness import Late, Watch
from tools.validate.printer import Printer, renew

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "emulate-tables.md"
OBJECTS = 20
LONGEST_S = 300
"""After this long a client that loads pages is stopped."""

SERVER = """
import asyncio, socket, sys

async def serve(reader, writer):
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while request := await reader.readuntil(b"\\r\\n\\r\\n"):
            size = int(request.split()[1][1:])
            head = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % size
            writer.write(head + bytes(size))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    listening = socket.socket()
    # what the machine's connections have by default may be another one
    control = sys.argv[1].encode()
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
    listening.bind(("0.0.0.0", 0))
    server = await asyncio.start_server(serve, sock=listening)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

BROWSER = """
import http.client, os, queue, sys, threading, time

PORT, CONNECTIONS, PAGES = map(int, sys.argv[1:])

def connection():
    return http.client.HTTPConnection(os.environ["TIDEGATE_OUTSIDE"], PORT)

def fetch(connection, size):
    connection.request("GET", f"/{size}", headers={"X-Padding": "x" * 290})
    connection.getresponse().read()

def work(connection, left):
    while True:
        try:
            size = left.get_nowait()
        except queue.Empty:
            return
        fetch(connection, size)

for _ in range(PAGES):
    connections = [connection() for _ in range(CONNECTIONS)]
    left = queue.SimpleQueue()
    begun = time.monotonic()
    fetch(connections[0], 50_000)
    for _ in range(20):
        left.put(20_000)
    threads = [threading.Thread(target=work, args=(each, left)) for each in connections]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    print(time.monotonic() - begun, flush=True)
    for each in connections:
        each.close()
    time.sleep(0.2)
"""

CURL = """
import os, subprocess, sys, time

PORT, CONNECTIONS, PAGES = map(int, sys.argv[1:])
URL = f"http://{os.environ['TIDEGATE_OUTSIDE']}:{PORT}/20000"
CURL = ["curl", "--silent", "--parallel", "--parallel-immediate"]
CURL += ["--parallel-max", str(CONNECTIONS), "-H", "X-Padding: " + "x" * 280]

for _ in range(PAGES):
    begun = time.monotonic()
    subprocess.run([*CURL, *["-o", os.devnull, URL] * 20], check=True)
    print(time.monotonic() - begun, flush=True)
    time.sleep(0.2)
"""


@dataclass(frozen=True)
class Client:
    """What loads the pages: its program, and the document that its page begins with."""

    name: str
    about: str
    program: str
    document: str


DOCUMENT = Client(
    "page-loads", "pages of a document and 20 objects, by HTTP of Python", BROWSER, "50kB"
)
PARALLEL = Client("object-loads", "the 20 objects without a document, by curl", CURL, "")


@dataclass(frozen=True)
class Load:
    """A page over one link."""

    client: Client
    control: str
    rate: str
    connections: int

    @property
    def requests(self) -> int:
        """Return how many requests follow each other on a connection."""
        return -(-OBJECTS // self.connections) + bool(self.client.document)

    def scenario(self) -> str:
        """Return the link, and the page that the simulator loads."""
        document = {"document": self.client.document} if self.client.document else {}
        host = {"tcp": {"profile": "linux", "control": self.control}}
        how = {**document, "connections": self.connections, "concurrent": 1}
        return toml.document(loads.page(self.rate, host, **how))

    def simulated(self) -> float:
        """Return the time in s that the simulated page takes."""
        return float(tidegate.run(self.scenario(), seed=1).pages["load_time_s"][0])

    def real(self, pages: int) -> tuple[list[float], Late]:
        """Return the times of real pages in s, and how late the link and its ends were."""
        pipe = subprocess.PIPE
        serve = [sys.executable, "-c", SERVER, self.control]
        with subprocess.Popen(serve, stdout=pipe, stderr=pipe, text=True) as server:
            assert server.stdout is not None
            assert server.stderr is not None
            try:
                port = server.stdout.readline().strip()
                if not port:
                    why = server.stderr.read()[-200:]
                    raise LabError(f"this kernel has no {self.control}: {why}")
                return self._behind(port, pages)
            finally:
                server.terminate()

    def _behind(self, port: str, pages: int) -> tuple[list[float], Late]:
        words = [sys.executable, "-c", self.client.program, port, str(self.connections), str(pages)]
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(self.scenario())
            file.flush()
            emulated = [str(program()), "emulate", file.name, "--json", "--", *words]
            with Watch() as watch:
                done = subprocess.run(
                    emulated, capture_output=True, text=True, timeout=LONGEST_S, check=True
                )
        # curl writes there too
        link_ms, not_read = lateness(json.loads(done.stderr.splitlines()[-1]))
        if not_read:
            raise RanOut(f"the link was too slow for {not_read} packets")
        return [float(line) for line in done.stdout.split()], Late(link_ms, watch.mean_ms)


LOADS = (
    *(
        Load(DOCUMENT, "cubic", rate, many)
        for rate in ("2Mbit", "10Mbit", "50Mbit")
        for many in (1, 2, 6)
    ),
    *(Load(DOCUMENT, "bbr", rate, many) for rate in ("10Mbit", "50Mbit") for many in (1, 2, 6)),
    *(
        Load(PARALLEL, control, rate, many)
        for control in ("cubic", "bbr")
        for rate in ("10Mbit", "50Mbit")
        for many in (1, 2, 6)
    ),
)
HEAD = ("control", "link", "connections", "real, s", "simulated, s", "simulated / real")


def in_time(load: Load, pages: int) -> list[float]:
    """Return the times of real pages; RanOut: this machine was too busy for them."""
    times, late = load.real(pages)
    if late.link_ms > LATE_MS:
        raise RanOut(f"the link wrote {late.link_ms:.1f} ms late")
    return times


def line(load: Load, pages: int) -> tuple[str, ...]:
    """Measure one load; return its line of the table."""
    again = partial(print, file=sys.stderr)
    real = statistics.median(until_valid(partial(in_time, load, pages), again))
    here = load.simulated()
    link = load.rate.replace("Mbit", " Mbit/s")
    times = (f"{real:.3f}", f"{here:.3f}", f"{here / real:.3f}")
    return (load.control.upper(), link, str(load.connections), *times)


def tables(asked: Sequence[Load], pages: int, printer: Printer) -> None:
    """Measure the loads, and print a table for each client."""
    for client in dict.fromkeys(load.client for load in asked):
        lines = [line(load, pages) for load in asked if load.client == client]
        printer.table(client.name, f"{client.about}; {pages} real pages", HEAD, lines)


def main() -> int:
    """Measure every line, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tools.live.page_loads", description=__doc__)
    parser.add_argument("--pages", type=int, default=9, help="real pages of each line")
    parser.add_argument("--write", action="store_true", help=f"renew the tables in {PAGE.name}")
    given = parser.parse_args()
    need(gate=False, also=["curl"])
    printer = Printer(markdown=False)
    tables(LOADS, given.pages, printer)
    if given.write:
        PAGE.write_text(renew(PAGE.read_text(encoding="utf-8"), printer.blocks), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
