"""A scenario between real hosts of this machine and between simulated ones: the same flows."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tidegate.errors import UsageError
from tidegate.hosts import addresses, real
from tidegate.hosts.lacking import Lack, controls, lacking
from tidegate.results.columns import frame
from tidegate.results.provenance import provenance
from tidegate.results.simulate import simulate
from tidegate.results.statistics import interval, mean, percentile, share, summarise
from tidegate.results.store import MANIFEST, parquet
from tidegate.scenario import toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from tidegate._native import Scenario
    from tidegate.results.store import Store
    from tidegate.scenario.document import Document

MEASURES = {
    "flows": "flows",
    "completed": "completed [%]",
    "completed_per_s": "completed [/s]",
    "fct_mean_s": "FCT, mean [s]",
    "fct_p50_s": "FCT, median [s]",
    "fct_p95_s": "FCT, p95 [s]",
    "syn_tries": "SYNs of a flow",
    "sent_again": "data sent again [%]",
    "timeouts": "timeouts of a flow",
    "delivered_mbit_s": "delivered [Mbit/s]",
}
"""What is compared of the flows of a class, as it is called in a table."""
QUEUE = ("queue_mean_packets", "queue, mean [packets]")
SYSCTL = re.compile(r"net(\.[\w-]+)+=\S.*")
"""A setting that each network namespace has by itself."""


@dataclass(frozen=True)
class Subject:
    """A scenario that can be run by both."""

    document: Document
    scenario: Scenario
    asked: real.Asked
    lacks: tuple[Lack, ...]
    """What differs between the two besides the hosts."""
    warnings: tuple[str, ...] = ()
    """What may make the results misleading, as a run of the scenario warns of it."""

    @property
    def seconds(self) -> float:
        """How long a run takes."""
        return self.scenario.duration_s


def subject(
    asked: Document, classes: Sequence[str], seeds: int, sysctls: Sequence[str] = ()
) -> Subject:
    """Return what can be run; UsageError: real hosts cannot have what is asked for."""
    if strange := [each for each in sysctls if not SYSCTL.fullmatch(each)]:
        raise UsageError(
            f"{strange[0]} is no setting of a host's network.",
            "Write NAME=VALUE, as in net.ipv4.tcp_sack=0.",
        )
    tables = tomllib.loads(asked.load().show())
    known = list(tables["traffic"])
    if strange := [name for name in classes if name not in known]:
        raise UsageError(
            f"The scenario has no class {', '.join(strange)}.", f"It has {', '.join(known)}."
        )
    chosen = list(classes) or known
    tables = only(tables, chosen)
    found = lacking(tables, controls())
    if refused := [str(each) for each in found if each.refused]:
        raise UsageError("Real hosts of this machine cannot have what the scenario has.",
                         "\n".join(refused))  # fmt: skip
    traffic = tables["traffic"]
    opened = {name: _receiver_opens(traffic[name]) for name in chosen}
    ecn = any(each["transport"]["tcp"]["ecn"] for each in traffic.values())
    written = replace(asked, text=toml.document(tables), settings=())
    alike = addresses.of_the_lab(tables, opened)
    if alike is not tables and (apart := addresses.apart(opened)):
        what = f"{', '.join(apart)} have one address here, and one each in the simulator"
        found.append(Lack("traffic", what, "compare them alone: --class NAME", refused=False))
    document = replace(written, text=toml.document(alike))
    wanted = real.Asked(opened, seeds, ecn, tuple(sysctls))
    warnings = tuple(written.load().warnings)
    return Subject(document, document.load(), wanted, tuple(found), warnings)


def _receiver_opens(said: dict[str, Any]) -> bool:
    """Tell whether the end that gets the data opens the connections of a class."""
    usual = "receiver" if said.get("direction") == "download" else "sender"
    return bool(said.get("opens", usual) == "receiver")


def only(tables: dict[str, Any], classes: Sequence[str]) -> dict[str, Any]:
    """Return a scenario with these classes alone, and measured from its start."""
    traffic = {name: tables["traffic"][name] for name in classes}
    left = {**tables, "traffic": traffic, "warmup": "0s"}
    left.pop("series", None)
    gone = {name for name in tables["traffic"] if name not in classes}
    changes = [each for each in tables.get("change", []) if not _concerns(str(each["what"]), gone)]
    return {**left, "change": changes} if changes else _without(left, "change")


def _without(table: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}


def _concerns(what: str, gone: set[str]) -> bool:
    return any(what.startswith(f"traffic.{name}.") for name in gone)


def measures(flows: pl.DataFrame, seconds: float) -> dict[str, float | None]:
    """Measure flows; times are of those that closed. UDP that lost data has none."""
    closed, fct = flows["closed_s"].to_numpy(), flows["fct_s"].to_numpy()
    over = ~np.isnan(closed)
    times = fct[over & ~np.isnan(fct)]
    sent, again = float(flows["sent_packets"].sum()), float(flows["retransmitted_packets"].sum())
    ended = share(100.0 * float(over.sum()), float(len(flows)))
    return {
        "flows": float(len(flows)),
        "completed": ended,
        "completed_per_s": float(over.sum()) / seconds,
        "fct_mean_s": mean(times),
        "fct_p50_s": percentile(times, 50),
        "fct_p95_s": percentile(times, 95),
        "syn_tries": mean(flows["syn_tries"].to_numpy().astype(float)),
        "sent_again": share(100.0 * again, sent),
        "timeouts": mean(flows["timeouts"].to_numpy().astype(float)),
        "delivered_mbit_s": float(flows["delivered_bytes"].sum()) * 8e-6 / seconds,
    }


def by_class(flows: pl.DataFrame, classes: Sequence[str], seconds: float) -> dict[str, Any]:
    """Measure all flows, and those of each class where there are several."""
    found = {"all": measures(flows, seconds)}
    if len(classes) > 1:
        found |= {
            name: measures(flows.filter(pl.col("class") == name), seconds) for name in classes
        }
    return found


NUMBERS = ("closed_s", "fct_s")


def read(path: Path) -> pl.DataFrame:
    """Read the flows of a real run; empty: it did not happen."""
    table = pl.read_csv(path, infer_schema_length=None)
    return table.with_columns(pl.col(name).cast(pl.Float64).fill_null(np.nan) for name in NUMBERS)


@dataclass(frozen=True)
class Side:
    """The runs of real hosts, or of simulated ones: measures by class, and the queue, by seed."""

    runs: tuple[dict[str, dict[str, float | None]], ...]
    queues: tuple[float, ...]

    def values(self, group: str, name: str) -> list[float | None]:
        """Return a measure of a class in each run."""
        return [each[group][name] for each in self.runs]


def of_real(folder: Path, subject: Subject) -> Side:
    """Measure what real hosts left in a folder."""
    runs, queues = [], []
    for seed in range(1, subject.asked.seeds + 1):
        flows = read(real.table(folder, seed))
        runs.append(by_class(flows, list(subject.asked.classes), subject.seconds))
        ways = json.loads(real.link(folder, seed).read_text(encoding="utf-8"))
        # the link stands longer than the run, with nothing on it
        queues.append(ways[0]["queue_mean_packets"] * ways[0]["seconds"] / subject.seconds)
    return Side(tuple(runs), tuple(queues))


def simulated(subject: Subject, say: Callable[[str], object]) -> tuple[Side, list[pl.DataFrame]]:
    """Simulate the same flows; return what was measured, and the flows of each seed."""
    runs, queues, tables = [], [], []
    for seed in range(1, subject.asked.seeds + 1):
        outcome = simulate(subject.scenario, seed)
        flows = frame(outcome.tables["flows"])
        flows = flows.with_columns(pl.col(name).fill_null(np.nan) for name in NUMBERS)
        runs.append(by_class(flows, list(subject.asked.classes), subject.seconds))
        [port] = [each for each in summarise(outcome)["ports"] if each["name"] == "bottleneck"]
        queues.append(float(port["queue_mean_packets"]))
        tables.append(flows)
        say(f"simulated hosts, seed {seed} of {subject.asked.seeds}")
    return Side(tuple(runs), tuple(queues)), tables


@dataclass(frozen=True)
class ComparedMeasure:
    """A measure of both: means over the seeds, and half the 95 % intervals."""

    group: str
    name: str
    label: str
    real: dict[str, float | None]
    simulated: dict[str, float | None]

    @property
    def difference(self) -> float | None:
        """How much more the simulated hosts have, of the real ones; none: there is nothing."""
        a, b = self.real["mean"], self.simulated["mean"]
        if a is None or b is None:
            return None
        return 0.0 if a == b else (b - a) / a if a else None


def rows(there: Side, here: Side) -> list[ComparedMeasure]:
    """Put real and simulated hosts side by side."""
    found = [
        ComparedMeasure(
            group,
            name,
            label,
            interval(there.values(group, name)),
            interval(here.values(group, name)),
        )
        for group in there.runs[0]
        for name, label in MEASURES.items()
    ]
    name, label = QUEUE
    return [
        *found,
        ComparedMeasure("bottleneck", name, label, interval(there.queues), interval(here.queues)),
    ]


def document(subject: Subject, kernel: str, found: Iterable[ComparedMeasure]) -> dict[str, Any]:
    """Return the comparison for machines."""
    return {
        "scenario": subject.scenario.name,
        "kernel": kernel,
        "sysctls": list(subject.asked.sysctls),
        "seeds": subject.asked.seeds,
        "duration_s": subject.seconds,
        "differs_in": [
            {"place": each.place, "what": each.what, "remedy": each.remedy}
            for each in subject.lacks
        ],
        "measures": [
            {
                "of": row.group,
                "name": row.name,
                "real": row.real,
                "simulated": row.simulated,
                "difference": row.difference,
            }
            for row in found
        ],
    }


def write(
    store: Store,
    folder: Path,
    subject: Subject,
    tables: Sequence[pl.DataFrame],
    found: dict[str, Any],
) -> None:
    """Write the flows of both, the reports of the link, the scenario and the summary."""
    store.write("scenario.toml", subject.document.text.encode())
    for seed, table in enumerate(tables, 1):
        store.write(f"simulated-{seed}.parquet", parquet(table))
        store.write(f"real-{seed}.csv", real.table(folder, seed).read_bytes())
        store.write(f"link-{seed}.json", real.link(folder, seed).read_bytes())
    store.write_json("summary.json", found)
    about = provenance("against-linux", subject.document.text) | {"seeds": subject.asked.seeds}
    files = {"files": list(store.files), "checksums": dict(store.sums)}
    store.write_json(MANIFEST, about | files)


def kernel_here() -> str:
    """Name this kernel."""
    return f"Linux {os.uname().release}"
