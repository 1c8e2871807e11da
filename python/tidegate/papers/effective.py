"""What the set-up rows of the studies share: the effective scenario of each case."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate.papers.study import Study


class Effective:
    """The effective scenarios of the cases of a study, loaded when first asked for."""

    def __init__(self, study: Callable[[], Study]) -> None:
        self._study = study
        self.of = cache(self._of)

    def _of(self, case: str) -> dict[str, Any]:
        """Return the effective scenario of a case, as nested dicts."""
        study = self._study()
        return tomllib.loads(study.document(study.cases[case]).load().show())
