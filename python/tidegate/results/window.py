"""The part of a run that is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Window:
    """The part of a run that is measured, in seconds."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Its duration; at most zero where there is nothing to measure."""
        return self.end - self.start

    def rate(self, amount: float) -> float | None:
        """Return how much of an amount there was a second; None: there is nothing to measure."""
        return amount / self.length if self.length > 0.0 else None

    def has(self, times: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of the times are inside; NaN is not."""
        return (times >= self.start) & (times <= self.end)
