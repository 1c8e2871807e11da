"""Detect saved runs that are incompatible with those of a plan."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from tidegate.results.provenance import provenance
from tidegate.scenario import toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.plan import Job, Plan, Subject
    from tidegate.results.run_files import SavedRun

SHOWN = 8
"""Values of an axis that a message names."""
CHANGES = 3
"""Keys of a scenario that a message names."""


def unlike(there: Subject, here: Subject) -> list[str]:
    """List how two grids differ; the seeds may differ."""
    differs = []
    for key in [*there.axes, *(key for key in here.axes if key not in there.axes)]:
        old, new = there.axes.get(key), here.axes.get(key)
        if old is None or new is None or set(old) != set(new):
            differs.append(f"axis {key}: there {_list(old)}; here {_list(new)}")
    if there.shard != here.shard:
        differs.append(f"part: there {_part(there)}; here {_part(here)}")
    return differs


def _part(subject: Subject) -> str:
    return "the whole" if subject.shard is None else f"shard {subject.shard[0]}/{subject.shard[1]}"


def _list(values: Sequence[str] | None) -> str:
    if not values:
        return "none"
    more = [f"and {len(values) - SHOWN} more"] if len(values) > SHOWN else []
    return ", ".join([*values[:SHOWN], *more])


def foreign(runs: Mapping[Job, SavedRun], plan: Plan) -> list[str]:
    """List how saved runs differ from the plan: in code, scenario, files or laws."""
    subject = plan.subject
    ours = provenance(subject.command, "")
    by_code: dict[str, int] = {}
    differences: dict[str, str] = {}
    changed: list[str] | None = None
    for (number, _), run in runs.items():
        point, manifest = subject.points[number], run.manifest
        if manifest["code_hash"] != ours["code_hash"]:
            by_code[made_by(manifest)] = by_code.get(made_by(manifest), 0) + 1
        if manifest["scenario_hash"] != point.scenario_hash:
            effective = manifest.get("effective_scenario", "")
            # of one point the keys may be the same, and of the next one not
            changed = changed or changes(effective, plan.scenarios[number].show())
        inputs = manifest.get("inputs", {})
        for name in sorted({*point.inputs, *inputs}):
            if point.inputs.get(name) != inputs.get(name):
                differences[name] = f"file {name}: its content differs"
        if manifest.get("laws", {}) != subject.laws:
            differences["laws"] = f"laws in Python differ: {_list(sorted(subject.laws))}"
    codes = [
        f"code: there {count} runs by {code}; here {made_by(ours)}"
        for code, count in by_code.items()
    ]
    scenario = [] if changed is None else [of_scenario(changed)]
    return [*codes, *scenario, *differences.values()]


def of_scenario(changed: Sequence[str]) -> str:
    """Return what differs in a scenario, from its `changes`."""
    return f"scenario: {', '.join(changed) or 'the same keys in another order'}"


def made_by(manifest: Mapping[str, Any]) -> str:
    """Return version, commit and digest of the code that a manifest names."""
    commit = str(manifest.get("commit") or "unknown")[:10]
    code = str(manifest.get("code_hash"))[:10]
    return f"tidegate {manifest.get('tidegate')} (commit {commit}, code {code})"


def changes(there: str, here: str) -> list[str]:
    """Return the first keys in which two effective scenarios differ, with both values.

    Empty: they have the same keys, in another order.
    """
    old, new = _flat(there), _flat(here)
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    told = [f"{key}: there {old.get(key, 'none')}; here {new.get(key, 'none')}" for key in keys]
    more = [f"and {len(told) - CHANGES} more keys"] if len(told) > CHANGES else []
    return [*told[:CHANGES], *more]


def _flat(effective: str) -> dict[str, str]:
    """Return the value of each dotted key of a scenario."""
    found: dict[str, str] = {}

    def add(path: tuple[str, ...], value: object) -> None:
        if isinstance(value, dict) and value:
            for name, each in value.items():
                add((*path, name), each)
        else:
            found[toml.key(*path)] = toml.inline(value)

    for name, value in tomllib.loads(effective).items():
        add((name,), value)
    return found
