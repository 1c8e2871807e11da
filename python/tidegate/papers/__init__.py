"""Papers regenerated claim by claim: runs, claims as functions of saved columns, report.

A paper is a package in this one that has a `claims.csv`. All have the same
modules (`cases`, `measures`, `checks`, `figures`, `report_text`) and the same
data (`claims.csv`, `deviations.toml`, `report.md.j2`, `scenarios/*.toml`). A row of
`claims.csv` says how it is checked; `checks` has what no row can say.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec

from tidegate.errors import UsageError
from tidegate.papers.claims import read
from tidegate.papers.expression import all_cases
from tidegate.papers.parts import missing
from tidegate.papers.row_check import checks_of
from tidegate.papers.study import PaperStudy, pictures_of


def there() -> list[str]:
    """Return the keys of all papers."""
    here = files("tidegate.papers")
    return sorted(each.name for each in here.iterdir() if (each / "claims.csv").is_file())


def title(key: str) -> str:
    """Return authors, title and year of a paper."""
    found: str | None = getattr(import_module(f"tidegate.papers.{key}"), "TITLE", None)
    return found or "not complete: no TITLE in its __init__.py"


def load(key: str) -> PaperStudy:
    """Return a paper by its key; UsageError if there is no such paper."""
    if key not in there():
        near = get_close_matches(key, there(), 1, 0.4)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(there())}."
        raise UsageError(f"There is no paper {key}.", hint)
    return assembled(key, f"tidegate.papers.{key}")


def assembled(key: str, package: str) -> PaperStudy:
    """Return a paper from the modules of its package; UsageError if it is not complete."""
    if lacking := missing(package):
        raise UsageError(
            f"The paper {key} has no {', and no '.join(lacking)}.",
            "docs/adding-a-paper.md has the parts of a paper.",
        )
    try:
        return _assembled(key, package)
    except ValueError as error:
        raise UsageError(
            f"Could not read the paper {key}: {error}.",
            "docs/adding-a-paper.md says how a row of claims.csv is checked.",
        ) from error


def _assembled(key: str, package: str) -> PaperStudy:
    cases, figures, report_text = (
        import_module(f"{package}.{role}") for role in ("cases", "figures", "report_text")
    )
    claims, pictures = (
        (files(package) / f"{name}.csv").read_text(encoding="utf-8")
        for name in ("claims", "pictures")
    )
    strange = [each.id for each in read(claims) if not each.id.startswith(f"{key}.")]
    if strange:
        raise ValueError(f"ids begin with {key}. (the key of the paper), not as {strange[0]}")
    searches = getattr(cases, "SEARCHES", {})
    return PaperStudy(
        key=key,
        package=package,
        cases=cases.CASES,
        searches=searches,
        keep=cases.SCALE.keep,
        laws=getattr(cases, "LAWS", None),
        title=import_module(package).TITLE,
        checks=checks_of(claims, package, cases.SETS, searches),
        pictures=pictures_of(pictures, figures, cases.SETS),
        names=report_text.TEMPLATE_NAMES,
        text_cases=all_cases(report_text.TEXT_CASES, cases.SETS),
        scale=cases.SCALE,
        choices=import_module(f"{package}.free_parameters").CHOICES
        if find_spec(f"{package}.free_parameters")
        else (),
    )
