"""Real clients of QUIC under overload, through the real gate: a table beside the prediction.

    python -m tools.live.quic [--control none,blind,tide,egress] [--seconds 40] [--seed 1]

Downloads of 10 kB (Pareto 1.5), one and a half times what a link of 10 Mbit/s carries, all of them
over QUIC; users wait 30 s. `blind` is tide that only counts Initials, `tide` the same with
`quic = "admit"`, which refuses the Initial of a client where it comes in; `egress` refuses that of
the server where it leaves. The ends are quinn on sockets (tools/quic_ends), the prediction is quinn
in the simulator (`make stacks`) on the same flows.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import tidegate
from tidegate.hosts.lab import LATE_MS, LEFT, PORT, Lab, interrupted, need, valid
from tools.live.loads import HEAD, SLOWER, shaped
from tools.live.pages import CLIENTS, SCENARIO

if TYPE_CHECKING:
    from collections.abc import Sequence

RATE = 188.0
PATIENCE_S = 30.0
IN_TIME_S = 5.0
ENDS = Path(__file__).parents[1] / "quic_ends"
TIDE = 'mode = "enforce"\nlaw = { law = "tide", admit = "connections" }\n'
LAWS = {
    "none": 'law = { law = "none" }\n',
    "blind": TIDE,
    "tide": f'quic = "admit"\n{TIDE}',
    "egress": f'quic = "admit"\nrefuse_at = "egress"\n{TIDE}',
}
PREDICTED: dict[str, dict[str, object]] = {
    "none": {"law": "none"},
    "blind": {"law": "tide", "admit": "connections"},
    "tide": {"law": "tide", "admit": "connections", "quic": {}, "ends_of": "peer"},
    "egress": {"law": "tide", "admit": "connections", "quic": {}},
}
Flows = list[tuple[float, int]]


def drawn(seconds: float, seed: int) -> Flows:
    """Draw starts and sizes."""
    draw, flows, at = random.Random(seed), [], 0.0
    while (at := at + draw.expovariate(RATE)) < seconds:
        flows.append((round(at, 6), int(10_000 / 3 * draw.paretovariate(1.5))))
    return flows


def write(flows: Flows, path: Path) -> Path:
    """Write flows as a table that both the clients and the simulator read."""
    lines = [f"{start},{size}" for start, size in flows]
    path.write_text("\n".join(["start_s,size_bytes", *lines, ""]), encoding="utf-8")
    return path


def measured(control: str, flows: Flows) -> list[float | None]:
    """Run real clients; return the seconds of each download, None: it did not complete."""
    program = str(ENDS / "target" / "release" / "quic-ends")
    with Lab(late_ms=LATE_MS) as lab:
        lab.link(lab.write(SCENARIO)[0])
        lab.users(f"{CLIENTS}.0.0/16")
        lab.gate(f"{LAWS[control]}shape = '10Mbit'\nshape_buffer = '125kB'\n")
        certificate, out = lab.folder / "certificate", lab.folder / "out.csv"
        server = lab.start(lab.left, program, "serve", f"{LEFT}:{PORT}", str(certificate))
        assert server.stderr is not None
        server.stderr.readline()
        table = write(flows, lab.folder / "offered.csv")
        to = (f"{LEFT}:{PORT}", str(certificate), str(table), str(out), str(PATIENCE_S))
        lab.ended(lab.start(lab.right, program, "load", *to, "cubic", CLIENTS))
        with out.open(encoding="utf-8", newline="") as text:
            times = [row["done_s"] for row in csv.DictReader(text)]
    return [float(time) if time else None for time in times]


def predicted(control: str, flows: Flows, seconds: float, folder: Path) -> list[float | None]:
    """Run the same flows in the simulator."""
    table = write(flows, folder / "flows.csv")
    traffic = {
        "flows": str(table),
        "direction": "download",
        "patience": f"{PATIENCE_S}s",
        "transport": {"quic": {}},
    }
    link = {"delay": "18ms", "buffer": f"{125_000 - HEAD}B"}
    port = {"gate": PREDICTED[control]}
    seconds += PATIENCE_S
    scenario = shaped(seconds, {"quic": traffic}, port, access=SLOWER, **link)
    found = tidegate.run(scenario, seed=1).flows
    return (found["data_done_s"] - found["start_s"]).to_list()


def row(control: str, which: str, times: Sequence[float | None]) -> str:
    """Return a line of the table."""
    done = sorted(time for time in times if time is not None)
    in_time = sum(time <= IN_TIME_S for time in done) / len(times)
    mean = fmean(done) if done else float("nan")
    late = done[int(0.95 * len(done))] if done else float("nan")
    return (
        f"| {control} | {which} | {in_time:.0%} | {len(done) / len(times):.0%} "
        f"| {mean:.2f} s | {late:.2f} s |"
    )


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--control", default=",".join(LAWS))
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    need(gate=True)
    # a kernel with a clock of its own sees the checkout, and cannot write there
    if os.access(ENDS, os.W_OK):
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ENDS, check=True)
    flows = drawn(asked.seconds, asked.seed)
    print("| control | which | in time | complete | mean | 95th percentile |")
    print("|---" * 6 + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for control in asked.control.split(","):
            real = valid(partial(measured, control, flows), partial(print, file=sys.stderr))
            print(row(control, "measured", real), flush=True)
            forecast = predicted(control, flows, asked.seconds, Path(folder))
            print(row(control, "predicted", forecast), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(interrupted(main))
