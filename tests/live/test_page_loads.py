"""Page loads of a real client behind the emulated link, and those of the simulator."""

import json
import shutil
import subprocess
import sys

import pytest
from tools.live.lateness import Late, TooBusy, Watch

import tidegate
from tidegate.hosts.lab import lateness, obstacle, program

pytestmark = [pytest.mark.live, pytest.mark.slow]

PAGE = """
name = "page"
duration = "20s"
[topology.dumbbell]
pairs = 1
access = {{ rate = "1Gbit", delay = "1ms" }}
bottleneck = {{ rate = "{rate}", delay = "18ms", buffer = "100packets" }}
[traffic.web]
arrivals = {{ at = ["100ms"] }}
size = "20kB"
pages = {{ {document}objects = 20, connections = {connections}, concurrent = 1 }}
transport = {{ tcp = {{ profile = "linux-6.18", control = "{control}" }} }}
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


TARGET = 0.10


def agree(real, simulated, late, requests):
    """Hold the simulated page load to the quickest real one: what else the machine does only adds.

    So many requests follow each other on a connection, each of which takes a round trip.
    """
    quickest = min(real)
    if simulated != pytest.approx(quickest, rel=TARGET):
        seen = f"simulated {simulated:.3f} s, real {quickest:.3f} s"
        late.excuse(requests, quickest * TARGET, seen)
    assert simulated == pytest.approx(quickest, rel=TARGET)


def loads(tmp_path, client, control, text, connections):
    """Return page loads of a real client, the simulated one, and how late the real ones were."""
    if reason := obstacle(gate=False):
        pytest.skip(reason)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, control], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        port = server.stdout.readline().decode().strip()
        if not port:
            pytest.skip(f"this kernel has no {control}: {server.stderr.read().decode()[-200:]}")
        file = tmp_path / "page.toml"
        file.write_text(text)
        command = [sys.executable, "-c", client, port, str(connections), "5"]
        emulated = [program(), "emulate", file, "--json", "--", *command]
        with Watch() as watch:
            done = subprocess.run(emulated, capture_output=True, text=True, timeout=120, check=True)
        server.terminate()
    # curl writes there too
    link_ms, not_read = lateness(json.loads(done.stderr.splitlines()[-1]))
    if not_read:
        raise TooBusy(f"the link was too slow for {not_read} packets")
    real = [float(line) for line in done.stdout.split()]
    simulated = tidegate.run(text, seed=1).pages["load_time_s"][0]
    return real, simulated, Late(link_ms, watch.mean_ms)


# The kernel's own TCP at both ends, and a client that knows nothing of the simulator. A page is a
# document, then 20 objects over so many connections, each of which has one request out at a time.
@pytest.mark.parametrize(
    ("control", "rate", "connections", "requests"),
    [
        ("cubic", "10Mbit", 1, 21),
        ("cubic", "10Mbit", 6, 5),
        ("cubic", "50Mbit", 2, 11),
        ("bbr", "50Mbit", 2, 11),
    ],
)
def test_pages_load_as_fast_as_between_real_hosts(tmp_path, control, rate, connections, requests):
    document = 'document = "50kB", '
    text = PAGE.format(rate=rate, document=document, connections=connections, control=control)
    agree(*loads(tmp_path, CLIENT, control, text, connections), requests)


# The same 20 objects without a document, by curl, which keeps its connections.
def test_objects_load_as_fast_as_by_curl(tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed: apt-get install -y curl")
    text = PAGE.format(rate="50Mbit", document="", connections=2, control="cubic")
    agree(*loads(tmp_path, CURL, "cubic", text, 2), 10)
