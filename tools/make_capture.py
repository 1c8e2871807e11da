"""Make the capture that ships with the project: real TCP over a narrow link of this machine.

    sudo python -m tools.make_capture scenarios/captures/narrow-link.pcap

Two network namespaces are made, joined by a virtual cable, and removed again
afterwards; nothing outside them is touched. Linux, root, iproute2 and tcpdump
are needed. The transfers are the same every time (`planned`), so a test can
compare the capture with them; times and losses are not.

The capture is taken at the server. What it sends is seen before the narrow
queue, so segments that are lost there are seen twice; what comes to it has
passed the narrow queue of the other way.
"""

import asyncio
import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CLIENT, SERVER = "tidegate-client", "tidegate-server"
CABLE, TAP = "cable0", "tap0"
SERVERS = ("192.0.2.2", "2001:db8::2")
CLIENTS = ("192.0.2.1", "2001:db8::1")
PORT = 8080
NOBODY = 8081
"""A port without a listener."""

SNAPLEN = 96
MOST_PACKETS = 1750
LONGEST_S = 60.0
RATE, QUEUE, BURST = "800kbit", "12kb", "2kb"

TRANSFERS = 110
OVER_S = 10.0
SIZES = (300, 600, 1200, 2500, 5000, 10_000, 20_000, 40_000)
WEIGHTS = (14, 18, 20, 20, 14, 9, 4, 1)
UPLOADS = 0.2
IPV6 = 0.3


@dataclass(frozen=True)
class Transfer:
    """One connection to be made."""

    start_s: float
    upload: bool
    body: int
    server: str
    port: int = PORT

    @property
    def request(self) -> bytes:
        """The first bytes of the client."""
        return f"{'PUT' if self.upload else 'GET'} {self.body}\n".encode()

    @property
    def size_bytes(self) -> int:
        """Bytes from the end that sends more."""
        return self.body + (len(self.request) if self.upload else 0)


def planned() -> list[Transfer]:
    """Return the transfers by start; the last one is refused, and carries nothing."""
    draw = random.Random(2)
    transfers = []
    for start_s in sorted(draw.uniform(0.0, OVER_S) for _ in range(TRANSFERS)):
        size = draw.choices(SIZES, WEIGHTS)[0] + draw.randrange(200)
        upload = draw.random() < UPLOADS
        transfers.append(Transfer(start_s, upload, size, SERVERS[draw.random() < IPV6]))
    return [*transfers, Transfer(OVER_S, False, 1, SERVERS[0], NOBODY)]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    method, size = (await reader.readline()).split()
    if method == b"GET":
        writer.write(bytes(int(size)))
    else:
        await reader.readexactly(int(size))
        writer.write(b"OK\n")
    await writer.drain()
    writer.close()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, SERVERS, PORT)
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


async def _transfer(transfer: Transfer) -> None:
    await asyncio.sleep(transfer.start_s)
    try:
        reader, writer = await asyncio.open_connection(transfer.server, transfer.port)
    except ConnectionRefusedError:
        return
    writer.write(transfer.request)
    if transfer.upload:
        writer.write(bytes(transfer.body))
    await writer.drain()
    answer = await reader.read(-1)
    writer.close()
    await writer.wait_closed()
    expected = 3 if transfer.upload else transfer.body
    if len(answer) != expected:
        raise RuntimeError(f"{transfer}: {len(answer)} B came back, not {expected}")


async def _call() -> None:
    await asyncio.wait_for(asyncio.gather(*map(_transfer, planned())), LONGEST_S)


def _do(*command: str) -> None:
    subprocess.run(command, check=True)


def _in(namespace: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


def _own(action: str) -> list[str]:
    return [sys.executable, "-m", "tools.make_capture", action]


@contextlib.contextmanager
def _namespaces() -> Iterator[None]:
    """Make both namespaces, and remove them in the end."""
    made = []
    try:
        for name in (CLIENT, SERVER):
            _do("ip", "netns", "add", name)
            made.append(name)
        _link()
        yield
    finally:
        for name in made:
            _do("ip", "netns", "del", name)


def _link() -> None:
    """Join the namespaces by a cable that is narrow both ways."""
    peer = ["peer", "name", CABLE, "netns", SERVER]
    _do("ip", "link", "add", CABLE, "netns", CLIENT, "type", "veth", *peer)
    # a device above the veth sees packets before they reach its queue
    _do("ip", "-n", SERVER, "link", "add", TAP, "link", CABLE, "type", "macvlan")
    for name, device, ends in ((CLIENT, CABLE, CLIENTS), (SERVER, TAP, SERVERS)):
        _do("ip", "-n", name, "link", "set", CABLE, "up")
        _do("ip", "-n", name, "addr", "add", f"{ends[0]}/24", "dev", device)
        _do("ip", "-n", name, "addr", "add", f"{ends[1]}/64", "dev", device, "nodad")
        # packets as they are on a wire, not joined to long ones
        _do("ip", "-n", name, "link", "set", device, "gso_max_segs", "1", "up")
        narrow = ["root", "tbf", "rate", RATE, "burst", BURST, "limit", QUEUE]
        _do(*_in(name, "tc", "qdisc", "add", "dev", CABLE, *narrow))


@contextlib.contextmanager
def _running(command: list[str], ready: str) -> Iterator[None]:
    """Run a program in the background, once its first line says that it is ready."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            if process.stdout is None or ready not in process.stdout.readline():
                raise RuntimeError(f"{command} did not start")
            yield
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    """Make the capture, or run one of its ends in a namespace."""
    if sys.argv[1:] in (["serve"], ["call"]):
        asyncio.run(_serve() if sys.argv[1] == "serve" else _call())
        return
    (target,) = map(Path, sys.argv[1:])
    # -U: every packet is written at once; -Z: without another user, who could not write here
    bounds = ["-s", str(SNAPLEN), "-c", str(MOST_PACKETS)]
    record = ["tcpdump", "-i", TAP, *bounds, "-U", "-Z", "root", "-w", str(target), "tcp"]
    with (
        _namespaces(),
        _running(_in(SERVER, *_own("serve")), "ready"),
        _running(_in(SERVER, *record), "listening on"),
    ):
        _do(*_in(CLIENT, *_own("call")))
        time.sleep(1)  # for the last acknowledgements
    print(f"{target}: {target.stat().st_size} B")


if __name__ == "__main__":
    main()
