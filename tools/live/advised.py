"""Types what `tidegate advise` prints at a router of three namespaces, and sends both ways.

    python -m tools.live.advised cake --ifb

    client --- lan0 router wan0 --- server

Prints what tc shows of the queues, as JSON, and the rates that went each way. Run it in a kernel
that has the queues: `python -m tools.own_clock -- .venv/bin/python -m tools.live.advised cake`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

from tidegate.advise.fit import Given, fit
from tidegate.advise.router import Router, commands
from tidegate.advise.scene import CAKE, FQ
from tidegate.hosts.lab import interrupted

DOWN_BPS, UP_BPS = 10e6, 2e6
SECONDS = 4.0
"""How long each direction sends; the first second is left out."""
CLIENT, SERVER = "10.79.1.1", "10.79.2.1"
PORT = 5201

RECEIVE = """
import socket, sys, time
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as listener:
    print("ready", flush=True)
    peer, _ = listener.accept()
    begun, got = time.monotonic(), 0
    late = begun + 1.0
    counted = 0
    while data := peer.recv(1 << 16):
        got += len(data)
        counted += len(data) * (time.monotonic() > late)
    print(got, 8 * counted / (time.monotonic() - late))
"""
SEND = """
import socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as peer:
    end = time.monotonic() + float(sys.argv[3])
    while time.monotonic() < end:
        peer.sendall(bytes(1 << 14))
"""


class Refused(Exception):
    """A command that did not work."""


class Router3:
    """Three namespaces in a row."""

    def __init__(self, name: str) -> None:
        self.client, self.router, self.server = (f"{name}-{each}" for each in "crs")

    def __enter__(self) -> Router3:
        for space in self.spaces:
            do("ip", "netns", "add", space)
        near = (self.client, "eth0", CLIENT, "lan0", "10.79.1.2")
        far = (self.server, "eth0", SERVER, "wan0", "10.79.2.2")
        for space, name, address, at_router, gateway in (near, far):
            peer = ("peer", "name", at_router, "netns", self.router)
            do("ip", "-n", space, "link", "add", name, "type", "veth", *peer)
            for where, link, own in ((space, name, address), (self.router, at_router, gateway)):
                do("ip", "-n", where, "addr", "add", f"{own}/24", "dev", link)
                do("ip", "-n", where, "link", "set", link, "up")
            do("ip", "-n", space, "route", "add", "default", "via", gateway)
        self.within(self.router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        return self

    def __exit__(self, *_: object) -> None:
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    @property
    def spaces(self) -> tuple[str, str, str]:
        """The namespaces, from left to right."""
        return self.client, self.router, self.server

    def within(self, space: str, *command: str) -> str:
        """Run a command in a namespace."""
        return do("ip", "netns", "exec", space, *command)

    def rate(self, sender: str, receiver: str, address: str, port: int) -> float:
        """Send for a while; return the rate at the receiver in bit/s."""
        at = ("ip", "netns", "exec")
        words = [*at, receiver, sys.executable, "-c", RECEIVE, address, str(port)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as end:
            assert end.stdout is not None
            end.stdout.readline()
            self.within(sender, sys.executable, "-c", SEND, address, str(port), str(SECONDS))
            return float(end.communicate(timeout=300)[0].split()[1])


def do(*command: str) -> str:
    """Run a command to its end."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise Refused(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def tried(control: str, *, ifb: bool) -> dict[str, object]:
    """Type the commands twice, as somebody may; send; take them back; return what was seen."""
    link = fit([], Given(DOWN_BPS, UP_BPS, 0.02))
    typed = commands(link, control, Router("wan0", "lan0", ifb))
    with Router3(f"tg{time.monotonic_ns() % 10**6}") as lab:
        for line in [*typed.lines, *typed.lines]:
            lab.within(lab.router, "sh", "-ec", line)
        down = lab.rate(lab.server, lab.client, CLIENT, PORT)
        up = lab.rate(lab.client, lab.server, SERVER, PORT + 1)
        text = lab.within(lab.router, "tc", "-s", "qdisc", "show")
        as_json = lab.within(lab.router, "tc", "-s", "-j", "qdisc", "show")
        for line in typed.undo:
            lab.within(lab.router, "sh", "-ec", line)
        left = lab.within(lab.router, "tc", "qdisc", "show")
    return {
        "down_bps": down,
        "up_bps": up,
        "text": text,
        "qdiscs": json.loads(as_json),
        "left": left,
    }


def main() -> int:
    """Print what was seen; 2 where the kernel lacks a queue."""
    parser = argparse.ArgumentParser(prog="python -m tools.live.advised", description=__doc__)
    parser.add_argument("control", choices=[CAKE, FQ])
    parser.add_argument("--ifb", action="store_true")
    asked = parser.parse_args()
    try:
        print(json.dumps(tried(asked.control, ifb=asked.ifb)))
    except Refused as reason:
        print(reason, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
