"""DualPI2 beside Linux's: the same arrivals, none of which answers to a signal.

Linux's source runs with its defaults, in a program: see tools/validate/linux. Its gains are 0.16
and 3.2 Hz each 16 ms, where RFC 9332 has 0.15 and 3 Hz each 15 ms. It marks by the delay of the L4S
queue however short that is, so `th_len` is 0 here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import tidegate
from tools.validate import linux
from tools.validate.linux import Flow
from tools.validate.rates import Experiment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tools.validate.measure import Measures

    Pair: TypeAlias = tuple[Measures, Measures]

PACKET = 1000
ECN = {"": 0, "ect1": 1, "ect0": 2}
CLASSIC, L4S = "classic", "l4s"


@dataclass(frozen=True)
class Class:
    """Flows of one kind."""

    flows: int
    mbit: float
    """Of each flow."""
    ecn: str = ""
    together: bool = False
    """Whether they all start at one instant; otherwise each within the first second."""


@dataclass(frozen=True)
class Load:
    """What is sent to the queue."""

    mbit: int
    """Of the link."""
    classes: dict[str, Class]
    until: int = 130
    warmup: int = 10

    def document(self) -> dict[str, object]:
        """Return the scenario."""
        traffic = {}
        for name, each in self.classes.items():
            spread = {"uniform": each.flows, "within": "1s"}
            udp = {"rate": f"{each.mbit}Mbit", "packet": f"{PACKET}B"}
            udp |= {"ecn": each.ecn} if each.ecn else {}
            traffic[name] = {
                "arrivals": {"at": ["0s"] * each.flows} if each.together else spread,
                "transport": {"udp": udp},
            }
        access = {"rate": "100Gbit", "delay": "0ms"}
        link = {"rate": f"{self.mbit}Mbit", "delay": "0ms", "buffer": "10000packets"}
        return {
            "name": "unresponsive traffic at DualPI2",
            "duration": f"{self.until}s",
            "warmup": f"{self.warmup}s",
            "topology": {"dumbbell": {"pairs": 1, "access": access, "bottleneck": link}},
            "port": {"bottleneck": {"queue": {"law": "dualpi2", "th_len": 0}}},
            "traffic": traffic,
        }

    @property
    def transmission(self) -> float:
        """Time that a packet takes on the link, in seconds."""
        return PACKET * 8e-6 / self.mbit


LOADS = {
    "dualpi2-heavy": (
        "11 flows of 1 Mbit/s without ECN and 5 of 0.2 Mbit/s with ECT(1) on 10 Mbit/s",
        Load(10, {CLASSIC: Class(11, 1.0), L4S: Class(5, 0.2, "ect1")}),
    ),
    "dualpi2-light": (
        "6 flows of 1.6 Mbit/s without ECN and 5 of 0.2 Mbit/s with ECT(1) on 10 Mbit/s",
        Load(10, {CLASSIC: Class(6, 1.6), L4S: Class(5, 0.2, "ect1")}),
    ),
    "dualpi2-ect0": (
        "10 flows of 1.2 Mbit/s with ECT(0) on 10 Mbit/s: no mark slows them",
        Load(10, {CLASSIC: Class(10, 1.2, "ect0")}),
    ),
    "dualpi2-overload": (
        "10 flows of 2 Mbit/s with ECT(1) and one of 0.5 Mbit/s without ECN on 10 Mbit/s",
        Load(10, {CLASSIC: Class(1, 0.5), L4S: Class(10, 2.0, "ect1")}),
    ),
    "dualpi2-step": (
        "bursts of 50 packets with ECT(1), 5 a second, on 10 Mbit/s",
        Load(10, {L4S: Class(50, 0.04, "ect1", together=True)}),
    ),
    "dualpi2-start": (
        "the first 10 s of 12 flows of 1 Mbit/s without ECN that start at once, on 10 Mbit/s",
        Load(10, {CLASSIC: Class(12, 1.0, together=True)}, until=10, warmup=0),
    ),
}
INSTANTS = (0.5, 1, 2, 4)


def compare(name: str, seed: int) -> Pair:
    """Run a load here and in Linux."""
    _, load = LOADS[name]
    mine, flows = here(load, seed)
    return mine, there(load, flows, seed)


def here(load: Load, seed: int) -> tuple[Measures, list[Flow]]:
    """Run it here; return what is measured, and the flows that were drawn."""
    result = tidegate.run(load.document(), seed=seed)
    ports = result.ports.filter(result.ports["port"].cast(str) == "bottleneck")
    late = ports["time_s"].to_numpy() > load.warmup + 1e-6
    found = {"marks": float(ports["marked"].to_numpy()[late].sum())}
    for row in result.udp.to_dicts():
        name, sent = row["class"], row["sent_packets"]
        found[f"{name}_sent"] = float(sent)
        found[f"{name}_lost"] = row["lost_packets"] / sent
        for rank in ("mean", "p50", "p95", "max"):
            found[f"{name}_wait_{rank}"] = 1e3 * (row[f"delay_{rank}_s"] - load.transmission)
    times, set_to = result.events["time_s"].to_numpy(), result.events["set"].to_numpy()
    found |= base(times, set_to, load)
    flows = [
        Flow(float(start), PACKET * 8e-6 / each.mbit, PACKET, ECN[each.ecn])
        for start, kind in zip(result.flows["start_s"], result.flows["class"], strict=True)
        for each in (load.classes[kind],)
    ]
    return shares(found), flows


def there(load: Load, flows: list[Flow], seed: int) -> Measures:
    """Run the same flows in Linux's law."""
    seen = linux.run(load.mbit * 1_000_000, load.until, flows, seed)
    flow, sent, left, marked = seen.left.T
    late = sent >= load.warmup * 1e9
    found = {"marks": float(marked[late].sum())}
    for name, each in load.classes.items():
        mine = [n for n, one in enumerate(flows) if one.ecn == ECN[each.ecn]]
        count = sum(
            len(np.arange(flows[n].start, load.until, flows[n].every))
            - len(np.arange(flows[n].start, load.warmup, flows[n].every))
            for n in mine
        )
        chosen = late & np.isin(flow, mine)
        waits = (left - sent)[chosen] * 1e-6 - 1e3 * load.transmission
        found[f"{name}_sent"] = float(count)
        found[f"{name}_lost"] = 1 - len(waits) / count
        found[f"{name}_wait_mean"] = float(waits.mean())
        for rank, share in (("p50", 50), ("p95", 95), ("max", 100)):
            found[f"{name}_wait_{rank}"] = float(np.percentile(waits, share))
    steps = seen.steps.astype(np.float64)
    return shares(found | base(1e-9 * steps[:, 0], steps[:, 1] / 2**32, load))


def base(times: NDArray[np.float64], values: NDArray[np.float64], load: Load) -> dict[str, float]:
    """Measure the base probability."""
    late = values[times > load.warmup]
    found = {"p": float(late.mean()) if late.size else 0.0}
    for instant in INSTANTS:
        before = values[times <= instant]
        found[f"p_{instant:g}s"] = float(before[-1]) if before.size else 0.0
    return found


def shares(found: dict[str, float]) -> Measures:
    """Add the share of packets that are marked, of those that may be."""
    able = found.get(f"{L4S}_sent") or found[f"{CLASSIC}_sent"]
    return found | {"marked": found["marks"] / able}


def _experiment(name: str, *measures: str) -> Experiment:
    return Experiment(name, LOADS[name][0], name, measures, compare, peer="Linux")


_BOTH = ("classic_lost", "marked", "p", "classic_wait_p50", "classic_wait_p95", "l4s_wait_p50")
EXPERIMENTS = (
    _experiment("dualpi2-heavy", *_BOTH),
    _experiment("dualpi2-light", *_BOTH),
    _experiment("dualpi2-ect0", "classic_lost", "marked", "p", "classic_wait_p50"),
    _experiment(
        "dualpi2-overload",
        *("l4s_lost", "marked", "classic_lost", "p", "l4s_wait_p50", "l4s_wait_p95"),
        "classic_wait_mean",
    ),
    _experiment("dualpi2-step", "marked", "l4s_lost", "l4s_wait_p50"),
    _experiment(
        "dualpi2-start",
        *("classic_wait_max", *(f"p_{instant:g}s" for instant in INSTANTS), "classic_lost"),
    ),
)
