"""The measures of a run, as the limits of a suite say them: expressions in their units."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from tidegate.errors import UsageError
from tidegate.papers.expression import evaluated, measure_of, parsed
from tidegate.results.breakdown import DATAGRAMS, PAGES, VIEWERS
from tidegate.results.measures import known, summary_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from tidegate.results.run_files import SavedRun

OF_KINDS = frozenset((*DATAGRAMS, *VIEWERS, *PAGES))
"""The measures of a kind of users, which a summary has only if one of them came."""


def measure(record: SavedRun, expression: str, of: str) -> float:
    """Return an expression of measures; names are those of the summary of a class, or of a port.

    It is NaN where it is undefined. Raises UsageError where there is no such measure.
    """

    def value(node: ast.expr) -> np.float64:
        found = measure_of(node, "tidegate.results")
        if isinstance(found, str):
            there = summary_of(record, of)
            if found not in there:
                if found in OF_KINDS and there.get("arrived") == 0:
                    return np.float64("nan")  # nobody came
                raise _no_measure(found, there, of)
            return np.float64(known(there[found]))
        return np.float64(found(record))

    with np.errstate(invalid="ignore", divide="ignore"):
        return float(evaluated(parsed(expression), value))


def _no_measure(name: str, there: Mapping[str, object], of: str) -> UsageError:
    """Return the error of a measure that the summary of a class or port does not have."""
    near = get_close_matches(name, there, 3, 0.5)
    remedy = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(there)}."
    return UsageError(f"There is no measure `{name}` of {of}.", remedy)
