"""A paper as data: its claims, its deviations, and the cases that are simulated."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.papers import claims as listed
from tidegate.papers import deviations as departures
from tidegate.scenario import document as documents
from tidegate.scenario.overrides import variant_cells

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from tidegate.papers.case import Case, OptimumSearch
    from tidegate.papers.claims import Claim
    from tidegate.papers.deviations import Deviations


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What is simulated: of a paper, and without claims of a study or a certificate.

    `package` is the Python package that has its data and code.
    """

    key: str
    package: str
    cases: Mapping[str, Case]
    searches: Mapping[str, OptimumSearch] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    """Columns of finished flows that are saved."""
    laws: Mapping[str, Any] | None = None
    """Laws of the user's own that the cases name."""

    @property
    def folder(self) -> Traversable:
        """The folder of its data."""
        return files(self.package)

    @property
    def scenarios(self) -> Path:
        """The folder of the scenarios that its cases name."""
        return Path(str(self.folder / "scenarios"))

    def claims(self) -> list[Claim]:
        """Read its claims."""
        return listed.read((self.folder / "claims.csv").read_text(encoding="utf-8"))

    def claim(self, short: str) -> Claim:
        """Return a claim by its id without the key."""
        return next(claim for claim in self.claims() if claim.short == short)

    def deviations(self) -> Deviations:
        """Read what was guessed or done otherwise than in the paper."""
        return departures.read((self.folder / "deviations.toml").read_text(encoding="utf-8"))

    def document(self, case: Case) -> documents.Document:
        """Return the scenario of a case."""
        document = documents.read(self.scenarios / case.scenario)
        variants = {cell.label: cell.settings for cell in variant_cells(document)}
        for name in case.variants:
            document = document.having(*variants[name])
        return document.having(*case.settings)
