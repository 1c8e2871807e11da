"""What the tables of mutations share: runs that say what they are told, and what a statement is.

A table has one row for each statement of a paper: what is broken, numbers as
they are where the statement holds, and the ones that are other when it is
broken. Numbers are by hand, from the sentence of the paper; the function that
is exercised is the check's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from inspect import signature
from types import SimpleNamespace

import numpy as np

from tidegate.papers.check_results import Unchecked
from tidegate.papers.claims import SETUP_KINDS
from tidegate.papers.verdicts import judge

SEEDS = 5


@dataclass
class Row:
    """One mutation: `holds` and `broken` map patterns of "case measure" to numbers.

    `rates` has, by the name of a search, completions by the rate that is tried;
    `tables` the tables of a case's runs, by the name of what reads them; the
    settings of a case stand under `effective`.
    """

    what: str
    holds: dict[str, object]
    broken: dict[str, object]
    rates: dict[str, dict[float, float]] = field(default_factory=dict)
    broken_rates: dict[str, dict[float, float]] = field(default_factory=dict)


def statements(study):
    """Return the short ids of the claims that are sentences: held to no number, and checked.

    Of rows of the set-up those that the text or a figure makes.
    """
    names = []
    for claim in study.claims():
        said = claim.kind not in SETUP_KINDS or claim.short.startswith(("text.", "fig"))
        if claim.expected is None and said and not _unchecked(study.checks[claim.id]):
            names.append(claim.short)
    return names


def _unchecked(check):
    if check.cases:
        return False
    try:
        return isinstance(check.find(None), Unchecked)
    except AttributeError:
        return False


def called(measure):
    """Return what a measure is called, with what it was made with: `completed(end=250.0)`."""
    if isinstance(measure, str):
        return measure
    function = getattr(measure, "__wrapped__", measure)
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    inside = dict(zip(function.__code__.co_freevars, cells, strict=True))
    if "function" in inside:  # made by `of_values`
        function = inside["function"]
        bound = signature(function).bind(None, *inside["values"], **inside["named"])
        inside = dict(sorted(list(bound.arguments.items())[1:]))
    given = ", ".join(f"{name}={value}" for name, value in inside.items())
    name = function.__qualname__.partition(".<locals>")[0]
    return f"{name}({given})" if given else name


class Told:
    """Runs that say what they are told."""

    def __init__(self, paper, numbers, rates=None):
        self.paper, self.numbers, self.rates, self.seeds = paper, numbers, rates or {}, SEEDS

    def _told(self, asked):
        for pattern, value in self.numbers.items():
            if fnmatchcase(asked, pattern):
                return value
        raise KeyError(f"nobody says what {asked} is")

    def values(self, case, measure):
        key = case if isinstance(case, str) else case.key
        search, _, rate = key.rpartition("/")
        if search in self.rates:
            found = self.rates[search][float(rate)]
        else:
            found = self._measured(key, measure)
        if np.ndim(found):
            return np.asarray(found, dtype=np.float64)
        return found * (1.0 + 1e-6 * np.arange(self.seeds))

    def _measured(self, key, measure):
        """Return what is told of a measure, or what it measures in the records that are told."""
        try:
            return self._told(f"{key} {called(measure)}")
        except KeyError:
            return [measure(record) for record in self.records(key)]

    def mean(self, case, measure):
        return float(np.mean(self.values(case, measure)))

    def records(self, case):
        tables = self._told(f"{case} records")
        return [Record(tables) for _ in range(self.seeds)]

    def fine(self, search):
        return {rate: f"{search}/{rate:g}" for rate in self.rates[search]}

    def best(self, search):
        rates = self.rates[search]
        rate = max(rates, key=lambda each: rates[each])
        return rate, f"{search}/{rate:g}"

    def curve(self, search):
        return sorted(self.rates[search].items())

    @property
    def effective(self):
        return SimpleNamespace(
            of=lambda case: self._told(f"{case} effective"),
            treated_differently=lambda case, port: self._told(f"{case} {port} apart"),
        )


class Record:
    """A saved run by hand: its tables by name, or by the name and the port."""

    def __init__(self, tables):
        self.tables = tables

    def __getattr__(self, name):
        def table(port=""):
            found = self.tables[f"{name} {port}".strip()]
            if name in ("port", "traffic"):
                return found
            as_it_is = ("phase",)
            return {
                key: value if key in as_it_is else np.asarray(value, dtype=np.float64)
                for key, value in found.items()
            }

        return table


def told(study, name, row, *, broken):
    """Return the verdict on a claim by the numbers of a row, as they are or broken."""
    numbers = {**row.broken, **_without(row.holds, row.broken)} if broken else row.holds
    rates = row.rates | row.broken_rates if broken else row.rates
    claim = study.claim(name)
    return judge(claim, study.checks[claim.id].find(Told(study, numbers, rates))).verdict


def _without(holds, broken):
    return {pattern: value for pattern, value in holds.items() if pattern not in broken}
