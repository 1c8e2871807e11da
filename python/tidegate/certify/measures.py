"""The measures of a run, as the limits of a suite say them: expressions in their units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.expression import evaluated, measure_of, parsed
from tidegate.results.measures import known, summary_of

if TYPE_CHECKING:
    import ast

    from tidegate.results.run_files import SavedRun


def measure(record: SavedRun, expression: str, of: str) -> float:
    """Return an expression of measures; names are those of the summary of a class, or of a port.

    It is NaN where it is undefined.
    """

    def value(node: ast.expr) -> np.float64:
        found = measure_of(node, "tidegate.results")
        if isinstance(found, str):
            return np.float64(known(summary_of(record, of).get(found)))
        return np.float64(found(record))

    with np.errstate(invalid="ignore", divide="ignore"):
        return float(evaluated(parsed(expression), value))
