"""`python -m tools.law_cost [SECONDS [ROUNDS]]`: what laws in Python cost beside built-in ones.

Each law runs in turn with the built-in one that does the same, and their results must be equal.
Printed is the least CPU time of the rounds, divided by the packets of which the law heard.
"""

from __future__ import annotations

import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tidegate

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[1] / "examples"
LINK = """
name = "long-and-short"
[topology.dumbbell]
pairs = 4
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "20ms", buffer = "200packets" }
[traffic.long]
arrivals = { at = ["0s", "0s"] }
size = "unlimited"
transport = { tcp = { control = "reno" } }
[traffic.web]
arrivals = { poisson = "20/s" }
size = { pareto = { mean = "30kB", shape = 1.5 } }
transport = { tcp = { control = "reno" } }
"""


@dataclass(frozen=True)
class Law:
    """A law in both languages: settings that choose it, and how a run gets the one in Python."""

    name: str
    built_in: dict[str, str]
    own: dict[str, str]
    handed: Callable[[], Any]
    same: bool = True


def _example(file: str, name: str) -> Any:  # noqa: ANN401  (a class of any kind)
    return runpy.run_path(str(EXAMPLES / f"{file}.py"))[name]


class Fits:
    """What drop-tail does, in a queue law with `arrive` alone."""

    def arrive(
        self,
        _packet: tidegate.Packet,
        _waiting: tidegate.Waiting,
        found: tidegate.Found,
        _draw: tidegate.Draw,
    ) -> tidegate.Verdict:
        """Take what fits."""
        return tidegate.Verdict.PASS if found.fits else tidegate.Verdict.FULL


def laws() -> list[Law]:
    """Return what is measured."""
    queue, gate, drops = "port.bottleneck.queue", "port.bottleneck.gate", "port.bottleneck.filter"
    mine = '{ law = "python", name = "mine" }'
    tcp = {f"traffic.{name}.transport": '{ tcp = { control = "reno" } }' for name in CLASSES}
    own = {f"traffic.{name}.transport": '{ python = { name = "mine" } }' for name in CLASSES}
    codel, reno = _example("own_queue_law", "CoDel"), _example("own_control", "Reno")
    probe, bucket = _example("own_close_probe", "CloseProbe"), _example("own_filter", "PerFlow")
    return [
        Law("drop-tail", {}, {queue: mine}, lambda: Fits),
        Law("CoDel", {queue: '{ law = "codel" }'}, {queue: mine}, lambda: codel),
        Law("Reno", tcp, own, lambda: reno),
        Law(
            "close-probe",
            {gate: '{ law = "close-probe" }'},
            {gate: mine.replace("mine", "close-probe")},
            probe,
        ),
        Law("filter, beside none", {}, {drops: mine}, lambda: bucket, same=False),
    ]


CLASSES = ("long", "web")


def main(seconds: float, rounds: int) -> None:
    """Print a line for each law."""
    print(f"{seconds:g} s simulated, least of {rounds} rounds; ns of CPU time for each packet")
    print(f"{'':24}{'packets':>10}{'all, Rust':>12}{'all, Python':>12}{'in addition':>12}")
    for law in laws():
        times: dict[bool, list[float]] = {False: [], True: []}
        found = {}
        for _ in range(rounds):
            for python in (False, True):
                found[python] = _run(law, seconds, python=python)
                times[python].append(found[python]["cpu_s"])
        if law.same and found[False]["result_hash"] != found[True]["result_hash"]:
            raise SystemExit(f"{law.name}: the results in Python are not those in Rust")
        port = next(each for each in found[True]["ports"] if each["name"] == "bottleneck")
        rust, own = (min(times[python]) / port["data_arrived"] * 1e9 for python in (False, True))
        count = f"{port['data_arrived']:,}"
        print(f"{law.name:24}{count:>10}{rust:>12,.0f}{own:>12,.0f}{own - rust:>12,.0f}")


def _run(law: Law, seconds: float, *, python: bool) -> dict[str, Any]:
    """Make a run, and return its summary."""
    settings = {"duration": f"{seconds:g}s", **(law.own if python else law.built_in)}
    own = dict.fromkeys(("mine", "close-probe"), law.handed()) if python else None
    summary: dict[str, Any] = tidegate.run(LINK, settings=settings, laws=own).summary
    return summary


if __name__ == "__main__":
    asked = [float(each) for each in sys.argv[1:]]
    main(asked[0] if asked else 200.0, int(asked[1]) if len(asked) > 1 else 7)
