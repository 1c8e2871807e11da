"""Viewers of video: their table, their measures, and how controls differ in them."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tidegate
from tidegate.results.breakdown import VIEWERS, viewers

# 10 Mbit/s carry 5 Mbit/s of video with ease, and 20 Mbit/s not at all.
FILM = """\
name     = "film"
duration = "20s"
warmup   = "2s"

[topology.dumbbell]
pairs      = 2
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms", buffer = "100packets" }

[traffic.film]
arrivals  = { at = ["0s", "3s"] }
video     = { ladder = ["0.5Mbit", "2Mbit"] }
transport = { tcp = { profile = "linux" } }

[traffic.page]
direction = "download"
arrivals  = { poisson = "2/s" }
size      = "20kB"
transport = { tcp = { profile = "linux" } }

[variant.plays]
traffic.film.video.ladder = ["0.5Mbit"]

[variant.stalls]
traffic.film.video.ladder = ["20Mbit"]
"""


@pytest.fixture(scope="module")
def run():
    return tidegate.run(FILM, seed=1)


def test_a_viewer_is_a_row_and_a_flow(run):
    assert (
        run.video["flow"].to_list() == run.flows.filter(pl.col("class") == "film")["flow"].to_list()
    )
    spent = run.video["startup_s"] + run.video["stalled_s"] + run.video["played_s"]
    starts = run.flows.filter(pl.col("class") == "film")["start_s"]
    assert (starts + spent).to_list() == pytest.approx([20.0, 20.0])


def test_the_measures_of_a_class_are_those_of_its_viewers(run):
    film = next(each for each in run.summary["classes"] if each["name"] == "film")
    assert film["viewers"] == 2
    assert film["startup_mean_s"] == pytest.approx(run.video["startup_s"].mean())
    assert film["video_rate_mean_bps"] == pytest.approx(run.video["rate_mean_bps"].mean())
    assert film["never_started_share"] == film["stalled_share"] == 0.0
    page = next(each for each in run.summary["classes"] if each["name"] == "page")
    assert not set(VIEWERS) & set(page)


def test_what_viewers_saw_is_counted_by_hand():
    """Four viewers: one left before the warm-up, one never began, two began after 1 and 3 s.

    These stalled for 0 and 2 s and saw 10 and 8 s, so 2 of 20 s stood still.
    """
    nan = np.nan
    flows = {"closed_s": np.array([nan] * 4), "gave_up_s": np.array([1.0, nan, nan, nan])}
    table = {
        "flow": np.arange(4),
        "class": (np.zeros(4, dtype=np.uint32), ["film"]),
        "startup_s": np.array([nan, nan, 1.0, 3.0]),
        "stalls": np.array([0, 0, 0, 4]),
        "stalled_s": np.array([0.0, 0.0, 0.0, 2.0]),
        "played_s": np.array([0.0, 0.0, 10.0, 8.0]),
        "rate_mean_bps": np.array([nan, nan, 1e6, 3e6]),
        "switches": np.array([0, 0, 2, 1]),
    }
    found = viewers(table, flows, 2.0)["film"]
    assert found["viewers"] == 3
    assert found["never_started_share"] == pytest.approx(1 / 3)
    assert (found["startup_mean_s"], found["video_rate_mean_bps"]) == (2.0, 2e6)
    assert found["stalled_viewers_share"] == pytest.approx(1 / 3)
    assert found["stalls_mean"] == pytest.approx(4 / 3)
    assert found["stalled_share"] == pytest.approx(0.1)
    assert found["switches_mean"] == 1.0


def test_the_same_seed_gives_the_same_digest_and_no_table_where_there_is_no_video(run):
    assert tidegate.run(FILM, seed=1).summary["result_hash"] == run.summary["result_hash"]
    plain = tidegate.run(FILM.replace("video     =", "size = '1MB' #"), seed=1)
    assert plain.outcome.tables["video"] == {}


def test_a_comparison_shows_who_stalls_and_by_how_much(tidegate, tmp_path):
    path = tmp_path / "film.toml"
    path.write_text(FILM)
    done = tidegate("compare", path, "--seeds", 2, "--set", "duration=60s")
    assert done.returncode == 0, done.stderr
    assert "Video film" in done.stdout
    assert "film: time in stalls [%]" in done.stdout
    assert "the lowest rate of the video of class `film`, 20Mbit" in done.stdout.replace("\n", " ")
    folder = tmp_path / "out/film-compare"
    rows = json.loads((folder / "summary.json").read_text())["table"]
    plays, stalls = (row["film.stalled_share"]["mean"] for row in rows)
    assert plays == 0.0
    # a segment of 80 Mbit plays 4 s: in 60 s at most 600 Mbit arrive, 30 s for both viewers, who
    # have begun after 20 s each at the latest, as one segment takes 16 s if they share the link: of
    # 80 s to watch more than a half is a stall
    assert stalls > 1 / 2
    assert (folder / "runs/stalls/seed-1/video.parquet").exists()
    # an endless film has no time of completion: no row of blanks says so
    film = done.stdout[done.stdout.index(" Class film") : done.stdout.index(" Class page")]
    assert "delivered, in all of the run [MB]" in film
    assert "FCT" not in film


@pytest.mark.slow
def test_the_page_says_in_words_what_viewers_saw(tmp_path):
    pytest.importorskip("vl_convert", reason="not installed: pip install vl-convert-python")
    found = tidegate.compare(FILM, seeds=2, out=tmp_path / "c")
    from tidegate.cli import app

    app(["report", str(tmp_path / "c")], standalone_mode=False)
    page = (tmp_path / "c" / "report.html").read_text(encoding="utf-8").replace("&nbsp;", " ")
    assert "Viewers of <b>film</b>, on average:" in page
    # of the only rate of each ladder; where the link carries half of it, two and a half segments
    # come in the time: in each of two runs one viewer begins soon enough to stall, the other late
    # or never
    assert re.search("<b>plays</b>: playback began after [0-9.]+ s; 0 % saw a stall; 500", page)
    assert re.search("for (0|25.0|50.0) % it never began; 50.0 % saw a stall; 20,000 kbit/s", page)
    # the class of which something completed is the one that is shown at first
    chart = page[page.index("Classes over time") :]
    assert chart.index('"page"') < chart.index('"film"')
    assert found.averages[0]["film.completed"]["mean"] == 0


def test_the_ready_scenario_can_be_run():
    file = Path(__file__).parents[2] / "scenarios/video-beside-downloads.toml"
    film = tidegate.run(file, settings={"duration": "30s"}).video
    assert film.height == 3
    assert film["startup_s"].null_count() == 0
