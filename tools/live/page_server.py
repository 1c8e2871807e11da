"""Serve pages: `GET /SIZE` is answered by so many bytes.

python -m tools.live.page_server ADDRESS PORT...
"""

from __future__ import annotations

import asyncio
import socket
import sys

CHUNK = bytes(1 << 16)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of a connection, one after the other."""
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            left = int(request.split()[1][1:])
            # as servers do, the head goes with the first bytes
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % left
            while left:
                writer.write(head + CHUNK[:left])
                head, left = b"", left - min(left, len(CHUNK))
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
        pass
    writer.close()


def listener(address: str, port: int) -> socket.socket:
    """Listen for connections that send by CUBIC, whatever this machine's default is."""
    server = socket.create_server((address, port))
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    return server


async def main() -> None:
    """Serve until the process is ended."""
    address, *ports = sys.argv[1:]
    listeners = [listener(address, int(port)) for port in ports]
    servers = [await asyncio.start_server(serve, sock=one, backlog=4096) for one in listeners]
    print("serving", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main())
