"""Runs on many machines, by dask.distributed: the same bits as on one.

A run is simulated by whichever worker is free, and comes back as the columns
of its tables; whatever follows (summary, files, resuming) is done here, as if
it had been simulated here. A worker that dies loses the runs it was at, which
go to others; if the scheduler dies, what has come back is kept, and the same
command goes on with the rest.
"""

from __future__ import annotations

import logging
import pickle
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.errors import Stopped, TidegateError, UsageError
from tidegate.results.circumstances import code_hash
from tidegate.results.simulate import Outcome, simulate
from tidegate.scenario.own import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from distributed import Future

    from tidegate.results.simulate import Law, RateLaw

LOOK_S = 0.5
"""How often a thread that waits for a run looks whether it is to stop."""
CONNECT_S = 20.0
"""How long a scheduler may take to answer."""
AHEAD = 2
"""Runs that are handed out for each thread of the cluster: one at work, one to follow."""
NEEDED = (
    "The library for clusters is not there: distributed.",
    "Install it: pip install 'tidegate[cluster]'.",
)


@dataclass(frozen=True)
class Answer:
    """What a worker sends back of a run."""

    code: str
    tables: dict[str, dict[str, Any]]
    packet_hops: int
    delivered_packets: int
    cpu_s: float
    wall_s: float


def perform(
    effective: str,
    files: Mapping[str, bytes],
    seed: int,
    laws: bytes | None,
    code: str,
) -> Answer:
    """Simulate one run; this is what workers do. One of other code does nothing."""
    own = code_hash()
    if own != code:
        return Answer(own, {}, 0, 0, 0.0, 0.0)
    scenario = _native.load(effective, "scenario", [], dict(files))
    outcome = simulate(scenario, seed, pickle.loads(laws) if laws else None)
    return Answer(
        own,
        outcome.tables,
        outcome.packet_hops,
        outcome.delivered_packets,
        outcome.cpu_s,
        outcome.wall_s,
    )


@dataclass
class Cluster:
    """Workers of a scheduler, as a place where runs are simulated."""

    client: Any
    address: str

    @property
    def at_once(self) -> int:
        """How many runs are handed out at a time."""
        threads: int = sum(worker["nthreads"] for worker in self._workers().values())
        return max(AHEAD * threads, 1)

    def simulate(
        self,
        scenario: _native.Scenario,
        files: Mapping[str, bytes],
        seed: int,
        laws: Mapping[str, Law | RateLaw] | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Have a worker simulate one run, and wait for it; any thread may call this."""
        from distributed import CancelledError, KilledWorker

        asked = (scenario.show(), dict(files), seed, _packed(laws), code_hash())
        try:
            future = self.client.submit(perform, *asked, pure=False)
            answer = self._waited(future, stop)
        except KilledWorker:
            raise TidegateError(
                f"Several workers died at one run, of {scenario.name} with seed {seed}.",
                "It may need more memory than they have: tidegate compare ... --dry-run says.",
            ) from None
        except (CancelledError, OSError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and self.client.status == "running":
                raise  # what a law raised
            raise TidegateError(
                f"Lost the scheduler at {self.address}.",
                "Start it again, and give the same command: what has come back is kept.",
            ) from error
        if answer.code != code_hash():
            raise _other("A worker", answer.code)
        costs = (answer.packet_hops, answer.delivered_packets, answer.cpu_s, answer.wall_s)
        return Outcome(scenario, seed, answer.tables, *costs)

    def _waited(self, future: Future[Answer], stop: threading.Event | None) -> Answer:
        over = threading.Event()
        future.add_done_callback(lambda _: over.set())  # type: ignore[no-untyped-call]
        while not over.wait(LOOK_S):
            if stop is not None and stop.is_set():
                with suppress(Exception):
                    future.cancel()  # type: ignore[no-untyped-call]
                raise Stopped
            if self.client.status not in ("running", "connecting"):
                raise OSError("the connection is closed")
        answer: Answer = future.result()
        return answer

    def _workers(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def check(self) -> None:
        """Raise UsageError if a worker has other code, or none of tidegate."""
        try:
            codes = self.client.run(code_hash)
        except Exception as error:  # whatever a worker without tidegate raises
            raise UsageError(
                f"A worker of {self.address} cannot run tidegate: {error}.",
                "Install the same tidegate where the workers are.",
            ) from error
        if not codes:
            raise UsageError(
                f"The scheduler at {self.address} has no workers yet.",
                f"Start some: dask worker {self.address}.",
            )
        for worker, code in codes.items():
            if code != code_hash():
                raise _other(f"The worker {worker}", code)


def _packed(laws: Mapping[str, object] | None) -> bytes | None:
    """Return laws as bytes, with the source of those that come out of files."""
    import cloudpickle

    if not laws:
        return None
    for law in laws.values():
        module = sys.modules.get(type(law).__module__)
        if module is not None and module.__name__.startswith(PREFIX):
            cloudpickle.register_pickle_by_value(module)
    packed: bytes = cloudpickle.dumps(dict(laws))
    return packed


def _other(who: str, code: str) -> UsageError:
    return UsageError(
        f"{who} has another tidegate (code {code[:10]}; here {code_hash()[:10]}).",
        "Install the same version everywhere: runs of different code are not mixed.",
    )


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to a scheduler, or start one with N workers for `local:N`."""
    try:
        import distributed
    except ImportError:
        raise TidegateError(*NEEDED) from None
    # what it has to say of dying workers and schedulers is said here, once
    for name in ("asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "asyncio", "tornado"):
            logging.getLogger(name).handlers[:] = [logging.NullHandler()]
            logging.getLogger(name).propagate = False
    local = None
    try:
        if address.startswith("local:"):
            local = distributed.LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=_count(address), threads_per_worker=1, dashboard_address=":0"
            )
        client = distributed.Client(  # type: ignore[no-untyped-call]
            local or address, timeout=CONNECT_S, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise TidegateError(
            f"Could not reach a scheduler at {address}: {error}.",
            "Start one with `dask scheduler`, and give the address that it prints.",
        ) from error
    try:
        cluster = Cluster(client, address)
        cluster.check()
        yield cluster
    finally:
        with suppress(Exception):
            client.close(timeout=2)  # type: ignore[no-untyped-call]
        if local is not None:
            with suppress(Exception):
                local.close(timeout=5)


def _count(address: str) -> int:
    text = address.removeprefix("local:")
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise UsageError(
            f"Could not understand --dask {address}.", "Write local:N with a number of workers."
        )
    return int(text)
