"""Measures an emulated link between real hosts, and prints the data file of Flent of each way.

    python -m tools.own_clock -- .venv/bin/python -m tools.live.measured_link 20 4 30 200

Rates down and up in Mbit/s, round trip and buffer in ms. Connections of this kernel's TCP fill the
link, and probes of UDP cross it meanwhile. Prints one JSON object: `down` and `up`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tidegate.hosts.lab import LEFT, RIGHT, Lab

IDLE_S, LOAD_S, STEP_S = 4.0, 12.0, 0.1
FLOWS = 4
ECHO = """
import socket, sys
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.bind((sys.argv[1], 9000))
print("ready", flush=True)
while True:
    data, peer = end.recvfrom(2000)
    end.sendto(data, peer)
"""
PROBE = """
import json, select, socket, sys, time
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.connect((sys.argv[1], 9000))
seconds, step = float(sys.argv[2]), float(sys.argv[3])
begun, sent, got = time.monotonic(), {}, {}
while (now := time.monotonic()) < begun + seconds + 2:
    number = len(sent)
    if now >= begun + number * step and number * step < seconds:
        sent[number] = now
        end.send(str(number).encode())
    due = begun + len(sent) * step
    if select.select([end], [], [], max(0.0, min(due - time.monotonic(), step)))[0]:
        number = int(end.recv(100))
        got.setdefault(number, time.monotonic() - sent[number])
print(json.dumps([[at, got.get(number)] for number, at in sent.items()]))
"""
RECEIVE = """
import json, select, socket, sys, time
listener = socket.create_server((sys.argv[1], 9001), backlog=64)
flows, seconds, step = int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
print("ready", flush=True)
peers = [listener.accept()[0] for _ in range(flows)]
begun, counts, got = time.monotonic(), [], 0
while (now := time.monotonic()) < begun + seconds:
    if now >= begun + (len(counts) + 1) * step:
        counts.append([now, got])
        got = 0
    for peer in select.select(peers, [], [], step / 10)[0]:
        got += len(peer.recv(1 << 16))
print(json.dumps(counts))
"""
SEND = """
import select, socket, sys, time
flows, seconds = int(sys.argv[2]), float(sys.argv[3])
peers = [socket.create_connection((sys.argv[1], 9001)) for _ in range(flows)]
for peer in peers:
    peer.setblocking(False)
end = time.monotonic() + seconds
data = bytes(1 << 14)
while time.monotonic() < end:
    for peer in select.select([], peers, [], 0.1)[1]:
        peer.send(data)
"""


def scenario(down: float, up: float, rtt_ms: float, buffer_ms: float) -> dict[str, Any]:
    """Return the scenario of the emulated link."""
    buffers = [max(15_000, round(rate * 1e6 * buffer_ms / 8e3)) for rate in (down, up)]
    return {
        "name": "a measured link",
        "duration": "60s",
        "topology": {
            "dumbbell": {
                "pairs": 1,
                "access": {"rate": "10Gbit", "delay": "0ms"},
                "bottleneck": {
                    "rate": f"{down}Mbit",
                    "delay": f"{rtt_ms / 2}ms",
                    "buffer": f"{buffers[0]}B",
                    "reverse": {"rate": f"{up}Mbit", "buffer": f"{buffers[1]}B"},
                },
            }
        },
        "traffic": {"none": {"arrivals": {"at": ["59s"]}, "size": "1kB"}},
    }


def measured(document: dict[str, Any], way: str) -> dict[str, Any]:
    """Return the data of a test that loads one direction."""
    seconds = IDLE_S + LOAD_S
    with Lab() as lab:
        lab.link(lab.write(document)[0])
        ends = {"down": (lab.left, lab.right, RIGHT), "up": (lab.right, lab.left, LEFT)}
        sender, receiver, address = ends[way]
        python = (sys.executable, "-c")
        echo = lab.ready(lab.left, *python, ECHO, LEFT)
        times = (str(LOAD_S), str(STEP_S))
        sink = lab.ready(receiver, *python, RECEIVE, address, str(FLOWS), *times)
        probe = lab.start(lab.right, *python, PROBE, LEFT, str(seconds), str(STEP_S))
        wait = f"import time; time.sleep({IDLE_S})"
        lab.within(sender, *python, wait)
        source = lab.start(sender, *python, SEND, address, str(FLOWS), str(LOAD_S + 1))
        counts = json.loads(sink.communicate(timeout=600)[0])
        trips = json.loads(probe.communicate(timeout=600)[0])
        for process in (sink, probe, source, echo):
            lab.started = [each for each in lab.started if each is not process]
            process.kill()
            process.wait()
    return _flent(trips, counts, "TCP download" if way == "down" else "TCP upload")


def _flent(trips: list[list[float | None]], counts: list[list[float]], name: str) -> dict[str, Any]:
    """Return the data file of Flent: a value of each series at each time."""
    begun = trips[0][0] or 0.0
    times = [round((at or 0.0) - begun, 3) for at, _ in trips]
    rates: list[float | None] = [None] * len(times)
    for at, got in counts:
        place = min(round((at - begun) / STEP_S), len(times) - 1)
        rates[place] = 8 * got / STEP_S / 1e6
    pings = [None if trip is None else 1e3 * trip for _, trip in trips]
    results = {name: rates, "Ping (ms) UDP": pings}
    return {"version": 4, "x_values": times, "results": results, "metadata": {}}


def main() -> int:
    """Print what was measured."""
    down, up, rtt_ms, buffer_ms = (float(each) for each in sys.argv[1:5])
    document = scenario(down, up, rtt_ms, buffer_ms)
    print(json.dumps({way: measured(document, way) for way in ("down", "up")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
