"""The table of a comparison or a sweep for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.grid.axes import named
from tidegate.show.measures import compared, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.grid.grid_result import GridResult

COLUMNS = 5
"""Settings that stand side by side; more go below each other."""
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{each: f"\\{each}" for each in "%&_#${}"},
    "µ": r"$\mu$",
}


def table(done: GridResult) -> str:
    """Return a tabular of the main measures, or of those chosen: mean and 95 % interval."""
    rows = compared(done)
    names = [_text(row.title) for row in rows]
    settings = [_text(named(each["settings"])) for each in done.averages]
    cells = [
        [_number(shown(each.get(row.metric), row.scale)) for each in done.averages] for row in rows
    ]
    if len(settings) > COLUMNS:  # a line for each setting
        names, settings, cells = settings, names, [list(line) for line in zip(*cells, strict=True)]
    lines = [_line(["", *settings]), r"\midrule"]
    lines += [_line([name, *row]) for name, row in zip(names, cells, strict=True)]
    about = f"{done.subject.name}: {_seeds(done)}"
    return "\n".join(
        [
            f"% {' '.join(about.split())}; needs \\usepackage{{booktabs}}",
            rf"\begin{{tabular}}{{l{'r' * len(settings)}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _seeds(done: GridResult) -> str:
    count = len(done.subject.seeds)
    return f"mean and 95 % interval over {count} seeds" if count > 1 else "one seed"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _text(text: str) -> str:
    return "".join(SPECIAL.get(each, each) for each in text)


def _number(text: str) -> str:
    """Return `1,234 ± 5` as mathematics, so that signs and spaces are right."""
    if text == "-":
        return "--"
    return "$" + text.replace(",", "{,}").replace("±", r"\pm") + "$"
