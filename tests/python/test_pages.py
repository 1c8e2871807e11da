"""Users who load pages: their tables, their measures, and how controls differ in them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tidegate
from tidegate.results.breakdown import PAGES, pages

WEB = """\
name     = "web"
duration = "20s"
warmup   = "2s"

[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "20ms", buffer = "200packets" }

[traffic.web]
arrivals  = { poisson = "1/s" }
size      = { exponential = { mean = "15kB" } }
pages     = { document = "20kB", objects = 6, count = 2, think = "500ms" }
patience  = "5s"
transport = { tcp = { profile = "linux" } }

[traffic.bulk]
direction = "download"
arrivals  = { at = ["1s"] }
size      = "2MB"
transport = { tcp = { profile = "linux" } }

[variant.six]
traffic.web.pages.connections = 6

[variant.slow]
topology.dumbbell.bottleneck.rate = "4Mbit"
"""


@pytest.fixture(scope="module")
def run():
    return tidegate.run(WEB, seed=1)


def test_objects_belong_to_pages_and_to_connections(run):
    done = run.objects.filter(pl.col("done_s").is_not_null())
    assert done.height > 50
    flows = run.flows.filter(pl.col("class") == "web")
    by_flow = run.objects.filter(pl.col("flow").is_not_null()).group_by("flow")
    asked = by_flow.agg(pl.col("size_bytes").sum()).sort("flow")
    delivered = flows.filter(pl.col("flow").is_in(asked["flow"].cast(pl.UInt64).implode()))
    # what is on its way at the end has been asked for and not all delivered
    assert (delivered["delivered_bytes"] <= asked["size_bytes"]).all()
    loaded = run.pages.filter(pl.col("loaded_s").is_not_null())
    last = run.objects.group_by("page").agg(pl.col("done_s").max()).sort("page")
    together = loaded.join(last, on="page")
    assert (together["loaded_s"] == together["done_s"]).all()
    assert (run.pages["objects"] == 7).all()


def test_a_connection_of_pages_has_no_completion_time(run):
    web = run.flows.filter((pl.col("class") == "web") & pl.col("closed_s").is_not_null())
    assert web.height > 0
    assert web["fct_s"].null_count() == web.height
    of_web, of_bulk = run.summary["classes"]
    assert of_web["fct_mean_s"] is None
    assert of_bulk["fct_mean_s"] == run.summary["all"]["fct_mean_s"]
    assert run.summary["jain"] is not None
    assert not set(PAGES) & set(of_bulk)


def test_the_measures_are_those_of_the_window(run):
    web = run.summary["classes"][0]
    started = run.pages.filter(pl.col("start_s") >= 2.0)
    loaded = run.pages.filter(pl.col("loaded_s") >= 2.0)
    assert web["pages"] == started.height
    assert web["pages_loaded"] == loaded.height
    assert web["page_load_mean_s"] == pytest.approx(loaded["load_time_s"].mean())
    share = 1 - started["loaded_s"].null_count() / started.height
    assert web["pages_loaded_share"] == pytest.approx(share)


def test_what_pages_took_is_counted_by_hand():
    """Window 10 to 20 s, four pages.

    The first starts before it and is loaded in it after 3 s; the second takes 1 s; the third is
    given up; the fourth is on its way. So of three that start in the window one is loaded and one
    given up, and the mean of the two loaded in it is 2 s. Objects that came in it took 3 and 1 s.
    """
    nan = np.nan
    table = {
        "class": (np.zeros(4, dtype=np.uint32), ["web"]),
        "start_s": np.array([9.0, 12.0, 13.0, 19.0]),
        "loaded_s": np.array([12.0, 13.0, nan, nan]),
        "gave_up_s": np.array([nan, nan, 18.0, nan]),
        "load_time_s": np.array([3.0, 1.0, nan, nan]),
        "connections": np.array([6, 0, 6, 3]),
    }
    objects = {
        "page": np.array([0, 0, 1, 2]),
        "done_s": np.array([9.5, 12.0, 13.0, nan]),
        "time_s": np.array([0.5, 3.0, 1.0, nan]),
        "asked_s": np.array([9.1, 9.5, 12.1, 13.0]),
        "first_byte_s": np.array([9.4, 11.0, 12.5, nan]),
    }
    found = pages(table, objects, (10.0, 20.0))["web"]
    assert (found["pages"], found["pages_loaded"]) == (3, 2)
    assert found["pages_loaded_share"] == pytest.approx(1 / 3)
    assert found["pages_given_up_share"] == pytest.approx(1 / 3)
    assert found["page_load_mean_s"] == found["page_load_p50_s"] == 2.0
    assert found["object_time_mean_s"] == 2.0
    assert found["page_connections_mean"] == 3.0
    # of the first objects one was answered in the window, after 0.4 s
    assert found["page_answer_s"] == pytest.approx(0.4)


def test_the_same_seed_gives_the_same_digest_and_no_table_where_there_are_no_pages(run):
    assert tidegate.run(WEB, seed=1).summary["result_hash"] == run.summary["result_hash"]
    plain = tidegate.run(WEB.replace("pages     =", "#"), seed=1)
    assert plain.outcome.tables["pages"] == plain.outcome.tables["objects"] == {}


def test_a_saved_run_has_its_pages(run, tmp_path):
    saved = tidegate.load(run.save(tmp_path / "run"))
    assert saved.pages.equals(run.pages)
    assert saved.objects.equals(run.objects)
    assert saved.summary == run.summary


@pytest.mark.slow
@pytest.mark.pictures
def test_a_comparison_shows_load_times_and_resumes(tidegate, tmp_path):
    path = tmp_path / "web.toml"
    path.write_text(WEB)
    done = tidegate("compare", path, "--seeds", 2)
    assert done.returncode == 0, done.stderr
    assert "Page load time web" in done.stdout
    assert "web: page load time, p95 [s]" in done.stdout
    folder = tmp_path / "out/web-compare"
    rows = json.loads((folder / "summary.json").read_text())["table"]
    six, slow = (row["web.page_load_p50_s"]["mean"] for row in rows)
    assert slow > six
    listed = (folder / "table.csv").read_text()
    assert "six,web.page_load_p95_s,2," in listed
    assert "slow,web.pages_loaded_share,2," in listed
    assert (folder / "page-load-distribution.svg").exists()
    assert (folder / "runs/six/seed-1/objects.parquet").exists()
    before = (folder / "page-load-distribution.svg").read_bytes()
    # the curves of saved runs are those of fresh ones
    (folder / "page-load-distribution.svg").unlink()
    again = tidegate("compare", path, "--seeds", 2)
    assert again.returncode == 0, again.stderr
    assert (folder / "page-load-distribution.svg").read_bytes() == before


@pytest.mark.slow
def test_the_page_says_in_words_how_long_pages_took(tmp_path):
    pytest.importorskip("vl_convert", reason="not installed: pip install vl-convert-python")
    tidegate.compare(WEB, seeds=2, out=tmp_path / "c")
    from tidegate.cli import app

    app(["report", str(tmp_path / "c")], standalone_mode=False)
    page = (tmp_path / "c" / "report.html").read_text(encoding="utf-8").replace("&nbsp;", " ")
    assert "Pages of <b>web</b>, on average:" in page
    assert "How long pages take (page load time)" in page
    assert "Pages over time" in page


def test_the_ready_scenario_can_be_run():
    file = Path(__file__).parents[2] / "scenarios/pages-on-an-overloaded-link.toml"
    found = tidegate.run(file, settings={"duration": "20s", "warmup": "5s"})
    assert found.pages["load_time_s"].count() > 10
