"""One HTML page of finished results, which needs nothing but a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.show.page import parts
from tidegate.show.page.sheet import Page, library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.grid.load import Loaded


def page(results: Sequence[Loaded]) -> bytes:
    """Return the page of one or more folders of results."""
    made = Page()
    library()  # if it is missing, fail before the work
    for number, loaded in enumerate(results, 1):
        parts.add(made, loaded, f"part{number}")
    names = list(dict.fromkeys(loaded.name for loaded in results))
    return made.html(", ".join(names[:3]) + (" and more" if len(names) > 3 else "")).encode()
