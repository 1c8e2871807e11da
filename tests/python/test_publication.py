"""Pictures and tables for a paper: formats, size, style, lines, LaTeX, paired differences."""

import csv
import io
import math
import re
import shlex
import statistics
import struct
import zlib
from pathlib import Path

import matplotlib as mpl
import pytest

import tidegate as api
from tidegate.errors import UsageError
from tidegate.show import finished
from tidegate.show.look import Look
from tidegate.show.pictures import pictures

LOADS = {"traffic.web.arrivals.poisson": ["20/s", "60/s"]}
SHORT = {"duration": "8s", "warmup": "2s"}


PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
PAPER = re.findall(r"^\.venv/bin/tidegate (plot .*--format.*)$", PAGE, re.MULTILINE)
"""What the page tells to type for a paper."""


@pytest.fixture(scope="module")
def compared(overload):
    return api.compare(overload, gates=["none", "close-probe"], seeds=2, settings=SHORT)


@pytest.fixture(scope="module")
def swept(overload):
    gates = ["none", "close-probe"]
    return api.sweep(overload, LOADS, gates=gates, seeds=3, settings=SHORT)


def pixels(png: bytes) -> tuple[int, int]:
    """Width and height, as the header chunk of a PNG has them."""
    return struct.unpack(">II", png[16:24])


def media_box(pdf: bytes) -> tuple[float, float]:
    """Width and height of the page in points of 1/72 inch."""
    found = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ([0-9.]+) \]", pdf)
    return float(found[1]), float(found[2])


def pages(pdf: bytes) -> bytes:
    """The streams of a PDF, decompressed: what is drawn on its page."""
    found = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    drawn = []
    for each in found:
        try:
            drawn.append(zlib.decompress(each))
        except zlib.error:
            continue
    return b"".join(drawn)


def test_a_size_is_that_of_the_file(swept):
    """17 cm are 6.6929 in: 481.9 points, and 1004 pixels at 150 to the inch."""
    look = Look.of("png,pdf", "17x12cm")
    drawn = pictures(swept, look)
    [png], [pdf] = ([v for name, v in drawn.items() if name.endswith(end)] for end in look.formats)
    assert media_box(pdf) == pytest.approx((17 / 2.54 * 72, 12 / 2.54 * 72), abs=0.01)
    assert pixels(png) == pytest.approx((17 / 2.54 * 150, 12 / 2.54 * 150), abs=1)


def test_a_pdf_has_the_same_bytes_again_and_its_fonts_inside(swept):
    look = Look.of(["pdf"])
    first, second = pictures(swept, look), pictures(swept, look)
    assert first == second
    [pdf] = first.values()
    assert pdf.startswith(b"%PDF-")
    assert b"CreationDate" not in pdf
    # TrueType, no bitmaps of letters (Type 3)
    assert b"/Type0" in pdf
    assert b"/Type3" not in pdf


def test_what_else_is_drawn_changes_no_picture(swept):
    """Each canvas sets its own resolution: a PDF before a PNG must not make it coarse."""
    alone = pictures(swept, Look.of("png"))
    [name] = alone
    assert pictures(swept, Look.of("pdf,svg,png"))[name] == alone[name]


def test_a_style_file_sets_letters_and_colours(swept, tmp_path):
    style = tmp_path / "paper.mplstyle"
    text = "font.size: 18\naxes.prop_cycle: cycler('color', ['ff0000', '00ff00'])\n"
    style.write_text(text, encoding="utf-8")
    before = dict(mpl.rcParams)
    [plain], [asked] = (pictures(swept, Look.of("pdf", style=s)).values() for s in (None, style))
    assert dict(mpl.rcParams) == before
    red, blue = b"1 0 0 RG", b"0 0.447 0.698 RG"  # the first of the style, and of the palette
    assert red in pages(asked)
    assert red not in pages(plain)
    sizes = [
        {float(s) for s in re.findall(rb"/F\d+ ([0-9.]+) Tf", pages(p))} for p in (plain, asked)
    ]
    assert {2 * size for size in sizes[0]} == sizes[1], blue


def test_lines_are_chosen_in_their_order(compared, swept):
    svg = {name: v.decode() for name, v in pictures(compared, Look.of("svg")).items()}
    one = pictures(compared, Look.of("svg", lines=["close-probe"]))
    side = "controls-side-by-side.svg"
    assert ">none<" in svg[side]
    assert ">none<" not in one[side].decode()
    assert ">close-probe<" in one[side].decode()
    [drawn] = pictures(swept, Look.of("svg", lines=["close-probe", "none"])).values()
    # the first line has the first colour
    assert re.search(r"fill: #0072b2[^>]*>close-probe<", drawn.decode())
    [drawn] = pictures(swept, Look.of("svg", lines=["none"])).values()
    assert "close-probe" not in drawn.decode()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"formats": "jpg"}, "Formats are png, svg, pdf"),
        ({"formats": ""}, "Formats are png, svg, pdf"),
        ({"size": "8.5x6"}, "as in 8.5x6cm"),
        ({"size": "0x6cm"}, "as in 8.5x6cm"),
        ({"size": (200.0, 3.0)}, "as in 8.5x6cm"),
        ({"style": "nowhere.mplstyle"}, "Check the spelling"),
        ({"lines": ["nobody"]}, "Lines: none, close-probe"),
    ],
)
def test_what_cannot_be_drawn_is_refused(compared, swept, wrong, says):
    for done in (compared, swept):
        with pytest.raises(api.TidegateError) as refused:
            done.figures(**wrong) if "formats" not in wrong else done.plot(**wrong)
        assert says in f"{refused.value} {refused.value.remedy}"
    assert issubclass(UsageError, api.TidegateError)


@pytest.mark.pictures
@pytest.mark.slow
def test_the_command_line_draws_for_a_paper(tidegate, overload_file):
    base = ["--set", "duration=8s", "--set", "warmup=2s", "--seeds", "2"]
    gates = ["--gate", "none,close-probe"]
    done = tidegate("compare", overload_file, *base, *gates, "--out", "c", "--format", "pdf")
    assert done.returncode == 0, done.stderr
    assert "pictures (PDF)" in done.stderr
    folder = overload_file.parent / "c"
    assert {path.suffix for path in folder.glob("*.*")} >= {".pdf", ".tex", ".csv"}
    assert not list(folder.glob("*.png"))
    assert len(PAPER) == 2
    asked = ["--format", "pdf", "--size", "170x100mm", "--line", "none", "--out", "drawn"]
    assert tidegate("plot", "c", *asked).returncode == 0
    for path in (overload_file.parent / "drawn").iterdir():
        assert media_box(path.read_bytes()) == pytest.approx((481.89, 283.46), abs=0.01)
    for command in PAPER:
        [*options] = shlex.split(command.replace("out/demo", "c"))
        assert tidegate(*options).returncode == 0, command
    for size, says in (("wide", "8.5x6cm"), ("3x2cm", "Give it more room, choose fewer")):
        refused = tidegate("plot", "c", "--size", size)
        assert refused.returncode == 2
        assert says in refused.stderr


@pytest.mark.slow
def test_each_run_of_a_comparison_is_drawn_over_time_and_by_size(overload, tmp_path):
    """Names of files, as the table of docs/results.md says; one of them alone with `pictures`."""
    gates, short = ["none", "close-probe"], {"duration": "4s", "warmup": "1s"}
    out = {"out": tmp_path / "c", "plots": False}
    done = api.compare(overload, gates=gates, seeds=1, settings=short, **out)
    every = {"ports-bottleneck", "classes-web", "by-size"}
    assert every < set(done.figures())
    one = api.load(tmp_path / "c/runs/none/seed-1")
    assert set(one.figures()) == every
    size = {"size": "8.5x7cm", "formats": "pdf"}
    (path,) = one.plot(tmp_path, pictures=["ports-bottleneck"], **size)
    assert media_box(path.read_bytes()) == pytest.approx((8.5 / 2.54 * 72, 7 / 2.54 * 72), abs=0.01)
    with pytest.raises(UsageError, match="no picture ports-x"):
        one.figures(pictures=["ports-x"])


def test_a_run_that_is_in_no_folder_is_drawn_too(overload):
    drawn = api.run(overload, settings={"duration": "4s", "warmup": "1s"}).figures()
    panels = [axes.get_title(loc="left") for axes in drawn["ports-bottleneck"].axes]
    assert "queue, mean of the interval [packets]" in panels


def test_a_table_for_latex_has_the_numbers_of_the_terminal(compared, swept):
    text = compared.latex()
    assert text.splitlines()[1] == r"\begin{tabular}{lrr}"
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert body[0] == r" & none & close-probe \\"
    assert all(line.count(" & ") == 2 for line in body)
    [completed] = [line for line in body if line.startswith("completed [1/s]")]
    mean = compared.averages[0]["completed_per_s"]["mean"]
    shown = float(completed.split("$")[1].split(r"\pm")[0])
    assert shown == pytest.approx(mean, rel=0.05)
    # per cent and the underscore of a name are letters to LaTeX only behind a backslash
    assert not re.search(r"(?<!\\)[%_#]", "".join(body))
    assert "poisson=60/s" in swept.latex()
    assert all(name in text for name in (r"\toprule", r"\midrule", r"\bottomrule"))


def test_a_sweep_is_held_against_the_first_control_at_each_load(swept):
    """Pairs by hand: at each load close-probe minus none, seed by seed; t of 2 degrees is 4.303."""
    found = {each.settings["traffic.web.arrivals.poisson"]: each for each in swept.contrasts}
    assert list(found) == LOADS["traffic.web.arrivals.poisson"]
    frame = swept.frame.sort("seed")
    for load, each in found.items():
        assert each.settings["gate"] == "close-probe"
        assert each.against == {**each.settings, "gate": "none"}
        assert each.paired
        values = [
            frame.filter(**{"gate": gate, "traffic.web.arrivals.poisson": load})["completed_per_s"]
            for gate in ("close-probe", "none")
        ]
        pairs = [one - other for one, other in zip(*values, strict=True)]
        half = 4.302653 * statistics.stdev(pairs) / math.sqrt(3)
        more = each.metrics["completed_per_s"]
        assert more["mean"] == pytest.approx(statistics.mean(pairs))
        assert more["high"] - more["mean"] == pytest.approx(half, rel=1e-5)


def test_the_file_of_differences_has_them_all(swept, compared):
    rows = list(csv.DictReader(io.StringIO(finished.differences(swept))))
    assert {row["gate"] for row in rows} == {"close-probe"}
    assert {row["paired"] for row in rows} == {"yes"}
    [row] = [
        row
        for row in rows
        if (row["metric"], row["traffic.web.arrivals.poisson"]) == ("completed_per_s", "60/s")
    ]
    assert float(row["mean"]) == swept.contrasts[1].metrics["completed_per_s"]["mean"]
    # a comparison is held against its first setting, as `differences` is
    [only] = compared.contrasts
    assert only.metrics == {
        key: value for key, value in compared.differences[0].items() if key != "settings"
    }
    assert "Difference from none, all else the same, on the same flows" in repr(swept.table)


def test_other_loads_are_not_paired(overload):
    """Two loads are other flows: their runs are independent samples."""
    done = api.sweep(overload, LOADS, seeds=2, settings=SHORT)
    assert done.axis == "traffic.web.arrivals.poisson"
    [each] = done.contrasts
    assert not each.paired
    assert "unpaired" in repr(done.table)
