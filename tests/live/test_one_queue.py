"""A flow keeps its queue at the router of the lab, as at a router of its own."""

import re
import sys
import time

import pytest
from tools.live.page_users import REQUEST
from tools.live.pages import SCENARIO, Cell, Queue

from tidegate.hosts.lab import LEFT, PORT, Lab, LabError, obstacle

pytestmark = [pytest.mark.live, pytest.mark.slow]

SEGMENT = 1500
CLIENT = f"""
import socket, sys, time
with socket.create_connection(("{LEFT}", {PORT})) as client:
    client.sendall({REQUEST.format(100_000).encode()!r})
    time.sleep(60)
"""


def queues_with_segments(lab):
    """Return the queues of fq_codel in which a full segment waits."""
    text = lab.within(lab.router, "tc", "-s", "class", "show", "dev", "tg0")
    found = re.findall(r"class fq_codel (\S+) .*?backlog (\d+)b", text, re.DOTALL)
    return {queue for queue, backlog in found if int(backlog) >= SEGMENT}


def test_what_is_sent_again_stays_in_the_queue_of_its_flow():
    """At 40 kbit/s ten segments take three seconds: the server's timer fires while they wait.

    Linux draws the hash of the connection anew then (`tcp_write_timeout`, `sk_rethink_txhash`), and
    a router in the same kernel uses that hash: with `net.core.txrehash = 1` the segment that is
    sent again is in another queue than those before it.
    """
    if reason := obstacle(gate=False):
        pytest.skip(reason)
    with Lab() as lab:
        lab.link(lab.write(SCENARIO)[0])
        try:
            Queue(lab, Cell("fq_codel", "none", "steady", mbit=0.04))
        except LabError as error:
            if "qdisc kind is unknown" not in str(error):
                raise
            pytest.skip("this kernel has no fq_codel")
        serve = (sys.executable, "-m", "tools.live.page_server", LEFT, str(PORT))
        server = lab.start(lab.left, *serve)
        assert server.stdout.readline()
        lab.start(lab.right, sys.executable, "-c", CLIENT)
        seen = set()
        for _ in range(100):
            time.sleep(0.1)
            seen |= queues_with_segments(lab)
        assert lab.counters(lab.left)["TCPTimeouts"]
        assert len(seen) == 1
