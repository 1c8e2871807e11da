"""Page loads of a real client behind the emulated link, and those of the simulator."""

import subprocess
import sys
from statistics import median

import pytest
from tools.live.lab import obstacle, program

import tidegate

pytestmark = [pytest.mark.live, pytest.mark.slow]

PAGE = """
name = "page"
duration = "20s"
[topology.dumbbell]
pairs = 1
access = {{ rate = "1Gbit", delay = "1ms" }}
bottleneck = {{ rate = "{rate}", delay = "18ms", buffer = "{buffer}" }}
[traffic.web]
arrivals = {{ at = ["100ms"] }}
size = "20kB"
pages = {{ document = "50kB", objects = 20, connections = {connections}, concurrent = 1 }}
transport = {{ tcp = {{ profile = "linux-6.18" }} }}
"""

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
    server = await asyncio.start_server(serve, "0.0.0.0", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

CLIENT = """
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


@pytest.fixture(scope="module")
def port():
    """Serve pages on this machine, and return the server's port."""
    if reason := obstacle(gate=False):
        pytest.skip(reason)
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE) as server:
        yield server.stdout.readline().decode().strip()
        server.terminate()


# The kernel's own TCP at both ends, and a client that knows nothing of the simulator. A page is a
# document, then 20 objects over so many connections, each of which has one request out at a time.
@pytest.mark.parametrize("connections", [1, 6])
def test_pages_load_as_fast_as_between_real_hosts(tmp_path, port, connections):
    text = PAGE.format(rate="10Mbit", buffer="100packets", connections=connections)
    file = tmp_path / "page.toml"
    file.write_text(text)
    command = [sys.executable, "-c", CLIENT, port, str(connections), "5"]
    emulated = [program(), "emulate", file, "--", *command]
    done = subprocess.run(emulated, capture_output=True, text=True, timeout=120, check=True)
    real = median(float(line) for line in done.stdout.split())
    simulated = tidegate.run(text, seed=1).pages["load_time_s"][0]
    assert simulated == pytest.approx(real, rel=0.10)
