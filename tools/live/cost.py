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
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tools.live import tcx
from tools.live.lab import NEAR, RIGHT, Lab, LabError, run
from tools.live.measure import of_flows, read

if TYPE_CHECKING:
    from collections.abc import Iterator

EMPTY = """
__attribute__((section("tc"), used)) int tidegate_empty(void *packet) { return -1; }
char terms[] __attribute__((section("license"), used)) = "MIT";
"""


@contextmanager
def counting_time() -> Iterator[None]:
    """Have the kernel count the time of programs, and restore the setting."""
    setting = Path("/proc/sys/kernel/bpf_stats_enabled")
    before = setting.read_text()
    setting.write_text("1")
    try:
        yield
    finally:
        setting.write_text(before)


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


def mean_times(lab: Lab) -> dict[str, tuple[float, int]]:
    """Return mean time in ns and number of runs of each program at the interface."""
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


def _counted(program: int) -> tuple[float, int]:
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
    return int(fields["run_time_ns"]) / max(1, ran), ran


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


def forwarded(scenario: dict[str, Any], seconds: float, gate: str | None) -> float:
    """Return the Mbit/s that two uploads reach over a plain cable, with a gate or without."""
    with Lab() as lab:
        wire(lab)
        path, table = lab.write(scenario)
        if gate is not None:
            lab.gate(gate)
        lab.traffic(path, table, download=False)
        return of_flows(read(table), seconds).goodput_mbit_s


def in_turn(scenario: dict[str, Any], seconds: float, gate: str, pairs: int) -> str:
    """Measure without and with a gate in turn; return means and the difference of pairs as text."""
    found = [
        (forwarded(scenario, seconds, None), forwarded(scenario, seconds, gate))
        for _ in range(pairs)
    ]
    without, with_gate = zip(*found, strict=True)
    changes = [100 * (after / before - 1) for before, after in found]
    half = _native.student_t_quantile(0.975, pairs - 1) * statistics.stdev(changes) / pairs**0.5
    return (
        f"{statistics.fmean(without):.0f} Mbit/s without, {statistics.fmean(with_gate):.0f} with; "
        f"{statistics.fmean(changes):+.1f} % ± {half:.1f} (95 %) over {pairs} pairs"
    )
