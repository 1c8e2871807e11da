"""How a control does in worlds, beside what it is compared with: runs that are saved."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate.attack.objective import REFUSED
from tidegate.certify.conditions import Condition
from tidegate.certify.controls import CONTROLS
from tidegate.certify.measures import measure
from tidegate.errors import ScenarioError, UsageError
from tidegate.papers.case import Case
from tidegate.papers.paper import Paper
from tidegate.papers.runs import Runs
from tidegate.scenario import document as documents
from tidegate.scenario import toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.attack.objective import Objective
    from tidegate.attack.space import Space, Table, World
    from tidegate.certify.controls import Control
    from tidegate.papers.folder import CaseFolder
    from tidegate.scenario.document import Document

SEEDS = 5
"""By how many seeds a find is judged, as by certify; the search has the first alone."""
KEEP = ("size_bytes", "start_s", "closed_s")
"""The columns of flows that measures read."""


@dataclass(frozen=True, kw_only=True)
class Worlds(Paper):
    """The runs of a search. Their cases are added as it goes on; `texts` has their scenarios."""

    cases: dict[str, Case] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def document(self, case: Case) -> Document:
        """Return the scenario of a case."""
        return documents.read(self.texts[case.key]).having(*case.settings)


def worlds(control: Control) -> Worlds:
    """Return the runs of a search against a control: none yet."""
    return Worlds(key="attack", package=__package__, keep=KEEP, laws=control.laws)


@dataclass(frozen=True)
class Other:
    """What a control is compared with: a name, what the scenario gets, and who sends."""

    name: str
    more: Table
    control: Control
    calm: bool = False
    """Whether it is run in the world without its parts."""


def others(space: Space, against: Sequence[Control], *, gate: bool) -> list[Other]:
    """Return what a control is compared with: these, or the references of the worlds of gates."""
    plain = CONTROLS["static"]
    if gate and not against:
        return [Other(name, more, plain) for name, more in space.references]
    return [Other(each.name, {}, each) for each in against]


@dataclass
class Trials:
    """The scores of worlds: by how many limits a control is worse there than others."""

    space: Space
    objective: Objective
    control: Control
    others: Sequence[Other]
    folder: CaseFolder
    runs: int = 0
    """How many runs were asked for; those that were there before count too."""
    tried: int = 0
    """How many worlds were scored, those that cannot be run too."""
    refusal: str = ""
    """Why the control, or what it is compared with, could not be run in the last such world."""
    _known: dict[tuple[World, int], float] = field(default_factory=dict)

    def scores(self, tried: Sequence[World], seeds: int = 1) -> list[float]:
        """Return the score of each world; simulate what is missing.

        With several seeds it is what is certain: the low end of the interval.
        """
        new = [each for each in dict.fromkeys(tried) if (each, seeds) not in self._known]
        asked = {each: self._cases(each, seeds) for each in new}
        self.tried += len(new)
        names = [case for cases in asked.values() for case in cases]
        runs = Runs(self.folder.paper, self.folder, seeds)
        runs.fill(names)
        self.runs += len(names) * seeds
        for each, cases in asked.items():
            self._known[each, seeds] = self._score(runs, cases) if cases else REFUSED
        self.folder.forget(names)
        return [self._known[each, seeds] for each in tried]

    def _score(self, runs: Runs, cases: Sequence[str]) -> float:
        own, *rest = (self._values(runs, case) for case in cases)
        if len(own) == 1:
            return self.objective.score(own[0], [each[0] for each in rest])
        return self.objective.certain(own, dict(zip(cases[1:], rest, strict=True)))

    def values(self, world: World, seeds: int) -> dict[str, list[float]]:
        """Return what was measured in a world, by the name of the control or reference."""
        cases = self._cases(world, seeds)
        runs = Runs(self.folder.paper, self.folder, seeds)
        runs.fill(cases)
        return {case.partition("/")[2]: self._values(runs, case) for case in cases}

    def condition(self, scenario: Table, name: str = "world") -> tuple[Condition, Table]:
        """Return a scenario as a condition of certificates, and the classes that get the control.

        Its measure is that of the objective.
        """
        own = self.space.own
        classes = {
            name: table
            for name, table in scenario["traffic"].items()
            if any(name == each or name.startswith(f"{each}-") for each in own)
        }
        pairs = ((self.objective.name, self.objective.of),)
        queue = "queue" in scenario.get("port", {}).get("bottleneck", {})
        title = self.objective.limit.says
        found = Condition(name, "", title, pairs, own, stages=self.space.stages, queue=queue)
        return found, classes

    def settings(self, control: Control, scenario: Table) -> list[tuple[str, str]] | None:
        """Return what a scenario has to set for a control, None where it cannot be run there."""
        condition, classes = self.condition(scenario)
        reason = control.refused(condition, classes)
        if reason is not None:
            self.refusal = f"{control.name}: {reason}."
            return None
        return [*control.at_senders(condition, classes), *control.at_bottleneck(quic=False)]

    def _cases(self, world: World, seeds: int) -> list[str]:
        """Name the runs of a world, of the control first; none if one of them cannot be run."""
        paper = self.folder.paper
        assert isinstance(paper, Worlds)
        found = []
        for other in (Other(self.control.name, {}, self.control), *self._compared):
            there = world.plain if other.calm else world
            scenario = self.space.scenario(there, other.more)
            settings = self.settings(other.control, scenario)
            if settings is None:
                return []
            text = toml.document(scenario)
            digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
            case = Case(f"{digest}/{other.name}", "world.toml", (), tuple(settings), seeds)
            paper.texts[case.key], paper.cases[case.key] = text, case
            try:
                self.folder.jobs(case, seeds)
            except ScenarioError as error:
                self.refusal = str(error).rstrip()
                return []
            found.append(case.key)
        return found

    def nowhere(self, found: int) -> UsageError:
        """Return the error of a control that can be run in too few of the worlds tried."""
        what = f"{self.control.name} can be run in {found} of {self.tried} worlds only."
        return UsageError(what, f"The last refusal:\n{self.refusal}" if self.refusal else "")

    @property
    def _compared(self) -> Sequence[Other]:
        if self.objective.calm:
            return [Other("without them", {}, self.control, calm=True)]
        return [] if self.objective.alone else self.others

    def _values(self, runs: Runs, case: str) -> list[float]:
        return [self._value(record) for record in runs.records(case)]

    def _value(self, record: Any) -> float:  # noqa: ANN401  (a saved run)
        return measure(record, self.objective.limit.measure, self.objective.of)
