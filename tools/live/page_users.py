"""Users who load pages, each from an address of its own, until the time of the run is over.

    python -m tools.live.page_users PLAN

PLAN is a `Plan` as JSON. Prints what became of each user, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate.hosts.room import NO_ROOM

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

DOCUMENT, OBJECT, OBJECTS, CONNECTIONS = 12_000, 9_000, 10, 6
PAGE_BYTES = DOCUMENT + OBJECTS * OBJECT
REQUEST = "GET /{} HTTP/1.1\r\nX: " + "x" * 350 + "\r\n\r\n"
FAILED = (OSError, TimeoutError, asyncio.IncompleteReadError)
"""What becomes of a connection on its way."""
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NoRoom(Exception):
    """A connection never reached the network: users that this machine keeps out are no load."""


@dataclass(frozen=True)
class Plan:
    """What the users do."""

    host: str
    port: int
    """Of pages; long flows use the next one."""
    network: str
    """First half of the users' addresses, as `10.79`."""
    seconds: float
    steps: tuple[tuple[float, float], ...]
    """From so many seconds on so many users come a second."""
    patience: float = 30
    seed: int = 1
    behind: int = 0
    """So many users, the first ones, have one address."""
    greedy: float = 0
    """Connections a second of one client beside the users."""
    long: int = 0
    """Flows without end beside the users."""
    patient: int = 0
    """One of so many users never gives up; 0: none."""
    every: bool = False
    """A page takes each of its connections: it is not there until all are open."""
    stay: int = 0
    """So many addresses stay: each user has one of them, and loads a file in place of a page."""
    once: float = 0
    """Beside them so large a share of the users come once, and load pages."""


def arrivals(plan: Plan) -> Iterator[tuple[float, int | None]]:
    """Yield when each user comes, in seconds, and which of the addresses that stay it has."""
    draw, due = random.Random(plan.seed), 0.0
    while True:
        due += draw.expovariate([rate for start, rate in plan.steps if start <= due][-1])
        stays = plan.stay > 0 and draw.random() >= plan.once
        yield due, draw.randrange(plan.stay) if stays else None


@dataclass
class Run:
    """A run, and what was seen."""

    plan: Plan
    began: float = field(default_factory=time.monotonic)
    rows: list[dict[str, float]] = field(default_factory=list)
    served: int = 0
    """Connections that brought what they were asked for, once at least."""
    greedy: int = 0
    long_bytes: int = 0
    full: asyncio.Event = field(default_factory=asyncio.Event)
    """This machine had no room for a connection, ..."""
    reason: str = ""
    """... and why."""
    late: list[float] = field(default_factory=list)
    """How late this process was to act, in seconds."""
    staying: dict[int, int] = field(default_factory=dict)
    """Which of the addresses that stay a user has."""

    def past(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self.began

    def address(self, user: int) -> str:
        """Return the address of a user."""
        if user in self.staying:
            return f"{self.plan.network}.220.{1 + self.staying[user]}"
        user = 0 if user < self.plan.behind else user
        return f"{self.plan.network}.{1 + user // 250}.{1 + user % 250}"

    async def connect(self, address: str, port: int) -> Streams:
        """Open a connection from an address."""
        try:
            return await asyncio.open_connection(self.plan.host, port, local_addr=(address, 0))
        except OSError as error:
            if error.errno in NO_ROOM:
                self.reason = f"this machine has no room for a connection from {address}: {error}"
                self.full.set()
            raise

    async def have_room(self) -> None:
        """Wait until this machine has no room for a connection; then the run is over."""
        await self.full.wait()
        raise NoRoom(self.reason)

    async def fetch(self, streams: Streams, size: int) -> None:
        """Ask for an object and read it."""
        reader, writer = streams
        writer.write(REQUEST.format(size).encode())
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(size)

    async def page(self, user: int, row: dict[str, float], opened: list[Streams]) -> None:
        """Load a document, then each object over the first of six connections that is free."""

        async def one() -> Streams:
            opened.append(await self.connect(self.address(user), self.plan.port))
            row.setdefault("connected_s", self.past() - row["start_s"])
            return opened[-1]

        first = await one()
        await self.fetch(first, DOCUMENT)
        row["document_s"], row["objects"] = self.past() - row["start_s"], 0
        self.served += 1
        free: asyncio.Queue[tuple[Streams, bool]] = asyncio.Queue()
        free.put_nowait((first, False))

        async def more() -> None:
            # a connection that fails leaves its objects to the others
            with suppress(*FAILED):
                free.put_nowait((await one(), True))

        async def an_object() -> None:
            streams, fresh = await free.get()
            await self.fetch(streams, OBJECT)
            row["objects"] += 1
            self.served += fresh
            free.put_nowait((streams, False))

        opening = [asyncio.create_task(more()) for _ in range(CONNECTIONS - 1)]
        try:
            # the page is there with its last object, whatever connections are still refused
            await asyncio.gather(*(an_object() for _ in range(OBJECTS)))
            if self.plan.every:
                await asyncio.gather(*opening)
        finally:
            for each in opening:
                each.cancel()

    async def file(self, user: int, row: dict[str, float], opened: list[Streams]) -> None:
        """Load a file over a connection of its own."""
        opened.append(await self.connect(self.address(user), self.plan.port))
        row["connected_s"] = self.past() - row["start_s"]
        await self.fetch(opened[0], PAGE_BYTES)
        self.served += 1

    async def load(self, user: int) -> None:
        """Load one page or file, or give up."""
        row: dict[str, float] = {"user": user, "start_s": self.past()}
        row["stays"] = user in self.staying
        self.rows.append(row)
        opened: list[Streams] = []
        row["patient"] = patient = self.plan.patient > 0 and user % self.plan.patient == 0
        try:
            patience = None if patient else self.plan.patience
            what = self.file if user in self.staying else self.page
            await asyncio.wait_for(what(user, row, opened), patience)
            row["load_s"] = self.past() - row["start_s"]
        except FAILED:
            pass
        finally:
            for _, writer in opened:
                writer.close()

    async def greedy_client(self) -> None:
        """Open connections at a rate, from one address, whatever becomes of them."""

        async def one() -> None:
            with suppress(*FAILED):
                address = f"{self.plan.network}.200.1"
                streams = await asyncio.wait_for(self.connect(address, self.plan.port), 30)
                self.greedy += 1
                await asyncio.wait_for(self.fetch(streams, OBJECT), 30)
                streams[1].close()

        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(one())
                await asyncio.sleep(1 / self.plan.greedy)

    async def long_flow(self, number: int) -> None:
        """Read without end."""
        address = f"{self.plan.network}.210.{1 + number}"
        with suppress(*FAILED):
            reader, writer = await self.connect(address, self.plan.port + 1)
            writer.write(REQUEST.format(10**12).encode())
            while data := await reader.read(1 << 16):
                self.long_bytes += len(data)

    async def come(self) -> None:
        """Let users come at the rates of the plan."""
        async with asyncio.TaskGroup() as group:
            for user, (due, address) in enumerate(arrivals(self.plan)):
                await asyncio.sleep(due - self.past())
                if address is not None:
                    self.staying[user] = address
                group.create_task(self.load(user))

    async def watch(self) -> None:
        """Note how late this process is woken."""
        while True:
            asked = self.past() + 0.05
            await asyncio.sleep(0.05)
            self.late.append(self.past() - asked)

    async def whole(self) -> None:
        """Run until the time is over."""
        parts: list[Awaitable[None]] = [self.come(), self.watch(), self.have_room()]
        parts += [self.long_flow(number) for number in range(self.plan.long)]
        parts += [self.greedy_client()] if self.plan.greedy else []
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*parts), self.plan.seconds)

    def told(self) -> dict[str, Any]:
        """Return what was seen."""
        late = sorted(self.late) or [0.0]
        return {
            "rows": self.rows,
            "served": self.served,
            "greedy": self.greedy,
            "long_bytes": self.long_bytes,
            "late_p95_s": late[len(late) * 95 // 100],
        }


def main() -> None:
    """Run the plan of the command line."""
    run = Run(Plan(**json.loads(sys.argv[1])))
    try:
        asyncio.run(run.whole())
    except NoRoom as reason:
        sys.exit(str(reason))
    print(json.dumps(run.told()))


if __name__ == "__main__":
    main()
