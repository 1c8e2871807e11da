"""Load pages through the gate, from clients that have an address each: pages done by control.

    python -m tools.live.pages [--control none,tide,clients] [--users 474] [--rate 12] [--seed 1]

A page is a document of 12 kB and ten objects of 9 kB over six connections (HTTP/1.1). The link
has 5 Mbit/s and a round-trip time of 40 ms, so it carries six pages a second; users wait 30 s.
`tide` is the law by connections, `clients` the gate's default. `--greedy` adds a client that opens
connections fifty times as fast as a user does, and `--behind N` puts so many users behind one
address.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

from tools.live.lab import LEFT, NEAR, PORT, Lab, interrupted, obstacle, run

CLIENTS = "10.79"
"""The first half of the clients' addresses."""

LAWS = {
    "none": "",
    "close-probe": '{ law = "close-probe" }',
    "tide": '{ law = "tide", admit = "connections" }',
    "clients": '{ law = "tide" }',
}

SCENARIO = {
    "name": "pages",
    "duration": "1h",
    "topology": {
        "dumbbell": {
            "pairs": 1,
            "access": {"rate": "1Gbit", "delay": "1ms"},
            "bottleneck": {"rate": "1Gbit", "delay": "18ms", "buffer": "1000packets"},
        }
    },
    "traffic": {"none": {"arrivals": {"at": ["1h"]}, "size": "1kB"}},
}
"""The link of the lab; the queue is at the gate, or at a shaper without one."""

SERVER = """
import asyncio, sys

async def serve(reader, writer):
    try:
        while request := await reader.readuntil(b"\\r\\n\\r\\n"):
            size = int(request.split()[1][1:])
            head = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % size
            writer.write(head + bytes(size))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()

async def main():
    server = await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2]), backlog=4096)
    print("serving", flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

USERS = """
import asyncio, json, random, sys, time

HOST, PORT, USERS, RATE, PATIENCE, SEED, BEHIND, GREEDY = json.loads(sys.argv[1])
rows = []

def address(user):
    user = 0 if user < BEHIND else user
    return f"10.79.{1 + user // 250}.{1 + user % 250}"

async def connect(user, row):
    streams = await asyncio.open_connection(HOST, PORT, local_addr=(address(user), 0))
    row.setdefault("connected_s", time.monotonic() - row["start_s"])
    return streams

async def fetch(streams, size):
    reader, writer = streams
    writer.write(f"GET /{size} HTTP/1.1\\r\\nX: {'x' * 350}\\r\\n\\r\\n".encode())
    head = await reader.readuntil(b"\\r\\n\\r\\n")
    await reader.readexactly(int(head.split(b"Content-Length: ")[1]))

async def page(user, row, opened):
    first = await connect(user, row)
    opened.append(first[1])
    await fetch(first, 12_000)
    left = [9_000] * 10

    async def work(streams):
        while left:
            if streams is None:
                streams = await connect(user, row)
                opened.append(streams[1])
                continue
            await fetch(streams, left.pop())

    await asyncio.gather(work(first), *(work(None) for _ in range(5)))

async def load(user):
    row, opened = {"user": user, "start_s": time.monotonic()}, []
    rows.append(row)
    try:
        await asyncio.wait_for(page(user, row, opened), PATIENCE)
        row["load_s"] = time.monotonic() - row["start_s"]
    except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
        pass
    for writer in opened:
        writer.close()

async def greedy(rate, taken):
    async def one():
        try:
            async with asyncio.timeout(30):
                local = ("10.79.200.1", 0)
                streams = await asyncio.open_connection(HOST, PORT, local_addr=local)
                taken.append(1)
                await fetch(streams, 9_000)
                streams[1].close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
    tasks = set()
    while True:
        task = asyncio.ensure_future(one())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(1 / rate)

async def main():
    draw, tasks, taken = random.Random(SEED), [], []
    extra = asyncio.ensure_future(greedy(GREEDY, taken)) if GREEDY else None
    for user in range(USERS):
        tasks.append(asyncio.ensure_future(load(user)))
        await asyncio.sleep(draw.expovariate(RATE))
    await asyncio.gather(*tasks)
    if extra:
        extra.cancel()
    print(json.dumps({"rows": rows, "greedy": len(taken)}))

asyncio.run(main())
"""


@dataclass(frozen=True)
class Plan:
    """The users of a run: how many, how many a second, and how long each waits."""

    users: int = 474
    rate: float = 12
    patience: float = 30
    seed: int = 1
    behind: int = 0
    greedy: float = 0

    def argument(self, port: int) -> str:
        """Return the argument of the program of the users."""
        told = [LEFT, port, self.users, self.rate, self.patience, self.seed]
        return json.dumps([*told, self.behind, self.greedy])


def loads(control: str, plan: Plan) -> dict[str, Any]:
    """Load pages with a control at the gate; return what was done.

    `done`: pages loaded; `page_s`: their mean time; `wait_max_s`: longest time to the first
    connection; `refused`: openers; `behind`: pages done of the users behind one address.
    """
    with Lab() as lab:
        scenario, _ = lab.write(SCENARIO)
        lab.link(scenario)
        lab.within(lab.right, "ip", "route", "add", "local", f"{CLIENTS}.0.0/16", "dev", "lo")
        way = (f"{CLIENTS}.0.0/16", "via", NEAR.replace(".1", ".2"), "dev", "tg0")
        run("ip", "-n", lab.router, "route", "add", *(way[:1] + way[3:]))
        law = LAWS[control]
        law = f'mode = "enforce"\nlaw = {law}\n' if law else 'law = { law = "none" }\n'
        lab.gate(f"{law}shape = '5Mbit'\nshape_buffer = '75kB'\n")
        server = lab.start(lab.left, sys.executable, "-c", SERVER, LEFT, str(PORT))
        assert server.stdout is not None
        server.stdout.readline()
        users = lab.start(lab.right, sys.executable, "-c", USERS, plan.argument(PORT))
        out, errors = users.communicate()
        if users.returncode != 0:
            raise RuntimeError(errors)
        status = lab.status()
    told = json.loads(out)
    rows = told["rows"]
    times = [row["load_s"] for row in rows if "load_s" in row]
    waits = [row["connected_s"] for row in rows if "connected_s" in row]
    return {
        "control": control,
        "done": len(times),
        "page_s": sum(times) / max(1, len(times)),
        "wait_max_s": max(waits, default=0.0),
        "refused": dict(status["packets"])["session_refused"],
        "clients": [status.get("clients_served", 0), status.get("clients_waited", 0)],
        "behind": sum(row["user"] < plan.behind for row in rows if "load_s" in row),
        "greedy": told["greedy"],
    }


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--control", default=",".join(LAWS))
    parser.add_argument("--users", type=int, default=474)
    parser.add_argument("--rate", type=float, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--behind", type=int, default=0)
    parser.add_argument("--greedy", type=float, default=0)
    asked = parser.parse_args()
    if reason := obstacle(gate=True):
        print(reason, file=sys.stderr)
        return 1
    plan = Plan(asked.users, asked.rate, 30, asked.seed, asked.behind, asked.greedy)
    for control in asked.control.split(","):
        print(json.dumps(loads(control, plan)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(interrupted(main))
