"""The search over free parameters: which settings come nearest to some numbers of a paper.

The score of a setting is the mean of |ln(ours / paper's)| over the claims that
the search is scored on. No other claim has a part in it. search.md has the nearest
combinations, search.csv all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers import claims as listed
from tidegate.papers.check_results import Numbers, Ordering, Unchecked
from tidegate.papers.page import table
from tidegate.papers.perform import changes
from tidegate.papers.report import ERAS
from tidegate.papers.report_text import number
from tidegate.papers.request import needed
from tidegate.papers.runs import Runs, fill
from tidegate.papers.verdicts import GROUPS, MET, WITHIN, group, judge
from tidegate.results.csv_text import csv_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.case import ParameterSearch
    from tidegate.papers.claims import Claim
    from tidegate.papers.deviations import Alternative
    from tidegate.papers.folder import CaseFolder
    from tidegate.papers.study import PaperStudy

FILE, ALL = "search.md", "search.csv"
NEAREST = 20
"""So many combinations of a search are shown."""


@dataclass(frozen=True)
class Tried:
    """A combination of settings, and the measured numbers of the claims by id."""

    options: tuple[Alternative, ...]
    found: dict[str, float]
    distance: float

    @property
    def label(self) -> tuple[str, ...]:
        """The value of each parameter."""
        return tuple(option.label for option in self.options)


def distance(found: dict[str, float], scored: Sequence[Claim]) -> float:
    """Return the mean of |ln(ours / paper's)|; infinite where one was not measured."""
    said = np.array([claim.expected for claim in scored], dtype=np.float64)
    ours = np.array([found[claim.id] for claim in scored])
    with np.errstate(divide="ignore"):
        off = np.abs(np.log(ours / said))
    return float(np.mean(np.where(np.isfinite(off), off, np.inf)))


def search(study: PaperStudy, folder: CaseFolder, seeds: int) -> list[list[Tried]]:
    """Try every combination of each search, and write the tables.

    Return what each search has tried, the nearest first.
    """
    if not study.choices:
        raise ValueError(f"{study.key} has no parameters to search")
    lines = [
        f"# Search over free parameters: {study.title}",
        "",
        f"<!-- Made by `tidegate paper {study.key} --search`. -->",
        "",
    ]
    found = []
    for choice in study.choices:
        settings = list(product(*(each.options for each in choice.together)))
        many = choice.seeds or seeds
        tried = _tried(study, choice, folder, settings, many)
        tried.sort(key=lambda each: each.distance)
        found.append(tried)
        lines += [*_head(choice, study, many), *_combined(study, choice, tried)]
        if choice.alone:
            best = tried[0]
            further = [(*best.options, option) for axis in choice.alone for option in axis.options]
            alone = _tried(study, choice, folder, further, many)
            lines += _alone(study, choice, best, alone)
        if choice.eras:
            eras = _eras(study, choice, folder, many)
            folder.write(ERAS, ("\n".join(eras) + "\n").encode())
    folder.write(ALL, everything(study, found).encode())
    if any(choice.shared for choice in study.choices):
        lines += _shared(study, found)
    folder.write(FILE, ("\n".join(lines).rstrip() + "\n").encode())
    return found


def _tried(
    study: PaperStudy,
    choice: ParameterSearch,
    folder: CaseFolder,
    settings: Sequence[tuple[Alternative, ...]],
    seeds: int,
) -> list[Tried]:
    scored = listed.chosen(study.claims(), choice.scored)
    columns = [name for _, names in choice.columns for name in names]
    shown = listed.chosen(study.claims(), (*choice.scored, *columns))
    names = needed(study, shown)
    sets = [Runs(study, folder, seeds, changes(*options)) for options in settings]
    fill([(runs, names) for runs in sets])
    tried = []
    for options, runs in zip(settings, sets, strict=True):
        found = {claim.id: _number(study, claim, runs) for claim in shown}
        tried.append(Tried(tuple(options), found, distance(found, scored)))
    return tried


def _number(study: PaperStudy, claim: Claim, runs: Runs) -> float:
    finding = study.checks[claim.id].find(runs)
    if not isinstance(finding, Numbers):
        raise TypeError(f"{claim.id} is no number and cannot be scored")
    return float(np.mean(finding.values))


def _head(choice: ParameterSearch, study: PaperStudy, seeds: int) -> list[str]:
    scored = listed.chosen(study.claims(), choice.scored)
    count = int(np.prod([len(axis.options) for axis in choice.together]))
    return [
        f"## {choice.title}",
        "",
        f"The score is the mean of |ln(ours / paper's)| over {len(scored)} numbers"
        f" ({', '.join(f'`{each}`' for each in choice.scored)}); no other claim is"
        f" used. {seeds} seed{'s' if seeds > 1 else ''}, {_shown(count)}.",
        "",
    ]


def _shown(count: int) -> str:
    if count <= NEAREST:
        return f"all {count} combinations"
    return f"{count} combinations, here the nearest {NEAREST} ([all of them]({ALL}))"


def everything(study: PaperStudy, found: Sequence[Sequence[Tried]]) -> str:
    """Return search.csv: a line for each combination of each search, the nearest first."""
    lines = []
    for choice, tried in zip(study.choices, found, strict=True):
        what = [axis.what for axis in choice.together]
        heads = [head for head, _ in choice.columns]
        for each in tried:
            setting = _named(what, each.label)
            measured = _named(heads, _cells(choice, study, each.found))
            lines.append((choice.title, setting, f"{each.distance:.3f}", measured))
    return csv_text(("search", "setting", "distance", "measured"), lines)


def _named(names: Sequence[str], values: Sequence[str]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))


def _shared(study: PaperStudy, found: Sequence[Sequence[Tried]]) -> list[str]:
    """Return the table of the nearest combinations of all searches by their first parameter.

    The distance of all together is the mean over all scored numbers.
    """
    weights = [len(listed.chosen(study.claims(), each.scored)) for each in study.choices]
    rows = []
    for option in study.choices[0].together[0].options:
        nearest = [
            min((each for each in tried if each.label[0] == option.label), key=_distance)
            for tried in found
        ]
        both = zip(weights, nearest, strict=True)
        mean = sum(weight * each.distance for weight, each in both) / sum(weights)
        rows.append((mean, option.label, nearest))
    what = study.choices[0].together[0].what
    head = [what, "distance", *(each.title.partition(",")[0] for each in study.choices)]
    lines = [
        (label, f"{mean:.3f}", *(f"{', '.join(e.label[1:])}: {e.distance:.3f}" for e in nearest))
        for mean, label, nearest in sorted(rows, key=lambda row: row[0])
    ]
    return [f"## One {what} for all", "", *table(head, lines), ""]


def _distance(tried: Tried) -> float:
    return tried.distance


def _found(choice: ParameterSearch, study: PaperStudy, tried: Tried) -> list[str]:
    return [f"{tried.distance:.3f}", *_cells(choice, study, tried.found)]


def _cells(choice: ParameterSearch, study: PaperStudy, found: dict[str, float]) -> list[str]:
    return [
        " ".join(number(found[f"{study.key}.{name}"]) for name in names)
        for _, names in choice.columns
    ]


def _paper(choice: ParameterSearch, study: PaperStudy) -> list[str]:
    known = {claim.id: claim.expected for claim in study.claims()}
    said = {name: each if isinstance(each, float) else np.nan for name, each in known.items()}
    return _cells(choice, study, said)


def _combined(study: PaperStudy, choice: ParameterSearch, tried: Sequence[Tried]) -> list[str]:
    axes = [axis.what for axis in choice.together]
    head = [*axes, "distance", *(head for head, _ in choice.columns)]
    rows = [["paper", *([""] * len(axes)), *_paper(choice, study)]]
    rows += [[*each.label, *_found(choice, study, each)] for each in tried[:NEAREST]]
    return [*table(head, rows), ""]


def _alone(
    study: PaperStudy, choice: ParameterSearch, best: Tried, alone: Sequence[Tried]
) -> list[str]:
    head = ["what", "value", "distance", *(head for head, _ in choice.columns)]
    rows = [
        ["paper", "", "", *_paper(choice, study)],
        ["the nearest", ", ".join(best.label), *_found(choice, study, best)],
    ]
    named = [axis.what for axis in choice.alone for _ in axis.options]
    for what, each in zip(named, alone, strict=True):
        rows.append([what, each.label[-1], *_found(choice, study, each)])
    return ["### One further change to the nearest combination", "", *table(head, rows), ""]


def _eras(study: PaperStudy, choice: ParameterSearch, folder: CaseFolder, seeds: int) -> list[str]:
    """Compare each era with every claim: how many rows of each kind agree with the paper."""
    plain = [claim for claim in study.claims() if claim.kind in WITHIN]
    plain = [each for each in plain if not _of(study, each) & set(study.searches)]
    names = needed(study, plain)
    claims = [claim for claim in study.claims() if _of(study, claim) <= set(names)]
    sets = [Runs(study, folder, seeds, changes(*options)) for _, options in choice.eras]
    fill([(runs, names) for runs in sets])
    kinds = GROUPS[:-1]
    lines = [f"# Every row under each era: {study.title}", ""]
    lines += [f"<!-- Made by `tidegate paper {study.key} --search`. -->", ""]
    lines += [
        "How many rows agree with the paper: a number or ratio within its tolerance, a statement"
        " by the mean of every part. With so few seeds that is no verdict. Left out are"
        " statements that need other cases, and the optima searched by brute force.",
        "",
    ]
    rows = []
    for (label, _), runs in zip(choice.eras, sets, strict=True):
        there = _sides(study, claims, runs)
        rows.append((label, *(f"{sum(there[kind])} of {len(there[kind])}" for kind in kinds)))
    return [*lines, *table(("setting", *kinds), rows)]


def _of(study: PaperStudy, claim: Claim) -> set[str]:
    """Return the cases and searches that a claim needs."""
    return set(study.checks[claim.id].cases)


def _sides(study: PaperStudy, claims: Sequence[Claim], runs: Runs) -> dict[str, list[bool]]:
    """Return for each kind of row which rows agree with the paper."""
    departures = study.deviations()
    found: dict[str, list[bool]] = {kind: [] for kind in GROUPS}
    for claim in claims:
        finding = study.checks[claim.id].find(runs)
        outcome = judge(claim, finding, departures.context(claim.id))
        if isinstance(finding, Unchecked):
            continue
        if isinstance(finding, Ordering):
            met = all(float(np.mean(part.differences)) > 0 for part in finding.parts)
        else:
            met = judge(claim, finding).verdict == MET
        found[group(claim.kind, outcome.chosen_on)].append(met)
    return found
