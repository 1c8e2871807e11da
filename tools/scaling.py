"""`python -m tools.scaling [--instructions] [NAME...]`: what a dimension costs at 1, 10 and 100.

Every scenario below is run at three sizes of one dimension. A row has, for each of them, what
loading it and a packet-hop take: in CPU time, and in instructions where valgrind is installed. What
is linear has the same cost a hop at all sizes, and ten times the cost of loading at ten times the
size. Times depend on the machine and on what else runs there; instructions do not, and
`--instructions` leaves the times out.

Prints a table in Markdown. All of it takes some minutes; names choose rows.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parents[1]
SIZES = (1, 10, 100)
INSTRUCTIONS = "--instructions"

DUMBBELL = """
name = "scaling"
duration = "{duration}"
[topology.dumbbell]
pairs = {pairs}
access = {{ rate = "{access}", delay = "1ms" }}
bottleneck = {{ rate = "{rate}", delay = "18ms", buffer = "1bdp" }}
[port.bottleneck]
queue = {queue}
[traffic.long]
arrivals = {{ uniform = {flows}, within = "1s" }}
size = "unlimited"
transport = {{ tcp = {{ {tcp} }} }}
"""


def dumbbell(
    *,
    duration: str = "3s",
    pairs: int = 100,
    rate: str = "1Gbit",
    flows: int = 100,
    tcp: str = 'profile = "rfc"',
    queue: str = '{ law = "drop-tail" }',
    more: str = "",
) -> str:
    """Write a scenario of flows over one link."""
    return more + DUMBBELL.format(
        duration=duration,
        pairs=pairs,
        access="400Gbit",
        rate=rate,
        flows=flows,
        tcp=tcp,
        queue=queue,
    )


def pages(*, objects: int = 20, at_once: int = 1, connections: int = 6) -> str:
    """Write a scenario of users who load pages."""
    return f"""
name = "scaling"
duration = "10s"
[topology.dumbbell]
pairs = 10
access = {{ rate = "10Gbit", delay = "1ms" }}
bottleneck = {{ rate = "100Mbit", delay = "9ms", buffer = "1bdp" }}
[traffic.web]
arrivals = {{ uniform = {max(2_000 // objects, 1)}, within = "1s" }}
size = "2kB"
direction = "download"
transport = {{ tcp = {{ profile = "linux" }} }}
[traffic.web.pages]
document = "2kB"
objects = {objects}
concurrent = {at_once}
connections = {connections}
"""


def sessions(seconds: int) -> str:
    """Write a scenario of 10,000 short sessions a second, each of a client that nobody knows."""
    return f"""
name = "scaling"
duration = "{seconds}s"
warmup = "0s"
[topology.dumbbell]
pairs = 100
access = {{ rate = "10Gbit", delay = "1ms" }}
bottleneck = {{ rate = "1Gbit", delay = "3ms", buffer = "1bdp" }}
[port.bottleneck]
gate = {{ law = "tide", admit = "clients" }}
[traffic.short]
arrivals = {{ poisson = "10000/s" }}
size = "1B"
"""


def row(routers: int = 2, routes: int = 0, changes: int = 0) -> str:
    """Write a scenario of routers one behind the other, with hosts at both ends of the row."""
    text = ['name = "scaling"\nduration = "10s"']
    links = [(f"r{number}", f"r{number + 1}") for number in range(routers - 1)]
    links.append(("from", "r0"))
    links.append((f"r{routers - 1}", "to"))
    links += [(f"r{routers - 1}", f"h{number}") for number in range(routes)]
    for number, (near, far) in enumerate(links):
        text.append(f'[topology.links.l{number}]\nfrom = "{near}"\nto = "{far}"')
        text.append('rate = "10Mbit"\ndelay = "1ms"')
    for number in range(routes):
        text.append(f'[[route]]\nat = "r0"\nto = "h{number}"\nvia = "l0"')
    for number in range(changes):
        text.append(f'[[change]]\nwhat = "l0.rate"\nat = "{1 + 8 * number / changes}s"')
        text.append(f'to = "{10 + number % 3}Mbit"')
    text.append('[traffic.w]\narrivals = { every = "100ms" }\nsize = "20kB"')
    text.append('from = "from"\nto = "to"')
    return "\n".join(text)


def before(law: str) -> Callable[[int], str]:
    """Return scenarios of 100 flows, and of a multiple, before a queue law."""
    return lambda size: dumbbell(flows=100 * size, queue=f'{{ law = "{law}" }}')


@dataclass(frozen=True)
class Dimension:
    """One dimension: its name, what is multiplied, and the scenario at a size."""

    name: str
    what: str
    text: Callable[[int], str]


RATES = {1: "100Mbit", 10: "1Gbit", 100: "10Gbit"}
LAWS = ("red", "fq-codel", "pie", "cake", "dualpi2")
DIMENSIONS = (
    Dimension("flows", "100 flows", lambda size: dumbbell(flows=100 * size)),
    Dimension("hosts", "100 pairs of hosts", lambda size: dumbbell(pairs=100 * size)),
    Dimension("rate", "100 Mbit/s, 4 flows", lambda size: dumbbell(flows=4, rate=RATES[size])),
    Dimension(
        "rate-bbr",
        "100 Mbit/s, 4 flows of BBR",
        lambda size: dumbbell(flows=4, rate=RATES[size], tcp='profile = "linux", control = "bbr"'),
    ),
    *(Dimension(f"flows-{law}", f"100 flows before {law}", before(law)) for law in LAWS),
    Dimension("clients", "10,000 clients of a gate", sessions),
    Dimension("routers", "10 routers in a row", lambda size: row(routers=10 * size)),
    Dimension("routes", "10 routes", lambda size: row(routes=10 * size)),
    Dimension("changes", "90 changes", lambda size: row(changes=90 * size)),
    Dimension("objects", "20 objects a page", lambda size: pages(objects=20 * size)),
    Dimension(
        "at-once",
        "10 objects at once, one connection",
        lambda size: pages(objects=1000, at_once=10 * size, connections=1),
    ),
    Dimension(
        "connections",
        "1 connection a page",
        lambda size: pages(objects=200, connections=size),
    ),
)


@dataclass(frozen=True)
class Cost:
    """What one run took: seconds, and instructions if they were counted."""

    hops: int
    load_s: float
    run_s: float
    load_instructions: int | None = None
    run_instructions: int | None = None


def read(printed: str) -> Cost:
    """Read what the example `cost` has printed."""
    words = printed.split()
    found = dict(zip(words[::2], words[1::2], strict=True))
    load = float(found["load"]) + float(found["build"])
    return Cost(int(found["hops"]), load, float(found["run"]))


def instructions(program: Path, text: str, function: str) -> int:
    """Count the instructions within one function of the example, by callgrind."""
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}"]
        command += [f"--toggle-collect=cost::{function}", str(program)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        sys.exit(f"valgrind has not counted: {done.stderr}")
    return int(found[1])


def measure(program: Path, text: str) -> Cost:
    """Run one scenario, and count its instructions if valgrind is there."""
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    cost = read(done.stdout)
    if shutil.which("valgrind") is None:
        return cost
    counts = (instructions(program, text, name) for name in ("load_it", "run_it"))
    return Cost(cost.hops, cost.load_s, cost.run_s, *counts)


def cells(costs: Sequence[Cost], *, timed: bool = True) -> list[str]:
    """Return the cells of a row: a hop's time and instructions, then those of loading."""
    found = [f"{cost.run_s * 1e9 / cost.hops:.0f}" for cost in costs if timed]
    found += [
        "" if cost.run_instructions is None else f"{cost.run_instructions / cost.hops:.0f}"
        for cost in costs
    ]
    found += [f"{cost.load_s * 1e3:.1f}" for cost in costs if timed]
    found += [
        "" if cost.load_instructions is None else f"{cost.load_instructions / 1e6:.1f}"
        for cost in costs
    ]
    return found


def heading(*, timed: bool = True) -> list[str]:
    """Return the lines above the rows."""
    groups = ["ns a hop", "instructions a hop", "load and build, ms", "load, M instructions"]
    groups = groups if timed else groups[1::2]
    names = [f"{group}, x{size}" for group in groups for size in SIZES]
    return [" | ".join(["| x1 is", *names]) + " |", "|---" * (len(names) + 1) + "|"]


def build() -> Path:
    """Compile the example."""
    command = ["cargo", "build", "--release", "-p", "tidegate-benches", "--example", "cost"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "examples" / "cost"


def main(given: Sequence[str]) -> None:
    """Print the table."""
    timed = INSTRUCTIONS not in given
    names = [name for name in given if name != INSTRUCTIONS]
    known = [dimension.name for dimension in DIMENSIONS]
    if unknown := set(names) - set(known):
        sys.exit(f"no such dimension: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if not timed and shutil.which("valgrind") is None:
        sys.exit(f"{INSTRUCTIONS} takes valgrind, which is not installed")
    program = build()
    print("\n".join(heading(timed=timed)), flush=True)
    for dimension in DIMENSIONS:
        if not names or dimension.name in names:
            costs = [measure(program, dimension.text(size)) for size in SIZES]
            row_of = cells(costs, timed=timed)
            print(" | ".join([f"| {dimension.what}", *row_of]) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
