"""What to try next, from the results."""

from __future__ import annotations

import shlex
import shutil
import sys
import tomllib
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import UsageError
from tidegate.scenario import toml
from tidegate.scenario.overrides import default_port
from tidegate.show.alike import identical, loads
from tidegate.show.measures import centre, others
from tidegate.show.recommendation import taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate import _native
    from tidegate.grid.grid_result import GridResult
    from tidegate.scenario.recorded import Recorded

OVERLOAD = 0.05
"""From this share of never admitted or unfinished sessions on, a link counts as overloaded."""
FULL = 0.95
"""From this utilisation on a port counts as full."""


def program() -> str:
    """Return the program as it was called, so that a command that is shown can be typed."""
    called = sys.argv[0]
    if Path(called).name != "tidegate" or shutil.which("tidegate") == called:
        return "tidegate"
    return shlex.quote(called)


def after_run(scenario: _native.Scenario, file: str) -> str:
    """Return what to try after one run: its gate is kept, if it has one."""
    ports = tomllib.loads(scenario.show()).get("port", {}).values()
    if any(port.get("stamp", {}).get("law", "none") != "none" for port in ports):
        # ports grant rates to senders: a comparison of gates would not tell about them
        return "Try next other traffic of the same kind: the same command with --seed 2"
    if scenario.people:
        laws = "--queue drop-tail,fq-codel,cake --port both"
        return f"Try next what queues help: {program()} compare {shlex.quote(file)} {laws}"
    gates = [law for port in ports if (law := port.get("gate", {}).get("law", "none")) != "none"]
    if not gates and not _opens(scenario):
        laws = f"{program()} compare {shlex.quote(file)} --queue drop-tail,fq-codel,cake"
        return f"Try next the same traffic under other queues: {laws}{_at(scenario)}"
    own = gates[0] if len(set(gates)) == 1 and "python" not in gates else "tide"
    command = f"{program()} compare {shlex.quote(file)} --gate none,{own}{_at(scenario)}"
    what = "without its control" if own in gates else "under a control"
    return f"Try next the same traffic {what}: {command}"


def _opens(scenario: _native.Scenario) -> bool:
    """Tell whether any class opens sessions while it runs, so that a gate has something to do."""
    flows = {name: number for name, number, *_ in scenario.expected}
    return any(
        "udp" not in each.get("transport", {})
        and each.get("size") != "unlimited"
        and flows.get(name, 1.0) > 0.0
        for name, each in tomllib.loads(scenario.show()).get("traffic", {}).items()
    )


def _at(scenario: _native.Scenario) -> str:
    """Return the option that names a port, where it has to be named."""
    try:
        default_port(scenario)
    except UsageError:
        return " --port NAME"
    return ""


def after_flows(found: Recorded, file: str) -> str:
    """Return how to replay flows that were found."""
    if found.frame.height == 0:
        return "There is nothing to replay: no connection carried data."
    return f"To replay them, write in a scenario: [traffic.mine] flows = {toml.inline(file)}"


def after(comparison: GridResult, file: str, tables: Mapping[str, Any]) -> str | None:
    """Return one sentence and a command; `tables` is the document as written.

    None where more seeds would show nothing: settings with the same results, or other flows.
    """
    apart = [labels for labels in identical(comparison) if len(labels) < len(comparison.averages)]
    if not apart or not any(len(group) > 1 for group in loads(comparison)):
        return None
    poisson = [name for name, each in tables.get("traffic", {}).items() if _is_poisson(each)]
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
        change = f"--gate {shlex.quote(f'none,fixed-rate:{rate:g}')}"
        why = "Try next a rate below what the link completes:"
        return f"{why} {program()} compare {shlex.quote(file)} {change}"
    gates = f"none,{label}"
    load = f"traffic.{poisson[0]}.arrivals.poisson={rate:g}/s"
    change = f"--gate {shlex.quote(gates)} --set {shlex.quote(load)}"
    why = f"Try next {label} on a link that is not overloaded:"
    return f"{why} {program()} compare {shlex.quote(file)} {change}"


def _more_seeds(comparison: GridResult) -> str:
    seeds = max(2 * len(comparison.subject.seeds), 10)
    return f"Try next more seeds: the same command with --seeds {seeds}"


def alike(comparison: GridResult) -> list[str]:
    """Warn of settings with identical results for every flow: the difference had no effect."""
    return [
        f"Identical results under {' and '.join(labels)}: the difference had no effect."
        for labels in identical(comparison)
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


def _is_poisson(traffic: object) -> bool:
    arrivals = traffic.get("arrivals") if isinstance(traffic, dict) else None
    return isinstance(arrivals, dict) and "poisson" in arrivals


def _completed(row: Mapping[str, Any]) -> float:
    """Return the low end of the interval of completions, or the mean if there is none."""
    rate = row["completed_per_s"]
    return float(rate["mean"] if rate["low"] is None else rate["low"])


def _round(value: float) -> float:
    """Round to one significant digit."""
    return round(value, -floor(log10(value))) if value > 0 else 1.0
