"""Runs on many machines, by dask.distributed: the same bits as on one.

A worker simulates a parcel of runs and sends their outputs back; they are saved
here, as runs of this machine are. The runs of a worker that dies go to others. If
the scheduler dies, the runs received so far stay: rerun to resume.
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
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate import _native
from tidegate.errors import TidegateError, UsageError
from tidegate.results.provenance import code_hash, digest
from tidegate.results.run_output import RunOutput
from tidegate.results.simulate import simulate
from tidegate.scenario.own import PREFIX, maker

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Mapping

    from distributed import Future

    from tidegate.grid.work import Task, Work
    from tidegate.results.run_output import Wanted

R = TypeVar("R")

CONNECT_S = 20.0
"""How long a scheduler may take to answer."""
AHEAD = 2
"""Parcels that each thread of the cluster has: one running, one waiting."""
COUNT_S = 10.0
"""How often the threads of the cluster are counted: machines come and go."""
PARCEL_S = 0.5
"""CPU time that a parcel of runs should take: long compared with sending it."""
MOST = 100
"""Runs that a parcel holds at most."""
SAVERS = 16
"""Threads that save the runs of a parcel: they wait for disks and networks."""
HELD = 64
"""Number of loaded scenarios that a worker caches."""
NEEDED = (
    "The library for clusters is not installed: distributed.",
    "Install it: pip install distributed universal-pathlib.",
)


@dataclass(frozen=True)
class RemoteTask:
    """One run as it is sent to a worker."""

    effective: str
    seed: int
    files: int | None
    """The index of the set of files that the scenario refers to."""


@dataclass(frozen=True)
class Answer:
    """What a worker sends back: the hash of its code, and the outputs of a parcel of runs."""

    code: str
    outputs: list[RunOutput]


def perform(
    asked: list[RemoteTask],
    wanted: Wanted,
    laws: bytes | None,
    code: str,
    *files: Mapping[str, bytes],
) -> Answer:
    """Simulate a parcel of runs on a worker; one with other code returns no outputs."""
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
    """Return files: the worker then holds them, and others get them from it."""
    return files


@dataclass
class Cluster:
    """The workers of a scheduler, which simulate runs."""

    client: Any
    address: str
    _held: dict[str, Future[dict[str, bytes]]] = field(default_factory=dict)

    def run(
        self, work: Work[R], most: int | None, stop: threading.Event
    ) -> Iterator[tuple[int, R]]:
        """Yield the indices of runs as they are saved; limits the parcels in progress."""
        from distributed import as_completed

        laws = _packed(work.laws)
        pending: dict[Future[Answer], range] = {}
        ready = as_completed(loop=self.client.loop)  # type: ignore[no-untyped-call]
        first, done, cpu_s = 0, 0, 0.0
        room, counted = 0, 0.0
        with ThreadPoolExecutor(SAVERS) as savers:
            try:
                while done < work.count:
                    if not counted or time.monotonic() - counted > COUNT_S:
                        room, counted = most or max(AHEAD * self._threads(), 1), time.monotonic()
                    while first < work.count and len(pending) < room:
                        size = _size(cpu_s / done if done else None, work.count - first, room)
                        future = self._sent(work, range(first, first + size), laws)
                        pending[future] = range(first, first + size)
                        ready.add(future)  # type: ignore[no-untyped-call]
                        first += size
                    future = next(ready)
                    indices = pending.pop(future)
                    outputs = self._outputs(work, indices, future)
                    if work.report is not None:
                        for index, output in zip(indices, outputs, strict=True):
                            work.report(index, output.summary["duration_s"])
                    yield from zip(indices, savers.map(work.keep, indices, outputs), strict=True)
                    done, cpu_s = done + len(indices), cpu_s + sum(each.cpu_s for each in outputs)
            finally:
                stop.set()
                with suppress(Exception):
                    self.client.cancel(list(pending))

    def _sent(self, work: Work[R], indices: range, laws: bytes | None) -> Future[Answer]:
        """Send the runs with these indices to the cluster."""
        tasks = [work.task(index) for index in indices]
        sets: dict[str, Any] = {}
        asked = []
        for task in tasks:
            name = self._hold(task, sets) if task.files else None
            number = None if name is None else list(sets).index(name)
            asked.append(RemoteTask(task.scenario.show(), task.seed, number))
        sent = (asked, work.wanted, laws, code_hash(), *sets.values())
        try:
            future: Future[Answer] = self.client.submit(perform, *sent, pure=False)
        except (OSError, RuntimeError) as error:
            raise self._lost() from error
        return future

    def _hold(self, task: Task, sets: dict[str, Any]) -> str:
        """Send the files of a scenario to the cluster, once."""
        name = digest(b"".join(each.encode() + b"\0" + task.files[each] for each in task.files))
        if name not in self._held:
            key = f"tidegate-files-{name}"
            self._held[name] = self.client.submit(hold, dict(task.files), key=key)
        sets[name] = self._held[name]
        return name

    def _outputs(self, work: Work[R], indices: range, future: Future[Answer]) -> list[RunOutput]:
        """Return the results of runs, or raise why there are none."""
        from distributed import CancelledError, KilledWorker

        try:
            answer: Answer = future.result()
        except KilledWorker:
            task = work.task(indices.start)
            several = "" if len(indices) == 1 else f" or the {len(indices) - 1} after"
            raise TidegateError(
                f"Several workers died while simulating {task.scenario.name}"
                f" with seed {task.seed}{several}.",
                "It may need more memory than they have: see tidegate compare ... --dry-run.",
            ) from None
        except (CancelledError, OSError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and self.client.status == "running":
                raise  # what a law raised
            raise self._lost() from error
        if answer.code != code_hash():
            raise _other("A worker", answer.code)
        return answer.outputs

    def _lost(self) -> TidegateError:
        return TidegateError(
            f"Lost the scheduler at {self.address}.",
            "Restart it and rerun the command: it resumes.",
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
    """Return the number of runs in the next parcel, from the runs left and the CPU time of each.

    It is one before the CPU time is known. Towards the end it is the share of one
    thread, so that none is idle.
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
        module = sys.modules.get(maker(law).__module__)
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
    # the library logs every worker and scheduler that dies; `Cluster` reports that once
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
