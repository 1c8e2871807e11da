"""Show an overload of real downloads without control and with close-probe, and its simulation.

    python -m tools.live.demo [--seconds 40] [--seed 1] [--out out/live-demo]

Three namespaces: a server, a router and a client behind a link of 10 Mbit/s. The gate at the
router's end shapes the link, so that the queue is there; the rest of the link is emulated. The
simulator runs the same flows of the same scenario, with hosts of its profile `linux`.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tidegate.hosts.lab import LATE_MS, Lab, interrupted, need, valid
from tidegate.show.style import RULES, colour
from tools.live.measure import Flow, Measures, of_flows, read, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "live" / "overload.toml"
LAWS = ("none", "close-probe")

NO_GATE = 'port.bottleneck.gate={ law = "none" }'
"""The control is the gate's in the lab, not the emulator's."""
FAST = "topology.dumbbell.bottleneck.rate=1Gbit"
"""The queue is at the gate: no packet waits behind it."""
RATE, BUFFER = "10Mbit", "150kB"
"""The shaper of the gate: rate and buffer of the scenario, in bytes of full packets."""


@dataclass(frozen=True)
class Run:
    """One run, in the lab or in the simulator."""

    law: str
    where: str
    flows: Sequence[Flow]
    measures: Measures
    refused: int


def in_the_lab(law: dict[str, object], seconds: float, seed: int) -> Run:
    """Run real downloads with this law at the gate."""
    with Lab(late_ms=LATE_MS) as lab:
        link = lab.link(SCENARIO, FAST, NO_GATE, seed=seed)
        lab.gate(
            f"mode = 'enforce'\nopener = 'syn-ack'\nlaw = {_inline(law)}\n"
            f"shape = '{RATE}'\nshape_buffer = '{BUFFER}'\n"
        )
        table = lab.folder / "flows.csv"
        lab.traffic(SCENARIO, table, f"duration={seconds}s", download=True, seed=seed)
        status = lab.status()
        link.report()
        flows = read(table)
        refused = int(dict(status["packets"])["session_refused"])
        return Run(str(law["law"]), "lab", flows, of_flows(flows, seconds), refused)


def in_the_simulator(law: dict[str, object], seconds: float, seed: int) -> Run:
    """Run the same flows in the simulator."""
    gate: dict[str, object] = {"law": "none"}
    if law["law"] != "none":
        gate = {**law, "limiter": "token-bucket", "relief": True, "admit": "syn-ack"}
        gate["tokens_keep"] = 2.0
    settings: dict[str, object] = {"duration": f"{seconds}s", "port.bottleneck.gate": gate}
    flows, _ = simulate(SCENARIO, seed, settings)
    return Run(str(law["law"]), "simulator", flows, of_flows(flows, seconds), 0)


def _inline(law: dict[str, object]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in law.items()) + " }"


ROWS = (
    ("sessions offered /s", "offered_per_s", "{:.1f}"),
    ("sessions completed /s", "completed_per_s", "{:.1f}"),
    ("FCT from the first SYN, mean [s]", "fct_mean_s", "{:.2f}"),
    ("FCT from the first SYN, p95 [s]", "fct_p95_s", "{:.2f}"),
    ("FCT from admission, mean [s]", "fct_admitted_mean_s", "{:.2f}"),
    ("never admitted [%]", "never_admitted_share", "{:.1%}"),
    ("data packets sent again [%]", "retransmitted_share", "{:.1%}"),
    ("delivered [Mbit/s]", "goodput_mbit_s", "{:.2f}"),
)


def table(runs: Sequence[Run]) -> str:
    """Put the runs side by side."""
    heads = [f"{run.law}, {run.where}" for run in runs]
    lines = [f"{'':34}" + "".join(f"{head:>24}" for head in heads)]
    for title, name, form in ROWS:
        values = [form.format(getattr(run.measures, name)) for run in runs]
        lines.append(f"{title:34}" + "".join(f"{value:>24}" for value in values))
    return "\n".join(lines)


def draw(runs: Sequence[Run], seconds: float, picture: Path) -> None:
    """Draw completions over time, and the shares that were served within a time."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(cast("Any", RULES)):
        figure, (over_time, served) = plt.subplots(1, 2, figsize=(13, 4.6))
        for run in runs:
            look = {
                "color": colour(LAWS.index(run.law)),
                "linestyle": "-" if run.where == "lab" else "--",
                "label": f"{run.law}, {run.where}",
            }
            _completions(over_time, run, seconds, look)
            _served(served, run, look)
        over_time.set(title="Sessions completed per second", xlabel="time [s]", ylim=(0, None))
        served.set(
            title="Share of all sessions that were completed within a time from the first SYN",
            xlabel="flow completion time [s]",
            ylabel="share",
            xscale="log",
            ylim=(0, None),
        )
        for axes in (over_time, served):
            axes.legend(frameon=False)
        figure.savefig(picture, dpi=130)
        plt.close(figure)


def _completions(axes: Axes, run: Run, seconds: float, look: dict[str, Any]) -> None:
    edges = np.arange(0, seconds + 2, 2.0)
    counts, _ = np.histogram([flow.closed for flow in run.flows], bins=edges)
    axes.plot(edges[:-1] + 1, counts / 2, **look)


def _served(axes: Axes, run: Run, look: dict[str, Any]) -> None:
    fct = np.sort([flow.fct for flow in run.flows if flow.fct == flow.fct])
    axes.step(fct, np.arange(1, len(fct) + 1) / max(1, len(run.flows)), where="post", **look)


def main() -> int:
    """Run the demo, print the table and the path of the picture."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tools.live.demo")
    parser.add_argument("--seconds", type=float, default=40, help="of each run")
    parser.add_argument("--seed", type=int, default=1, help="of the flows")
    parser.add_argument("--out", type=Path, default=Path("out/live-demo"), help="folder")
    given = parser.parse_args()
    need(gate=True)
    given.out.mkdir(parents=True, exist_ok=True)
    runs = []
    for name in LAWS:
        law: dict[str, object] = {"law": name}
        print(f"{name}: {given.seconds:.0f} s of real downloads ...", flush=True)
        runs.append(valid(partial(in_the_lab, law, given.seconds, given.seed), print))
        runs.append(in_the_simulator(law, given.seconds, given.seed))
    print(table(runs))
    print(f"refused by the gate: {', '.join(f'{run.law} {run.refused}' for run in runs[::2])}")
    picture = given.out / "overload.png"
    draw(runs, given.seconds, picture)
    print(f"the picture is {picture}")
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
