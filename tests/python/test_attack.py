"""`tidegate attack`: its worlds, its scores, the search, the shrinking, and what it saves."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from math import inf, nan
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tidegate.attack.finds import Find
from tidegate.attack.objective import BEYOND, Objective
from tidegate.attack.perform import Request, save
from tidegate.attack.search import WorstWorld, search
from tidegate.attack.shrink import shrink, simpler
from tidegate.attack.space import BASE, Gene, World, filled, merged, space
from tidegate.attack.trials import SEEDS, Trials, others, worlds
from tidegate.certify import controls
from tidegate.cli import app
from tidegate.errors import ScenarioError, TidegateError, UsageError
from tidegate.papers.folder import CaseFolder
from tidegate.results.measures import in_time, longest_silence
from tidegate.scenario import toml
from tidegate.scenario.document import read
from tidegate.scenario.real_gate import REAL_GATE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tidegate.attack.space import Space

RATE = Gene("rate", 0.5, 50, 10, "Mbit/s")
FLOWS = Gene("flows", 1, 4, 1, "flows", whole=True)
AT = Gene("at", 1, 28, 10, "s", linear=True)


def test_a_gene_is_spread_evenly_over_its_logarithm_itself_or_its_whole_numbers() -> None:
    # by hand: the middle of 0.5 and 50 is sqrt(25) = 5; a quarter of the way 0.5 * 100^(1/4) = 1.58
    assert [RATE.value(each) for each in (0.0, 0.25, 0.5, 1.0)] == [0.5, 1.6, 5.0, 50.0]
    # 1 + 0.5 * 27 = 14.5, and a half goes to the even digit
    assert [AT.value(each) for each in (0.0, 0.5, 1.0)] == [1.0, 14.0, 28.0]
    assert [FLOWS.value(each) for each in (0.0, 0.24, 0.26, 0.99, 1.0)] == [1, 1, 2, 4, 4]


@pytest.mark.parametrize("gene", [RATE, FLOWS, AT])
def test_the_place_of_a_number_gives_the_number(gene: Gene) -> None:
    for place in np.linspace(0, 1, 50):
        value = gene.value(float(place))
        assert gene.value(gene.place(value)) == value


def test_simpler_numbers_are_the_plain_one_a_round_one_and_one_digit() -> None:
    # 37: the plain 10; of 10, 20, 50 and 100 the nearest by ratio to 40 is 50 (1.25); then 40
    assert RATE.simpler(37) == [10, 50, 40]
    assert RATE.simpler(50) == [10]
    assert RATE.simpler(10) == []
    assert FLOWS.simpler(4) == [1, 3]
    # 0.5 is a bound: 0.6 has 10, and 0.5 by the nearest round one
    assert RATE.simpler(0.6) == [10, 0.5]


def test_what_stands_in_braces_is_computed() -> None:
    known = {"rate": 10.0, "delay": 18.0, "buffer": 1.0, "load": 2.0, "size": 30.0}
    # by hand: 10 Mbit/s for 40 ms are 400 kbit, 33.3 packets of 12 kbit
    buffer = "{round(at_least(5, buffer * rate * (delay + 2) / 6))}packets"
    assert filled(buffer, known) == "33packets"
    # twice 10 Mbit/s in sessions of 240 kbit: 83.33 a second
    assert filled({"poisson": "{load * rate * 125 / size}/s"}, known) == {"poisson": "83.33/s"}
    # one that is nothing else is a number, whole where it is
    assert filled(["{rate}", "{1 / size}", 7], known) == [10, 0.03333, 7]
    assert filled("{1 / size / 1000}s", known) == "0.00003333s"  # no exponent beside a unit


def test_parts_are_merged_into_a_scenario() -> None:
    one: dict[str, Any] = {"a": {"b": 1, "size": {"pareto": 2}}, "change": [{"at": "1s"}]}
    other = {"a": {"c": 3, "size": "30kB"}, "change": [{"at": "2s"}]}
    assert merged(one, other) == {
        "a": {"b": 1, "size": "30kB", "c": 3},
        "change": [{"at": "1s"}, {"at": "2s"}],
    }
    assert one == {"a": {"b": 1, "size": {"pareto": 2}}, "change": [{"at": "1s"}]}


@pytest.mark.parametrize("name", ["path", "access", "users"])
def test_every_world_that_is_drawn_is_a_scenario_within_the_bounds(name: str) -> None:
    asked = space(name)
    together = 0
    for objective in asked.objectives.values():
        rng = np.random.default_rng(7)
        for _ in range(40):
            world = asked.drawn(rng, objective)
            assert set(objective.needed) <= set(world.parts)
            assert not set(objective.without) & set(world.parts)
            assert asked.at(*asked.places(world)) == world
            for part, values in world.pieces:
                for gene, value in zip(asked.parts[part].genes, values, strict=True):
                    assert gene.least <= value <= gene.most
            for more in [{}, *(more for _, more in asked.references)]:
                try:
                    scenario = read(toml.document(asked.scenario(world, more))).load()
                except ScenarioError as error:
                    # two changes may be drawn at one instant, which no scenario has
                    if "another change of the same" not in str(error):
                        raise
                    together += 1
                    continue
                there = {"all", *scenario.classes, *(port for port, _ in scenario.ports)}
                assert objective.of in there
    assert together <= 0.02 * 40 * len(asked.objectives)


def test_the_gates_that_users_are_compared_with_have_the_settings_of_a_real_one() -> None:
    more = [each for _, each in space("users").references if each]
    gates = [each["port"]["bottleneck"]["gate"] for each in more]
    assert [each["admit"] for each in gates] == ["clients", "connections"]
    for gate in gates:
        assert {key: gate[key] for key in REAL_GATE} == REAL_GATE


def test_every_part_is_drawn_and_only_those_asked_for() -> None:
    asked = space("path")
    aim = asked.objectives["goodput"]
    rng = np.random.default_rng(1)
    drawn = [asked.drawn(rng, aim) for _ in range(300)]
    assert {part for each in drawn for part in each.parts} == set(asked.allowed(aim, ()))
    rates = [asked.drawn(rng, aim, ("rate",)).parts.count("rate") for _ in range(50)]
    assert (min(rates), max(rates)) == (1, 3)
    narrow = [asked.drawn(rng, aim, ("bursts", "acks")) for _ in range(50)]
    assert {part for each in narrow for part in each.parts} == {"bursts", "acks"}
    with pytest.raises(UsageError, match="no part file"):
        asked.allowed(aim, ("file",))


def objective(**changed: Any) -> Objective:
    table = {"says": "rate", "measure": "x", "unit": "", "more_is_better": True, "ratio": 1.25}
    return Objective.read("rate", {**table, "of": "subject", **changed})


def test_a_score_is_the_distance_in_limits_from_the_worst_or_the_best_of_others() -> None:
    # by hand: 10 is one limit of 1.25 below 12.5, and two below 15.625
    assert objective().score(10.0, [12.5, 15.625]) == pytest.approx(1.0)
    assert objective(best=True).score(10.0, [12.5, 15.625]) == pytest.approx(2.0)
    points = objective(ratio=None, points=5.0, more_is_better=False)
    assert points.score(20.0, [5.0, 10.0]) == pytest.approx(2.0)
    assert objective(ratio=None, points=5.0, more_is_better=False, alone=True).score(20.0, []) == 4
    # below the floor nothing differs
    assert objective(floor=1.0).score(0.1, [0.5]) == 0.0


def test_what_is_undefined_is_worse_than_what_is_not() -> None:
    assert objective().score(nan, [1.0, 2.0]) == BEYOND
    assert objective().score(1.0, [nan, 0.1]) == -BEYOND
    assert objective().score(nan, [nan, nan]) == 0.0


def test_with_several_seeds_the_low_end_of_the_interval_counts() -> None:
    # by hand: distances of 1, 2 and 3 limits; Student's t is 4.303, 4.303 * 1 / sqrt(3) = 2.484
    limit = objective(ratio=None, points=5.0, more_is_better=False)
    others = {"a": [1.0, 1.0, 1.0], "b": [5.0, 5.0, 5.0]}
    assert limit.certain([10.0, 15.0, 20.0], others) == pytest.approx(-0.484, abs=1e-3)
    # the best is "a": 0.8 limits further
    best = objective(ratio=None, points=5.0, more_is_better=False, best=True)
    assert best.certain([10.0, 15.0, 20.0], others) == pytest.approx(0.316, abs=1e-3)
    alone = objective(ratio=None, points=5.0, more_is_better=False, alone=True)
    assert alone.certain([5.0, 10.0, 15.0], {}) == pytest.approx(-0.484, abs=1e-3)
    assert limit.certain([nan, 1.0, 1.0], others) == BEYOND
    assert limit.certain([1.0, 1.0, 1.0], {"a": [nan, 1.0, 1.0]}) == -BEYOND


def test_silence_is_the_longest_time_in_which_open_flows_get_nothing() -> None:
    # by hand: nothing in the intervals that end at 0.3, 0.4 and 0.6; at 0.8 no flow is open
    time = np.round(np.arange(0.1, 1.0, 0.1), 1)
    rate = np.where(np.isin(time, (0.3, 0.4, 0.6, 0.8)), 0.0, 1e6)
    flows = np.where(time == 0.8, 0, 2)
    series = {"time_s": time, "rate_bps": rate, "open_flows": flows}
    record = SimpleNamespace(series=lambda name: series)
    assert longest_silence("subject")(cast("Any", record)) == pytest.approx(0.2)


def test_in_time_is_the_share_of_what_came_while_there_was_time_left() -> None:
    # by hand: a warm-up of 10 s, an end at 40 s and 10 s of time: sessions from 10 to 30 s count.
    # Of the four that came there, that of 12 s took 10 s, that of 15 s 11 s, that of 20 s 1 s, and
    # one never closed.
    flows = {
        "start_s": np.array([5.0, 12.0, 15.0, 20.0, 31.0]),
        "closed_s": np.array([6.0, 22.0, 26.0, 21.0, 32.0]),
    }
    second = np.arange(1.0, 41.0)
    started = np.isin(second, (6, 13, 16, 21, 26, 32)).astype(float)
    record = SimpleNamespace(
        summary={"warmup_s": 10.0, "duration_s": 40.0},
        flows=lambda: flows,
        rates=lambda: {"time_s": second, "started": started},
    )
    assert in_time(10.0)(cast("Any", record)) == 0.5


def toy(world: World) -> float:
    """A score without a simulation: slow paths with bursts about once a second are bad."""
    pieces = dict(world.pieces)
    if "bursts" not in pieces:
        return -1.0
    rate, every = pieces[BASE][0], pieces["bursts"][0]
    return 5.0 - abs(np.log(every)) - 0.5 * np.log(rate)


def searched(seed: int, rounds: int) -> list[Any]:
    asked = space("path")
    left = iter([True] * 10_000)
    found = search(
        asked,
        asked.objectives["goodput"],
        lambda tried: [toy(each) for each in tried],
        seed,
        lambda: next(left),
    )
    return [next(found) for _ in range(rounds)]


def test_the_same_seed_is_the_same_search() -> None:
    before = np.random.default_rng().bit_generator.state, np.random.get_state()[1].tolist()  # noqa: NPY002
    first = searched(3, 4)
    assert searched(3, 4) == first
    assert searched(4, 4) != first
    # the generator of the process is left alone
    assert np.random.get_state()[1].tolist() == before[1]  # noqa: NPY002


def test_the_strategy_finds_what_is_worse_than_any_that_was_drawn() -> None:
    found = max(searched(5, 6), key=lambda each: each.score)
    drawn = []
    for number in range(1, 7):
        rng = np.random.default_rng([5, number])
        asked = space("path")
        drawn += [asked.drawn(rng, asked.objectives["goodput"]) for _ in range(16)]
    assert found.score > max(map(toy, drawn))
    # the worst world is known: the slowest path, a burst each second
    assert found.score > 5.0


def test_rounds_take_different_parts_and_pass_over_worlds_that_cannot_be_run() -> None:
    found = searched(6, 6)
    assert len({each.world.parts for each in found}) == 6
    asked = space("path")
    none = search(
        asked, asked.objectives["goodput"], lambda tried: [-inf] * len(tried), 1, iter_of(5)
    )
    assert list(none) == []


def iter_of(times: int) -> Callable[[], bool]:
    left = iter([True] * times)
    return lambda: next(left, False)


def test_a_shrunk_world_still_holds_and_no_simpler_one_does() -> None:
    asked = space("path")
    aim = asked.objectives["goodput"]
    rng = np.random.default_rng(11)
    tried = 0
    while tried < 100:
        world = asked.drawn(rng, aim)
        score = toy(world)
        if score < 1.0:
            continue
        tried += 1
        limit = 0.8 * score

        def holds(each: World, limit: float = limit) -> bool:
            return toy(each) >= limit

        small = shrink(asked, world, holds, rng=np.random.default_rng(tried))
        assert holds(small)
        assert not any(map(holds, simpler(asked, small)))
        # all that the score does not depend on is gone, or plain
        assert small.parts == ("bursts",)
        values = dict(small.pieces)
        plain = {name: [gene.plain for gene in asked.parts[name].genes] for name in values}
        assert [*values[BASE][1:]] == plain[BASE][1:]
        assert [*values["bursts"][1:]] == plain["bursts"][1:]


def test_shrinking_asks_of_each_world_once_and_keeps_the_part_of_the_objective() -> None:
    asked = space("path")
    aim = asked.objectives["harm"]
    world = asked.drawn(np.random.default_rng(2), aim)
    seen: list[World] = []

    def holds(each: World) -> bool:
        seen.append(each)
        return True

    small = shrink(asked, world, holds, [("beside",)])
    assert small.parts == ("beside",)
    assert len(seen) == len(set(seen))


def test_a_number_that_is_held_is_the_same_in_each_world() -> None:
    held = space("path").holding({"delay": 13.7, "flows": 2})
    aim = held.objectives["goodput"]
    rng = np.random.default_rng(3)
    for _ in range(20):
        world = held.drawn(rng, aim)
        assert dict(world.pieces)[BASE][1:4:2] == (13.7, 2)
        assert held.at(*held.places(world)) == world
        small = shrink(held, world, lambda _: True)
        # all others are plain
        assert small.pieces == ((BASE, (10, 13.7, 1, 2)),)
    for wrong in ("dely=1", "delay=1000", "delay=x", "delay"):
        with pytest.raises(UsageError):
            Request.of("bbr", None, held=[wrong])
    assert "--hold delay=10 --seed" in Request.of("bbr", None, held=["delay=10"]).command


def test_of_the_parts_that_were_asked_for_one_stays() -> None:
    asked = space("path")
    aim = asked.objectives["goodput"]
    world = asked.at([BASE, "acks", "batch", "codel"], np.full(asked.size([BASE]) + 2, 0.5))
    small = shrink(asked, world, lambda _: True, [("batch", "acks")])
    # the first to go is the first by name
    assert small.parts == ("batch",)
    assert all(
        asked.drawn(np.random.default_rng(seed), aim, ("batch", "acks")).parts for seed in range(20)
    )


def test_a_cost_is_that_of_the_parts_of_a_world(tmp_path: Path) -> None:
    asked = space("path")
    aim = asked.objectives["cost"]
    reno = controls.find("reno")
    plain = World.of([(BASE, (0.5, 10.0, 1.0, 1.0))])
    police = World.of([*plain.pieces, ("police", (0.5, 30.0))])
    with CaseFolder(tmp_path / "out", worlds(reno)) as folder:
        against = others(asked, (controls.find("cubic"),), gate=False)
        trials = Trials(asked, aim, reno, against, folder)
        assert trials.scores([plain]) == [0.0]
        found = trials.values(police, 1)
        # by hand: half of 0.5 Mbit/s, and 30 kB of tokens, in 30 s: 0.258 Mbit/s at most
        assert found["reno"][0] <= 0.258
        assert 0.4 < found["without them"][0] <= 0.5
        ratio = found["without them"][0] / found["reno"][0]
        assert trials.scores([police]) == [pytest.approx(np.log(ratio) / np.log(1.25))]


def test_unknown_names_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="Name one"):
        Request.of(None, None)
    with pytest.raises(UsageError, match="Name one"):
        Request.of("bbr", "tide")
    with pytest.raises(UsageError, match="Objectives: goodput, cost, harm"):
        Request.of("bbr", None, "speed")
    with pytest.raises(UsageError, match="Objectives: served"):
        Request.of(None, "tide", "goodput")
    with pytest.raises(UsageError, match="no control nosuch"):
        Request.of("nosuch", None)
    with pytest.raises(UsageError, match="no part x"):
        Request.of("bbr", None, parts=["x"])
    with pytest.raises(UsageError, match="no worlds users for a sender control"):
        Request.of("bbr", None, of="users")
    with pytest.raises(UsageError, match="Worlds: access, users"):
        Request.of(None, "tide", of="path")


CUSTOM = '{ tcp = { profile = "linux", hystart = "none" } }'
ASKED = [
    Request.of(
        "cubic", None, "time", [CUSTOM, "reno"], ["acks", "batch"], ["delay=10", "flows=1"], 7
    ),
    Request.of(None, "tide:onset=2s", "tail", ["none"], of="users"),
    Request.of(None, "tide"),
]


@pytest.mark.parametrize("asked", ASKED, ids=["control", "users", "gate"])
def test_the_command_in_a_find_asks_for_the_same_search(asked: Request) -> None:
    name, command, *words = shlex.split(asked.command)
    assert (name, command) == ("tidegate", "attack")
    found = get_command(app).commands[command].make_context(command, words).params  # type: ignore[attr-defined]
    lists = (found[each] for each in ("against", "part", "hold"))
    again = Request.of(
        found["control"],
        found["gate"],
        found["objective"],
        *lists,
        seed=found["seed"],
        of=found["worlds"],
    )
    assert again == asked


def test_the_command_in_a_find_leaves_out_what_is_the_default() -> None:
    assert "--against" not in Request.of("bbr", None).command
    assert "--worlds" not in Request.of(None, "tide").command
    assert "--gate tide" in Request.of(None, "tide").command


def test_without_the_library_the_command_that_installs_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(TidegateError, match="pip install cma"):
        searched(1, 1)


def test_a_world_counts_its_runs_and_a_control_that_cannot_be_run_has_none(tmp_path: Path) -> None:
    asked = space("path")
    aim = asked.objectives["goodput"]
    codel = World.of([(BASE, (0.5, 10.0, 1.0, 1.0)), ("codel", ())])
    plain = World.of([(BASE, (0.5, 10.0, 1.0, 1.0))])
    blitz = controls.find("blitz")
    against = (controls.find("reno"),)
    with CaseFolder(tmp_path / "out", worlds(blitz)) as folder:
        trials = Trials(asked, aim, blitz, others(asked, against, gate=False), folder)
        # Blitz needs a queue law of its own
        assert trials.scores([codel]) == [-inf]
        assert trials.runs == 0
    reno = controls.find("reno")
    with CaseFolder(tmp_path / "out", worlds(reno)) as folder:
        trials = Trials(asked, aim, reno, others(asked, against, gate=False), folder)
        # like itself, in each seed; asked for again nothing is counted
        assert trials.scores([plain, plain], 2) == [0.0, 0.0]
        assert trials.runs == 2 * 2
        assert trials.scores([plain], 2) == [0.0]
        assert trials.runs == 2 * 2
        assert folder.count() == 2


def tidegate(folder: Path, *words: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
    )


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tidegate", *words]


# some 10 s of CPU time each
ASKED = ("attack", "bbr", "--runs", "150", "--finds", "1", "--seed", "1", "--workers", "2")


def files(folder: Path) -> dict[str, bytes]:
    suite = folder / "bbr-goodput.toml"
    return {path.name: path.read_bytes() for path in [suite, *folder.glob("bbr-goodput/*")]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    done = tidegate(folder, *ASKED)
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_search_that_was_killed_comes_to_the_same_end(whole: Path, tmp_path: Path) -> None:
    words = (*ASKED[:-1], "1")  # the number of workers changes nothing
    with subprocess.Popen(
        command(*words), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        there: Sequence[Path] = ()
        while run.poll() is None and len(there) < 60:
            there = list((tmp_path / "out/attack/runs").glob("*/seed-*/manifest.json"))
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGKILL)
    assert len(there) >= 60
    assert not (tmp_path / "out/attack/bbr-goodput.toml").exists()
    first = {path: path.stat().st_mtime_ns for path in there}
    again = tidegate(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert again.stdout == (whole / "said").read_text(encoding="utf-8")
    assert files(tmp_path / "out/attack") == files(whole / "out/attack") != {}
    # what was complete was not simulated again
    assert {path: path.stat().st_mtime_ns for path in there} == first


@pytest.mark.slow
def test_a_find_is_a_scenario_that_run_compare_and_certify_take(whole: Path) -> None:
    suite = "out/attack/bbr-goodput.toml"
    find = "out/attack/bbr-goodput/goodput-1.toml"
    ran = tidegate(whole, "run", find, "--json")
    assert ran.returncode == 0, ran.stderr
    compared = tidegate(whole, "compare", find, "--seeds", "1", "--no-plots", "--json")
    assert compared.returncode == 0, compared.stderr
    assert [each for each in ("reno", "cubic", "bbr") if f'"{each}"' not in compared.stdout] == []
    judged = tidegate(whole, "certify", "bbr", "--suite", suite)
    assert judged.returncode == 3, judged.stderr
    assert "bbr beside reno and cubic: worse in 1 conditions" in " ".join(judged.stdout.split())
    # what the head of the file says is what is measured
    text = (whole / find).read_text(encoding="utf-8")
    said = re.search(r"bbr ([0-9.e-]+), reno ([0-9.e-]+), cubic ([0-9.e-]+) Mbit/s", text)
    assert said is not None
    own, *rest = map(float, said.groups())
    assert own * 1.25 < min(rest)
    assert tomllib.loads((whole / suite).read_text(encoding="utf-8"))["standard"] == [
        "reno",
        "cubic",
    ]


@pytest.mark.slow
def test_a_gate_is_compared_with_the_best_static_one_which_its_finds_have(tmp_path: Path) -> None:
    # 2 Mbit/s with twice as many sessions of 30 kB as fit
    world = World.of([(BASE, (2.0, 20.0, 200.0, 2.0, 30.0)), ("alike", ())])
    request = Request.of(None, "close-probe")
    asked, aim = request.worlds, request.objective
    with CaseFolder(tmp_path / "out/attack", worlds(request.control)) as folder:
        compared = others(asked, (), gate=True)
        trials = Trials(asked, aim, request.control, compared, folder)
        [score] = trials.scores([world], SEEDS)
        served = {name: np.mean(each) for name, each in trials.values(world, SEEDS).items()}
        find = Find(
            "served-1", WorstWorld(world, score, 1), world, score, trials.values(world, SEEDS)
        )
        save(request, trials, [find])
    static = {name: value for name, value in served.items() if name != "close-probe"}
    best = max(static, key=lambda name: static[name])
    tables = tomllib.loads(
        (tmp_path / "out/attack/close-probe-served/served-1.toml").read_text(encoding="utf-8")
    )
    # by hand: 2 Mbit/s are 8.333 sessions of 30 kB a second
    share = {"half": 0.5, "seven tenths": 0.7, "nine tenths": 0.9}[best]
    gate = tables["port"]["bottleneck"]["gate"]
    assert float(gate["rate"].removesuffix("/s")) == pytest.approx(share * 25 / 3, rel=1e-3)
    done = tidegate(
        tmp_path,
        *("certify", "--gate", "close-probe", "--suite", "out/attack/close-probe-served.toml"),
        "--json",
    )
    assert done.returncode == 3, done.stderr
    [judged] = json.loads(done.stdout)["conditions"]
    assert (judged["verdict"], judged["number"]) == ("worse", pytest.approx(served["close-probe"]))
    [measured] = judged["measures"]
    assert np.mean(measured["references"]["static"]) == pytest.approx(static[best])


@pytest.mark.slow
def test_a_gate_may_be_compared_with_another_gate_which_certify_understands(tmp_path: Path) -> None:
    # 1 Mbit/s and twice as many pages of 100 kB as fit: no gate loads fewer
    world = World.of([(BASE, (1.0, 20.0, 100.0, 2.0, 100.0, 10.0, 6.0, 30.0))])
    request = Request.of(None, "none", against=["tide:admit=clients"], of="users")
    with CaseFolder(tmp_path / "out/attack", worlds(request.control)) as folder:
        compared = others(request.worlds, request.against, gate=True)
        trials = Trials(request.worlds, request.objective, request.control, compared, folder)
        [score] = trials.scores([world], SEEDS)
        values = trials.values(world, SEEDS)
        save(request, trials, [Find("loaded-1", WorstWorld(world, score, 1), world, score, values)])
    suite = "out/attack/none-loaded-worlds-users-against-tide-admit-clients.toml"
    done = tidegate(tmp_path, "certify", "--gate", "none", "--suite", suite, "--json")
    assert done.returncode == 3, done.stderr
    [judged] = json.loads(done.stdout)["conditions"]
    [measured] = judged["measures"]
    assert measured["references"]["tide:admit=clients"] == values["tide:admit=clients"]
    scenario = (tmp_path / suite.removesuffix(".toml") / "loaded-1.toml").read_text(
        encoding="utf-8"
    )
    variants = tomllib.loads(scenario)["variant"]
    assert set(variants) == {"none", "tide-admit-clients"}


def test_a_suite_of_another_file_is_read_and_a_missing_one_refused(tmp_path: Path) -> None:
    done = tidegate(tmp_path, "certify", "cubic", "--suite", "nosuch.toml")
    assert done.returncode in (1, 2)
    assert "nosuch.toml" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "broken.toml").write_text("title = [", encoding="utf-8")
    done = tidegate(tmp_path, "certify", "cubic", "--suite", "broken.toml")
    assert done.returncode == 2
    assert "broken.toml" in done.stderr


def test_the_list_shows_every_objective_part_and_bound() -> None:
    for name in ("path", "access"):
        asked: Space = space(name)
        words = ["attack", "--list", *(["--gate", "tide"] if name == "access" else [])]
        said = CliRunner().invoke(app, words).output
        for part in asked.parts.values():
            assert part.says in said
            for gene in part.genes:
                assert f"{gene.name}: {gene.least:g} to {gene.most:g} {gene.says}" in said
        for aim in asked.objectives.values():
            assert f"{aim.name}: {aim.limit.says}" in said
