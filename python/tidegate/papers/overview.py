"""The page over all papers: what holds, what depends on guesses, what does not, in numbers.

It is made from the `verdicts.csv` of each report, so that it agrees with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tidegate.papers import moved
from tidegate.papers.page import png
from tidegate.papers.published import Verdicts, read
from tidegate.papers.report_text import environment, number
from tidegate.papers.verdicts import FIFTH, MET, UNCHECKED, VERDICTS
from tidegate.results.store import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAGE, PICTURE = "README.md", "printed.png"


def write(folder: Path, keys: Sequence[str]) -> None:
    """Write the page and its picture into the folder of the reports."""
    papers = read(folder, keys)
    write_whole(folder / PAGE, page(papers).encode())
    write_whole(folder / moved.PAGE, moved.page(papers).encode())
    write_whole(folder / PICTURE, _picture(papers))


def page(papers: Sequence[Verdicts]) -> str:
    """Return the page over all papers."""
    by_name = {(paper.key, each.id): each for paper in papers for each in paper.lines}

    def value(key: str, name: str, scale: float = 1.0) -> str:
        return number(scale * float(by_name[key, name].measured))

    def said(key: str, name: str, scale: float = 1.0) -> str:
        return number(scale * float(by_name[key, name].paper))

    def holds(key: str, *names: str) -> bool:
        return all(by_name[key, name].as_taken == MET for name in names)

    def then(key: str, name: str) -> str:
        return number(moved.before()[key, name].value or float("nan"))

    template = environment().get_template("overview.md.j2")
    counted = [each for each in VERDICTS if each != UNCHECKED]
    text = template.render(
        papers=papers,
        by_paper={paper.key: paper for paper in papers},
        lost=sum(len(moved.worse(paper)) for paper in papers),
        then=then,
        verdicts=counted,
        every=VERDICTS,
        value=value,
        said=said,
        holds=holds,
        picture=PICTURE,
        commit=moved.COMMIT,
        moved_page=moved.PAGE,
        **moved.names(),
    )
    return text.rstrip() + "\n"


def _picture(papers: Sequence[Verdicts]) -> bytes:
    """Draw all printed numbers against the measured ones."""
    import matplotlib as mpl
    import numpy as np

    from tidegate.papers.plots import legend, panels
    from tidegate.show.style import GREY, PALETTE
    from tidegate.show.style import RULES as LOOK

    with mpl.rc_context(cast("Any", LOOK)):
        figure, (axes,) = panels(1, 6.4, 5.6)
        ends = np.array([0.1, 1e5])
        axes.fill_between(
            ends, ends * (1 - FIFTH), ends * (1 + FIFTH), color=GREY, alpha=0.25, lw=0
        )
        axes.plot(ends, ends, color=GREY, lw=1)
        for paper, hue, mark in zip(papers, PALETTE, "osv^D", strict=False):
            for chosen in (False, True):
                pairs = [each.pair for each in paper.lines if each.chosen_on == chosen]
                points = np.array([each for each in pairs if each]).reshape(-1, 2).T
                face = "none" if chosen else hue
                label = "" if chosen else paper.title.partition(",")[0]
                look: dict[str, Any] = {"ms": 4.5, "mfc": face, "mec": hue, "alpha": 0.8}
                axes.plot(points[0], points[1], mark, label=label, **look)
        axes.plot([], [], "o", mfc="none", mec=GREY, ms=4.5, label="used to choose a setting")
        axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
        axes.set(xlabel="printed in the paper", ylabel="measured here")
        axes.set_title("every number of the five papers; the band is a fifth either way")
        legend(axes, 8, loc="upper left")
        return png(figure)
