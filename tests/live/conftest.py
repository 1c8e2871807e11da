"""Two hosts on one machine: namespaces joined by a cable, and everything put back afterwards."""

import contextlib
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from tools.live.lateness import TooBusy, Watch
from two_hosts import KERNEL, Lab, compiles, obstacle

WATCH, BUSY = pytest.StashKey[Watch | None](), pytest.StashKey[str | None]()
TRIES = 3
LATE_MS = 100
"""A test that times nothing exactly still allows a lease, a token or an answer so much at least."""


@pytest.fixture(scope="session", autouse=True)
def _possible() -> None:
    if reason := obstacle():
        pytest.skip(reason)


# it takes two functions of that kernel: bpf_cast_to_kern_ctx, bpf_rdonly_cast
@pytest.fixture(autouse=True)
def _kernel(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("dual_queue") and KERNEL < (6, 2):
        pytest.skip("programs read the length of a queue from Linux 6.2 on")
    if request.node.get_closest_marker("tcx") and KERNEL < (6, 6):
        pytest.skip("tcx is in Linux from 6.6 on")
    if request.node.get_closest_marker("compiled") and not compiles():
        pytest.skip("this kernel interprets BPF, and its interpreter cannot do bpf_loop")


@pytest.fixture(params=["clsact", "tcx"])
def hook(request: pytest.FixtureRequest) -> str:
    """Where the gate attaches its programs: what differs between the two is tested at both."""
    if request.param == "tcx" and KERNEL < (6, 6):
        pytest.skip("tcx is in Linux from 6.6 on")
    return request.param


@pytest.fixture(autouse=True)
def watch(request: pytest.FixtureRequest) -> Iterator[Watch]:
    """Let the hosts of a test go ahead of other tests, and watch how late they are all the same."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(usual, -10))
    # a thread has the priority of the one that starts it
    with Watch() as watch:
        request.node.stash[WATCH] = watch
        yield watch
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, usual)


# A test that failed while its processes were late has measured the machine's other work. It is
# tried again, and left out with that figure if the machine stays so. One that fails on time fails.


def late(item: pytest.Item, reports: list[pytest.TestReport]) -> str | None:
    """Say how late the processes of a test were, if it failed and that may be why."""
    if not any(report.failed for report in reports):
        return None
    if found := item.stash.get(BUSY, None):
        return found
    watch = item.stash.get(WATCH, None)
    if watch is None or watch.worst_ms <= LATE_MS:
        return None
    return f"a process of the test woke up {watch.worst_ms:.0f} ms late"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a live test, again where it was not valid."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(TRIES):
        item.stash[BUSY] = item.stash[WATCH] = None
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        figure = late(item, reports)
        if figure is None:
            break
    for report in reports:
        if figure is not None and report.failed:
            report.outcome = "skipped"
            why = f"the machine was too busy {TRIES} times: {figure}"
            report.longrepr = (str(item.path), item.location[1] or 0, why)
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator:
    """Keep the figure with which a test says that its run was not valid."""
    if call.excinfo is not None and call.excinfo.errisinstance(TooBusy):
        item.stash[BUSY] = str(call.excinfo.value)
    return (yield)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Lab(tmp_path) as lab:
        yield lab
