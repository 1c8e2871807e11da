"""The last step of every picture: letters for its panels, and marks that distinguish curves."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

from matplotlib.lines import Line2D

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = "osv^DPX*<>hp"
DASHES: tuple[tuple[float, tuple[float, ...]], ...] = (
    (0, ()),
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (10, 3)),
)


SIDES: tuple[Literal["left", "center"], ...] = ("left", "center")
"""Places of a title."""


def finish(figure: Figure) -> None:
    """Letter the panels, and give curves that differ only by colour their own marks or dashes."""
    letter(figure.axes)
    tell_apart(figure.axes)


def letter(panels: list[Axes]) -> None:
    """Put (a), (b) and so on before the titles, unless there is one panel only."""
    places = {tuple(axes.get_position().bounds): axes for axes in reversed(panels)}
    apart = [axes for axes in panels if places[tuple(axes.get_position().bounds)] is axes]
    lettered = any(axes.get_title(where).startswith("(") for axes in apart for where in SIDES)
    if len(apart) < 2 or lettered:
        return
    for axes, name in zip(apart, ascii_lowercase, strict=False):
        where: Literal["left", "center"] = "center" if axes.get_title("center") else "left"
        title = axes.get_title(where)
        axes.set_title(f"({name}) {title}" if title else f"({name})", loc=where)


def tell_apart(panels: list[Axes]) -> None:
    """Give each label marks or dashes of its own where curves of a panel share them."""
    alike = {
        str(line.get_label())
        for axes in panels
        for line in _curves(axes)
        if sum(_look(line) == _look(other) for other in _curves(axes)) > 1
    }
    names = dict.fromkeys(
        label
        for axes in panels
        for line in _curves(axes)
        if (label := str(line.get_label())) in alike
    )
    order = {name: place for place, name in enumerate(names)}
    for axes in panels:
        legend = axes.get_legend()
        shown = zip(legend.legend_handles, legend.get_texts(), strict=False) if legend else ()
        keys = [(each, text.get_text()) for each, text in shown if isinstance(each, Line2D)]
        for line, label in [*((line, str(line.get_label())) for line in _curves(axes)), *keys]:
            if label in order:
                _mark(line, order[label])


def _curves(axes: Axes) -> Iterator[Line2D]:
    """Yield the labelled curves, without reference lines and single points."""
    for line in axes.get_lines():
        labelled = not str(line.get_label()).startswith("_")
        if labelled and line.get_linestyle() not in ("None", "none", ""):
            yield line


def _look(line: Line2D) -> tuple[str, str]:
    return str(line.get_linestyle()), str(line.get_marker())


def _mark(line: Line2D, place: int) -> None:
    """Change its marks; a curve without marks gets other dashes."""
    if str(line.get_marker()) in ("None", "none", ""):
        line.set_linestyle(DASHES[place % len(DASHES)])
    else:
        line.set_marker(MARKS[place % len(MARKS)])
