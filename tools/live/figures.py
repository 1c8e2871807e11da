"""Measure the gate and the emulated link here, and print their tables of docs/matrix-figures.md.

    python -m tools.live.figures [--seconds 300] [--runs 3] [--short] [--predict] [--only PART]...

The parts: `link` (rate and delay reached), `cost` (the program's time per packet, its maps),
`overload` (without control, close-probe, tide, DQM, each in the simulator too), `light` (loads that
the link carries, and long flows), `flood` and `small-flood` (SYNs from invented addresses), `today`
(three cells of `tidegate study today` on real traffic). `--short` is 25 s and one run. `--predict`
asks the simulator alone, which needs neither root nor an idle machine; everything else does.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import (
    LATE_MS,
    PORT,
    RIGHT,
    Lab,
    LabError,
    RanOut,
    interrupted,
    lateness,
    need,
    valid,
)
from tools.live.cost import Cost, counting_time, hooks, in_turn, mean_times, put_empty
from tools.live.loads import BEHIND_HEAD, GATES, document, endless, on_a_machine, pages, shaped
from tools.live.measure import Flow, Measures, mean_and_spread, of_flows, read, simulate
from tools.live.today import today

if TYPE_CHECKING:
    from collections.abc import Sequence

NONE = "law = { law = 'none' }\n"
CLOSE_PROBE = "law = { law = 'close-probe' }\n"
DQM = NONE + "dqm = { x_m = 50, x_M = 50, P_M = 1, measure = 'instantaneous', buffer = 100 }\n"
SHAPE = "shape = '10Mbit'\nshape_buffer = '150kB'\n"
TIDE = "law = { law = 'tide', admit = 'connections' }\n"
"""All sessions of this lab have one address: they would be one client."""
CONTROLS = {"none": NONE, "close-probe": CLOSE_PROBE, "tide": TIDE, "dqm": DQM}
VISITS = TIDE.replace("connections", "visits")
COSTS = CONTROLS | {
    "tide by client": TIDE.replace("connections", "clients"),
    "tide visits": VISITS,
    "tide visits, who": f"who = true\n{VISITS}[down]\ninterface = 'tg0'\n",
}
"""What is measured per packet: also the default of a gate, and its view by client."""
OVERLOAD = 340
"""Sessions/s of 10 kB: three times what 10 Mbit/s carry."""
FLOOD = 10_000
"""SYNs/s: 3.2 Mbit/s, which this machine makes with a gate and without."""
SMALL_FLOOD = 300
"""SYNs/s: fewer than five for each honest session, so that there is no alarm."""
SIDES = ("egress", "ingress")
CARRIED = 113
"""Sessions/s of 10 kB that 10 Mbit/s carry, headers and handshakes included."""

IN_THE_SIMULATOR: dict[str, dict[str, Any]] = {
    **GATES,
    "dqm": {
        "queue": {
            "law": "dqm",
            "x_m": 50,
            "x_M": 50,
            "P_M": 1.0,
            "measure": "instantaneous",
            # the gate has one queue, and counts all of it
            "counts": "all",
            "queues": 1,
            "refuse_at": "ingress",
        }
    },
}


PACKET, PROCESSORS = "2.9us", 2
"""Of the machine of docs/matrix-figures.md, measured there."""


@dataclass(frozen=True)
class Wanted:
    """The options of a measurement."""

    seconds: float
    runs: int
    controls: Sequence[str]
    seed: int
    """Seed of loads that are run once."""
    predict: bool = False
    """Whether the simulator alone is run."""
    costs: Sequence[str] = tuple(COSTS)
    """Controls whose cost is measured."""
    gate: str = ""
    """A further line of the gate's file under overload."""
    back: str = ""
    """Rate of the way back in a prediction of the overload; empty: that of the lab."""
    packet: str = PACKET
    """Time of a processor for a packet that it sends, in a prediction of the overload."""
    processors: int = PROCESSORS
    """Of the machine that all hosts are on, in a prediction of the overload."""


@dataclass(frozen=True)
class Gated:
    """The outcome of a run with a gate."""

    flows: Sequence[Flow]
    status: dict[str, Any]
    link: list[dict[str, Any]]
    cost_ns: dict[str, Cost]
    epochs: list[dict[str, Any]]
    """The gate's log."""
    sent_again: float
    """Share of the sender's data packets that its kernel sent again, flows without an end too."""

    @property
    def refused(self) -> int:
        """Openers that the gate dropped."""
        packets = dict(self.status["packets"])
        dqm = self.status.get("connections") or (0, 0)
        return int(packets["session_refused"]) + int(dqm[1])

    @property
    def shaped_mbit_s(self) -> float:
        """What the shaper sent in epochs in which something always waited; NaN: there was none."""
        rates = [
            each["sent_bytes"] * 8e-6 / (each["at_s"] - before["at_s"])
            for before, each in pairwise(self.epochs)
            if each["min_queue"] > 0
        ]
        return statistics.fmean(rates) if rates else math.nan


def gated(
    control: str,
    traffic: dict[str, Any],
    seconds: float,
    seed: int = 1,
    *,
    shape: str = SHAPE,
    cost_at: str | None = None,
) -> Gated:
    """Run real sessions through a gate that shapes the link, so that the queue is at the gate.

    With the name of a hook, the gate is there, and the time of its programs is counted.
    """
    openers = {each.get("opens", "sender") for each in traffic.values()}
    # where the cost is measured the processor is to be busy
    with Lab(late_ms=None if cost_at else LATE_MS) as lab:
        # behind the gate nothing waits
        path, table = lab.write(document(seconds, traffic, rate="1Gbit", buffer="10MB"))
        link = lab.link(path, seed=seed)
        hook = f"hook = '{cost_at}'\n" if cost_at else ""
        lab.gate(f"mode = 'enforce'\n{hook}{shape}{control}")
        if cost_at:
            put_empty(lab, cost_at)
        parts = [(name,) for name in traffic]
        lab.parts(path, table, parts, download="receiver" in openers, seed=seed)
        again = lab.sent_again(lab.left)
        status, cost = lab.status(), mean_times(lab) if cost_at else {}
        epochs = [json.loads(line) for line in lab.log.read_text(encoding="utf-8").splitlines()]
        return Gated(read(table), status, link.report(), cost, epochs, again)


# The parts.


def link(_: Wanted) -> None:
    """Measure the rates and the delay that the emulated link reaches."""
    print("\nlink: two flows without end, 8 s; then 200 connections one after the other\n")
    heads = ("IP, reached", "goodput", "delay asked", "p50", "p95", "one core")
    print(f"{'asked':>14}" + "".join(f"{head:>13}" for head in heads))
    for mbit in (10, 100, 1000):
        traffic = {"bulk": endless(2, "sender")}
        scenario = document(8, traffic, rate=f"{mbit}Mbit", delay="5ms", buffer="50ms")
        with Lab() as lab:
            path, table = lab.write(scenario)
            emulated = lab.link(path)
            lab.traffic(path, table, download=False)
            share = cpu_of(emulated.process.pid) / 8
            [there, _back] = emulated.report()
            goodput = of_flows(read(table), 8).goodput_mbit_s
        reached = (there["reached_bps"] or 0) * 1e-6
        delays = [there[f"{name}_ms"] for name in ("asked_delay", "delay_p50", "delay_p95")]
        values = "".join(f"{value:>13.2f}" for value in (reached, goodput, *delays))
        print(f"{mbit:>7} Mbit/s{values}{share:>13.0%}")
    middle, late = round_trips()
    print(f"\nround trip of connections, 40 ms asked: p50 {middle:.2f} ms, p95 {late:.2f} ms")


ROUND_TRIPS = f"""
import socket, time
for _ in range(200):
    began = time.perf_counter()
    socket.create_connection(("{RIGHT}", {PORT})).close()
    print((time.perf_counter() - began) * 1e3)
    time.sleep(0.01)
"""


def round_trips() -> tuple[float, float]:
    """Connect through a link of 20 ms each way; return p50 and p95 in ms."""
    with Lab() as lab:
        scenario = document(60, {"bulk": endless(1, "sender")}, rate="1Gbit", delay="20ms")
        lab.link(lab.write(scenario)[0])
        lab.serve(lab.right, f"{RIGHT}:{PORT}")
        printed = lab.within(lab.left, sys.executable, "-c", ROUND_TRIPS).split()
        times = statistics.quantiles([float(each) for each in printed], n=100)
        return times[49], times[94]


def cpu_of(process: int) -> float:
    """Return the seconds of CPU of a process so far, without what the kernel does for packets."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost(wanted: Wanted) -> None:
    """Measure the programs per packet, their maps, and the throughput with and without them."""
    print("\ncost: programs by their run-time counter, two uploads without end for 8 s; an empty")
    print("program at the same hook says what counting takes\n")
    wide = "shape = '900Mbit'\nshape_buffer = '4MB'\n"
    bulk = {"bulk": endless(2, "sender")}
    with counting_time():
        controls = {name: text for name, text in COSTS.items() if name in wanted.costs}
        for (name, control), hook in product(controls.items(), hooks()):
            found = gated(control, bulk, 8, shape=wide, cost_at=hook)
            rate = of_flows(found.flows, 8).goodput_mbit_s
            maps = found.status["map_bytes"]
            print(f"{name} at {hook}: {rate:.0f} Mbit/s; maps {maps} bytes at most")
            empty = {side: found.cost_ns[f"tidegate_empty {side}"].counted_ns for side in SIDES}
            for who, each in found.cost_ns.items():
                net = each.counted_ns - empty[who.split()[1]]
                print(
                    f"    {who:26} {each.counted_ns:6.0f} ns counted, {net:5.0f} net, "
                    f"{each.alone_ns:4} alone, {each.runs} packets",
                    flush=True,
                )
    scenario = document(300, bulk, rate="10Gbit")
    gate = "mode = 'enforce'\ncapacity = '10Gbit'\n"
    for name in ("close-probe", "tide"):
        if name in wanted.costs:
            print(f"forwarding, {name}: {in_turn(scenario, gate + CONTROLS[name], 4, 10)}")


def crowd() -> dict[str, Any]:
    """Return the overload in five classes: a process holds no more than 20 thousand sessions."""
    return {f"pages-{n}": pages(OVERLOAD / 5) for n in range(1, 6)}


REACHED = 0.98
"""Least share of its rate that the shaper sends while packets wait: with less, too."""
TRIES = 3


def overload(wanted: Wanted) -> None:
    """Offer three times what the link carries, under each control."""
    seconds, runs = wanted.seconds, wanted.runs
    print(f"\noverload: {OVERLOAD} downloads/s of 10 kB over 10 Mbit/s, ", end="")
    print(f"{seconds:.0f} s, {runs} runs\n")
    heads = ("completed/s", "FCT, s", "p95, s", "admitted, s", "never adm., %", "again, %")
    print(f"{'':26}" + "".join(f"{head:>16}" for head in heads), flush=True)
    for name, control in CONTROLS.items():
        if name not in wanted.controls:
            continue
        if not wanted.predict:
            real = []
            for seed in range(1, runs + 1):
                found = punctual(f"{wanted.gate}\n{control}", crowd(), seconds, seed)
                again = {"retransmitted_share": found.sent_again}
                real.append(replace(of_flows(found.flows, seconds), **again))
                show(f"  {name}, seed {seed}", real[-1:])
            show(f"{name}, lab", real)
        port = IN_THE_SIMULATOR[name] or None
        scenario = shaped(seconds, crowd(), port=port, back=wanted.back, buffer=BEHIND_HEAD)
        scenario = on_a_machine(scenario, wanted.packet, wanted.processors)
        flows = [simulate(scenario, seed, {})[0] for seed in range(1, runs + 1)]
        show(f"{name}, simulator", [of_flows(each, seconds) for each in flows])


def punctual(control: str, traffic: dict[str, Any], seconds: float, seed: int) -> Gated:
    """Run, and repeat if the machine was too busy; print what the link reached."""
    for _ in range(TRIES):
        try:
            found = gated(control, traffic, seconds, seed)
        except RanOut as reason:
            print(f"    {reason}: REPEATED", flush=True)
            continue
        late, rate = lateness(found.link)[0], found.shaped_mbit_s
        good = not rate < REACHED * 10
        print(f"    the emulator was {late:.2f} ms late (p95);", end=" ")
        print(f"the shaper sent {rate:.3f} Mbit/s while packets waited;", end=" ")
        print(f"{found.refused} refused{'' if good else ': REPEATED'}", flush=True)
        if good:
            return found
    raise LabError(f"seed {seed}: the machine was too busy {TRIES} times")


def show(name: str, found: Sequence[Measures]) -> None:
    """Print mean and standard deviation over the runs."""
    columns = [
        mean_and_spread([each.completed_per_s for each in found]),
        mean_and_spread([each.fct_mean_s for each in found]),
        mean_and_spread([each.fct_p95_s for each in found]),
        mean_and_spread([each.fct_admitted_mean_s for each in found]),
        mean_and_spread([100 * each.never_admitted_share for each in found]),
        mean_and_spread([100 * each.retransmitted_share for each in found]),
    ]
    print(f"{name:26}" + "".join(f"{each:>16}" for each in columns), flush=True)


def light(wanted: Wanted) -> None:
    """Offer what the link carries: a gate should refuse nothing."""
    seconds = min(wanted.seconds / 2, 60)
    print(
        f"\nlight: what the gate refuses where the link carries everything, {seconds:.0f} s, ",
        end="",
    )
    print(f"seed {wanted.seed}\n")
    print(f"{'load':>24}{'control':>14}{'refused':>9}{'completed/s':>13}{'FCT, s':>9}", flush=True)
    loads: dict[str, dict[str, Any]] = {
        f"{share:.0%} of the link": {"pages": pages(round(share * CARRIED, 1))}
        for share in (0.1, 0.5, 0.9)
    }
    loads["20/s and 5 long flows"] = {"pages": pages(20), "bulk": endless(5)}
    for load, traffic in loads.items():
        for name in ("none", "close-probe", "tide"):
            run = partial(gated, CONTROLS[name], traffic, seconds, wanted.seed)
            found = valid(run, print)
            measures = of_flows(found.flows, seconds)
            print(f"{load:>24}{name:>14}{found.refused:>9}{measures.completed_per_s:>13.1f}"
                  f"{measures.fct_mean_s:>9.3f}", flush=True)  # fmt: skip


def flood(wanted: Wanted) -> None:
    """Send many SYNs from invented addresses, along with honest sessions."""
    honest = {**pages(20, "sender"), "size": "5kB"}
    what = "20 honest sessions/s of 5 kB and 2 long flows"
    flooded(wanted, FLOOD, what, {"pages": honest, "bulk": endless(2, "sender")})


def small_flood(wanted: Wanted) -> None:
    """Send fewer SYNs than an alarm takes, along with three quarters of what the link carries."""
    flooded(wanted, SMALL_FLOOD, "85 honest sessions/s of 10 kB", {"pages": pages(85, "sender")})


def flooded(wanted: Wanted, syns: int, what: str, honest: dict[str, Any]) -> None:
    """Send SYNs from invented addresses at a rate, along with honest sessions."""
    seconds = min(wanted.seconds, 30)
    print(f"\nflood: {syns} SYNs/s from invented addresses for {seconds:.0f} s, with {what}\n")
    scenario = document(seconds, honest, rate="1Gbit", buffer="10MB")
    for name in ("none", "close-probe", "tide"):
        with Lab(may_run_out=frozenset({"backlog"})) as lab:
            path, table = lab.write(scenario)
            lab.link(path)
            gate = lab.gate(f"mode = 'enforce'\n{SHAPE}{CONTROLS[name]}")
            before = memory_of(gate.pid)
            rate = (str(syns), str(seconds))
            flooding = lab.start(
                lab.left, sys.executable, "-m", "tools.live.flood", RIGHT, str(PORT), *rate
            )
            lab.traffic(path, table, download=False)
            sent = int(flooding.communicate()[0] or 0)
            lab.started.remove(flooding)
            status, after = lab.status(), memory_of(gate.pid)
            flows = read(table)
        measures = of_flows([flow for flow in flows if flow.size_known], seconds)
        long = sum(flow.delivered for flow in flows if not flow.size_known) * 8e-6 / seconds
        share = measures.completed_per_s / max(1e-9, measures.offered_per_s)
        refused = dict(status["packets"])["session_refused"]
        print(f"{name:>12}: {sent / seconds:.0f} SYNs/s sent, {refused} refused", end="")
        print(f", alarm {status['alarm']}; honest sessions completed {share:.0%}", end="")
        print(f", FCT {measures.fct_mean_s:.2f} s; long flows {long:.2f} Mbit/s", end="")
        print(f"; memory {before} -> {after} kB, maps {status['map_bytes']} bytes")


def memory_of(process: int, what: str = "VmRSS") -> int:
    """Return the memory of a process in kB; `VmHWM`: the most that it has had."""
    status = Path(f"/proc/{process}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith(f"{what}:")]
    return int(line.split()[1])


def cells(wanted: Wanted) -> None:
    """Run three cells of the study of today's links."""
    today(min(wanted.seconds, 90), wanted.runs, predict=wanted.predict)


PARTS = {
    "link": link,
    "cost": cost,
    "overload": overload,
    "light": light,
    "flood": flood,
    "small-flood": small_flood,
    "today": cells,
}
PREDICTED = ("overload", "today")
"""Parts that the simulator has too."""


def options() -> argparse.ArgumentParser:
    """Return the reader of the options."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.live.figures")
    parser.add_argument("--seconds", type=float, default=300, help="of each run under overload")
    parser.add_argument("--runs", type=int, default=3, help="of each control under overload")
    parser.add_argument(
        "--control", action="append", choices=COSTS, help="under overload, and cost"
    )
    parser.add_argument("--gate", default="", help="a line of the gate's file, under overload")
    parser.add_argument("--seed", type=int, default=1, help="of the flows at light load")
    parser.add_argument("--short", action="store_true", help="25 s and one run")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; repeatable")
    parser.add_argument("--predict", action="store_true", help="ask the simulator alone")
    parser.add_argument("--back", default="", help="of the prediction: rate of the way back")
    packet = "of the prediction: a processor's time for a packet (default %(default)s)"
    parser.add_argument("--packet", default=PACKET, help=packet)
    processors = "of the prediction: those of the machine that all hosts are on (%(default)s)"
    parser.add_argument("--processors", type=int, default=PROCESSORS, help=processors)
    return parser


def main() -> int:
    """Measure the chosen parts."""
    parser = options()
    given = parser.parse_args()
    parts = given.only or (PREDICTED if given.predict else PARTS)
    if given.predict and not set(parts) <= set(PREDICTED):
        parser.error(f"the simulator has only these parts: {', '.join(PREDICTED)}")
    if given.processors < 1:
        parser.error("--processors: a machine has one at least")
    if not given.predict:
        need(gate=True)
    controls = given.control or tuple(CONTROLS)
    costs = given.control or tuple(COSTS)
    loads = (given.seconds, given.runs, controls, given.seed)
    machine = (given.packet, given.processors)
    wanted = Wanted(*loads, given.predict, costs, given.gate, given.back, *machine)
    if given.short:
        wanted = replace(wanted, seconds=25, runs=1)
    begin = time.perf_counter()
    for name in parts:
        PARTS[name](wanted)
    print(f"\n{time.perf_counter() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
