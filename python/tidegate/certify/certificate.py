"""Run the conditions for a control and for the standard controls, and judge them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate.certify.conditions import FOLDER
from tidegate.certify.measures import measure
from tidegate.certify.verdicts import BETTER, WORSE, judge, overall
from tidegate.errors import UsageError
from tidegate.papers import perform
from tidegate.papers.case import Case
from tidegate.papers.paper import Paper
from tidegate.papers.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidegate.certify.conditions import Condition, Suite
    from tidegate.certify.controls import Control
    from tidegate.certify.verdicts import Floats, Measured
    from tidegate.grid.executor import Executor
    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.perform import Bar
    from tidegate.scenario.document import Setting

SEEDS, QUICK_SEEDS = 5, 3


@dataclass(frozen=True)
class Judged:
    """A condition with its verdict; without measures, `reason` says why it was not run."""

    condition: Condition
    verdict: str
    measured: tuple[Measured, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Certificate:
    """What a control did under each condition."""

    control: Control
    against: tuple[Control, ...]
    suite: Suite
    judged: tuple[Judged, ...]
    runs: Runs

    @property
    def worse(self) -> int:
        """How many conditions are worse than under every standard control."""
        return sum(each.verdict == WORSE for each in self.judged)

    @property
    def better(self) -> int:
        """How many conditions are better."""
        return sum(each.verdict == BETTER for each in self.judged)

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
    every = suite.conditions
    found = tuple(c for c in every if not only or any(fnmatchcase(c.id, p) for p in only))
    if not found:
        raise UsageError(
            f"No condition fits {', '.join(only)}.", "tidegate certify --list shows them."
        )
    return found


def plan(suite: Suite, conditions: Sequence[Condition], controls: Sequence[Control]) -> Plan:
    """Return the cases of these conditions with these controls, and what cannot be run."""
    made = Plan(suite)
    for control in controls:
        made.laws |= control.laws
    for condition in conditions:
        text = (FOLDER / suite.scenario(condition)).read_text(encoding="utf-8")
        classes = {
            name: each
            for name, each in tomllib.loads(text)["traffic"].items()
            if any(name == own or name.startswith(f"{own}-") for own in condition.own)
        }
        for control in controls:
            reason = control.refused(condition, classes)
            if reason is None:
                made.cases[condition.id, control.name] = _case(suite, condition, control, classes)
            else:
                made.refused[condition.id, control.name] = reason
    return made


@dataclass
class Plan:
    """Cases by condition and control, and the reasons of those that cannot be run."""

    suite: Suite
    cases: dict[tuple[str, str], Case] = field(default_factory=dict)
    refused: dict[tuple[str, str], str] = field(default_factory=dict)
    laws: dict[str, Any] = field(default_factory=dict)
    """Laws of the user's own, by name."""

    @property
    def paper(self) -> Paper:
        """The cases as a paper without claims, whose runs are stored the same way."""
        cases = {case.key: case for case in self.cases.values()}
        return Paper("certify", __package__, cases, {}, ())


def _case(suite: Suite, condition: Condition, control: Control, classes: Iterable[str]) -> Case:
    settings: list[Setting] = []
    if control.transport is not None:
        settings += [(f"traffic.{name}.transport", control.transport) for name in classes]
    if condition.stages:
        settings += [(f"port.bottleneck.{stage}", law) for stage, law in control.stages]
    key = f"{condition.id}/{control.name}"
    return Case(key, suite.scenario(condition), (), tuple(settings))


def fill(
    plan: Plan, folder: CaseFolder, seeds: int, bar: Bar, executor: Executor | None = None
) -> Runs:
    """Run what is missing of the cases; return all runs."""
    runs = Runs(plan.paper, folder, seeds)
    perform.fill(runs, list(plan.paper.cases), bar, executor, plan.laws)
    return runs


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
    reason = plan.refused.get((condition.id, control.name))
    if reason is not None:
        return Judged(condition, "not run", reason=reason)

    def values(tried: Control, name: str, of: str) -> Floats:
        records = runs.records(f"{condition.id}/{tried.name}")
        return np.array([measure(record, name, of) for record in records])

    measured = [
        judge(
            plan.suite.limits[name],
            of,
            values(control, name, of),
            {each.name: values(each, name, of) for each in against},
        )
        for name, of in condition.measures
    ]
    return Judged(condition, overall(measured), tuple(measured))
