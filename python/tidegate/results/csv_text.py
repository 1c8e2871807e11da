"""Tables as lines of CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def csv_text(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV: the same rows give the same text on every system."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(head)
    lines.writerows(rows)
    return text.getvalue()
