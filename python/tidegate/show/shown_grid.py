"""A comparison or a sweep as Python users see it: tables, pictures and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.errors import UsageError
from tidegate.grid.grid_result import GridResult
from tidegate.show import finished, latex
from tidegate.show.look import Look
from tidegate.show.recommendation import recommendation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from tidegate.show.tables import Shown


class ShownGrid(GridResult):
    """What the runs of a grid measured, with what shows it."""

    def __repr__(self) -> str:
        """Return the runs in one line, and what they have."""
        axes = ", ".join(f"{key} ({len(values)})" for key, values in self.subject.axes.items())
        return (
            f"<{type(self).__name__} of {self.subject.name!r}: {axes}; {len(self.rows)} of"
            f" {len(self.subject.jobs)} runs; .table, .frame, .differences, .figures()>"
        )

    def _repr_html_(self) -> str:
        import base64

        from tidegate.show.pictures import side_by_side

        picture = side_by_side(self)
        image = base64.b64encode(picture).decode()
        shown = f'<img src="data:image/png;base64,{image}">' if picture else ""
        return self.table._repr_html_() + shown

    @property
    def table(self) -> Shown:
        """Mean and interval of each setting, for a terminal or a notebook."""
        return finished.table(self)

    @property
    def recommendation(self) -> str:
        """Which setting to take, and what that rests on: a line for each load."""
        return recommendation(self)

    def figures(
        self,
        *,
        size: tuple[float, float] | str | None = None,
        style: str | Path | None = None,
        lines: Sequence[str] = (),
        pictures: Sequence[str] = (),
    ) -> dict[str, Figure]:
        """Return the pictures as figures of matplotlib, by their names; arguments as of `plot`."""
        from tidegate.show.pictures import figures

        return figures(self, Look.of(None, size, style, lines, pictures))

    def to_pandas(self) -> object:
        """Return `frame`, a row per run, as a frame of pandas.

        Raises:
            UsageError: pandas is not installed.
        """
        return as_pandas(self.frame)

    def csv(self) -> str:
        """Return the table in long format: a line per setting and metric."""
        return finished.lines(self)

    def latex(self) -> str:
        """Return the main measures, or those chosen, as a table for LaTeX (booktabs)."""
        return latex.table(self)

    def plot(
        self,
        folder: str | Path | None = None,
        *,
        formats: Sequence[str] | str | None = None,
        size: tuple[float, float] | str | None = None,
        style: str | Path | None = None,
        lines: Sequence[str] = (),
        pictures: Sequence[str] = (),
    ) -> list[Path]:
        """Draw the pictures and return their paths.

        Args:
            folder: Where they go; by default where the results are, or `pictures`.
            formats: `"png"`, `"svg"`, `"pdf"`; by default the first two.
            size: Of a whole picture: as text with a unit, `"8.5x6cm"`, or in inches.
            style: A style file of matplotlib, or the name of one that it has.
            lines: Which controls, or settings of a sweep, are drawn, in this order.
            pictures: Which pictures are drawn, by the names that `figures` has; by default all.

        Raises:
            UsageError: There is no such format, size, style, line or picture.
        """
        look = Look.of(formats, size, style, lines, pictures)
        return finished.plot(self, folder, look)


def as_pandas(table: pl.DataFrame) -> object:
    """Return a frame of pandas; raises UsageError where it is not installed."""
    try:
        return table.to_pandas()
    except ImportError as error:
        raise UsageError(
            f"Could not make a frame of pandas: {error}.",
            "Install what is missing: pip install pandas pyarrow.",
        ) from None
