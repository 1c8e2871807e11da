"""Pictures of comparisons and sweeps; matplotlib is loaded with this module."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl

from tidegate.show import axis, controls, distribution, rates, series
from tidegate.show.style import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

    from tidegate.grid.measured import Measured

DRAWN = {
    "fct-distribution": distribution.draw,
    "rates-over-time": rates.draw,
    "controls-side-by-side": controls.draw,
}
FORMATS = ("png", "svg")


def pictures(done: Measured) -> dict[str, bytes]:
    """Return every picture of a comparison or a sweep, as file name and content."""
    with mpl.rc_context(cast("Any", RULES)):
        return {
            f"{name}.{form}": _content(figure, form)
            for name, figure in _figures(done)
            for form in FORMATS
        }


def of_run(folder: Path, title: str) -> dict[str, bytes]:
    """Return the pictures of the series that a run has, as file name and content."""
    with mpl.rc_context(cast("Any", RULES)):
        return {
            f"{name}.{form}": _content(figure, form)
            for name, figure in series.figures(folder, title).items()
            for form in FORMATS
        }


def _figures(done: Measured) -> Iterator[tuple[str, Figure]]:
    """Yield those of controls, or those of a metric over each axis of numbers."""
    if done.subject.command == "compare":
        for name, draw in DRAWN.items():
            yield name, draw(done)
    else:
        for picture in axis.planned(done):
            yield axis.file_name(picture), axis.draw(done, picture)


def _content(figure: Figure, form: str) -> bytes:
    """Render a figure; without a date in it, so that the same data give the same file."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {}
    figure.savefig(buffer, format=form, dpi=150, metadata=metadata)
    return buffer.getvalue()
