"""Photograph the page of a gate in a real run, and measure what its view by client costs.

    python -m tools.live.gate_page [--seconds 240] [--out docs/pictures/gate-page.png]
    python -m tools.live.gate_page --cost [--seconds 60]

The picture: users load pages, half as many as the link carries for a third of the time, then two
and a half times as many, then half again. The cost: SYNs come from 10,000 addresses, with and
without `who`, with and without a page that is asked for all that it shows every two seconds.
"""

from __future__ import annotations

import argparse
import socket
import sys
import threading
import time
from pathlib import Path

from tidegate.hosts.lab import RIGHT, Lab, interrupted, need, run
from tools.browser import Browser
from tools.live.dashboard import MBIT, ROOT, prepare, users
from tools.live.figures import cpu_of, memory_of
from tools.live.flood import syn
from tools.live.pages import SCENARIO

ADDRESS = "127.0.0.1:9478"
GATE = f"mode = 'enforce'\nlaw = {{ law = 'tide' }}\nshape = '{MBIT}Mbit'\n"
PAGE, WHO = f"page = '{ADDRESS}'\n", "who = true\n"
CLIENTS = 10_000
NETWORK = "198.18"
"""First half of their addresses (RFC 2544, of tests)."""
A_SECOND = 1_000
"""SYNs a second, from all addresses in turn."""

SEND = """
import socket, sys, time
sys.path.insert(0, sys.argv[1])
from tools.live.gate_page import send
send(float(sys.argv[2]))
"""
ASK = """
import sys, time, urllib.request
address, token, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
began, turn, read = time.monotonic(), 0, 0
while time.monotonic() - began < seconds:
    for path in ("state",) if turn % 5 else ("state", "hour"):
        asked = urllib.request.Request(address + path, headers={"Authorization": "Bearer " + token})
        read += len(urllib.request.urlopen(asked, timeout=20).read())
    turn += 1
    time.sleep(2)
print(turn, read)
"""


def link_of(lab: Lab) -> str:
    """Return the address of the page, with its token."""
    socket_ = str(lab.folder / "gate.sock")
    return run(lab.tidegated, "gate", "page", "--socket", socket_).strip()


def photograph(lab: Lab, seconds: float, out: Path) -> None:
    """Try refusals by its button, let users load pages, and photograph it while most come."""
    prepare(lab)
    lab.gate(GATE.replace("enforce", "observe") + WHO + PAGE)
    with Browser(by=("nsenter", f"--net=/run/netns/{lab.router}")) as browser:
        browser.size(1000, 900)
        browser.open(link_of(lab))
        browser.wait("document.querySelector('.orders button.main') !== null")
        browser.value("document.querySelector('.orders button.main').click()")
        loading = threading.Thread(target=users, args=(lab, seconds))
        loading.start()
        time.sleep(0.6 * seconds)
        browser.picture(out)
        loading.join()


def send(seconds: float) -> None:
    """Send SYNs from all addresses in turn."""
    packets = [syn(RIGHT, 9, f"{NETWORK}.{1 + n // 250}.{1 + n % 250}") for n in range(CLIENTS)]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    began, sent = time.monotonic(), 0
    while (past := time.monotonic() - began) < seconds:
        while sent < past * A_SECOND:
            raw.sendto(packets[sent % CLIENTS], (RIGHT, 0))
            sent += 1
        time.sleep(0.005)


def cost(lab: Lab, seconds: float) -> None:
    """Print processor time and memory of the gate's process, for each setting."""
    lab.link(lab.write(SCENARIO)[0])
    print("| setting | clients shown | processor time | memory | kernel memory |")
    print("|---|---|---|---|---|")
    for name, text, asked in (
        ("neither", "", False),
        ("`who`", WHO, False),
        ("`who`, and a page that nobody looks at", WHO + PAGE, False),
        ("`who`, and a page that somebody looks at", WHO + PAGE, True),
    ):
        process = lab.gate(GATE.replace("enforce", "observe") + text)
        sending = lab.start(lab.router, sys.executable, "-c", SEND, str(ROOT), str(seconds + 15))
        time.sleep(12)  # until all addresses have been seen
        if asked:
            address, _, token = link_of(lab).partition("#")
            lab.start(lab.router, sys.executable, "-c", ASK, address, token, str(seconds + 5))
        before = cpu_of(process.pid)
        time.sleep(seconds)
        share = (cpu_of(process.pid) - before) / seconds
        status = lab.status()
        kernel = status["map_bytes"] / 1e6
        memory = memory_of(process.pid, "VmHWM") * 1024 / 1e6
        row = f"{len(status['clients'])} | {100 * share:.2f} % | {memory:.1f} MB"
        print(f"| {name} | {row} | {kernel:.1f} MB |", flush=True)
        lab.end(sending)
        lab.end(process)


def main() -> int:
    """Run the lab."""
    parser = argparse.ArgumentParser(
        description="Photograph the page of a gate in a real run, or measure what it costs.",
        prog="python -m tools.live.gate_page",
    )
    parser.add_argument("--seconds", type=float, default=240, help="of the run; 15 at least")
    default = ROOT / "docs/pictures/gate-page.png"
    parser.add_argument("--out", type=Path, default=default, help="the picture (PNG)")
    parser.add_argument("--cost", action="store_true", help="measure the cost of 10,000 clients")
    given = parser.parse_args()
    if not 15 <= given.seconds <= 3600:
        parser.error(f"--seconds {given.seconds:g}: 15 to 3600")
    need(gate=True)
    try:
        with Lab() as lab:
            if given.cost:
                cost(lab, given.seconds)
                return 0
            print(f"{given.seconds:.0f} s of users who load pages ...", flush=True)
            photograph(lab, given.seconds, given.out)
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"the picture is {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
