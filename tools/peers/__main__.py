"""Run the yardstick in tidegate and in other simulators, in turn, and print the ratio.

    python -m tools.peers [--rounds N] [--peer NAME]...

Speed is packet-hops per second of CPU time of the simulation alone. The best round counts, since
other load of the machine only slows a round. A simulator that cannot be installed is left out, and
the reason is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from tools.peers.install import PEERS, UnavailableError

if TYPE_CHECKING:
    from tools.peers.install import Peer

YARDSTICK_S = 20.0
SEED = 1


@dataclass
class Measured:
    """The rounds of one simulator."""

    name: str
    seconds: float
    """Simulated time of a round."""
    rates: list[float] = field(default_factory=list)
    """Millions of packet-hops per second of CPU time."""
    hops: int = 0
    goodput: float = 0.0

    def note(self, result: dict[str, float], by: str = "cpu_s") -> None:
        """Note one round, with its time."""
        self.hops = int(result["packet_hops"])
        self.goodput = result["goodput_mbit_s"]
        self.rates.append(self.hops / result[by] / 1e6)


def starts() -> list[float]:
    """Return when the flows of the yardstick start."""
    from importlib.resources import files

    from tidegate import _native

    text = files("tidegate.results").joinpath("yardstick.toml").read_text(encoding="utf-8")
    scenario = _native.load(text, "yardstick.toml", [("duration", "6s")], {})
    run = _native.Simulation(scenario, SEED)
    while not run.advance(50.0):
        pass
    return [float(start) for start in run.results()["flows"]["start_s"]]


def tidegate() -> dict[str, float]:
    """Run the yardstick in a process of its own, as the peers are."""
    code = "import json; from tidegate.results.yardstick import measure; "
    code += f"print(json.dumps(measure(seed={SEED})))"
    return run([sys.executable, "-c", code])


def run(command: list[str]) -> dict[str, float]:
    """Run a command that prints one line of JSON."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def ready(console: Console, wanted: list[str]) -> list[tuple[Peer, list[str]]]:
    """Install the simulators; print the reason where one is left out."""
    found = []
    for peer in PEERS:
        if peer.name in wanted:
            console.print(f"{peer.name}: {peer.about}", highlight=False)
            try:
                found.append((peer, peer.install()))
            except UnavailableError as error:
                console.print(f"{peer.name} is left out: {error}", highlight=False)
    return found


def report(console: Console, measured: list[Measured]) -> None:
    """Print the speeds, and how many times slower than the first each is."""
    head = ("simulator", "simulated", "M hops", "Mbit/s", "M hops / CPU s", "of all", "slower by")
    table = Table(*head, box=box.SIMPLE_HEAD)
    best = max(measured[0].rates)
    for one in measured:
        rate = max(one.rates)
        table.add_row(
            one.name,
            f"{one.seconds:g} s",
            f"{one.hops / 1e6:.2f}",
            f"{one.goodput:.0f}",
            f"{rate:.3g}",
            f"{min(one.rates):.3g} to {rate:.3g}",
            f"{best / rate:.3g}",
        )
    console.print(table)


def main() -> int:
    """Run the chosen simulators."""
    names = [peer.name for peer in PEERS]
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.peers")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--peer", action="append", choices=names, help="only this; repeatable")
    given = parser.parse_args()
    console = Console()
    peers = ready(console, given.peer or [peer.name for peer in PEERS if not peer.named])
    own = Measured("tidegate", YARDSTICK_S)
    others = [Measured(peer.name, peer.seconds) for peer, _ in peers]
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "starts"
        listed.write_text("".join(f"{start:.9f}\n" for start in starts()), encoding="ascii")
        for _ in range(given.rounds):
            own.note(tidegate())
            for (peer, command), measured in zip(peers, others, strict=True):
                measured.note(run([*command, str(listed), f"{peer.seconds:g}"]), peer.by)
    report(console, [own, *others])
    return 0


if __name__ == "__main__":
    sys.exit(main())
