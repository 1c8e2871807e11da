"""Pictures of comparisons and sweeps; matplotlib is loaded here and nowhere else."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl

from tidegate.plot import axis, controls, distribution, rates
from tidegate.plot.style import RULES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tidegate.comparison import Comparison
    from tidegate.sweeping import Sweep

DRAWN = {
    "fct-distribution": distribution.draw,
    "rates-over-time": rates.draw,
    "controls-side-by-side": controls.draw,
}
FORMATS = ("png", "svg")


def pictures(comparison: Comparison) -> dict[str, bytes]:
    """Return every picture of a comparison as file name and content."""
    files = {}
    with mpl.rc_context(cast("Any", RULES)):
        for name, draw in DRAWN.items():
            figure = draw(comparison)
            for form in FORMATS:
                files[f"{name}.{form}"] = _content(figure, form)
    return files


def sweep_pictures(sweep: Sweep) -> dict[str, bytes]:
    """Return every picture of a sweep: a metric over each axis of numbers."""
    files: dict[str, bytes] = {}
    with mpl.rc_context(cast("Any", RULES)):
        for picture in axis.planned(sweep):
            figure, name = axis.draw(sweep, picture), axis.file_name(picture)
            for form in FORMATS:
                files[f"{name}.{form}"] = _content(figure, form)
    return files


def _content(figure: Figure, form: str) -> bytes:
    """Render a figure; without a date in it, so that the same data give the same file."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {}
    figure.savefig(buffer, format=form, dpi=150, metadata=metadata)
    return buffer.getvalue()
