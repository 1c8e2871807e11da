"""What pages of papers, studies and certificates are made of: tables, and pictures as files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [heading(head), *map(line, rows)]


def heading(cells: Sequence[str]) -> str:
    """Return the first two lines of a table."""
    return f"{line(cells)}\n|{'---|' * len(cells)}"


def line(cells: Iterable[str]) -> str:
    """Return a line of a table."""
    safe = (cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") for cell in cells)
    return f"| {' | '.join(safe)} |"


def png(figure: Figure, dpi: int = 110) -> bytes:
    """Return a picture as a PNG file, the same for the same data."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": ""})
    return out.getvalue()
