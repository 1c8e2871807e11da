"""Series of single flows and classes, and what becomes of the packets of UDP."""

import json
from types import SimpleNamespace

import polars as pl
import pytest

import tidegate
from tidegate.errors import UsageError
from tidegate.grid.grid_result import chosen

VOICE = """
[traffic.voice]
arrivals  = { at = ["1s", "1.5s"] }
transport = { udp = { rate = "64kbit", packet = "200B" } }
"""
SERIES = """
[series]
flows   = ["web:0", "voice:1"]
classes = ["web", "voice"]
every   = "500ms"
"""


def test_a_run_without_series_is_what_it_was(overload):
    """What is followed is one more table: all others, and their digest, stay."""
    plain, followed = tidegate.run(overload + VOICE), tidegate.run(overload + VOICE + SERIES)
    for name in ("flows", "ports", "events", "udp"):
        assert getattr(plain, name).equals(getattr(followed, name)), name
    assert "series" not in plain.outcome.scenario.show()
    assert plain.summary["result_hash"] != followed.summary["result_hash"]
    again = tidegate.run(overload + VOICE + SERIES)
    assert again.summary["result_hash"] == followed.summary["result_hash"]


def test_series_are_files_of_a_run(tidegate, tmp_path, overload):
    (tmp_path / "a.toml").write_text(overload + VOICE + SERIES, encoding="utf-8")
    done = tidegate("run", "a.toml", "--out", "a")
    assert done.returncode == 0, done.stderr
    flows = pl.read_parquet(tmp_path / "a" / "flow_series.parquet")
    assert set(flows["class"].cast(pl.String)) == {"web", "voice"}
    # every half second from the start of the second flow of voice, at 1.5 s, to 20 s
    assert flows.filter(pl.col("class") == "voice")["time_s"].to_list() == [
        1.5 + step / 2 for step in range(38)
    ]
    classes = pl.read_parquet(tmp_path / "a" / "class_series.parquet")
    assert classes.height == 2 * 40
    queues = pl.read_parquet(tmp_path / "a" / "queue_series.parquet")
    assert queues.height == 2 * 2 * 40  # either way over the bottleneck
    listed = json.loads((tmp_path / "a" / "manifest.json").read_text())["files"]
    assert {"flow_series.parquet", "class_series.parquet", "queue_series.parquet"} <= set(listed)


@pytest.mark.parametrize(
    ("series", "says"),
    [
        ('flows = ["wbe:0"]', "did you mean `web`"),
        ('flows = ["web"]', "write CLASS:N"),
        ('flows = ["web:-1"]', "write CLASS:N"),
        ('classes = ["web", "web"]', "named twice"),
        ('classes = ["web"]\nevery = "0s"', "write a time above 0s"),
        ('classes = ["web"]\nevery = "1ns"', "too many rows"),
    ],
)
def test_what_cannot_be_followed_is_said_with_its_place(overload, series, says):
    with pytest.raises(tidegate.ScenarioError, match="series") as refused:
        tidegate.run(f"{overload}\n[series]\n{series}\n")
    assert says in str(refused.value)


def test_voice_that_arrives_late_or_never_is_not_served_in_full(tidegate, tmp_path, overload):
    """Two flows of 40 packets a second each send 1200 from 5 s to 20 s, one more or less each."""
    (tmp_path / "a.toml").write_text(overload + VOICE, encoding="utf-8")
    done = tidegate("run", "a.toml", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    web, voice = summary["classes"]
    assert "lost_share" not in web
    assert abs(voice["sent_packets"] - 1200) <= 2
    assert voice["lost_packets"] > 0
    assert voice["lost_share"] == voice["lost_packets"] / voice["sent_packets"]
    # the links take 22 ms, and 200 B on them 0.8 ms and twice 0.016 ms
    assert voice["delay_min_s"] >= 0.022832 - 1e-9
    delays = [voice[f"delay_{name}_s"] for name in ("min", "p50", "p95", "p99", "max")]
    assert delays == sorted(delays)
    # 40 packets of 1500 B wait at most, and one is being sent
    assert delays[-1] <= 0.022832 + 41 * 1500 * 8 / 2e6
    text = tidegate("run", "a.toml", "--out", "b").stdout
    for line in ("packets lost [%]", "delay, p95 [ms]", "jitter (RFC 3550) [ms]"):
        assert line in text
    tcp = ("--set", "traffic.voice.transport=tcp", "--set", "traffic.voice.size=1kB")
    assert "UDP" not in tidegate("run", "a.toml", *tcp, "--out", "c").stdout


def test_a_comparison_says_the_same_of_udp_and_of_sizes(overload):
    done = tidegate.compare(overload + VOICE, gates=["none", "close-probe"], seeds=2)
    for name in ("voice.lost_share", "voice.delay_p95_s", "voice.jitter_s", "to_10kB.fct_p95_s"):
        assert done.frame[name].null_count() == 0, name
    lines = done.csv().splitlines()
    assert any(line.startswith("none,voice.delay_p95_s,2,") for line in lines)
    assert any(line.startswith("none,to_10kB.fct_p95_s,2,") for line in lines)


@pytest.mark.slow
def test_series_are_drawn_by_plot_and_in_the_page(tidegate, tmp_path, overload):
    pytest.importorskip("vl_convert", reason="not installed: pip install vl-convert-python")
    (tmp_path / "a.toml").write_text(overload + VOICE + SERIES, encoding="utf-8")
    assert tidegate("run", "a.toml", "--out", "a").returncode == 0
    done = tidegate("plot", "a")
    assert done.returncode == 0, done.stderr
    for name in ("flow-series", "class-series", "queue-series-bottleneck"):
        assert (tmp_path / "a" / f"{name}.png").stat().st_size > 10_000, name
    assert tidegate("report", "a", "--out", "a.html").returncode == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    for title in ("Flows that are followed", "Classes that are followed", "Queue of each class"):
        assert title in page
    # without series there is nothing of the kind
    (tmp_path / "b.toml").write_text(overload, encoding="utf-8")
    assert tidegate("run", "b.toml", "--out", "b").returncode == 0
    assert tidegate("plot", "b", "--format", "svg", "--out", "drawn").returncode == 0
    drawn = {path.stem for path in (tmp_path / "drawn").iterdir()}
    assert drawn == {"ports-bottleneck", "classes-web", "by-size"}


def test_a_metric_that_classes_alone_have_means_that_of_each():
    subject = SimpleNamespace(classes=["web", "film"], ports=["bottleneck"])
    asked = "page_load_p50_s, fct_mean_s, film.stalled_share"
    pages = ("web.page_load_p50_s", "film.page_load_p50_s")
    assert chosen(asked, subject) == (*pages, "fct_mean_s", "film.stalled_share")
    with pytest.raises(UsageError, match="no metric page_lod_p50_s"):
        chosen("page_lod_p50_s", subject)
