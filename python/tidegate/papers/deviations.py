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
    """The guesses of which another value turns its verdict from met to not met, or back."""
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
    rejected: str = ""
    """Why it is no equal guess: rows that it turns do not depend on a guess."""


@dataclass(frozen=True)
class Deviation:
    """A guess, or something done otherwise than in the paper.

    `affects` has patterns of the claims that another value turns (see ClaimContext).
    """

    key: str
    what: str
    taken: str
    why: str
    alternatives: tuple[Alternative, ...] = ()
    affects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Why some claims are not met: what a command measures, or that it is not known."""

    claims: tuple[str, ...]
    text: str
    command: str = ""
    aside: bool = False
    """Whether it is on the page of what goes beyond the paper, and not in the report."""

    @property
    def whole(self) -> str:
        """The text with the command."""
        return f"{self.text} (`{self.command}`)" if self.command else self.text


@dataclass(frozen=True)
class Deviations:
    """The content of `deviations.toml`."""

    deviations: tuple[Deviation, ...] = ()
    contradictions: tuple[tuple[tuple[str, ...], str], ...] = ()
    explanations: tuple[Explanation, ...] = ()
    chosen_on: tuple[str, ...] = ()
    """Patterns of the claims on which settings were chosen."""

    def context(self, claim: str) -> ClaimContext:
        """Return what is needed for the verdict on one claim."""
        affects = [each.what for each in self.deviations if _any(each.affects, claim)]
        return ClaimContext(
            tuple(affects),
            _first(self.contradictions, claim),
            next((each.whole for each in self.explanations if _any(each.claims, claim)), ""),
            _any(self.chosen_on, claim),
        )


def read(text: str) -> Deviations:
    """Read a `deviations.toml`; KeyError or ValueError if it is not valid."""
    table = tomllib.loads(text)
    return Deviations(
        tuple(_deviation(each) for each in table.get("deviation", [])),
        _texts(table.get("contradiction", []), "by"),
        tuple(_explanation(each) for each in table.get("explanation", [])),
        tuple(table.get("chosen_on", [])),
    )


def _explanation(table: dict[str, Any]) -> Explanation:
    text = " ".join(table["text"].split())
    return Explanation(
        tuple(table["claims"]), text, table.get("command", ""), table.get("aside", False)
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
        table.get("rejected", ""),
    )


def _texts(tables: list[dict[str, Any]], name: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    return tuple((tuple(each["claims"]), " ".join(each[name].split())) for each in tables)


def _any(patterns: tuple[str, ...], claim: str) -> bool:
    return any(matches(pattern, claim) for pattern in patterns)


def _first(texts: tuple[tuple[tuple[str, ...], str], ...], claim: str) -> str:
    return next((text for patterns, text in texts if _any(patterns, claim)), "")
