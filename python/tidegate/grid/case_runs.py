"""The finished runs of a paper or a study, read again from their folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tidegate.errors import UsageError
from tidegate.results.folder import RUNS
from tidegate.results.run_files import SavedRun
from tidegate.results.statistics import metrics
from tidegate.results.store import MANIFEST, display, read_manifest

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from tidegate.grid.load import Loaded

REPORT = "REPORT.md"


@dataclass(repr=False)
class CaseRuns:
    """What a paper or a study measured.

    `name`: the paper or study; `saved`: its runs on disk by case and seed. A run is stored
    under the first case that needed it: cases with the same scenario share it.
    """

    name: str
    folder: Path
    saved: dict[tuple[str, int], SavedRun]
    claims: list[dict[str, Any]]
    """Each claim of a paper with its verdict; none of a study."""

    @classmethod
    def of(cls, found: Loaded) -> Self:
        """Find the runs in a folder."""
        saved = {}
        for path in sorted((found.folder / RUNS).glob(f"*/seed-*/{MANIFEST}"), key=str):
            manifest = read_manifest(path.parent)
            if "case" in manifest and "seed" in manifest:
                seed = int(manifest["seed"])
                saved[str(manifest["case"]), seed] = SavedRun(path.parent, seed)
        judged = (found.folder / "claims.json").exists()
        return cls(found.name, found.folder, saved, found.claims["claims"] if judged else [])

    def __repr__(self) -> str:
        """Return in one line what is there."""
        claims = f", {len(self.claims)} claims" if self.claims else ""
        return (
            f"<{type(self).__name__} of {self.name!r}: {len(self.cases)} cases, {len(self.saved)}"
            f" runs{claims}; .cases, .run(case, seed), .frame, .claims, .report>"
        )

    @property
    def cases(self) -> list[str]:
        """The names of its cases."""
        return list(dict.fromkeys(case for case, _ in self.saved))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per run: its case, the seed, and every metric that it has."""
        import polars as pl

        rows = [
            {"case": case, "seed": seed, **metrics(run.summary)}
            for (case, seed), run in sorted(self.saved.items())
        ]
        return pl.DataFrame(rows, strict=False, infer_schema_length=None)

    @property
    def report(self) -> str:
        """The report in Markdown; empty if it has not been written yet."""
        path = self.folder / REPORT
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def at(self, case: str, seed: int) -> SavedRun:
        """Return one run; UsageError if there is none of this case and seed."""
        found = self.saved.get((case, seed))
        if found is None:
            known = ", ".join(self.cases[:3])
            raise UsageError(
                f"{display(self.folder)} holds no run of case {case} with seed {seed}.",
                f"Its cases are {known}{', ...' if len(self.cases) > 3 else ''}.",
            )
        return found
