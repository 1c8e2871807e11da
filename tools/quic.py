"""What gates make of a link of which a part is QUIC: the tables of docs/quic.md.

`make stacks`, then `.venv/bin/python -m tools.quic`: some five minutes on two cores. With
`overload` what many connections over one overloaded link cost, and whether repeats are the same.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from math import inf
from pathlib import Path
from statistics import mean
from sys import argv
from tempfile import TemporaryDirectory
from time import process_time

import polars as pl

import tidegate

SCENARIO = Path(__file__).parents[1] / "scenarios" / "stacks" / "half-quic.toml"
SESSIONS_PER_S = 188
SEEDS = (1, 2)
IN_TIME_S = 5.0
WARM_S = 30.0
"""Sessions that begin before are not counted, nor those of the last seconds of the run."""
PATIENCE_S = 30.0
SHARES = {"none": 0.0, "a tenth": 0.1, "half": 0.5, "all": 1.0}
PLAIN = {"law": "drop-tail"}
Stages = Mapping[str, object]


def _both(gate: Mapping[str, object]) -> tuple[Stages, Stages]:
    return {"gate": gate, "queue": PLAIN}, {"gate": {**gate, "quic": {}}, "queue": PLAIN}


def _laws() -> Iterator[tuple[str, Stages]]:
    """Each law without and with an eye for QUIC."""
    yield "none", {"gate": {"law": "none"}, "queue": PLAIN}
    saving = {"limiter": "saving-bucket", "eligibility": True}
    for name, gate in (
        ("close-probe", {"law": "close-probe", **saving}),
        ("gss-ga", {"law": "gss-ga", **saving}),
        ("tide", {"law": "tide", "admit": "connections"}),
    ):
        blind, seeing = _both(gate)
        yield name, blind
        yield f"{name}, quic = {{}}", seeing
    dqm = {"law": "dqm", "x_m": 20, "x_M": 60, "P_M": 0.7}
    yield "dqm", {"gate": {"law": "none"}, "queue": dqm}
    yield "dqm, quic = true", {"gate": {"law": "none"}, "queue": {**dqm, "quic": True}}


def _idle() -> Iterator[tuple[str, Stages]]:
    """Tide with other idle times than 5 s."""
    for idle in ("1s", "2s", "5s", "15s", "60s"):
        gate = {"law": "tide", "admit": "connections", "quic": {"idle": idle}}
        yield idle, {"gate": gate, "queue": PLAIN}


def _measure(share: float, stages: Stages, seed: int) -> dict[str, float]:
    """Run once; return what became of the sessions of each kind."""
    rates = {"quic": SESSIONS_PER_S * share, "tcp": SESSIONS_PER_S * (1 - share)}
    settings: dict[str, object] = {
        f"traffic.{name}.arrivals.poisson": f"{max(rate, 1e-6):g}/s" for name, rate in rates.items()
    }
    settings |= {f"port.bottleneck.{stage}": value for stage, value in stages.items()}
    result = tidegate.run(SCENARIO, seed=seed, settings=settings)
    flows = result.flows
    last = flows.select(pl.col("start_s").max()).item() - PATIENCE_S
    found = {"link": result.summary["ports"][0]["utilisation"]}
    for name, rate in rates.items():
        if rate < 1.0:
            continue
        own = flows.filter(
            (pl.col("class") == name) & pl.col("start_s").is_between(WARM_S, last, closed="left")
        )
        served = (own["fct_s"] <= IN_TIME_S).sum() / own.height
        refused = own["admitted_s"].null_count() / own.height
        found |= {f"{name} in time": served, f"{name} never in": refused}
        waits = (own["admitted_s"] - own["start_s"]).drop_nulls()
        found[f"{name} wait"] = waits.quantile(0.95) or 0.0
    return found


def _table(first: str, cases: Mapping[str, tuple[float, Stages]]) -> None:
    """Run each case with each seed and print a table of means."""
    runs = [(name, seed) for name, seed in product(cases, SEEDS)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda run: _measure(*cases[run[0]], run[1]), runs))
    heads = [
        f"{kind} {what}" for what in ("in time", "never in", "wait") for kind in ("tcp", "quic")
    ]
    print(f"| {first} | " + " | ".join(heads) + " | link |")
    print("|---" * (len(heads) + 2) + "|")
    for name in cases:
        own = [each for (case, _), each in zip(runs, found, strict=True) if case == name]
        cells = []
        for head in [*heads, "link"]:
            values = [each[head] for each in own if head in each]
            unit = "{:.1f} s" if head.endswith("wait") else "{:.0%}"
            cells.append(unit.format(mean(values)) if values else "")
        print(f"| {name} | " + " | ".join(cells) + " |")


OVERLOAD = """
name = "overload"
duration = "30s"
[topology.dumbbell]
pairs = 4
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "20Mbit", delay = "18ms", buffer = "100packets" }
[traffic.small]
arrivals = { uniform = 300, within = "20s" }
size = "20kB"
direction = "download"
transport = { quic = { crypto = "CRYPTO" } }
[traffic.large]
arrivals = { uniform = 20, within = "1s" }
size = "20MB"
transport = { quic = { control = "new-reno", crypto = "CRYPTO" } }
"""
RUNS = 5


def _overload() -> None:
    """Run 300 connections of 20 kB and 20 of 20 MB several times, and with one worker and two."""
    print("| crypto | us a packet | the same columns |")
    print("|---" * 3 + "|")
    for crypto in ("null", "rustls"):
        text = OVERLOAD.replace("CRYPTO", crypto)
        best, hashes = inf, set()
        for _ in range(RUNS):
            start = process_time()
            summary = tidegate.run(text, seed=1).summary
            # a packet crosses three links
            best = min(best, (process_time() - start) / summary["packet_hops"] * 3)
            hashes.add(summary["result_hash"])
        for workers in (1, 2):
            with TemporaryDirectory() as out:
                rows = tidegate.compare(
                    text, gates=["none"], seeds=2, workers=workers, out=Path(out) / "of"
                ).rows
            hashes.add(rows[0]["result_hash"])
        same = "yes" if len(hashes) == 1 else "no"
        print(f"| {crypto} | {best * 1e6:.2f} | {same} |", flush=True)


def main() -> None:
    """Print the tables."""
    if "overload" in argv[1:]:
        return _overload()
    for said, share in SHARES.items():
        print(f"\n{said} of the sessions are QUIC\n")
        _table("law", {name: (share, stages) for name, stages in _laws()})
    print("\nhalf, tide by idle time\n")
    _table("idle", {name: (0.5, stages) for name, stages in _idle()})
    return None


if __name__ == "__main__":
    main()
