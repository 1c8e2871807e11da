"""The check that a row of `claims.csv` says, in its columns `of`, `measure`, `check`, `margin`.

    of       the runs: the key of a case, in which `*` is what `check` compares
    measure  what is measured of each of these runs; where it is empty `check` has measures
    check    what is compared with what; several comparisons are separated by `;`
    margin   by which share the greater side of `>=`, or either side of `~`, may be less

`check` is one of

    (empty)             the measure is compared with the number of the paper
    cp / none           so is this: what stands in the place of `*`, or `MEASURE @ that`
    cp > 2 * none > 5   one is greater than the other, seed by seed
    say cp              not compared, but said beside the verdict, seed by seed
    = 0                 every run has exactly this
    set                 the scenario of `of` has what the paper says at the keys of `measure`, and
                        with `set to TEXT` this; `margin` is what it may be off
    calculated          `measure` is of numbers and functions of `checks.py`, without a run
    by NAME(a, b)       a function of `checks.py` finds it
    not checked: WHY    nothing is compared
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tidegate.papers.check import Check
from tidegate.papers.check_results import Exact, Numbers, Ordering, OrderingPart, Unchecked
from tidegate.papers.claims import read
from tidegate.papers.effective import set_as
from tidegate.papers.expression import (
    FUNCTIONS,
    all_cases,
    at_once,
    called,
    each_key,
    evaluated,
    measure_of,
    modules_of,
    one_by_one,
    parsed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from tidegate.papers.check_results import CheckResult
    from tidegate.papers.claims import Claim
    from tidegate.papers.expression import Sets
    from tidegate.papers.runs import Floats, Runs
    from tidegate.results.measures import Measure

_KEY = r"(?:\[[^\[\]]*\]|[^\s(),\[\]])+"
"""A key of a case: without blanks, and with commas in brackets alone."""
_AT = re.compile(rf"([a-z]\w*(?:\([^()]*\))?) @ ({_KEY})")
_WORD = re.compile(rf"{_KEY}\(?")
_COMPARED = re.compile(r" (>=|>|<|~) ")
_SAY, _BY, _NOT = "say ", "by ", "not checked: "
_SET, _CALCULATED, _EXACTLY = "set", "calculated", "= "


def checks_of(
    text: str, package: str, sets: Sets, searches: Container[str] = ()
) -> dict[str, Check]:
    """Return the checks of a `claims.csv` by the ids of the claims."""
    found = {}
    for line, claim in enumerate(read(text), 2):
        try:
            found[claim.id] = CheckedClaim(claim, package, sets, searches, line).check()
        except (ValueError, AttributeError, ModuleNotFoundError) as error:
            raise ValueError(f"{claim.id}: {error}") from error
    return found


@dataclass(frozen=True)
class Side:
    """One side of a comparison; `terms` are measures of cases, in the places `_0`, `_1` ... ."""

    text: str
    node: ast.expr
    terms: tuple[tuple[str, str], ...]


class Clause(NamedTuple):
    """What is compared, or `said` beside the verdict; `exactly`: the value of every run."""

    where: str
    sides: list[Side]
    signs: list[str]
    said: bool
    exactly: float | None


@dataclass(frozen=True)
class CheckedClaim:
    """A row of `claims.csv` as a check, with the named sets and the modules of its paper."""

    claim: Claim
    package: str
    sets: Sets
    searches: Container[str]
    line: int
    """Where it stands in `claims.csv`."""

    def check(self) -> Check:
        """Return the check."""
        cases, find = self._checked()
        return Check(cases, find, self.says, self.place)

    @property
    def place(self) -> tuple[Path, int]:
        """The file and the line that say what is checked: the row, or the function it names."""
        if not self.claim.check.startswith(_BY):
            return Path(str(files(self.package) / "claims.csv")), self.line
        code = self.function()[0].__code__
        return Path(code.co_filename), code.co_firstlineno

    def _checked(self) -> tuple[tuple[str, ...], Callable[[Runs], CheckResult]]:
        """Return the cases whose runs are read, and what reads them."""
        text, claim = self.claim.check, self.claim
        if text.startswith(_NOT):
            return (), lambda _: Unchecked(text.removeprefix(_NOT))
        if text.startswith(_BY):
            return all_cases(claim.of, self.sets), partial(_found, *self.function())
        if text == _CALCULATED:
            return (), lambda _: self._calculation()
        if text.partition(" ")[0] == _SET:
            wanted = text.removeprefix(_SET).removeprefix(" to ").strip()
            read = [(of, key) for of, key in one_by_one([claim.of, claim.measure], self.sets)]
            return (), lambda runs: set_as(runs.effective, read, wanted, claim.within)
        clauses = list(self.clauses())
        _refuse_without_verdict(text, clauses)
        terms = [term for each in clauses for side in each.sides for term in side.terms]
        cases = dict.fromkeys(key for _, of in terms for key in each_key(at_once(of, self.sets)))
        return tuple(cases), self._find

    @property
    def says(self) -> str:
        """What is checked, in one line."""
        claim = self.claim
        of = " of ".join(each for each in (claim.measure, claim.of) if each not in ("", "*"))
        margin = f", within {100 * claim.within:g} %" if claim.within else ""
        if not claim.check or claim.check.startswith((_SET, _CALCULATED)):
            return f"Check {of}."
        if claim.check.startswith(_BY):
            text = self.function()[0].__doc__ or ""
            return " ".join(text.partition("\n\n")[0].split())
        if claim.check.startswith(_NOT):
            return f"Say why it is {claim.check}"
        return f"Check {of}: {claim.check}{margin}." if of else f"Check {claim.check}{margin}."

    def function(self) -> tuple[Callable[..., Any], list[object]]:
        """Return the function of `checks.py` that the row names, and the values for it."""
        name, values = called(self.claim.check.removeprefix(_BY))
        return getattr(import_module(f"{self.package}.checks"), name), values

    def clauses(self) -> Iterator[Clause]:
        """Yield what is compared, and what is only said."""
        for text in map(str.strip, self.claim.check.split(";")):
            # one that says nothing is refused, and is no case of that name
            word = next((each for each in (_SAY, _EXACTLY) if f"{text} ".startswith(each)), "")
            rest = "" if word == _EXACTLY else text.removeprefix(word.strip()).strip()
            exactly = float(text.removeprefix(word)) if word == _EXACTLY else None
            for of, measure, each in one_by_one(
                [self.claim.of, self.claim.measure, rest], self.sets
            ):
                where = ", ".join(part for part in (measure, of) if part not in ("", "*"))
                first, *others = _COMPARED.split(f" {each}")
                sides = [_side(one, of, measure, self._functions) for one in (first, *others[1::2])]
                yield Clause(where, sides, others[::2], word == _SAY, exactly)

    def _find(self, runs: Runs) -> CheckResult:
        parts: list[OrderingPart] = []
        notes: list[str] = []
        found: Numbers | Exact | None = None
        for clause in self.clauses():
            values = [self._value(side, runs) for side in clause.sides]
            if clause.said:
                each = values[0] if np.ndim(values[0]) < 2 else np.mean(values[0], axis=-1)
                shown = ", ".join(f"{one:.3g}" for one in each)
                notes.append(f"{clause.where}, {clause.sides[0].text}: {shown}.")
            elif clause.exactly is not None:
                text = " or ".join(sorted({f"{value:g}" for value in values[0]}))
                found = Exact(text, bool(np.all(values[0] == clause.exactly)))
            elif not clause.signs:
                found = Numbers(tuple(map(float, values[0])))
            for place, sign in enumerate(clause.signs):
                both = slice(place, place + 2)
                parts += self._parts(clause.where, clause.sides[both], sign, values[both])
        result = Ordering(tuple(parts)) if found is None else found
        return replace(result, note=" ".join(notes))

    def _parts(
        self, where: str, sides: list[Side], sign: str, values: list[Floats]
    ) -> Iterator[OrderingPart]:
        """Yield the differences of a comparison, above zero as claimed."""
        left, right = values
        less = 1.0 - self.claim.within
        pairs = {
            ">": [("", left, right)],
            "<": [("", right, left)],
            ">=": [("", left, right * less)],
            "~": [(", below", left, right * less), (", above", right, left * less)],
        }[sign]
        means = [plain(each) for each, side in zip(values, sides, strict=True) if side.terms]
        margin = f" within {100 * self.claim.within:g} %" if sign in (">=", "~") else ""
        compared = f"{sides[0].text} {sign} {sides[1].text}{margin}".strip()
        what = f"{where}: {compared}" if where else compared
        for name, more, other in pairs:
            yield OrderingPart(
                f"{what}{name} ({' to '.join(means)})", tuple(map(float, more - other))
            )

    def _calculation(self) -> Exact:
        """Return the value of an expression of what `checks.py` has."""
        own = import_module(f"{self.package}.checks")

        def leaf(node: ast.expr) -> Any:  # noqa: ANN401  (a number, or a queue)
            assert isinstance(node, ast.Name)
            return getattr(own, node.id)

        functions = FUNCTIONS | {name: each for name, each in vars(own).items() if callable(each)}
        value = evaluated(parsed(self.claim.measure), leaf, functions)
        return Exact(f"{value:g}", within=self.claim.within)

    def _value(self, side: Side, runs: Runs) -> Floats:
        def term(node: ast.expr) -> object:
            assert isinstance(node, ast.Name)
            measure, of = side.terms[int(node.id[1:])]
            cases = at_once(of, self.sets)
            return evaluated(
                parsed(measure),
                lambda leaf: self._measured(runs, cases, measure_of(leaf, self.package)),
                self._functions,
            )

        found: Floats = evaluated(side.node, term, self._functions)
        return found

    def _measured(self, runs: Runs, case: Any, measure: Measure) -> Floats:  # noqa: ANN401
        """Return a measure of a case, or of cases in lists, by seed; of a search at its best."""
        if isinstance(case, list):
            return np.array([self._measured(runs, each, measure) for each in case])
        return runs.values(runs.best(case)[1] if case in self.searches else case, measure)

    @property
    def _functions(self) -> dict[str, Callable[..., Any]]:
        own = getattr(modules_of(self.package)[0], "OVER_CASES", {})
        return {**FUNCTIONS, **own, "furthest": partial(_furthest, self.claim.expected)}


class _Measures(ast.NodeTransformer):
    """Puts a term in the place of every measure of an expression."""

    def __init__(self, term: Callable[[str], str], functions: Container[str]) -> None:
        self.term, self.functions = term, functions

    def visit_Name(self, node: ast.Name) -> ast.Name:
        known = node.id.startswith("_")
        return node if known else ast.Name(self.term(node.id))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        if node.func.id not in self.functions:
            return ast.Name(self.term(ast.unparse(node)))
        node.args = [self.visit(each) for each in node.args]
        return node


def _side(text: str, of: str, measure: str, functions: Container[str]) -> Side:
    """Read one side: what stands in the place of `*` in `of`, or measures where none is named."""
    terms: list[tuple[str, str]] = []

    def term(what: str, key: str) -> str:
        terms.append((what, of.replace("*", key)))
        return f"_{len(terms) - 1}"

    read = _AT.sub(lambda found: term(found[1], found[2]), text)
    if measure and not text.strip():
        read = term(measure, "*")
    elif measure:
        read = _WORD.sub(lambda word: word[0] if _kept(word[0]) else term(measure, word[0]), read)
    node = parsed(read)
    if not measure:
        node = _Measures(lambda what: term(what, "*"), functions).visit(node)
    return Side(text.strip(), node, tuple(terms))


def _refuse_without_verdict(check: str, clauses: Sequence[Clause]) -> None:
    """Raise ValueError where nothing is compared, or nothing of a run."""
    if all(each.said for each in clauses):
        raise ValueError(
            f"{check!r} compares nothing: `say` only puts values beside a verdict, as in"
            " `a > b; say a`"
        )

    def measures(side: Side) -> bool:
        nodes = (node for measure, _ in side.terms for node in ast.walk(parsed(measure)))
        return any(isinstance(node, ast.Name) for node in nodes)

    if any(not any(map(measures, each.sides)) for each in clauses):
        raise ValueError("there is no measure of a run, and what needs no run is `calculated`")


def _kept(word: str) -> bool:
    """Tell whether a word is no key: a number, an operator, a function, or a term."""
    return bool(re.fullmatch(r"-?\d+(\.\d+)?|[-+*/]|.*\(|_\d+", word))


def _furthest(said: float | tuple[float, float] | None, each: Floats) -> Floats:
    """Return the values, seed by seed, of the one whose mean is furthest from the paper's."""
    middle = float(np.mean(said)) if said is not None else np.nan
    return np.asarray(max(each, key=lambda values: abs(float(np.mean(values)) - middle)))


def _found(function: Callable[..., Any], values: list[object], runs: Runs) -> CheckResult:
    """Return what a function of `checks.py` finds; it may return the parts of an ordering."""
    found = function(runs, *values)
    if isinstance(found, dict):
        return Ordering(
            tuple(OrderingPart(what, tuple(map(float, each))) for what, each in found.items())
        )
    finding: CheckResult = found
    return finding


def plain(values: Floats) -> str:
    """Return the mean over the seeds with three digits."""
    return f"{float(np.mean(values)):.3g}"
