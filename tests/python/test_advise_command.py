"""`tidegate advise`: from a link and its people to a control, the commands, and how many fit."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import link_files
from tidegate.advise import many, scene, shown, verdict
from tidegate.advise.facts import DOWN, UP
from tidegate.advise.fit import Given, fit
from tidegate.advise.many import HowMany, largest, within
from tidegate.advise.people import MOST, people
from tidegate.advise.readers import Interfaces, facts_of
from tidegate.advise.router import Router, commands, tc_rate
from tidegate.cli import app
from tidegate.errors import TidegateWarning, UsageError
from tidegate.hosts.lab import program
from tidegate.scenario.document import read
from tidegate.scenario.real_gate import REAL_GATE
from tidegate.show import experience
from tidegate.show.advice import Setting, Users

ROOT = Path(__file__).parents[2]
SHORT = scene.Times(8.0, 3.0)
LINK = fit([], Given(down_bps=100e6, up_bps=20e6, rtt_s=0.025))
SMALL = ["--down", "10Mbit", "--up", "3Mbit", "--rtt", "20ms"]


def typed(*words: str):
    return CliRunner().invoke(app, ["advise", *words])


@pytest.fixture
def short(tmp_path, monkeypatch):
    """Runs of a few seconds, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scene, "times", lambda _: SHORT)
    monkeypatch.setattr(
        "tidegate.show.pictures._contents",
        lambda name, _, formats: {f"{name}.{each}": b"" for each in formats},
    )
    return tmp_path


# 95 % of 100 and 20 Mbit/s, so that the queue is at the router and not in the modem
def test_cake_has_a_line_for_each_direction():
    found = commands(LINK, "cake", Router("eth0", "br0"))
    assert found.lines == (
        "tc qdisc replace dev eth0 root cake bandwidth 19Mbit besteffort dual-srchost nat",
        "tc qdisc replace dev br0 root cake bandwidth 95Mbit besteffort dual-dsthost",
    )
    assert found.undo == ("tc qdisc del dev eth0 root", "tc qdisc del dev br0 root")
    assert not found.gate


def test_a_gate_shapes_alone_and_knows_the_rate_behind_cake():
    alone = commands(LINK, "tide", Router("eth0", "br0"))
    assert not alone.lines
    assert 'interface = "br0"' in alone.gate
    assert 'shape     = "95Mbit"' in alone.gate
    both = commands(LINK, "cake+tide", Router("eth0", "br0"))
    assert len(both.lines) == 2
    assert 'capacity  = "95Mbit"' in both.gate


def test_a_direction_of_unknown_rate_has_no_line():
    link = fit([], Given(down_bps=100e6))
    assert commands(link, "cake", Router()).lines == (
        "tc qdisc replace dev lan0 root cake bandwidth 95Mbit besteffort dual-dsthost",
    )


# the heading said both directions above lines for one
@pytest.mark.parametrize(
    ("given", "control", "said"),
    [
        ({"down_bps": 1e7}, "cake", "CAKE, for downloads alone"),
        ({"up_bps": 1e7}, "cake+tide", "CAKE for uploads alone"),
        ({"down_bps": 1e7}, "cake+tide", "CAKE for downloads alone, and the gate at the downlink"),
        ({"down_bps": 1e7}, "tide", "the gate `tide`, by visits, at the downlink"),
        ({"down_bps": 1e7, "up_bps": 1e7}, "fq_codel", "fq_codel under HTB, both directions"),
    ],
)
def test_what_the_lines_control_is_their_heading(given, control, said):
    found = commands(fit([], Given(**given)), control, Router())
    assert shown.of_commands(found).plain.splitlines()[0] == f"On the router: {said}"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--control", "tide"), True),
        (("--control", "cake"), False),
        (("--control", "cake+tide"), False),
    ],
)
def test_an_interface_of_its_own_that_no_line_needs_is_told(tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    done = typed(*SMALL, *words, "--ifb")
    assert ("--ifb has no effect" in done.stderr) == told


def test_the_rate_of_a_shaper_that_is_there_already_stays():
    found = facts_of(link_files.FILES["tc"], "tc", Interfaces())
    link = fit(found, Given(down_bps=100e6, rtt_s=0.02))
    assert "bandwidth 19Mbit" in commands(link, "cake", Router()).lines[0]
    # and it is what the people have now
    text = scene.text(link, people("cafe:20"), SHORT)
    now = read(text).tables()["variant"]["now"]
    assert now["port"]["link2.reverse"]["queue"]["bandwidth"] == "19000kbit"


@pytest.mark.parametrize(
    ("bps", "said"), [(95e6, "95Mbit"), (9.5e6, "9500kbit"), (950e3, "950kbit"), (1e9, "1000Mbit")]
)
def test_rates_are_written_as_tc_reads_them(bps, said):
    assert tc_rate(bps) == said


# Linux takes up to 15 bytes (IFNAMSIZ); a shell would run what follows a semicolon
@pytest.mark.parametrize("name", ["", "a;reboot", "$(reboot)", "a b", "..", "-x", "a/b", 16 * "x"])
def test_what_is_no_name_of_an_interface_is_refused(name):
    for option in ("--outside", "--inside"):
        done = typed(*SMALL, option, name)
        assert done.exit_code == 2
        assert f"{option} {name!r} is no name" in done.output
    assert Router("enp0s31f6.1000", "br-lan").down == "br-lan"


def test_one_interface_for_both_directions_is_refused():
    """The second `tc qdisc replace` would take the first away."""
    done = typed(*SMALL, "--outside", "eth0", "--inside", "eth0")
    assert done.exit_code == 2
    assert "both eth0" in done.output


@pytest.mark.parametrize("control", ["tide", "cake+tide"])
@pytest.mark.parametrize("ifb", [False, True])
def test_the_gate_file_is_one_that_a_gate_takes(tmp_path, control, ifb):
    built = program()
    if built is None:
        pytest.skip("there is no tidegated: make build")
    file = tmp_path / "gate.toml"
    file.write_text(commands(LINK, control, Router(ifb=ifb)).gate, encoding="utf-8")
    words = [built, "gate", "--config", file, "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if "built without" in done.stderr:
        pytest.skip("tidegated is built without its gate: bash tools/live.sh features says why")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{scene.GATE['law']} by {scene.GATE['admit']}" in done.stdout + done.stderr


# The page is made of the keys of the gate, in Rust, with their defaults.
def test_what_is_predicted_has_the_defaults_of_the_gate():
    page = (ROOT / "docs" / "gate-keys.md").read_text()
    said = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    onset, ends_of = REAL_GATE["onset"], REAL_GATE["ends_of"]
    assert f"Default {onset} for `close-probe` and `tide`" in said["onset"]
    assert f"default `{ends_of}`" in said["ends_of"]


# Who installs the file gets the law whose figures he was shown: its settings, when it begins,
# and what ends a session.
@pytest.mark.parametrize("control", ["tide", "cake+tide"])
def test_the_gate_file_has_the_law_that_is_simulated(control):
    file = tomllib.loads(commands(LINK, control, Router()).gate)
    simulated = tomllib.loads(scene.under(LINK, people("hotel:7"), SHORT, control))
    gate = simulated["port"][scene.DOWN_PORT]["gate"]
    assert {**file["law"], "onset": file["onset"], "ends_of": file["ends_of"]} == gate
    assert (gate["admit"], gate["onset"]) == ("visits", "2s"), "as a gate has it by default"
    rate = simulated["topology"]["tandem"]["links"][-1]["rate"]
    assert file["shape" if control == "tide" else "capacity"] == "95Mbit"
    assert rate == "95000kbit"


@pytest.mark.parametrize("place", ["hotel", "school", "café", "village", "ship", "office"])
@pytest.mark.parametrize("number", [1, 7, 300])
def test_every_place_makes_a_scenario_under_every_control(place, number):
    document = read(scene.text(LINK, people(f"{place}:{number}"), SHORT))
    document.format()
    for control in scene.CONTROLS:
        loaded = read(scene.under(LINK, people(f"{place}:{number}"), SHORT, control)).load()
        assert loaded.classes


def test_people_who_are_not_understood_are_refused_with_the_places():
    for text in ("hotel", "300", "castle:3", "hotel:0", f"hotel:{MOST + 1}"):
        with pytest.raises(UsageError, match="hotel:300"):
            people(text)


# bisection by hand: with a bound of 83 the numbers tried end with 83 that fit and 86 that do not,
# which are less than 4 % apart
@pytest.mark.parametrize("bound", [0, 1, 2, 83, 700, MOST, 10 * MOST])
@pytest.mark.parametrize("first", [1, 300, MOST])
def test_the_largest_number_is_found_from_any_start(bound, first):
    asked = []

    def fits(numbers):
        asked.append(numbers)
        return {seed: number <= bound for seed, number in numbers.items()}

    found = largest([1, 2], first, fits)
    most = min(bound, MOST)
    assert found[1] == found[2]
    assert found[1] <= most <= max(found[1] * (1 + many.CLOSE), found[1])
    assert len(asked) <= 25


def test_how_many_says_so_where_none_or_all_fit():
    assert "not even one" in str(HowMany("now", (0, 0, 0)))
    assert str(MOST) in str(HowMany("now", (MOST, MOST)))
    # Student's t at 95 % with two degrees of freedom is 4.303: 100 +- 4.303 * 10 / sqrt(3)
    found = HowMany("now", (90, 100, 110))
    assert found.mean == 100
    assert found.span == (75, 125)


def test_people_fit_while_everybody_is_within_the_first_limit():
    # limits of experience.py: pages 3 s, calls 1 % and 150 ms, start-up 2 s, stalls 1 %
    run = {
        "web.pages": 100.0,
        "web.pages_loaded": 99.0,
        "web.pages_loaded_share": 0.9,
        "web.pages_given_up_share": 0.04,
        "web.page_load_mean_s": 2.9,
        "voice.sent_packets": 1000.0,
        "voice.call_mos": 4.2,
        "voice.lost_share": 0.009,
        "voice.delay_p95_s": 0.149,
    }
    classes = ["web", "voice"]
    assert within(run, classes)
    for name, value in (
        ("web.page_load_mean_s", 3.1),
        ("web.pages_given_up_share", 0.06),
        ("voice.lost_share", 0.011),
        ("voice.delay_p95_s", 0.151),
        ("voice.delay_p95_s", None),
    ):
        assert not within({**run, name: value}, classes), name


def test_from_rates_to_a_control_and_its_commands(short):
    done = typed(*SMALL, "--people", "cafe:12", "--seeds", "2", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["people"] == "cafe:12"
    assert set(told["felt"]) == set(scene.CONTROLS)
    assert told["in_words"].startswith(("Recommended: ", "No recommendation: "))
    folder = short / "out/cafe-12-advise"
    scenario = folder / "scenario.toml"
    assert (folder / "report.html").stat().st_size > 10_000
    checked = CliRunner().invoke(app, ["check", str(scenario)])
    assert checked.exit_code == 0
    assert f"variants: {', '.join(scene.CONTROLS)}" in checked.stdout
    chosen = told["recommended"][0] if told["recommended"] else "now"
    assert told["router"]["control"] == chosen
    if told["router"]["commands"]:
        lines = (folder / "router.sh").read_text(encoding="utf-8").splitlines()
        assert lines == told["router"]["commands"]


# 20 ms at 256 kbit/s are 640 bytes: less than the packet that waits and the one on its way, whose
# 3000 bytes take 94 ms
def test_a_buffer_of_less_than_two_packets_is_simulated_with_two_and_that_is_said():
    link = fit([], Given(down_bps=2e6, up_bps=256e3, rtt_s=0.04, queue_s=0.02))
    links = tomllib.loads(scene.text(link, people("cafe:1"), SHORT))["topology"]["tandem"]["links"]
    assert links[0]["reverse"]["buffer"] == "3000B"
    assert links[0]["buffer"] == "5000B"
    told = " ".join(link.unknown)
    assert "a buffer up of 20 ms: the least that is simulated is two packets, 93.8 ms" in told
    assert "a buffer down" not in told


# shape_buffer of docs/gate-keys.md: 100 ms, at least 15000 bytes, which 1.2 Mbit/s sends in 100 ms
@pytest.mark.parametrize(("bps", "buffer"), [(400e3, "15000B"), (10e6, "100ms")])
def test_the_gate_that_is_simulated_has_the_buffer_of_a_real_one(bps, buffer):
    link = fit([], Given(down_bps=bps, up_bps=bps, rtt_s=0.06))
    links = tomllib.loads(scene.under(link, people("cafe:1"), SHORT, "tide"))["topology"]["tandem"]
    assert links["links"][1]["buffer"] == buffer


# the sentence "Beyond a limit" names it, so the table has it for every control
def test_a_measure_that_is_left_out_is_shown_where_it_is_beyond_its_limit():
    def titles(lost: float) -> str:
        run = {"sent_packets": 100.0, "lost_share": lost, "delay_p95_s": 0.03, "call_mos": 3.0}
        settings = [Setting(name, {1: run, 2: run}) for name in ("now", "cake")]
        found = verdict.judged(settings, [Users("calls", "", experience.CALLS)])
        return str(shown.of_people(found, "").columns[0]._cells)

    assert "packets lost" in titles(0.69)
    assert "packets lost" not in titles(0.009)


# half of 600 ms is more than the 150 ms that a call bears (G.114)
def test_a_limit_that_distance_breaks_judges_no_control():
    link = fit([], Given(down_bps=50e6, up_bps=20e6, rtt_s=0.6))
    assert any("calls and meetings within 150 ms" in said for said in link.unknown)
    run = {"sent_packets": 100.0, "lost_share": 0.0, "delay_p95_s": 0.31, "call_mos": 3.9}
    assert not many.within(run, ["calls"])
    assert many.within(run, ["calls"], link.trip_s)


# an empty link: nobody waits with or without a control, whatever the seed
def test_where_few_seeds_show_no_control_that_helps_more_are_run(short):
    empty = ["--down", "1Gbit", "--up", "1Gbit", "--rtt", "20ms"]
    done = typed(*empty, "--people", "cafe:1", "--json")
    assert done.exit_code == 0, done.output
    assert "With 5 seeds no control helps: 10 tell whether that holds." in done.stderr
    assert "With 10 seeds no control helps: 20 tell whether that holds." in done.stderr
    assert "20 seeds, the same people" in json.loads(done.stdout)["in_words"]
    told = json.loads((short / "out/cafe-1-advise/manifest.json").read_text())
    assert told["seeds"] == list(range(1, 21))


def test_who_says_how_many_seeds_gets_so_many(short):
    done = typed(*SMALL, "--people", "cafe:1", "--seeds", "2", "--json")
    assert "2 seeds, the same people" in json.loads(done.stdout)["in_words"]
    assert "tell whether" not in done.stderr


# fewer seeds, as the five of `compare`, may not show what these show
def test_to_run_it_again_takes_as_many_seeds(short):
    done = typed(*SMALL, "--people", "cafe:1", "--seeds", "3", "--json")
    scenario = "out/cafe-1-advise/scenario.toml"
    assert done.stderr.splitlines()[-1].endswith(f"compare {scenario} --seeds 3")
    assert "tidegate compare FILE --seeds 3" in (short / scenario).read_text().splitlines()[0]


# CoDel waits for an interval of 100 ms: over a satellite that is shorter than a round trip
def test_what_its_scenario_is_warned_of_is_said_once(short):
    far = ["--down", "10Mbit", "--up", "4Mbit", "--rtt", "700ms", "--seeds", "2"]
    with pytest.warns(TidegateWarning) as warned:
        done = typed(*far, "--people", "cafe:1", "--json")
    assert done.exit_code == 0, done.output
    said = [str(each.message) for each in warned]
    assert len([each for each in said if "fq-codel at `link2` expects round trips" in each]) == 1


def test_a_screen_has_the_link_what_people_feel_and_what_to_type(short):
    done = typed(*SMALL, "--people", "cafe:12", "--seeds", "2", "--control", "cake")
    assert done.exit_code == 0, done.output
    for said in (
        "rate down [Mbit/s]",
        "video: mean start-up delay",
        "cake+tide",
        "bandwidth 9500kbit",
    ):
        assert said in done.stdout
    assert "assumed" in done.stdout
    assert len(done.stdout.splitlines()) < 75


@pytest.mark.parametrize(("best", "recommended"), [(15.0, False), (2.0, True)])
def test_where_all_are_beyond_their_limits_the_present_state_is_no_recommendation(
    best, recommended
):
    """Pages in 15 s as it is and under CAKE are worthless (limit 10 s), though 40 s are worse."""

    def under(name: str, seconds: float) -> Setting:
        told = {"page_load_mean_s": seconds, "pages_loaded_share": 0.9, "pages_loaded": 500}
        seeds = {seed: {**told, "page_load_mean_s": seconds + seed / 10} for seed in (1, 2, 3)}
        return Setting(name, seeds)

    users = [Users("pages", "", experience.PAGES)]
    found = verdict.judged([under("now", best), under("cake", 15.2), under("tide", 40)], users)
    assert found.first == "now"
    assert bool(found.taken) is recommended
    # nothing is recommended for so many people: any control that was compared may help fewer
    every = ("now", "cake", "tide")
    assert found.searched == (("now",) if recommended else every)
    assert found.text.startswith("Recommended: now" if recommended else "No recommendation: no")


def test_cake_that_is_there_is_no_control_of_its_own(short):
    """`tc` shows it in both directions: it is the link as it is."""
    shaper = "qdisc cake 800{}: dev {} root refcnt 2 bandwidth {}Mbit triple-isolate rtt 100ms\n"
    sent = " Sent 2154123 bytes 3211 pkt (dropped 12, overlimits 2211 requeues 0)\n"
    both = shaper.format(1, "wan0", 3) + sent + shaper.format(2, "lan0", 10) + sent
    Path("tc.txt").write_text(both, encoding="utf-8")
    words = ("--outside", "wan0", "--inside", "lan0", "--people", "cafe:12", "--seeds", "2")
    done = typed("tc.txt", "--rtt", "20ms", *words, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert set(told["felt"]) == {"now", "fq_codel", "tide", "cake+tide"}
    assert "CAKE shapes both directions already: `now` is CAKE." in done.stderr


def test_how_many_people_fit_now_and_with_the_control(short, monkeypatch):
    monkeypatch.setattr(many, "MOST", 60)
    done = typed(*SMALL, "--people", "cafe:12", "--seeds", "2", "--how-many", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["how_many"]
    assert found[0]["control"] == "now"
    for each in found:
        assert each["low"] <= each["people"] <= each["high"]
        assert len(each["of_seeds"]) == 2


def test_one_person_is_no_people(short):
    done = typed(*SMALL, "--people", "cafe:1", "--seeds", "2")
    assert done.exit_code == 0, done.output
    assert "What people feel: cafe, 1 person (mean, 95 %)" in done.stdout
    assert 'name = "1 person, cafe"' in (short / "out/cafe-1-advise/scenario.toml").read_text()


def test_without_people_there_is_a_link_and_its_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = typed("--down", "100Mbit", "--up", "20Mbit", "--rtt", "25ms")
    assert done.exit_code == 0
    assert "bandwidth 95Mbit" in done.stdout
    assert "--people hotel:300" in done.stderr
    assert not (tmp_path / "out").exists()


def test_where_files_do_not_bear_it_nothing_is_simulated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ping.txt").write_bytes(link_files.FILES["ping"])
    done = typed("ping.txt", "--people", "hotel:300", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["link"][DOWN]["rate_bps"] is None
    assert told["link"][UP]["rate_bps"] is None
    assert "recommended" not in told
    assert told["router"]["commands"] == []
    assert sum("Give --" in each for each in told["link"]["unknown"]) >= 3
    assert "not compared" in done.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Nothing is known of the link"),
        (["--down", "100"], "--down 100"),
        (["--down", "1,5Mbit"], "--down 1,5Mbit"),
        (["--rtt", "25", "--down", "1Mbit"], "--rtt 25"),
        (["--rtt", "0ms", "--down", "1Mbit"], "--rtt 0ms is out of range"),
        (["--down", "1Mbit", "--how-many"], "--how-many needs people"),
        (["--down", "1Mbit", "--control", "codel"], "no control codel"),
        (["--down", "1Mbit", "--people", "castle:7"], "castle:7"),
        (["nowhere.txt"], "nowhere.txt"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_remedy(words, said):
    done = typed(*words)
    assert done.exit_code in (1, 2)
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) >= 2
    assert "Traceback" not in done.stderr
