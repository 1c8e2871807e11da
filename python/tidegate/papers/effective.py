"""The effective scenario of each case, for checks of the set-up."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cached_property, reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

from tidegate.papers.check_results import Exact
from tidegate.papers.expression import evaluated, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidegate.papers.paper import Paper

FLOWS, PACKETS = 1000, 10
"""Flows of the crowd that is sent to a port, and packets of each."""
_UNITS = {"kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9, "us": 1e-6, "ms": 1e-3, "min": 60.0, "s": 1.0}
_UNITS |= {"kB": 1e3, "MB": 1e6, "B": 1.0, "packets": 1.0, "/s": 1.0}


class Effective:
    """The effective scenarios of the cases of a paper, loaded at first use."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self.read_cases: dict[str, None] = {}
        """The cases that were read, in order."""

    @cached_property
    def _loaded(self) -> dict[str, dict[str, Any]]:
        return {}

    def of(self, case: str) -> dict[str, Any]:
        """Return the effective scenario of a case, as nested dicts."""
        self.read_cases[case] = None
        if case not in self._loaded:
            document = self._paper.document(self._paper.cases[case])
            self._loaded[case] = tomllib.loads(document.load().show())
        return self._loaded[case]

    def at(self, case: str, path: str) -> Any:  # noqa: ANN401  (a value of a document)
        """Return the value at a dotted path in the effective scenario of a case."""
        return reduce(getitem, path.split("."), self.of(case))

    def amount(self, case: str, path: str) -> float:
        """Return the quantity at a path, in the units of `amount`."""
        return amount(self.at(case, path))

    def exact(self, case: str, path: str, scale: float = 1.0) -> Exact:
        """Return the quantity at a path, times a factor, for a row of the set-up."""
        return rounded(scale * self.amount(case, path))

    def treated_differently(self, case: str, port: str) -> int:
        """Return how many packets of a crowd a port treats differently when all are of one flow."""
        self.read_cases[case] = None
        document = self._paper.document(self._paper.cases[case])
        return document.load().treated_differently(port, FLOWS)


def stateless_port(
    effective: Effective, cases: Mapping[str, str], kinds: Sequence[type] = (), most: int = 0
) -> Exact:
    """Return whether a port treats flows alike, and keeps few numbers whatever their count.

    `kinds` are what the law keeps at a port, of which at most `most` numbers; `cases` have
    words for what the port does in each.
    """
    apart = sum(effective.treated_differently(case, "bottleneck") for case in cases)
    fields = [
        name
        for kind in kinds
        for name in dir(kind)
        if not name.startswith("_") and not callable(getattr(kind, name))
    ]
    numbers = f"{len(fields)} numbers a port; " if kinds else ""
    packets = f"{PACKETS * FLOWS:,} packets of {FLOWS:,} flows"
    alike = f"{apart} of {packets} are treated differently when all belong to one flow"
    text = f"{numbers}under {', '.join(cases.values())} {alike}"
    return Exact(text, apart == 0 and (0 < len(fields) <= most or not kinds))


def rounded(value: float) -> Exact:
    """Return a number of the set-up without what rounding adds at its ninth decimal."""
    return Exact(f"{round(value, 9):g}")


def amount(value: str | float) -> float:
    """Return a quantity of an effective scenario in bits/s, seconds, bytes, packets or 1/s."""
    if isinstance(value, int | float):
        return float(value)
    for unit in sorted(_UNITS, key=len, reverse=True):
        if value.endswith(unit):
            return float(value.removesuffix(unit)) * _UNITS[unit]
    raise ValueError(f"{value} has no known unit")


def set_as(
    effective: Effective, places: Iterable[tuple[str, str]], wanted: str = "", within: float = 0.0
) -> Exact:
    """Return what the scenarios of cases have, each different value once.

    `places` are cases, and an expression of keys, or a text with such expressions in
    angle brackets. Without `wanted` what is found is compared with the claim.
    """
    found = dict.fromkeys(_read(effective, case, text) for case, text in places)
    try:
        shown = "; ".join(sorted(found, key=float))
    except ValueError:
        shown = "; ".join(found)
    return Exact(shown, shown == wanted if wanted else None, within)


def _read(effective: Effective, case: str, text: str) -> str:
    """Return what a scenario has for a text."""
    document = effective.of(case)

    def value(node: ast.expr) -> Any:  # noqa: ANN401  (a value of a document)
        if isinstance(node, ast.Name):
            return document[node.id]
        if isinstance(node, ast.Attribute):
            return value(node.value)[node.attr]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return value(node.value)[node.slice.value]
        raise ValueError(f"{ast.unparse(node)} is no key of a scenario")

    def quantity(node: ast.expr) -> Any:  # noqa: ANN401  (a number, a word, or a table)
        found = value(node)
        try:
            return amount(found) if isinstance(found, str | int | float) else found
        except ValueError:
            return found

    def shown(expression: str) -> str:
        found = evaluated(parsed(expression), quantity)
        return found if isinstance(found, str) else f"{round(found, 9):g}"

    return re.sub("<([^<>]*)>", lambda each: shown(each[1]), text) if "<" in text else shown(text)
