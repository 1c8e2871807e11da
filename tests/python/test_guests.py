"""Scenarios with guests: the first screen is what they feel, and controls can be at both ports."""

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tidegate
from tidegate.cli import app
from tidegate.errors import UsageError
from tidegate.scenario.document import read
from tidegate.scenario.overrides import asked_ports, law_cells
from tidegate.show.people import felt, links

ROOT = Path(__file__).parents[2]
PLACES = ("hotel", "school", "cafe", "village", "ship", "office")
SMALL = """
name = "a small hotel"
duration = "20s"
warmup = "5s"
[guests]
place = "hotel"
people = 40
photos = 0.5
begin = "5s"
[topology.dumbbell]
access = { rate = "100Mbit", delay = "2ms" }
bottleneck = { rate = "20Mbit", delay = "8ms", buffer = "200ms", reverse = { rate = "5Mbit" } }
"""


def typed(*words):
    found = CliRunner().invoke(app, [str(word) for word in words])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


# The rule: of a class its share, its mean time or its quality, as a recommendation judges it; what
# no column has is left out. The values are those that stand in the columns.
def test_what_guests_feel_is_a_block_for_each_class():
    column = {
        "pages.pages": 12,
        "pages.pages_loaded_share": 0.9,
        "pages.page_load_mean_s": 2.5,
        "calls-up.sent_packets": 100,
        "calls-up.call_mos": 4.1,
        "calls-up.lost_share": 0.01,
        "photos.arrived": 5,
        "photos.flows": 5,
        "photos.endless": 0,
        "photos.completed_share": 1.0,
        "settings": {"queue": "cake"},
        "own.pages": 3,
        "own.pages_loaded_share": 0.5,
    }
    guests = ["pages", "calls-up", "photos"]
    blocks = felt([*guests, "own"], guests, [column], guests)
    assert [(block.title, [row.title for row in block.rows]) for block in blocks] == [
        ("Pages (readers)", ["loaded [%]", "mean load time [s]"]),
        ("Calls, what the others hear", ["mean opinion score", "packets lost [%]"]),
        ("Photos sent", ["completed [%]"]),
    ]
    shown = {row.metric: column[row.metric] * row.scale for block in blocks for row in block.rows}
    assert shown["pages.pages_loaded_share"] == 90.0
    assert shown["calls-up.lost_share"] == 1.0


def test_ports_say_which_way_they_lead():
    [block] = links({"a": "download", "a.reverse": "upload"}, ["a", "a.reverse", "b"])
    heads = [row.title for row in block.rows if "utilisation" in row.title]
    assert heads == [
        "a (down): utilisation [%]",
        "a.reverse (up): utilisation [%]",
        "b: utilisation [%]",
    ]


def test_the_first_screen_of_a_run_is_about_people(file, tmp_path):
    first = typed("run", file, "--out", tmp_path / "run")
    assert first.index("Pages (readers)") < first.index("Photos sent") < first.index("Link")
    assert "bottleneck.reverse (up): utilisation" in first
    assert "Wait for admission" not in first
    every = typed("run", file, "--out", tmp_path / "run", "--all")
    assert "Wait for admission" in every
    assert "Pages (readers)" not in every
    # one screen
    assert len(first.splitlines()) < 60


def test_a_comparison_of_both_directions(file, tmp_path):
    words = ("compare", file, "--queue", "drop-tail,fq-codel", "--port", "both", "--seeds", "2")
    out = typed(*words, "--no-plots", "--out", tmp_path / "both")
    assert "Calls, what guests hear" in out
    assert "Wait for admission" not in out
    every = typed(*words, "--no-plots", "--out", tmp_path / "both", "--all")
    assert "Class pages" in every


# 5 readers, 3 viewers, one each in calls and meetings, one device with an update a minute for 20 s
# and 20 people with two photos a minute: 13 photos. Readers take 2.652 MB every 30 s for 17.5 s of
# the 20 each, in the mean: 61.9 Mbit of 400 or 15.5 %; viewers from 0.5 to 5 Mbit/s for 17.5 s,
# 6.6 to 65.6 %; the call and the meeting 68.8 and 1171 kbit/s of payload for 17.5 s, 5.4 %; the
# update 80 Mbit, 20 %.
def test_check_says_what_guests_became_and_what_they_load(file):
    told = typed("check", file)
    assert (
        "their flows, about so many in each class: pages 5, video 3, calls 1, calls-up 1," in told
    )
    assert "updates 0, photos 13" in told
    [line] = [each for each in told.splitlines() if "of bottleneck (20 Mbit/s)" in each]
    least, most = map(float, re.findall(r"([\d.]+)", line)[:2])
    known = 15.47 + 0.3 + 5.12 + 20.0
    assert least == pytest.approx(known + 6.56, abs=0.2)
    assert most == pytest.approx(known + 65.6, abs=0.6)  # three digits are printed


def test_the_hint_after_a_run_is_to_try_queues_at_both_ends(file, tmp_path):
    told = typed("run", file, "--out", tmp_path / "hint")
    assert "--queue drop-tail,fq-codel,cake --port both" in told


# Six settings have a line each: of every kind one or two measures, not those of sessions.
def test_a_sweep_of_guests_shows_what_they_feel(file, tmp_path):
    words = ("sweep", file, "--vary", "guests.people=10,12,14,16,18,20", "--seeds", "1")
    more = ("--set", "duration=8s", "--no-plots", "--out", tmp_path / "sweep")
    told = " ".join(typed(*words, *more).split())
    assert "calls: mean" in told
    assert "never admitted" not in told


# What `--port` says: one port, several, or the default one and its other direction.
def test_a_law_is_set_at_each_port_that_is_named():
    document = read(SMALL)
    scenario = document.load()
    both = ["bottleneck", "bottleneck.reverse"]
    assert asked_ports("both", scenario) == both
    assert asked_ports("bottleneck.reverse,bottleneck", scenario) == both[::-1]
    assert asked_ports(None, scenario) == []
    assert asked_ports(both, scenario) == both
    with pytest.raises(UsageError, match="There is no port link1"):
        asked_ports("bottleneck,link1", scenario)
    (cell,) = law_cells("queue", ["cake:bandwidth=4Mbit"], both, document)
    law = {"law": "cake", "bandwidth": "4Mbit"}
    assert [(key, tomllib.loads(f"x = {value}")["x"]) for key, value in cell.settings] == [
        ("port.bottleneck.queue", law),
        ('port."bottleneck.reverse".queue', law),
    ]


# 40 people in a hotel: 5 readers, 3 viewers and one in each of the other kinds (guests.toml).
def test_results_say_whose_classes_they_are():
    summary = tidegate.run(SMALL, settings={"duration": "6s"}).summary
    assert summary["people"] == [each["name"] for each in summary["classes"]]
    assert summary["ways"] == {"bottleneck": "download", "bottleneck.reverse": "upload"}
    flows = {name: count for name, count, *_ in read(SMALL).load().expected}
    assert (flows["video"], flows["calls"], flows["meetings-up"]) == (3, 1, 1)


@pytest.mark.parametrize("place", PLACES)
def test_there_is_a_scenario_for_each_place(place):
    path = ROOT / "scenarios" / f"{place}.toml"
    assert tomllib.loads(path.read_text(encoding="utf-8"))["guests"]["place"] == place
    scenario = read(path).load()
    assert scenario.people == scenario.classes
    # both directions are links of their own, and each is used
    offered = {port: share for port, _, share, *_ in scenario.offered}
    assert 0.05 < offered["bottleneck"] < 1.5
    assert 0.01 < offered["bottleneck.reverse"] < 1.5


# The table of the page is that of the file which the classes are made from.
def test_the_page_has_the_shares_of_the_places():
    habits = tomllib.loads((ROOT / "crates/model/src/guests.toml").read_text(encoding="utf-8"))
    page = (ROOT / "docs/people.md").read_text(encoding="utf-8")
    kinds = ("pages", "video", "calls", "meetings", "updates", "photos")
    for place, shares in habits["place"].items():
        [line] = re.findall(rf"^\| `{place}` \|(.*)\|$", page, re.MULTILINE)
        told = [float(cell.strip().removesuffix(" %")) / 100 for cell in line.split("|")]
        assert told == pytest.approx([shares[kind] for kind in kinds]), place
    assert set(habits["place"]) == set(PLACES)


# nobody waits for updates of guests, and how many end says how long the run was; who waits for a
# class of that name in a scenario of one's own is not known
def test_of_updates_of_guests_a_screen_has_what_is_delivered():
    column = {
        "updates.arrived": 4.0,
        "updates.completed_share": 0.25,
        "updates.throughput_bps": 2e6,
        "updates.never_admitted_share": 0.0,
    }

    def rows(guests: list[str]) -> list[str]:
        [block] = felt(["pages", "updates"], ["updates"], [column], guests)
        return [row.metric for row in block.rows]

    assert rows(["updates"]) == ["updates.never_admitted_share", "updates.throughput_bps"]
    assert rows([]) == ["updates.completed_share"]


SEVERAL = """
name     = "three classes of users"
duration = "14s"
warmup   = "6s"
[topology.dumbbell]
pairs      = 12
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "9ms", buffer = "100ms" }
[traffic.readers]
arrivals  = { uniform = 4, within = "1s" }
size      = "20kB"
pages     = { document = "10kB", objects = 10, connections = 1, count = "unlimited", think = "1s" }
[traffic.film]
arrivals  = { uniform = 2, within = "1s" }
video     = { ladder = ["0.5Mbit", "1Mbit"] }
[traffic.voice]
arrivals  = { uniform = 3, within = "1s" }
transport = { udp = { rate = "80kbit", packet = "200B" } }
"""


def test_several_classes_of_users_have_a_first_screen_without_guests(tidegate, tmp_path):
    """Nobody comes or goes after the warm-up: there is no share of sessions to tell of."""
    (tmp_path / "three.toml").write_text(SEVERAL, encoding="utf-8")
    words = ("compare", "three.toml", "--queue", "drop-tail,cake", "--seeds", "2", "--no-plots")
    done = tidegate(*words)
    assert done.returncode == 0, done.stderr
    for said in ("mean load time [s]", "time in stalls [%]", "mean opinion score", "--all"):
        assert said in done.stdout
    assert len(done.stdout.splitlines()) < 40
    for told in (done.stdout, tidegate(*words, "--all").stdout):
        assert "completed" not in told
        assert "Sessions" not in told
    assert "mean load time [s]" in tidegate("run", "three.toml").stdout
    report = tmp_path / "out/three-classes-of-users-compare/report.html"
    assert tidegate("report", report.parent).returncode == 0
    page = report.read_text(encoding="utf-8")
    assert "9 flows were there all the time" in page
    assert "never admitted" not in page.partition("Side by side")[0]


ROW = """
name     = "two links in a row"
duration = "4s"
[topology.tandem]
access = { rate = "100Mbit", delay = "1ms" }
links  = [{ rate = "9Mbit", delay = "1ms" }, { rate = "9Mbit", delay = "1ms" }]
[traffic.web]
arrivals = { poisson = "1/s" }
size     = "10kB"
"""


# `both` names the bottleneck, so that it is no remedy to name a port
def test_both_ports_need_a_bottleneck():
    with pytest.raises(UsageError, match="`both` are a bottleneck in both directions") as refused:
        asked_ports("both", read(ROW).load())
    assert "as in link1,link1.reverse" in str(refused.value)
