"""The page over all papers: what holds, what depends on guesses, what does not, in numbers.

It is made from the `verdicts.csv` of each report, so that it agrees with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tidegate.papers.claims import matches
from tidegate.papers.page import png
from tidegate.papers.published import Verdicts, read
from tidegate.papers.report_text import environment, number
from tidegate.papers.verdicts import FIFTH, MET, UNCHECKED, VERDICTS
from tidegate.results.store import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAGE, PICTURE = "README.md", "printed.png"
GROUPS: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    (
        "session control, Tables III to VI with control",
        "session",
        ("table[3-6].*.gssga.*", "table[3-6].*.cp.*", "text.last100.cp"),
        FIFTH,
    ),
    ("dual queues, Table I, T and D", "dqm", ("table1.*.T", "table1.*.D"), FIFTH),
    (
        "Blitz, maxima of the reference network and of the faster one",
        "blitz",
        ("fig4l.ratio*", "fig4r.d?*00"),
        0.25,
    ),
    (
        "LGC, experiments 2 and 3",
        "lgc",
        ("exp2.fwd.s?", "exp2.drop.I?", "exp3.thr_g1", "exp3.thr_g2"),
        FIFTH,
    ),
)
"""Groups of printed numbers: what, the paper, its claims, and how near they are to be."""


def write(folder: Path, keys: Sequence[str]) -> None:
    """Write the page and its picture into the folder of the reports."""
    papers = read(folder, keys)
    write_whole(folder / PAGE, page(papers).encode())
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

    template = environment().get_template("overview.md.j2")
    counted = [each for each in VERDICTS if each != UNCHECKED]
    text = template.render(
        papers=papers,
        by_paper={paper.key: paper for paper in papers},
        verdicts=counted,
        value=value,
        said=said,
        holds=holds,
        picture=PICTURE,
        groups=groups,
    )
    return text.rstrip() + "\n"


def groups(papers: Sequence[Verdicts]) -> list[tuple[str, str, str, int]]:
    """Return for each group what it is, how near is near, `n of all`, and how many chosen on."""
    found = []
    for what, key, patterns, within in GROUPS:
        lines = [
            each
            for paper in papers
            if paper.key == key
            for each in paper.lines
            if each.pair and any(matches(pattern, f"{key}.{each.id}") for pattern in patterns)
        ]
        near = sum(
            abs(measured - said) <= within * abs(said)
            for said, measured in (each.pair for each in lines if each.pair)
        )
        chosen = sum(each.chosen_on for each in lines)
        if lines:
            found.append((what, f"{100 * within:g} %", f"{near} of {len(lines)}", chosen))
    return found


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
