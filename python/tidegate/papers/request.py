"""What is to be regenerated of a paper, and the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate.papers import claims as listed
from tidegate.papers.verdicts import ClaimResult, counts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tidegate.papers.claims import Claim
    from tidegate.papers.runs import Runs
    from tidegate.papers.study import PaperPicture, PaperStudy
    from tidegate.scenario.document import Setting


@dataclass(frozen=True)
class Request:
    """Which claims of a paper are to be regenerated, with how many seeds."""

    only: tuple[str, ...] = ()
    quick: bool = False
    seeds: int | None = None
    testbed: Path | None = None
    """Results of real processes for comparison; default those of the package."""
    first_seed: int = 1
    settings: tuple[Setting, ...] = ()
    """Settings of the user's own, which every case gets."""

    def seeds_of(self, study: PaperStudy) -> int:
        """Return the number of seeds."""
        return self.seeds or (study.scale.quick_seeds if self.quick else study.scale.seeds)

    def whole(self, study: PaperStudy) -> bool:
        """Tell whether this is the whole paper with all its seeds."""
        return not self.only and not self.quick and self.seeds_of(study) >= study.scale.seeds

    def as_usual(self, study: PaperStudy) -> bool:
        """Tell whether runs are those of which the reasons in `deviations.toml` were written."""
        own = self.settings or self.testbed or self.first_seed != 1
        return not own and self.seeds_of(study) == study.scale.seeds

    def reasons_of(self, study: PaperStudy) -> str:
        """Say of which run the reasons are where they are of another; empty where they are not."""
        if self.as_usual(study) or not study.deviations().explanations:
            return ""
        return (
            f"Reasons are of the full run: {study.scale.seeds} seeds, settings as taken. Numbers in"
            " them are from there, not from this run."
        )

    def claims(self, study: PaperStudy) -> list[Claim]:
        """Return the requested claims; UsageError for a name that fits none."""
        names = {picture.name for picture in study.pictures}
        patterns = [each for each in self.only if each not in names or self._claimed(study, each)]
        found = listed.chosen(study.claims(), patterns) if patterns or not self.only else []
        if self.quick and not self.only:
            quick = listed.chosen(study.claims(), study.scale.quick)
            return [claim for claim in found if claim in quick]
        return found

    def pictures(self, study: PaperStudy) -> list[PaperPicture]:
        """Return the pictures that are named, or those whose runs the claims need anyway."""
        if self.only:
            return [each for each in study.pictures if each.name in self.only]
        if not self.quick:
            return list(study.pictures)
        known = needed(study, self.claims(study))
        return [each for each in study.pictures if set(each.cases) <= set(known)]

    @staticmethod
    def _claimed(study: PaperStudy, name: str) -> bool:
        return any(listed.matches(name, claim.id) for claim in study.claims())


@dataclass
class PaperResult:
    """Judged claims of a paper, and the runs that they were judged by."""

    study: PaperStudy
    request: Request
    outcomes: list[ClaimResult]
    runs: Runs
    wall_s: float = 0.0
    ran: int = 0
    """The number of runs that were missing and were made."""
    files: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return the object that `tidegate paper --json` prints."""
        return {
            "paper": self.study.key,
            "settings": {
                "seeds": self.runs.seeds,
                "quick": self.request.quick,
                "only": list(self.request.only),
                "set": dict(self.request.settings),
                "reasons_of": self.request.reasons_of(self.study),
                "taken": {each.key: each.taken for each in self.study.deviations().deviations},
            },
            "claims": [_line(self.study, outcome) for outcome in self.outcomes],
            "counts": counts(self.outcomes),
        }


def command(study: PaperStudy, claim: Claim) -> str:
    """Return the command that repeats one line of the report."""
    return f"tidegate paper {study.key} --only {claim.short}"


def _line(study: PaperStudy, outcome: ClaimResult) -> dict[str, Any]:
    claim = outcome.claim
    return {
        "id": claim.id,
        "kind": claim.kind,
        "where": claim.where,
        "metric": claim.metric,
        "unit": claim.unit,
        "paper": claim.value if outcome.paper is None else outcome.paper,
        "measured": outcome.measured,
        "low": None if outcome.one_run else outcome.low,
        "high": None if outcome.one_run else outcome.high,
        "verdict": outcome.verdict,
        "as_taken": outcome.as_taken or outcome.verdict,
        "chosen_on": outcome.chosen_on,
        "reason": " ".join(each for each in (outcome.reason, outcome.explanation) if each),
        "parts": list(outcome.parts),
        "values": list(outcome.values),
        "command": command(study, claim),
    }


def needed(
    study: PaperStudy,
    claims: Iterable[Claim],
    pictures: Iterable[PaperPicture] = (),
    more: Iterable[str] = (),
) -> list[str]:
    """Return the names of the cases and searches that these need, and `more`."""
    names: dict[str, None] = dict.fromkeys(more)
    for claim in claims:
        names |= dict.fromkeys(study.checks[claim.id].cases)
    for picture in pictures:
        names |= dict.fromkeys(picture.cases)
    return list(names)


@dataclass(frozen=True)
class SensitivityRow:
    """The claims of the sensitivity table under one alternative."""

    what: str
    label: str
    outcomes: tuple[ClaimResult, ...]
    rejected: str = ""
