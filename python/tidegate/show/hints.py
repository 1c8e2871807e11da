"""What to try next, from the results."""

from __future__ import annotations

import tomllib
from math import floor, log10
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError
from tidegate.scenario import toml
from tidegate.scenario.overrides import clash, default_port, variant_cells, written
from tidegate.show.alike import identical, loads, without_effect
from tidegate.show.measures import centre, others
from tidegate.show.next_command import law_set
from tidegate.show.recommendation import more_seeds, taken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate import _native
    from tidegate.grid.grid_result import GridResult
    from tidegate.scenario.document import Document
    from tidegate.scenario.recorded import Recorded
    from tidegate.show.next_command import Typed

OVERLOAD = 0.05
"""From this share of never admitted or unfinished sessions on, a link counts as overloaded."""
FULL = 0.95
"""From this utilisation on a port counts as full."""


QUEUES = "drop-tail,fq-codel,cake"


def after_run(
    scenario: _native.Scenario, document: Document, typed: Typed, used: Mapping[str, float]
) -> str:
    """Return what to try after one run; `used` has the utilisation of each port.

    The command keeps what the run was given. It compares the variants of the file if it has some,
    the gate if it has one, and else what may help at the port that is full.
    """
    own = [key for cell in variant_cells(document) for key, _ in cell.settings]
    if own and not any(clash(key, each) for key, _ in document.settings for each in own):
        return f"Try next the variants of the file: {typed.compare()}"
    tables = tomllib.loads(scenario.show())
    ports = tables.get("port", {})
    if any(port.get("stamp", {}).get("law", "none") != "none" for port in ports.values()):
        # ports grant rates to senders: a comparison of gates would not tell about them
        return "Try next other traffic of the same kind: the same command with --seed 2"
    if scenario.people:
        at = _at(scenario, used, both=True)
        return f"Try next what queues help: {_laws(scenario, document, typed, 'queue', at, QUEUES)}"
    if not _opens(scenario, tables.get("traffic", {})):
        command = _laws(scenario, document, typed, "queue", _at(scenario, used), QUEUES)
        return f"Try next the same traffic under other queues: {command}"
    gates = {
        name: port["gate"]["law"]
        for name, port in ports.items()
        if port.get("gate", {}).get("law", "none") not in ("none", "python")
    }
    law = next(iter(gates.values())) if len(set(gates.values())) == 1 else None
    at = [*gates] if law else _at(scenario, used)
    command = _laws(scenario, document, typed, "gate", at, f"none,{law or 'tide'}")
    what = "without its control" if law else "under a control"
    return f"Try next the same traffic {what}: {command}"


def _laws(
    scenario: _native.Scenario,
    document: Document,
    typed: Typed,
    stage: str,
    ports: Sequence[str],
    usual: str,
) -> str:
    """Return a comparison of laws at some ports; a law that was set there is among them.

    It is about the first port alone where the ports were set apart: a comparison has one law for
    all of its ports, and what was set at the others is kept.
    """
    if any(_set(document, port, stage) != _set(document, ports[0], stage) for port in ports):
        ports = ports[:1]
    laws = usual.split(",")
    if (mine := law_set(document, ports[0], stage)) is not None:
        laws = [each for each in laws if each != mine.partition(":")[0]]
        laws.insert(stage == "gate", mine)
    options = [(f"--{stage}", ",".join(laws))]
    if [*ports] != (standard := _usual_port(scenario)):
        options.append(("--port", _named(standard, ports)))
    keys = [toml.key("port", port, stage) for port in ports]
    return typed.compare(*options, own=keys)


def _set(document: Document, port: str, stage: str) -> dict[str, Any] | None:
    """Return what a stage of a port is, if any of it was set."""
    key = toml.key("port", port, stage)
    there = any(clash(name, key) for name, _ in document.settings)
    return written(document, port, stage) if there else None


def _named(usual: Sequence[str], ports: Sequence[str]) -> str:
    """Return ports as --port names them."""
    both = usual and [*ports] == [*usual, f"{usual[0]}.reverse"]
    return "both" if both else ",".join(ports)


def _usual_port(scenario: _native.Scenario) -> list[str]:
    """Return the port that need not be named; none, where one has to be."""
    try:
        return [default_port(scenario)]
    except UsageError:
        return []


def _at(scenario: _native.Scenario, used: Mapping[str, float], *, both: bool = False) -> list[str]:
    """Return the port to control: the usual one, or the fullest where that is not full.

    With `both` it is that port in both directions, where it has two.
    """
    ports = [name for name, access in scenario.ports if not access]
    fullest = max(ports, key=lambda name: used.get(name, 0.0))
    usual = _usual_port(scenario)
    port = usual[0] if usual else fullest
    if both:
        forward = port.removesuffix(".reverse")
        return [each for each in (forward, f"{forward}.reverse") if each in ports] or [port]
    full = used.get(port, 0.0) >= FULL or used.get(fullest, 0.0) < FULL
    return [port if full else fullest]


def _opens(scenario: _native.Scenario, traffic: Mapping[str, Any]) -> bool:
    """Tell whether any class opens sessions while it runs, so that a gate has something to do."""
    flows = {name: number for name, number, *_ in scenario.expected}
    return any(
        _has_sessions(each) and each.get("size") != "unlimited" and flows.get(name, 1.0) > 0.0
        for name, each in traffic.items()
    )


def _has_sessions(traffic: Mapping[str, Any]) -> bool:
    return "udp" not in traffic.get("transport", {})


def after_flows(found: Recorded, file: str) -> str:
    """Return how to replay flows that were found."""
    if found.frame.height == 0:
        return "There is nothing to replay: no connection carried data."
    return f"To replay them, write in a scenario: [traffic.mine] flows = {toml.inline(file)}"


def after(comparison: GridResult, typed: Typed, tables: Mapping[str, Any]) -> str | None:
    """Return one sentence and a command; `tables` is the scenario with what was set.

    None where more seeds would show nothing: settings with the same results, or other flows.
    """
    apart = [labels for labels in identical(comparison) if len(labels) < len(comparison.averages)]
    if not apart or not any(len(group) > 1 for group in loads(comparison)):
        return None
    traffic = tables.get("traffic", {})
    poisson = [name for name, each in traffic.items() if _is_poisson(each)]
    best = next(iter(taken(comparison)), None)
    if best is None or [*best["settings"]] != ["gate"] or len(poisson) != 1:
        return _more_seeds(comparison)
    if 1.0 - (best["completed_share"]["mean"] or 0.0) <= OVERLOAD:
        return _more_seeds(comparison)
    label, rate = best["settings"]["gate"], _round(_completed(best) * 0.8)
    if label == "none":
        tried = {row["settings"]["gate"] for row in comparison.averages}
        while f"fixed-rate:{rate:g}" in tried:
            rate = _round(rate / 2)
        why = "Try next a rate below what the link completes:"
        return f"{why} {typed.compare(('--gate', f'none,fixed-rate:{rate:g}'))}"
    load = f"traffic.{toml.key(poisson[0])}.arrivals.poisson={rate:g}/s"
    why = f"Try next {label} on a link that is not overloaded:"
    return f"{why} {typed.compare(('--gate', f'none,{label}'), sets=[load])}"


def _more_seeds(comparison: GridResult) -> str:
    return f"Try next more seeds: the same command with --seeds {more_seeds(comparison)}"


def alike(comparison: GridResult) -> list[str]:
    """Warn of settings with identical results for every flow: the difference had no effect."""
    found = without_effect if comparison.subject.command == "sweep" else identical
    return [
        f"Identical results under {' and '.join(labels)}: the difference had no effect"
        for labels in found(comparison)
        if len(labels) > 1
    ]


def fullest(comparison: GridResult) -> str | None:
    """Return which port is full that is not controlled, where the compared one is not full."""
    port, rows = comparison.subject.port, comparison.averages
    if port is None:
        return None
    used = {
        name: max(centre(row.get(f"{name}.utilisation")) or 0.0 for row in rows)
        for name in (port, *others(port, rows))
    }
    name = max(used, key=used.__getitem__)
    if used[name] < FULL or used[port] >= FULL or name in comparison.subject.controlled:
        return None
    return (
        f"{name} is full ({used[name]:.0%} used) and {port} is not ({used[port]:.0%}): compare"
        f" controls at the port that is full, with --port {name}. At both: --port {port},{name}."
    )


def _is_poisson(traffic: Mapping[str, Any]) -> bool:
    return _has_sessions(traffic) and "poisson" in traffic.get("arrivals", {})


def _completed(row: Mapping[str, Any]) -> float:
    """Return the low end of the interval of completions, or the mean if there is none."""
    rate = row["completed_per_s"]
    return float(rate["mean"] if rate["low"] is None else rate["low"])


def _round(value: float) -> float:
    """Round to one significant digit."""
    return round(value, -floor(log10(value))) if value > 0 else 1.0
