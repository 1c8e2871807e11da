"""Serve pages: `GET /SIZE` is answered by so many bytes.

python -m tools.live.page_server ADDRESS PORT...
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from typing import Any

from tidegate.hosts.room import NO_ROOM

CHUNK = bytes(1 << 16)


def head(size: int) -> bytes:
    """Return what comes before the bytes of an answer."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of a connection, one after the other."""
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            left = int(request.split()[1][1:])
            # as servers do, the head goes with the first bytes
            first = head(left)
            while left:
                writer.write(first + CHUNK[:left])
                first, left = b"", left - min(left, len(CHUNK))
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
        pass
    writer.close()


def listener(address: str, port: int) -> socket.socket:
    """Listen for connections that send by CUBIC, whatever this machine's default is."""
    server = socket.create_server((address, port))
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    return server


def failed(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """End the process where it has no room: asyncio would accept nobody for a second, and go on."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        print(context["message"], error, file=sys.stderr, flush=True)
        os._exit(1)
    loop.default_exception_handler(context)


async def main() -> None:
    """Serve until the process is ended."""
    asyncio.get_running_loop().set_exception_handler(failed)
    address, *ports = sys.argv[1:]
    listeners = [listener(address, int(port)) for port in ports]
    servers = [await asyncio.start_server(serve, sock=one, backlog=4096) for one in listeners]
    print("serving", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main())
