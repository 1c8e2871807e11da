"""Run the conditions for a control and for the standard controls, and judge them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate import _native
from tidegate.certify.measures import measure
from tidegate.certify.verdicts import BETTER, LIKE, UNSETTLED, WORSE, judge, overall
from tidegate.errors import UsageError
from tidegate.grid.plan import require_built_in
from tidegate.papers.case import Case, fitting, keyed
from tidegate.papers.paper import Paper
from tidegate.scenario import document as documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from tidegate.certify.conditions import Condition, Suite
    from tidegate.certify.controls import Control
    from tidegate.certify.verdicts import Floats, Measured
    from tidegate.papers.runs import Runs
    from tidegate.scenario.document import Document

SEEDS, QUICK_SEEDS = 5, 3
NO_STACKS = (
    "this tidegate was built without real stacks: run `make stacks` in a checkout of tidegate,"
    " and the command again"
)


@dataclass(frozen=True)
class Judged:
    """A condition with its verdict; without measures, `reason` says why it was not run."""

    condition: Condition
    verdict: str
    measured: tuple[Measured, ...] = ()
    reason: str = ""
    changed: str = ""
    """What was changed in the condition for the control."""


@dataclass(frozen=True)
class Certificate:
    """What a control did under each condition."""

    control: Control
    against: tuple[Control, ...]
    suite: Suite
    judged: tuple[Judged, ...]
    runs: Runs

    def count(self, verdict: str) -> int:
        """Return how many conditions have a verdict."""
        return sum(each.verdict == verdict for each in self.judged)

    @property
    def has_verdicts(self) -> bool:
        """Whether any condition was judged: the others could not be run, or have no value."""
        return any(each.verdict in (BETTER, LIKE, UNSETTLED, WORSE) for each in self.judged)

    def document(self) -> dict[str, object]:
        """Return the certificate for JSON."""
        return {
            "control": self.control.name,
            "suite": self.suite.name,
            "against": [each.name for each in self.against],
            "seeds": self.runs.seeds,
            "conditions": [_listed(each) for each in self.judged],
            "not_covered": [vars(each) for each in self.suite.not_covered],
        }


def _listed(judged: Judged) -> dict[str, object]:
    condition = judged.condition
    first = {"id": condition.id, "section": condition.section, "title": condition.title}
    if judged.changed:
        first["changed"] = judged.changed
    if not judged.measured:
        return {**first, "verdict": judged.verdict, "number": None, "reason": judged.reason}
    decisive = next((e for e in judged.measured if e.verdict == judged.verdict), judged.measured[0])
    rows = [
        {
            "measure": each.limit.name,
            "of": each.of,
            "unit": each.limit.unit,
            "mean": _defined(each.mean),
            "values": list(map(_defined, each.values)),
            "references": {
                name: list(map(_defined, found)) for name, found in each.references.items()
            },
            "verdict": each.verdict,
            "against": each.against,
        }
        for each in judged.measured
    ]
    return {**first, "verdict": judged.verdict, "number": _defined(decisive.mean), "measures": rows}


def _defined(value: float) -> float | None:
    """JSON has no NaN."""
    return None if isnan(value) else value


def chosen(suite: Suite, only: Sequence[str]) -> tuple[Condition, ...]:
    """Return the conditions that fit one of the patterns, all without patterns."""
    names = fitting((each.id for each in suite.conditions), only, "condition")
    return tuple(each for each in suite.conditions if each.id in names)


@dataclass(frozen=True, kw_only=True)
class Plan(Paper):
    """The cases of a suite, by condition and control.

    `refused` says why some cannot be run, `changed` what is changed for a control in others.
    """

    suite: Suite
    refused: Mapping[str, str]
    changed: Mapping[str, str]

    @property
    def scenarios(self) -> Path:
        """The folder of the scenarios that its cases name."""
        return self.suite.folder


def name(condition: Condition, control: Control) -> str:
    """Return the name of a case."""
    return f"{condition.id}/{control.name}"


def plan(suite: Suite, conditions: Sequence[Condition], controls: Sequence[Control]) -> Plan:
    """Return the cases of these conditions with these controls, and what cannot be run."""
    cases: list[Case] = []
    refused: dict[str, str] = {}
    changed: dict[str, str] = {}
    for condition in conditions:
        traffic, classes = _classes(suite, condition, controls)
        quic = any("quic" in _keys(each.get("transport")) for each in traffic.values())
        for control in controls:
            needed = quic or control.foreign
            reason = NO_STACKS if needed and not _native.STACKS else None
            reason = reason or control.refused(condition, classes)
            if control.whole_stack and _of_round_trips(suite, condition):
                reason = reason or "a stack does not tell the round trips that it sees"
            if reason is None:
                cases.append(_case(suite, condition, control, classes, quic=quic))
                changed[name(condition, control)] = control.changed(condition, classes)
            else:
                refused[name(condition, control)] = reason
    for control in controls:
        if control.foreign:
            _require_built_in(suite, cases, control)
    laws = {key: law for control in controls for key, law in control.laws.items()}
    return Plan(
        key="certify",
        package=__package__,
        cases=keyed(cases),
        laws=laws,
        keep=suite.keep,
        suite=suite,
        refused=refused,
        changed=changed,
    )


def _require_built_in(suite: Suite, cases: Iterable[Case], control: Control) -> None:
    """Raise ScenarioError for a stack or a crate's control that is not there, before any run."""
    for case in cases:
        if case.key.endswith(f"/{control.name}"):
            document = documents.read(suite.folder / case.scenario).having(*case.settings)
            require_built_in(document.load())
            return


def _classes(
    suite: Suite, condition: Condition, controls: Sequence[Control]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the classes of a condition, and those that get the control.

    Raises UsageError where its scenario cannot be read, or has not what is measured or tried.
    """
    document = documents.read(suite.folder / suite.scenario(condition))
    try:
        tables = document.tables()
    except tomllib.TOMLDecodeError:
        document.load()  # it says the line
        raise
    traffic: dict[str, Any] = tables.get("traffic", {})
    if not (isinstance(traffic, dict) and all(isinstance(each, dict) for each in traffic.values())):
        document.load()  # it says what is wrong with that
    classes = {
        key: each
        for key, each in traffic.items()
        if any(key == own or key.startswith(f"{own}-") for own in condition.own)
    }
    for _, of in condition.measures:
        plain = of == "bottleneck" and "dumbbell" in tables.get("topology", {})
        if of not in (*traffic, "all") and not plain:
            _known(document, of)
    senders = [each.name for each in controls if each.transport is not None or each.media]
    if senders and not classes:
        raise UsageError(
            f"{document.origin}: no class gets {senders[0]}: none begins with"
            f" {' or '.join(condition.own)}.",
            f"Give condition `{condition.id}` of {suite.name} the class in `own`:"
            f" {', '.join(traffic)}.",
        )
    return traffic, classes


def _known(document: Document, of: str) -> None:
    """Raise UsageError where a scenario has neither a class nor a port of this name."""
    found = document.load()
    there = [*found.classes, *(name for name, _ in found.ports), "all"]
    if of not in there:
        raise UsageError(
            f"{document.origin} has no class or port `{of}`, which is measured.",
            f"It has {', '.join(there)}.",
        )


def _keys(transport: object) -> Iterable[str]:
    """Return the keys of a transport that is a table; of a name there are none."""
    return transport if isinstance(transport, dict) else ()


def _of_round_trips(suite: Suite, condition: Condition) -> bool:
    """Tell whether a measure of a condition is of the round trips that a sender sees."""
    expressions = [suite.limits[limit].measure for limit, _ in condition.measures]
    return any(re.search(r"\b(rtt_|rpm\b)", each) for each in expressions)


def _case(
    suite: Suite, condition: Condition, control: Control, classes: Mapping[str, Any], *, quic: bool
) -> Case:
    settings = control.at_senders(condition, classes)
    if condition.stages:
        settings += control.at_bottleneck(quic=quic)
    return Case(name(condition, control), suite.scenario(condition), (), tuple(settings))


def judge_all(
    plan: Plan,
    runs: Runs,
    conditions: Sequence[Condition],
    control: Control,
    against: Sequence[Control],
) -> Certificate:
    """Judge a control under each condition, by its runs and those that it is compared with."""
    judged = tuple(_judged(plan, runs, each, control, against) for each in conditions)
    return Certificate(control, tuple(against), plan.suite, judged, runs)


def _judged(
    plan: Plan, runs: Runs, condition: Condition, control: Control, against: Sequence[Control]
) -> Judged:
    reason = plan.refused.get(name(condition, control))
    there = [each for each in against if name(condition, each) in plan.cases]
    if reason is None and not there:
        reason = f"nothing to compare with: {plan.refused[name(condition, against[0])]}"
    if reason is not None:
        return Judged(condition, "not run", reason=reason)

    def values(tried: Control, measured: str, of: str) -> Floats:
        records = runs.records(name(condition, tried))
        expression = plan.suite.limits[measured].measure
        return np.array([measure(record, expression, of) for record in records])

    measured = [
        judge(
            plan.suite.limits[each],
            of,
            values(control, each, of),
            {other.name: values(other, each, of) for other in there},
        )
        for each, of in condition.measures
    ]
    changed = plan.changed[name(condition, control)]
    return Judged(condition, overall(measured), tuple(measured), changed=changed)
