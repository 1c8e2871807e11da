"""What docs/results.md says of a page is on the page, with something to see."""

import re
from pathlib import Path

import pytest

import tidegate as laboratory
from tidegate.grid.load import load
from tidegate.show.page import page

RESULTS = Path(__file__).parents[2] / "docs/results.md"
QUICK = {"duration": "4s", "warmup": "1s"}
AXES = {"traffic.web.arrivals.poisson": ["10/s", "20/s"], "port.bottleneck.gate.beta": [0.2, 0.5]}


def promised(kind: str) -> list[str]:
    """The parts of a page that the table of results.md names in italics."""
    row = re.search(rf"^\| {kind} \|(.*)\|$", RESULTS.read_text("utf-8"), re.MULTILINE)
    assert row, kind
    return re.findall(r"\*([^*]+)\*", row[1])


SHOWN = ('class="chart"', 'class="motion"', "<table")
"""What a part shows: a picture, a picture that moves, or a table."""


def parts_of(folder: Path) -> dict[str, str]:
    """The parts of a page by their headings."""
    text = page([load(folder)]).decode()
    found = re.split(r"<h[23][^>]*>(.*?)</h[23]>", text)
    return {
        re.sub("<.*?>", "", each): body for each, body in zip(found[1::2], found[2::2], strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a run", "a comparison", "a sweep"])
def test_a_page_has_the_parts_that_are_promised(kind, overload, tmp_path):
    if kind == "a run":
        laboratory.run(overload, settings=QUICK).save(tmp_path / "out")
    elif kind == "a comparison":
        short = {"seeds": 2, "settings": QUICK, "plots": False}
        laboratory.compare(overload, gates=["none", "fixed-rate:5"], out=tmp_path / "out", **short)
    else:
        short = {"seeds": 1, "settings": QUICK, "plots": False}
        laboratory.sweep(overload, AXES, out=tmp_path / "out", **short)
    parts, found = promised(kind), parts_of(tmp_path / "out")
    assert len(parts) >= 3
    assert set(parts) <= set(found)
    empty = [name for name in parts if not any(shown in found[name] for shown in SHOWN)]
    assert empty == []
