"""The pictures that the page shows of its runs are those of the report, and its tables are ours."""

import io
import json

import polars as pl
import pytest
from tools.pages import lessons
from tools.website import report_pictures

import tidegate
from play_page import ROOT, SHORT, controlled, in_browser
from tidegate.results.columns import frame
from tidegate.scenario import document
from tidegate.show.page import charts

pytestmark = pytest.mark.site
SERIES = (
    SHORT.replace('"3s"', '"30s"')
    + """
[traffic.call]
arrivals  = { at = ["1s"] }
transport = { udp = { rate = "80kbit", packet = "200B" } }

[series]
flows   = ["web:0", "call:0"]
classes = ["web", "call"]
every   = "50ms"

[variant.codel.port.bottleneck]
queue = { law = "codel" }
"""
)
SHOWN = "(async () => tidegate.reportCharts(await Promise.all(\
tidegate.lab.report.runs.map((run, place) => tidegate.lab.report.read(run, place)))))()"


def text_of(name: str) -> str:
    return (ROOT / "scenarios" / f"{name}.toml").read_text("utf-8")


CASES = {
    "one gate": (text_of("tide"), [""]),
    "pages": (text_of("pages-by-client"), [""]),
    "two queues": (text_of("home-link"), ["variant:drop-tail", "variant:fq-codel"]),
    "series": (SERIES, ["", "variant:codel"]),
    "two windows": (lessons.scenario("fairness"), ["variant:reno", "variant:cubic-then-bbr"]),
}


def natively(text: str, controls: list[str], folder) -> dict:
    """The folder of the run of each control, as the report reads it."""
    return {
        control.replace(":", " ") or "as written": [
            controlled(text, control).save(folder / str(place))
        ]
        for place, control in enumerate(controls)
    }


def rows(packed: dict) -> dict[str, list]:
    """Columns as lists, words in place of their numbers."""
    return {
        name: [column["words"][place] for place in column["at"]]
        if isinstance(column, dict)
        else column
        for name, column in packed.items()
    }


@in_browser
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_specifications_and_numbers_are_those_of_the_report(page, tmp_path, case):
    text, controls = CASES[case]
    given = {"text": text, "first": controls[0]}
    given |= {"second": controls[1]} if len(controls) > 1 else {}
    page.value(f"tidegate.lab.open({json.dumps(given)})")
    page.value("tidegate.lab.start()")
    shown = page.value(SHOWN)
    told = document.read(text).load()
    folders = natively(text, controls, tmp_path)
    expected = report_pictures.pictures(folders, (told.warmup_s, told.duration_s))
    assert [each["title"] for each in shown] == [each.title for each in expected]
    for found, picture in zip(shown, expected, strict=True):
        chart = charts.of(picture, picture.key)
        assert found["spec"] == json.loads(json.dumps(chart.spec)), picture.key
        assert found["note"] == chart.note.strip()
        for name, values in rows(charts.packed(picture.table)).items():
            there = [row[name] for row in found["rows"]]
            # the report keeps five digits of a number
            near = [
                pytest.approx(each, rel=1e-4) if isinstance(each, float) else each
                for each in values
            ]
            assert there == near, (picture.key, name)


@in_browser
def test_they_are_drawn_when_they_are_opened_and_anew_for_the_next_run(page):
    page.value(f"tidegate.lab.open({json.dumps({'text': SERIES, 'second': 'variant:codel'})})")
    page.value("tidegate.lab.start()")
    assert page.value("typeof vegaEmbed") == "undefined"  # which nobody has asked for yet
    page.value("tidegate.lab.report.place.querySelector('summary').click()")
    drawn = "tidegate.lab.report.place.dataset.drawn"
    page.wait(drawn)
    count = int(page.value(drawn))
    assert count >= 6
    inked = (
        "[...document.querySelectorAll('.lab-chart canvas')].map((each) => new Set(each"
        ".getContext('2d').getImageData(0, 0, each.width, each.height).data).size)"
    )
    assert len(page.value(inked)) == count
    assert min(page.value(inked)) > 20
    names = "[...document.querySelectorAll('[role=graphics-document]')].map((e) => e.ariaLabel)"
    assert page.value(names) == page.value(
        "[...document.querySelectorAll('.lab-report figcaption')].map((each) => each.textContent)"
    )
    page.value("tidegate.lab.start()")
    page.wait(drawn)
    assert page.value("document.querySelectorAll('.lab-report').length") == 1


@in_browser
def test_tables_that_are_saved_are_those_of_this_machine(page):
    """Each of them, as JSON and as CSV: the texts of the buttons, read as a program does."""
    page.value(f"tidegate.lab.open({json.dumps({'text': SERIES})})")
    page.value("tidegate.lab.start()")
    page.value(
        "(() => { window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob.text());"
        " return '#saved'; }; })()"
    )
    run = tidegate.run(SERIES, seed=1)
    names = page.value("[...document.querySelectorAll('.lab-results option')].map((o) => o.value)")
    assert {"flows", "ports", "udp", "queue_series"} <= set(names)
    for name in names:
        page.value(
            f"(() => {{ const which = document.querySelector('.lab-results select');"
            f" which.value = '{name}'; for (const save of which.parentElement"
            ".querySelectorAll('button')) save.click(); })()"
        )
    page.wait(f"saved.length === {2 * len(names)}")
    texts = page.value("Promise.all(saved)")
    for place, name in enumerate(names):
        table = frame(run.outcome.tables[name])
        as_json, as_csv = sorted(texts[2 * place : 2 * place + 2], key=lambda text: text[0] != "{")
        assert rows(json.loads(as_json)) == rows_of(table), name
        read = pl.read_csv(io.StringIO(as_csv), schema=schema(table))
        assert rows_of(read) == rows_of(table), name


def schema(table: pl.DataFrame) -> dict:
    return {
        name: pl.String if isinstance(kind, (pl.Enum, pl.Categorical)) else kind
        for name, kind in table.schema.items()
    }


def rows_of(table: pl.DataFrame) -> dict[str, list]:
    text = table.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    return text.to_dict(as_series=False)
