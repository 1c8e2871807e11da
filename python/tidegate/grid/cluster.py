"""Runs on many machines, by dask.distributed: the same bits as on one.

A worker simulates a few runs at a time and sends back of each what is to be
kept; files, and what is missing, are seen to here, as if it had been simulated
here. A worker that dies loses the runs it was at, which go to others; if the
scheduler dies, what has come back is kept, and the same command goes on with
the rest.
"""

from __future__ import annotations

import logging
import pickle
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tidegate import _native
from tidegate.errors import TidegateError, UsageError
from tidegate.results.provenance import code_hash, digest
from tidegate.results.run_output import RunOutput
from tidegate.results.simulate import simulate
from tidegate.scenario.own import PREFIX

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Mapping

    from distributed import Future

    from tidegate.grid.executor import Task, Work
    from tidegate.results.run_output import Wanted

R = TypeVar("R")

LOOK_S = 0.5
"""How often whoever waits for runs looks whether the scheduler is still there."""
CONNECT_S = 20.0
"""How long a scheduler may take to answer."""
AHEAD = 2
"""Parcels that are handed out for each thread of the cluster: one at work, one to follow."""
COUNT_S = 10.0
"""How often the threads of the cluster are counted: machines come and go."""
PARCEL_S = 0.5
"""CPU time that a parcel of runs should take: long beside what it costs to hand it out."""
MOST = 100
"""Runs that a parcel holds at most."""
KEEPERS = 16
"""Threads that take what has come back and keep it: they wait for disks and networks."""
HELD = 64
"""Scenarios that a worker keeps at hand."""
NEEDED = (
    "The library for clusters is not there: distributed.",
    "Install it: pip install distributed universal-pathlib.",
)


@dataclass(frozen=True)
class Asked:
    """One run as it travels to a worker."""

    effective: str
    seed: int
    files: int | None
    """Which of the sets of files that travel beside it the scenario refers to."""


@dataclass(frozen=True)
class Answer:
    """What a worker sends back of a parcel of runs."""

    code: str
    outputs: list[RunOutput]


def perform(
    asked: list[Asked], wanted: Wanted, laws: bytes | None, code: str, *files: Mapping[str, bytes]
) -> Answer:
    """Simulate a parcel of runs; this is what workers do. One of other code does nothing."""
    own = code_hash()
    if own != code:
        return Answer(own, [])
    outputs = []
    for each in asked:
        content = {} if each.files is None else files[each.files]
        scenario = _loaded(each.effective, tuple(content.items()))
        outcome = simulate(scenario, each.seed, pickle.loads(laws) if laws else None)
        outputs.append(RunOutput.of(outcome, wanted))
    return Answer(own, outputs)


@lru_cache(HELD)
def _loaded(effective: str, files: tuple[tuple[str, bytes], ...]) -> _native.Scenario:
    return _native.load(effective, "scenario", [], dict(files))


def hold(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return files: a worker that does this has them, and others get them from it."""
    return files


@dataclass
class _Parcel(Generic[R]):
    """Runs that are under way together, and what came of them."""

    places: range
    future: Future[Answer]
    kept: list[tuple[int, R]] = field(default_factory=list)
    cpu_s: float = 0.0
    error: BaseException | None = None


@dataclass
class Cluster:
    """Workers of a scheduler, as a place where runs are simulated."""

    client: Any
    address: str
    _held: dict[str, Future[dict[str, bytes]]] = field(default_factory=dict)

    def run(
        self, work: Work[R], most: int | None, stop: threading.Event
    ) -> Iterator[tuple[int, R]]:
        """Yield the places of runs as they are kept; at most so many parcels at once."""
        laws = _packed(work.laws)
        back: SimpleQueue[_Parcel[R]] = SimpleQueue()
        under_way: dict[int, _Parcel[R]] = {}
        first, done, cpu_s = 0, 0, 0.0
        room, counted = 0, 0.0
        with ThreadPoolExecutor(KEEPERS) as keepers:

            def take(parcel: _Parcel[R]) -> None:
                with suppress(RuntimeError):  # all is being broken off
                    keepers.submit(self._keep, work, parcel, back)

            try:
                while done < work.count:
                    if not counted or time.monotonic() - counted > COUNT_S:
                        room, counted = most or max(AHEAD * self._threads(), 1), time.monotonic()
                    while first < work.count and len(under_way) < room:
                        size = _size(cpu_s / done if done else None, work.count - first, room)
                        parcel: _Parcel[R] = self._sent(work, range(first, first + size), laws)
                        under_way[first] = parcel
                        first += size
                        parcel.future.add_done_callback(  # type: ignore[no-untyped-call]
                            lambda _, parcel=parcel: take(parcel)
                        )
                    parcel = self._next(back)
                    del under_way[parcel.places.start]
                    yield from parcel.kept
                    if parcel.error is not None:
                        raise parcel.error
                    done, cpu_s = done + len(parcel.places), cpu_s + parcel.cpu_s
            finally:
                stop.set()
                keepers.shutdown(wait=True, cancel_futures=True)
                with suppress(Exception):
                    self.client.cancel([parcel.future for parcel in under_way.values()])

    def _sent(self, work: Work[R], places: range, laws: bytes | None) -> _Parcel[R]:
        """Hand out the runs at these places."""
        tasks = [work.task(place) for place in places]
        sets: dict[str, Any] = {}
        asked = []
        for task in tasks:
            name = self._hold(task, sets) if task.files else None
            number = None if name is None else list(sets).index(name)
            asked.append(Asked(task.scenario.show(), task.seed, number))
        sent = (asked, work.wanted, laws, code_hash(), *sets.values())
        try:
            return _Parcel(places, self.client.submit(perform, *sent, pure=False))
        except (OSError, RuntimeError) as error:
            raise self._lost() from error

    def _hold(self, task: Task, sets: dict[str, Any]) -> str:
        """Have the cluster hold the files of a scenario; they are sent once."""
        name = digest(b"".join(each.encode() + b"\0" + task.files[each] for each in task.files))
        if name not in self._held:
            key = f"tidegate-files-{name}"
            self._held[name] = self.client.submit(hold, dict(task.files), key=key)
        sets[name] = self._held[name]
        return name

    def _keep(self, work: Work[R], parcel: _Parcel[R], back: SimpleQueue[_Parcel[R]]) -> None:
        """Take what has come back of a parcel, and keep it run by run."""
        try:
            answer = self._answer(work, parcel)
            for place, each in zip(parcel.places, answer.outputs, strict=True):
                if work.report is not None:
                    work.report(place, each.summary["duration_s"])
                parcel.kept.append((place, work.keep(place, each)))
                parcel.cpu_s += each.cpu_s
        except BaseException as error:  # to be raised in the thread that waits
            parcel.error = error
        back.put(parcel)

    def _answer(self, work: Work[R], parcel: _Parcel[R]) -> Answer:
        from distributed import CancelledError, KilledWorker

        try:
            answer: Answer = parcel.future.result()
        except KilledWorker:
            task = work.task(parcel.places.start)
            several = "" if len(parcel.places) == 1 else f" or the {len(parcel.places) - 1} after"
            raise TidegateError(
                f"Several workers died at one run, of {task.scenario.name}"
                f" with seed {task.seed}{several}.",
                "It may need more memory than they have: tidegate compare ... --dry-run says.",
            ) from None
        except (CancelledError, OSError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and self.client.status == "running":
                raise  # what a law raised
            raise self._lost() from error
        if answer.code != code_hash():
            raise _other("A worker", answer.code)
        return answer

    def _next(self, back: SimpleQueue[_Parcel[R]]) -> _Parcel[R]:
        """Wait for the next parcel of which all is kept."""
        while True:
            with suppress(Empty):
                return back.get(timeout=LOOK_S)
            if self.client.status not in ("running", "connecting"):
                raise self._lost()

    def _lost(self) -> TidegateError:
        return TidegateError(
            f"Lost the scheduler at {self.address}.",
            "Start it again, and give the same command: what has come back is kept.",
        )

    def _threads(self) -> int:
        try:
            return sum(worker["nthreads"] for worker in self._workers().values())
        except (OSError, RuntimeError) as error:
            raise self._lost() from error

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


def _size(cpu_s: float | None, left: int, room: int) -> int:
    """Return how many runs the next parcel holds, of so many left and so much CPU time each.

    One, before anything is known; and towards the end no more than there are
    for every place in the cluster, so that none waits for another.
    """
    if cpu_s is None:
        return 1
    wanted = int(PARCEL_S / max(cpu_s, 1e-6))
    return max(1, min(wanted, MOST, left // room))


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
    if not re.fullmatch(r"local:.*|(?:[a-z]+://)?\S+:\d+/?", address):
        # the library would wait for its own clean-up, and then print a traceback
        raise UsageError(
            f"Could not understand --dask {address}.",
            "Write the address that `dask scheduler` prints, as in tcp://host:8786, or local:N.",
        )
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
