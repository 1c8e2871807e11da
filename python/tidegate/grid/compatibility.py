"""Detect saved runs that are incompatible with those of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.results.provenance import provenance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate.grid.plan import Job, Plan, Subject
    from tidegate.results.run_files import SavedRun

SHOWN = 8
"""Values of an axis that a message names."""


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
    for (number, _), run in runs.items():
        point, manifest = subject.points[number], run.manifest
        if manifest["code_hash"] != ours["code_hash"]:
            by_code[made_by(manifest)] = by_code.get(made_by(manifest), 0) + 1
        if manifest["scenario_hash"] != point.scenario_hash and "scenario" not in differences:
            effective = manifest.get("effective_scenario", "")
            differences["scenario"] = (
                f"scenario: {changes(effective, plan.scenarios[number].show())}"
            )
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
    return [*codes, *differences.values()]


def made_by(manifest: Mapping[str, Any]) -> str:
    """Return version, commit and digest of the code that a manifest names."""
    commit = str(manifest.get("commit") or "unknown")[:10]
    code = str(manifest.get("code_hash"))[:10]
    return f"tidegate {manifest.get('tidegate')} (commit {commit}, code {code})"


def changes(there: str, here: str) -> str:
    """Return the first lines in which two effective scenarios differ."""
    old, new = there.splitlines(), here.splitlines()
    gone = [line.strip() for line in old if line not in set(new)][:3]
    come = [line.strip() for line in new if line not in set(old)][:3]
    return f"there {', '.join(gone) or 'less'}; here {', '.join(come) or 'less'}"
