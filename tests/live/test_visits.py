"""Fifty users who stay, with real packets: what helps them, and what refuses them nothing."""

import statistics
import sys

import pytest
from two_hosts import NEAR

pytestmark = [pytest.mark.live, pytest.mark.slow]

USERS, SECONDS, PATIENCE_S = 50, 30, 12
SIZE, RATE_BPS = 100_000, 5e6
LOAD = 1.5
"""Of what the link carries, a sixteenth of it headers."""
PORT = 4434

SERVE = """
import asyncio, sys
async def answer(reader, writer):
    try:
        writer.write(bytes(int(sys.argv[3])))
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    except OSError:
        pass
async def main():
    server = await asyncio.start_server(answer, sys.argv[1], int(sys.argv[2]), backlog=4096)
    print("listening", flush=True)
    await server.serve_forever()
asyncio.run(main())
"""

LOAD_FILES = """
import asyncio, random, sys, time
address, port, users, rate, seconds, patience = sys.argv[1], *map(float, sys.argv[2:])
random.seed(7)
times = []
async def one(number):
    began = time.monotonic()
    try:
        source = (f"10.77.0.{100 + number}", 0)
        async with asyncio.timeout(patience):
            reader, writer = await asyncio.open_connection(address, int(port), local_addr=source)
            while await reader.read(65536):
                pass
            writer.close()
            times.append(time.monotonic() - began)
    except (OSError, TimeoutError):
        pass
async def main():
    async with asyncio.TaskGroup() as group:
        began, at = time.monotonic(), 0.0
        while (at := at + random.expovariate(rate)) < seconds:
            await asyncio.sleep(max(0, began + at - time.monotonic()))
            group.create_task(one(random.randrange(int(users))))
asyncio.run(main())
print(*times)
"""


def loaded(lab, admit):
    """Return how many SYNs a gate that admits these refused, and the times of files that came."""
    law = f"{{ law = 'tide', admit = '{admit}' }}"
    gate = lab.gate(f"mode = 'enforce'\nlaw = {law}\nshape = '5Mbit'\n")
    rate = LOAD * RATE_BPS / (8 * SIZE * 1.0625)
    words = (NEAR, PORT, USERS, rate, SECONDS, PATIENCE_S)
    said = lab.within(lab.far, sys.executable, "-c", LOAD_FILES, *map(str, words))
    refused = dict(lab.status()["packets"])["session_refused"]
    gate.terminate()
    gate.wait(timeout=120)
    return refused, [float(word) for word in said.split()]


# By clients whoever comes again within `idle` (15 s) stays in. Most of these users do, so the queue
# is everybody's. As visits their connections are judged one by one.
def test_visits_help_those_whom_clients_does_not(lab):
    for number in range(USERS):
        address = f"10.77.0.{100 + number}/24"
        lab.within(lab.far, "ip", "address", "add", address, "dev", "wan")
    server = lab.start(lab.near, sys.executable, "-c", SERVE, NEAR, str(PORT), str(SIZE))
    assert server.stdout is not None
    assert server.stdout.readline() == "listening\n"
    (by_clients, clients), (by_visits, visits) = loaded(lab, "clients"), loaded(lab, "visits")
    # real runs had 0.45 to 0.51
    assert by_clients < 0.75 * by_visits
    # the simulator holds the aim of 0.95; real runs had 0.98 alone, and less beside other work
    assert len(visits) >= 0.85 * len(clients)
    # real runs had 0.33 to 0.62: how long a queue of all of them gets depends on the machine
    assert statistics.median(visits) < 0.85 * statistics.median(clients)
