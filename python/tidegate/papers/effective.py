"""The effective scenario of each case, for checks of the set-up."""

from __future__ import annotations

import tomllib
from functools import cached_property, reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

from tidegate.papers.check_results import Exact

if TYPE_CHECKING:
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


def alike(apart: int) -> str:
    """Return the result of `treated_differently` as a sentence."""
    packets = f"{PACKETS * FLOWS:,} packets of {FLOWS:,} flows"
    return f"{apart} of {packets} are treated differently when all belong to one flow"


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
