"""Pictures of comparisons and sweeps; matplotlib is loaded with this module."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG

from tidegate.show import axis, controls, distribution, rates, series
from tidegate.show.style import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

    from tidegate.grid.grid_result import GridResult

DRAWN = {
    "fct-distribution": distribution.draw,
    "rates-over-time": rates.draw,
    "controls-side-by-side": controls.draw,
}
DPI = 150
LOOK = {**RULES, "axes.titley": 1.0}
"""A title of fixed height: otherwise every drawing measures all ticks for each title."""


def pictures(done: GridResult) -> dict[str, bytes]:
    """Return every picture of a comparison or a sweep, as file name and content."""
    with mpl.rc_context(cast("Any", LOOK)):
        return _together(_figures(done))


def of_run(folder: Path, title: str) -> dict[str, bytes]:
    """Return the pictures of the series that a run has, as file name and content."""
    with mpl.rc_context(cast("Any", LOOK)):
        return _together(series.figures(folder, title).items())


def _figures(done: GridResult) -> Iterator[tuple[str, Figure]]:
    """Yield those of controls, or those of a metric over each axis of numbers."""
    if done.subject.command == "compare":
        for name, draw in DRAWN.items():
            yield name, draw(done)
    else:
        for picture in axis.planned(done):
            yield axis.file_name(picture), axis.draw(done, picture)


def _together(figures: Iterable[tuple[str, Figure]]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, figure in figures:
        found |= _contents(name, figure)
    return found


def _contents(name: str, figure: Figure) -> dict[str, bytes]:
    """Render a figure as PNG and SVG, as file name and content.

    The layout takes as long as the drawing: it is computed once for both, where
    `savefig` would draw twice, with a layout each time, for every format.
    """
    figure.set_dpi(DPI)
    raster, vector = io.BytesIO(), io.BytesIO()
    canvas = FigureCanvasAgg(figure)
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")
    canvas.print_png(raster, pil_kwargs={"compress_level": 4})
    # without a date, so that the same data give the same file
    FigureCanvasSVG(figure).print_svg(vector, metadata={"Date": None})
    return {f"{name}.png": raster.getvalue(), f"{name}.svg": vector.getvalue()}
