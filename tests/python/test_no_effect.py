"""What has no effect is refused, and nothing of another kind is written over."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tidegate as laboratory
from tidegate.errors import UsageError
from tidegate.grid import compatibility
from tidegate.show import alike, hints

ROOT = Path(__file__).parents[2]
SMALL = """
name     = "small"
duration = "4s"
warmup   = "1s"
[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "1Mbit", delay = "9ms", buffer = "20packets" }
[traffic.web]
arrivals  = { poisson = "10/s" }
size      = "10kB"
transport = { tcp = { profile = "linux" } }
"""
RATE = "traffic.web.arrivals.poisson"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "lost"),
    [
        (["compare", "--vary", f"{RATE}=5/s,9/s", "--set", f"{RATE}=30/s"], RATE),
        (
            ["compare", "--gate", "none,tide", "--set", "port.bottleneck.gate.law=close-probe"],
            "port.bottleneck.gate",
        ),
        (["sweep", "--vary", "duration=3s,4s", "--set", "duration=5s"], "duration"),
    ],
)
def test_what_is_compared_cannot_be_set_too(tidegate, scenario, words, lost):
    done = tidegate(words[0], scenario.name, *words[1:])
    assert done.returncode == 2
    assert f"has no effect: a control, axis or variant sets {lost}" in done.stderr


def test_a_variant_sets_what_it_sets(tidegate, scenario):
    scenario.write_text(SMALL + f'[variant.busy]\n"{RATE}" = "30/s"\n', encoding="utf-8")
    done = tidegate("run", scenario.name, "--variant", "busy", "--set", f"{RATE}=5/s")
    assert done.returncode == 2
    assert f"What was set for {RATE} has no effect" in done.stderr


def test_what_python_sets_is_not_lost_either(scenario):
    for call, axes in (
        (laboratory.compare, {"vary": {RATE: ["5/s"]}}),
        (laboratory.sweep, {"axes": {RATE: ["5/s"]}}),
    ):
        with pytest.raises(UsageError, match=f"What was set for {RATE} has no"):
            call(scenario, **axes, settings={RATE: "30/s"}, seeds=2)


def test_of_a_flow_that_never_began_one_hears_and_there_is_no_file(tidegate, scenario):
    logs = ("--qlog", "web:99999", "--qlog", "web:0")
    done = tidegate("run", scenario.name, *logs, "--out", "one")
    assert done.returncode == 0
    assert "there was no flow web:99999: " in done.stderr
    logged = {path.name for path in (scenario.parent / "one").glob("*.sqlog")}
    assert logged == {"web-0.sqlog", "web-0.qvis.sqlog"}


# the whole gate is what is compared; a key beside it is not
def test_what_is_beside_it_can_be_set(tidegate, scenario):
    words = ("--gate", "none,tide", "--set", f"{RATE}=20/s", "--seeds", "1", "--no-plots")
    done = tidegate("compare", scenario.name, *words)
    assert done.returncode == 0, done.stderr


# a key of TOML is the same with and without quotes
@pytest.mark.parametrize("again", ["duration", "'duration'"])
def test_a_key_is_set_once(tidegate, scenario, again):
    done = tidegate("run", scenario.name, "--set", "duration=3s", "--set", f"{again}=4s")
    assert done.returncode == 2
    assert "--set duration was given twice." in done.stderr


def test_options_that_do_nothing_for_folders_and_pictures_are_refused(tidegate, scenario):
    for gate in ("none", "tide"):
        words = ("--gate", f"{gate},fixed-rate:5", "--seeds", "1", "--no-plots", "--out", gate)
        assert tidegate("compare", scenario.name, *words).returncode == 0
    assert tidegate("run", scenario.name, "--out", "one").returncode == 0
    for words, name in (
        (("compare", "none", "tide", "--metrics", "x"), "--metrics"),
        (("compare", "none", "tide", "--seeds", "5"), "--seeds"),
        (("compare", "none", "tide", "--dry-run"), "--dry-run"),
        (("plot", "one", "--metrics", "x"), "--metrics"),
        (("plot", "one", "--line", "x"), "--line"),
        (("plot", "none", "--terminal", "--line", "none"), "--line"),
    ):
        done = tidegate(*words)
        assert done.returncode == 2, words
        assert f"{name} has no effect on " in done.stderr
    twice = tidegate("plot", "none", "--line", "none", "--line", "none", "--format", "svg")
    assert twice.returncode == 0, twice.stderr


def test_a_file_of_another_kind_is_kept(tidegate, scenario, tmp_path):
    assert tidegate("run", scenario.name, "--out", "one").returncode == 0
    capture = tmp_path / "mine.pcap"
    shutil.copy(ROOT / "scenarios/captures/narrow-link.pcap", capture)
    summary = tmp_path / "one" / "summary.json"
    for words, path in (
        (("report", "one", "--out", scenario.name), scenario),
        (("report", "one", "--out", "one/summary.json"), summary),
        (("flows", "mine.pcap", "--csv", "mine.pcap"), capture),
        (("trace", "lte", "--out", scenario.name), scenario),
    ):
        before = path.read_bytes()
        done = tidegate(*words)
        assert done.returncode == 2, words
        assert "is there, and is no " in done.stderr
        assert path.read_bytes() == before
    for words in (
        ("report", "one"),
        ("flows", "mine.pcap", "--csv", "mine.csv"),
        ("trace", "lte", "--seconds", "1", "--out", "lte.txt"),
        ("trace", "starlink", "--seconds", "1", "--out", "starlink.csv"),
    ):
        assert [tidegate(*words).returncode for _ in range(2)] == [0, 0], words


def test_a_run_without_flows_has_a_page(tidegate, scenario):
    nobody = ("--set", f"{RATE}=0/s")
    assert tidegate("run", scenario.name, *nobody, "--out", "one").returncode == 0
    for words in (("report", "one"), ("plot", "one")):
        done = tidegate(*words)
        assert done.returncode == 0, done.stderr


# the two classes have the same letters, and `<>` cannot be in a name of a file
def test_classes_with_like_names_have_files_of_their_own(tidegate, scenario, tmp_path):
    text = SMALL.replace("[traffic.web]", '[traffic."<web>"]')
    text += SMALL[SMALL.index("[traffic.web]") :]
    scenario.write_text(text, encoding="utf-8")
    logs = ("--qlog", "web:0", "--qlog", "<web>:0")
    done = tidegate("run", scenario.name, *logs, "--out", "one")
    assert done.returncode == 0, done.stderr
    assert len([*(tmp_path / "one").glob("*.sqlog")]) == 4
    done = tidegate("plot", "one", "--format", "svg")
    assert done.returncode == 0, done.stderr
    assert len([*(tmp_path / "one").glob("classes-*.svg")]) == 2


# both ports are controlled: nothing is left to control
BOTH_WAYS = """
[traffic.photos]
arrivals  = { poisson = "20/s" }
size      = "20kB"
direction = "upload"
transport = { tcp = { profile = "linux" } }
"""


def test_after_both_ports_were_controlled_no_other_is_named(tidegate, scenario):
    text = SMALL.replace('"20packets" }', '"20packets", reverse = { rate = "0.2Mbit" } }')
    scenario.write_text(text.replace('"10/s"', '"1/s"') + BOTH_WAYS, encoding="utf-8")
    words = ("--queue", "drop-tail,codel", "--seeds", "2", "--no-plots")
    one = tidegate("compare", scenario.name, *words, "--out", "one")
    assert "bottleneck.reverse is full" in one.stderr
    both = tidegate("compare", scenario.name, *words, "--port", "both", "--out", "both")
    assert both.returncode == 0, both.stderr
    assert "is full" not in both.stderr


def test_where_nothing_differs_more_seeds_are_not_advised(tidegate, scenario):
    words = ("--vary", f"{RATE}=5/s,9/s", "--seeds", "2", "--no-plots")
    done = tidegate("compare", scenario.name, *words)
    assert "the settings differ in the traffic" in done.stderr
    assert "more seeds" not in done.stderr


def test_one_rate_gives_lines_for_one_direction_and_says_so(tidegate):
    done = tidegate("advise", "--down", "20Mbit")
    assert "CAKE, for downloads alone\nGive --up for the other direction." in done.stdout
    both = tidegate("advise", "--down", "20Mbit", "--up", "5Mbit")
    assert "alone" not in both.stdout


GATE = "port.bottleneck.gate"


# of two axes that set the same key, the names of the settings say two things and one is done
@pytest.mark.parametrize(
    "words",
    [
        ("--gate", "fixed-rate:10,fixed-rate:20", "--vary", f"{GATE}.rate=10/s,20/s"),
        ("--gate", "none,tide", "--vary", f'{GATE}={{law="close-probe"}},{{law="none"}}'),
        ("--queue", "codel,pie", "--vary", "port.bottleneck.queue.law=pie,codel"),
        ("--vary", f"{GATE}.beta=0.2,0.5", "--vary", f'{GATE}={{law="close-probe"}}'),
        ("--vary", f"{GATE}.law=tide", "--vary", 'port."bottleneck".gate={law="none"}'),
    ],
)
def test_two_axes_that_set_the_same_are_refused(tidegate, scenario, words):
    done = tidegate("sweep", scenario.name, *words, "--dry-run")
    assert done.returncode == 2
    assert "one of them would have no effect" in done.stderr
    assert "Leave one of them out." in done.stderr


def test_two_axes_that_set_the_same_are_refused_in_python(scenario):
    axes = {f"{GATE}.rate": ["10/s", "20/s"]}
    with pytest.raises(UsageError, match=r"both set port\.bottleneck\.gate\.rate"):
        laboratory.sweep(scenario, axes, gates=["fixed-rate:10", "fixed-rate:20"])


# the file or the default has the other keys of the law; one value that is left open can be varied
@pytest.mark.parametrize(
    "words",
    [
        ("--gate", "close-probe", "--vary", f"{GATE}.beta=0.2,0.5"),
        ("--gate", "close-probe:beta=0.3", "--vary", f"{GATE}.alpha_min=4,5"),
        ("--vary", f'{GATE}={{law="close-probe"}}', "--vary", f"{GATE}.beta=0.2,0.5"),
        ("--set", f"{GATE}.law=close-probe", "--vary", f"{GATE}.beta=0.2,0.5"),
    ],
)
def test_a_key_that_a_law_leaves_open_is_an_axis(tidegate, scenario, words):
    done = tidegate("sweep", scenario.name, *words, "--dry-run")
    assert done.returncode == 0, done.stderr


# the lines of both scenarios are the same, in other tables
def test_what_differs_from_the_runs_that_are_there_is_named(tidegate, scenario):
    words = ("compare", scenario.name, "--gate", "none,fixed-rate:20", "--seeds", "1", "--no-plots")
    done = tidegate(*words, "--port", "both")
    assert done.returncode == 0, done.stderr
    other = tidegate(*words, "--port", "bottleneck.reverse")
    told = 'port.bottleneck.gate.law: there "fixed-rate"; here "none"'
    assert f"scenario: {told}, port.bottleneck.gate.rate: there " in other.stderr
    assert "out/small-compare-2" in other.stderr


def test_scenarios_with_keys_in_another_order_have_no_changes():
    """A name that ends like the message about them is a change all the same."""
    one, other = 'name = "a"\nseed = 1', 'seed = 1\nname = "a"'
    assert compatibility.changes(one, other) == []
    assert "another order" in compatibility.of_scenario([])
    renamed = compatibility.changes(one, 'name = "the same keys in another order"\nseed = 1')
    told = 'name: there "a"; here "the same keys in another order"'
    assert compatibility.of_scenario(renamed) == f"scenario: {told}"


def test_a_value_without_effect_at_one_load_alone_is_not_named():
    """By hand: gates `a` and `b` differ at the high load only, and `c` is as `b` at both."""

    def row(gate: str, load: str, completed: int) -> dict[str, Any]:
        fate = dict.fromkeys(alike.FATE, 0) | {"completed": completed}
        return {"settings": {"gate": gate, "load": load}, "seed": 1, "all": fate, "classes": []}

    high = {"a": 20, "b": 30, "c": 30}
    rows = [row(gate, "low", 10) for gate in high]
    rows += [row(gate, "high", completed) for gate, completed in high.items()]
    axes = {"gate": ("a", "b", "c"), "load": ("low", "high")}
    done = SimpleNamespace(rows=rows, subject=SimpleNamespace(axes=axes, command="sweep"))
    assert alike.without_effect(done) == [["a"], ["b", "c"], ["load=low"], ["load=high"]]
    assert [each.split(":")[0] for each in hints.alike(done)] == ["Identical results under b and c"]
