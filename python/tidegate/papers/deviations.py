"""What was guessed or done otherwise than in the paper: `deviations.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

from tidegate.papers.claims import matches


@dataclass(frozen=True)
class ClaimContext:
    """What `deviations.toml` says of one claim."""

    depends_on: tuple[str, ...] = ()
    contradicted_by: str = ""
    explanation: str = ""
    chosen_on: bool = False
    """Whether a setting was chosen on this claim, so that it is no prediction."""


@dataclass(frozen=True)
class Alternative:
    """Another value of a guess; `settings` make it in the cases that fit."""

    label: str
    settings: tuple[tuple[str, str], ...] = ()
    cases: tuple[str, ...] = ("*",)
    measures: tuple[tuple[str, str], ...] = ()
    """Measures that replace others, as `fct_admitted_mean_s` for `fct_mean_s`."""
    also: tuple[Alternative, ...] = ()
    """Settings that go with it in other cases."""


@dataclass(frozen=True)
class Deviation:
    """A guess, or something done otherwise than in the paper; `affects` has patterns of claims."""

    key: str
    what: str
    taken: str
    why: str
    alternatives: tuple[Alternative, ...] = ()
    affects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Deviations:
    """The content of `deviations.toml`."""

    deviations: tuple[Deviation, ...] = ()
    contradictions: tuple[tuple[tuple[str, ...], str], ...] = ()
    explanations: tuple[tuple[tuple[str, ...], str], ...] = ()
    chosen_on: tuple[str, ...] = ()
    """Patterns of the claims on which settings were chosen."""

    def context(self, claim: str) -> ClaimContext:
        """Return what is needed for the verdict on one claim."""
        affects = [each.what for each in self.deviations if _any(each.affects, claim)]
        return ClaimContext(
            tuple(affects),
            _first(self.contradictions, claim),
            _first(self.explanations, claim),
            _any(self.chosen_on, claim),
        )


def read(text: str) -> Deviations:
    """Read a `deviations.toml`; KeyError or ValueError if it is not valid."""
    table = tomllib.loads(text)
    return Deviations(
        tuple(_deviation(each) for each in table.get("deviation", [])),
        _texts(table.get("contradiction", []), "by"),
        _texts(table.get("explanation", []), "text"),
        tuple(table.get("chosen_on", [])),
    )


def _deviation(table: dict[str, Any]) -> Deviation:
    alternatives = tuple(_alternative(each) for each in table.get("alternatives", []))
    return Deviation(
        table["key"],
        table["what"],
        table["taken"],
        table["why"],
        alternatives,
        tuple(table.get("affects", [])),
    )


def _alternative(table: dict[str, Any]) -> Alternative:
    return Alternative(
        table.get("label", ""),
        tuple(table.get("settings", {}).items()),
        tuple(table.get("cases", ["*"])),
        tuple(table.get("measures", {}).items()),
        tuple(_alternative(each) for each in table.get("also", [])),
    )


def _texts(tables: list[dict[str, Any]], name: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    return tuple((tuple(each["claims"]), " ".join(each[name].split())) for each in tables)


def _any(patterns: tuple[str, ...], claim: str) -> bool:
    return any(matches(pattern, claim) for pattern in patterns)


def _first(texts: tuple[tuple[tuple[str, ...], str], ...], claim: str) -> str:
    return next((text for patterns, text in texts if _any(patterns, claim)), "")
