"""Serve pages: `GET /SIZE` is answered by so many bytes.

python -m tools.live.page_server ADDRESS PORT...
"""

from __future__ import annotations

import asyncio
import sys

CHUNK = bytes(1 << 16)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of a connection, one after the other."""
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            left = int(request.split()[1][1:])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % left)
            while left:
                writer.write(CHUNK[:left])
                left -= min(left, len(CHUNK))
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
        pass
    writer.close()


async def main() -> None:
    """Serve until the process is ended."""
    address, *ports = sys.argv[1:]
    servers = [await asyncio.start_server(serve, address, int(p), backlog=4096) for p in ports]
    print("serving", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main())
