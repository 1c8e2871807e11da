"""How pictures look in a paper: file formats, size, a style file, and which lines are drawn."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tidegate.errors import UsageError, from_os
from tidegate.show.style import FONT, PALETTE, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.picture import Picture

    Drawn = tuple[str, str, list[Picture]]

FORMATS = ("png", "svg", "pdf")
INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
MOST_INCHES = 100.0
SIZES = ("axes.titlesize", "axes.labelsize", "figure.titlesize")
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*x\s*(\d+(?:\.\d*)?)\s*(in|cm|mm|pt)\s*")


@dataclass(frozen=True)
class Look:
    """What is asked of pictures; by default PNG and SVG in their own size and style."""

    formats: tuple[str, ...] = ("png", "svg")
    size: tuple[float, float] | None = None
    """Width and height of the whole picture, in inches."""
    style: Path | str | None = None
    """A style file of matplotlib, or the name of one that it has."""
    lines: tuple[str, ...] = ()
    """The controls, or settings of a sweep, that are drawn, in this order; none: all."""
    pictures: tuple[str, ...] = ()
    """The pictures that are drawn, by their names; none: all."""

    @classmethod
    def of(
        cls,
        formats: Sequence[str] | str | None = None,
        size: tuple[float, float] | str | None = None,
        style: Path | str | None = None,
        lines: Sequence[str] = (),
        pictures: Sequence[str] = (),
    ) -> Look:
        """Return what was asked for; UsageError where that cannot be drawn."""
        listed = formats.split(",") if isinstance(formats, str) else formats or ("png", "svg")
        chosen = tuple(dict.fromkeys(each.strip().lower().lstrip(".") for each in listed))
        for each in chosen:
            if each not in FORMATS:
                raise UsageError(
                    f"Pictures cannot be drawn as {each or 'nothing'}.",
                    f"Formats are {', '.join(FORMATS)}.",
                )
        if isinstance(size, str):
            size = _size(size)
        elif size is not None and not all(0 < side <= MOST_INCHES for side in size):
            raise UsageError(f"A picture cannot be {size[0]} x {size[1]} inches.", _HOW)
        return cls(chosen, size, style, tuple(dict.fromkeys(lines)), tuple(dict.fromkeys(pictures)))

    @property
    def named(self) -> str:
        """The formats, as a sentence names them."""
        return ", ".join(each.upper() for each in self.formats)

    def rules(self) -> dict[str, Any]:
        """Return the settings of matplotlib: those of all pictures, then those of the style.

        A title has a fixed height: otherwise every drawing measures all ticks for each title.
        Where the style has other letters, titles that it does not speak of are in proportion.
        """
        asked = self._style()
        scale = float(asked.get("font.size", FONT)) / FONT
        sizes = {name: RULES[name] * scale for name in SIZES}
        own = {"axes.titley": 1.0, "text.parse_math": False}
        return {**RULES, **own, **(sizes if scale != 1.0 else {}), **asked}

    def coloured(self, picture: Picture) -> Picture:
        """Return the picture in the colours of the style, if it has any."""
        cycle = self._style().get("axes.prop_cycle")
        colours = tuple(each["color"] for each in cycle or () if "color" in each)
        return replace(picture, hues=colours) if colours and picture.hues == PALETTE else picture

    def chosen(self, done: GridResult) -> GridResult:
        """Return a comparison with the controls that are drawn; of a sweep all."""
        if not self.lines or done.subject.command != "compare":
            return done
        labels = dict(zip(done.curves, done.averages, strict=True))
        self._require(labels)
        averages = [labels[name] for name in self.lines]
        return replace(
            done, averages=averages, curves={name: done.curves[name] for name in self.lines}
        )

    def only(self, pictures: Sequence[Picture]) -> list[Picture]:
        """Return the pictures of a sweep with the settings that are drawn."""
        if not self.lines:
            return list(pictures)
        self._require({name: None for picture in pictures for name in picture.names})
        found = []
        for picture in pictures:
            parts = [
                picture.table.filter(pl.col(picture.by) == name)
                for name in self.lines
                if name in picture.names
            ]
            if parts:
                labels = tuple(label for label in picture.labels if label.series in self.lines)
                found.append(replace(picture, table=pl.concat(parts), labels=labels))
        return found

    def wanted(self, drawn: Iterable[Drawn]) -> list[Drawn]:
        """Return the pictures that were asked for, by their names."""
        every = list(drawn)
        names = [name for name, *_ in every]
        for name in self.pictures:
            if name not in names:
                there = f"Pictures: {', '.join(names)}." if names else "There is none."
                raise UsageError(f"There is no picture {name}.", there)
        return [each for each in every if not self.pictures or each[0] in self.pictures]

    def _require(self, known: Mapping[str, object]) -> None:
        for name in self.lines:
            if name not in known:
                there = ", ".join(each for each in known if each) or "there is just one"
                raise UsageError(f"There is no line {name}.", f"Lines: {there}.")

    def _style(self) -> dict[str, Any]:
        if self.style is None:
            return {}
        import matplotlib as mpl
        from matplotlib import style

        if str(self.style) in style.library:
            library: Any = style.library
            return dict(library[str(self.style)])
        path = Path(self.style)
        try:
            found: Any = mpl.rc_params_from_file(path, use_default_template=False)
            return dict(found)
        except UnicodeDecodeError:
            raise UsageError(f"{path} is no style file: it is not text.", _STYLE) from None
        except OSError as error:
            raise from_os("read the style file", path, error) from error


_HOW = "Write width x height with a unit, as in 8.5x6cm, 85x60mm or 3.5x2.4in."
_STYLE = "A style file of matplotlib has lines such as `font.size: 8`."


def _size(text: str) -> tuple[float, float]:
    """Read `8.5x6cm`; in inches."""
    found = _SIZE.fullmatch(text)
    sides = [float(each) * INCHES[found[3]] for each in found.groups()[:2]] if found else []
    if not sides or not all(0 < side <= MOST_INCHES for side in sides):
        raise UsageError(f"Could not understand the size {text}.", _HOW)
    return sides[0], sides[1]
