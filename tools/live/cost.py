"""The cost of the gate's programs: time per packet, and lost throughput.

The kernel reads a clock twice to count the time of a program, and a good part of the count is these
reads. So an empty program runs before each at the same hook, for the same packets, and its time is
subtracted.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tidegate import _native
from tidegate.hosts.lab import NEAR, PORT, RIGHT, Lab, LabError, run
from tools.live import tcx

if TYPE_CHECKING:
    from collections.abc import Iterator

EMPTY = """
__attribute__((section("tc"), used)) int tidegate_empty(void *packet) { return -1; }
char terms[] __attribute__((section("license"), used)) = "MIT";
"""

COUNTER = Path("/proc/sys/kernel/bpf_stats_enabled")
"""Whether the kernel counts the time of programs."""


@contextmanager
def counting_time() -> Iterator[None]:
    """Have the kernel count the time of programs, and restore the setting."""
    before = COUNTER.read_text()
    COUNTER.write_text("1")
    try:
        yield
    finally:
        COUNTER.write_text(before)


def hooks() -> tuple[str, ...]:
    """Return the hooks of this kernel."""
    kernel = tuple(map(int, platform.release().split(".")[:2]))
    return ("clsact", "tcx") if kernel >= (6, 6) else ("clsact",)


def put_empty(lab: Lab, hook: str) -> None:
    """Put an empty program before the gate, in both directions."""
    if hook == "tcx":
        for side in tcx.SIDES:
            empty = ("put", "tg0", side, "tidegate_empty")
            started = lab.start(lab.router, sys.executable, tcx.__file__, *empty)
            if started.stdout is None or not started.stdout.readline():
                raise LabError(f"no empty program at {side}: {started.communicate()[1]}")
        return
    source, built = lab.folder / "empty.c", lab.folder / "empty.o"
    source.write_text(EMPTY, encoding="utf-8")
    run("clang", "-O2", "-target", "bpf", "-c", str(source), "-o", str(built))
    for side in ("egress", "ingress"):
        place = ("dev", "tg0", side, "prio", "1", "handle", "1")
        program = ("bpf", "da", "obj", str(built), "sec", "tc")
        lab.within(lab.router, "tc", "filter", "add", *place, *program)


class Cost(NamedTuple):
    """The time of a program."""

    counted_ns: float
    """The mean by the kernel's counter, for the packets that passed."""
    runs: int
    alone_ns: int
    """The mean of a million runs on one packet of data, without the counter."""


# IPv4 and TCP with the ACK bit. A program at a device without Ethernet reads the packet's type from
# the packet itself, and the kernel reads it from the bytes where Ethernet has it: so the sender's
# address begins with 8.0.
PACKET = bytes.fromhex("450003e8000040004006000008000001 0a4e0202 c001115100000001000000015010ffff")
PACKET += bytes(1000 - len(PACKET))


def mean_times(lab: Lab) -> dict[str, Cost]:
    """Return the time of each program at the interface."""
    found = {}
    for side in ("egress", "ingress"):
        for name, program in at_tcx(lab, side).items():
            found[f"{name} {side}"] = _counted(program)
        scenario = lab.within(lab.router, "tc", "-j", "filter", "show", "dev", "tg0", side)
        for each in json.loads(scenario):
            options = each.get("options", {})
            if "prog" in options:
                name = str(options["prog"]["name"])
                found[f"{name} {side}"] = _counted(int(options["prog"]["id"]))
    return found


def at_tcx(lab: Lab, side: str) -> dict[str, int]:
    """Return the programs at tcx on that side, by their names."""
    listed = json.loads(lab.within(lab.router, sys.executable, tcx.__file__, "list", "tg0"))
    return {program["name"]: program["id"] for program in listed[side]}


def _counted(program: int) -> Cost:
    try:
        handle = tcx.by_id(program)
    except OSError as error:
        raise LabError(f"program {program}: {error}") from error
    try:
        lines = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="utf-8").splitlines()
    finally:
        os.close(handle)
    fields = {name: value for name, _, value in (line.partition(":\t") for line in lines)}
    ran = int(fields["run_cnt"])
    counted = int(fields["run_time_ns"]) / max(1, ran)
    COUNTER.write_text("0")
    try:
        return Cost(counted, ran, tcx.alone(program, PACKET, 1_000_000))
    finally:
        COUNTER.write_text("1")


def wire(lab: Lab) -> None:
    """Join router and right by a cable instead of the emulated link."""
    run(
        *("ip", "link", "add", "tg0", "netns", lab.router, "type", "veth"),
        *("peer", "tg0", "netns", lab.right),
    )
    for each, own, other in ((lab.router, NEAR, RIGHT), (lab.right, RIGHT, NEAR)):
        run("ip", "-n", each, "address", "add", own, "peer", other, "dev", "tg0")
        run("ip", "-n", each, "link", "set", "tg0", "up")
    run("ip", "-n", lab.right, "route", "add", "default", "via", NEAR)


SLICE_S, SETTLE_S = 2.0, 0.3
"""How long one rate is measured, and what passes first after the gate comes or goes."""


def rate(lab: Lab) -> float:
    """Return the Mbit/s that leave the router."""

    def sent() -> tuple[float, int]:
        [device] = json.loads(run("ip", "-n", lab.router, "-s", "-j", "link", "show", "tg0"))
        return time.monotonic(), int(device["stats64"]["tx"]["bytes"])

    time.sleep(SETTLE_S)
    began, before = sent()
    time.sleep(SLICE_S)
    ended, after = sent()
    return 8e-6 * (after - before) / (ended - began)


def forwarded(scenario: dict[str, Any], gate: str, times: int) -> tuple[list[float], list[float]]:
    """Return the rates of two uploads over a plain cable, without a gate and with one in turn.

    It begins and ends without, so there is one rate more.
    """
    # as much is forwarded as this machine can: packets wait for its processors
    with Lab(may_run_out=frozenset({"input", "devices"})) as lab:
        wire(lab)
        path, table = lab.write(scenario)
        lab.serve(lab.right, f"{RIGHT}:{PORT}")
        to = ("--to", f"{RIGHT}:{PORT}", "--out", str(table))
        lab.start(lab.left, lab.tidegated, "traffic", "run", str(path), *to)
        time.sleep(1)
        without, with_gate = [rate(lab)], []
        for _ in range(times):
            process = lab.gate(gate)
            with_gate.append(rate(lab))
            lab.end(process)
            without.append(rate(lab))
        return without, with_gate


def in_turn(scenario: dict[str, Any], gate: str, labs: int, times: int) -> str:
    """Measure with a gate and without in turn; return means and the difference as text.

    Each rate with a gate is compared with the mean of the two without that are next to it.
    """
    found = [forwarded(scenario, gate, times) for _ in range(labs)]
    changes = [
        100 * (after / statistics.fmean(without[at : at + 2]) - 1)
        for without, with_gate in found
        for at, after in enumerate(with_gate)
    ]
    half = _native.student_t_quantile(0.975, len(changes) - 1) * statistics.stdev(changes)
    mean = [statistics.fmean(chain.from_iterable(rates)) for rates in zip(*found, strict=True)]
    return (
        f"{mean[0]:.0f} Mbit/s without, {mean[1]:.0f} with; {statistics.fmean(changes):+.1f} % "
        f"± {half / len(changes) ** 0.5:.1f} (95 %), {times} times in each of {labs} labs"
    )
