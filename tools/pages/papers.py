"""Every claim of a paper, from its verdicts.csv."""

from collections.abc import Callable
from pathlib import Path

REPORTS = Path(__file__).parents[2] / "docs" / "papers"
"""Wherever the command is: Sphinx reads its settings in their folder."""


def there() -> list[str]:
    """Return the papers that have a report here."""
    return sorted(path.parent.name for path in REPORTS.glob("*/verdicts.csv"))


def claims(key: str) -> Callable[[], str]:
    """Return what makes the page of the claims of a paper."""

    def page() -> str:
        from tidegate import papers
        from tidegate.papers import claims_page, published

        text = (REPORTS / key / "verdicts.csv").read_text(encoding="utf-8")
        return claims_page.page(papers.load(key), published.of_text(text))

    return page
