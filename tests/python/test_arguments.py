"""What is no argument of the Python interface is refused: a TidegateError with the remedy."""

import math
import re

import numpy as np
import pytest

import tidegate

QUICK = {"duration": "4s", "warmup": "1s"}
LOAD = "traffic.web.arrivals.poisson"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"workers": 0}, "workers cannot be 0"),
        ({"workers": -1}, "Give a whole number from 1 on"),
        ({"workers": "2"}, "workers cannot be '2'"),
        ({"dask": 5}, "dask cannot be 5"),
        ({"gates": 5}, "gates cannot be 5"),
        ({"gates": {"law": "none"}}, "Give a list, as in ['close-probe']"),
        ({"gates": [{"law": "tide", "g": None}]}, "A scenario cannot hold None"),
        ({"metrics": 5}, "metrics cannot be 5"),
        ({"metrics": ["nope"]}, "docs/metrics.md lists all"),
        ({"out": ""}, "'' is no path of results"),
        ({"seeds": True}, "True is no number of seeds"),
        ({"seeds": [True]}, "True is no seed"),
        ({"vary": {1: ["a"]}, "gates": None}, "A key is a text, and not 1"),
        ({"settings": {1: 2}}, "A key is a text, and not 1"),
        ({"settings": {"duration": None}}, "duration cannot hold None"),
        ({"settings": {"duration": b"3s"}}, "duration cannot hold b'3s' (bytes)"),
        ({"settings": {"traffic.web": {"a": None}}}, "traffic.web cannot hold None"),
        ({"settings": {"topology.dumbbell.pairs": 10**30}}, "a finite number of 64 bits"),
        ({"settings": {"port.bottleneck.gate.alpha_min": math.inf}}, "cannot hold inf"),
    ],
)
def test_what_has_the_wrong_type_is_refused(overload, arguments, says):
    asked = {"gates": "none,tide", "seeds": 1, "settings": QUICK, "plots": False} | arguments
    with pytest.raises(tidegate.TidegateError, match=re.escape(says)):
        tidegate.compare(overload, **asked)


def test_other_functions_refuse_the_same(overload, tmp_path):
    for says, call in (
        ("'' is no path of a scenario", lambda: tidegate.run("")),
        ("is no path of a scenario", lambda: tidegate.run("/nowhere/x.toml\0")),
        ("The dicts make no scenario", lambda: tidegate.run({"name": None})),
        ("True is no seed", lambda: tidegate.run(overload, seed=True)),
        ("None is no path of a packet capture", lambda: tidegate.flows(None)),
        ("No shard is named", lambda: tidegate.merge([], tmp_path / "o")),
        ("parts cannot be 'o'", lambda: tidegate.merge("o", tmp_path / "o")),
        ("shard cannot be 5", lambda: tidegate.sweep(overload, {LOAD: ["5/s"]}, shard=5)),
        ("variants cannot be 5", lambda: tidegate.sweep(overload, variants=5)),
    ):
        with pytest.raises(tidegate.TidegateError, match=re.escape(says)):
            call()


def test_numbers_of_an_array_are_numbers(overload):
    """A loop over an array of NumPy has its numbers, whose `repr` is no TOML."""
    key = "topology.dumbbell.pairs"
    done = tidegate.sweep(
        overload, {key: np.arange(2, 4)}, seeds=[np.int64(3)], settings=QUICK, plots=False
    )
    assert done.subject.axes == {key: ("2", "3")}
    assert done.subject.seeds == (3,)
    half = {"port.bottleneck.gate.beta": np.float64(0.5)}
    assert tidegate.run(overload, seed=np.int64(1), settings=QUICK | half).summary["seed"] == 1


def test_errors_name_arguments_and_not_options(overload, tmp_path):
    """docs/cli.md has options, docs/api.md arguments: an error of a function names the latter."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine", encoding="utf-8")
    for says, call in (
        ("with `out`", lambda: tidegate.compare(overload, gates="none", out=tmp_path / "there")),
        ("Give `gates` LIST", lambda: tidegate.compare(overload)),
        ("Give `axes` KEY=a,b,c", lambda: tidegate.sweep(overload)),
        ("Could not understand `shard` 3/2", lambda: tidegate.sweep(overload, shard="3/2")),
        ("--> settings:1:", lambda: tidegate.run(overload, settings={"duratoin": "4s"})),
    ):
        with pytest.raises(tidegate.TidegateError, match=re.escape(says)) as wrong:
            call()
        assert "--set" not in str(wrong.value)


@pytest.mark.parametrize(
    ("key", "values", "one"),
    [
        (LOAD, ["50/s", "0.05/ms"], "50/s and 0.05/ms"),
        ("topology.dumbbell.bottleneck.delay", ["20ms", "0.02s"], "20ms and 0.02s"),
    ],
)
def test_values_that_are_the_same_in_other_words_are_refused(overload, key, values, one):
    """They would be two columns of one setting."""
    with pytest.raises(tidegate.TidegateError, match=f"{one}, which make the same scenario"):
        tidegate.sweep(overload, {key: values, "duration": ["8s", "9s"]}, seeds=1)
    with pytest.raises(tidegate.TidegateError, match="which make the same scenario"):
        tidegate.compare(overload, gates="none,fixed-rate:100,fixed-rate:1e2", seeds=1)


def test_a_run_is_not_saved_over_another(overload, tmp_path):
    """As `tidegate run --out`: only the same run may be replaced, which loses nothing."""
    first, second = (tidegate.run(overload, seed=seed, settings=QUICK) for seed in (1, 2))
    there = first.save(tmp_path / "one")
    for other in (second, tidegate.run(overload, settings=QUICK | {"duration": "5s"})):
        with pytest.raises(tidegate.TidegateError, match="it holds another run"):
            other.save(there)
    assert tidegate.load(there).summary == first.summary
    assert first.save(there) == there
    assert tidegate.load(there).save(there) == there
    assert tidegate.load(there).summary == first.summary


def test_a_capture_beside_a_run_is_not_lost(tidegate_process, overload_file, tmp_path):
    """A capture is of a run of the command line alone: `save` of the same run would remove it."""
    asked = ("--out", "one", "--pcap", "bottleneck", "--set", "duration=4s", "--set", "warmup=1s")
    done = tidegate_process("run", overload_file, *asked)
    assert done.returncode == 0, done.stderr
    same = tidegate.run(overload_file, settings=QUICK)
    assert same.summary["result_hash"] == tidegate.load(tmp_path / "one").summary["result_hash"]
    with pytest.raises(tidegate.TidegateError, match="it holds another run"):
        same.save(tmp_path / "one")


def test_a_table_that_there_is_not_is_refused(overload, tmp_path):
    done = tidegate.run(overload, settings=QUICK)
    for result in (done, tidegate.load(done.save(tmp_path / "one"))):
        with pytest.raises(tidegate.TidegateError, match="There is no table flow"):
            result.to_pandas("flow")


def test_pictures_do_not_go_into_a_file(overload, tmp_path):
    (tmp_path / "mine.toml").write_text("mine", encoding="utf-8")
    with pytest.raises(tidegate.TidegateError, match="A part of the path is a file"):
        tidegate.run(overload, settings=QUICK).plot(tmp_path / "mine.toml")


def test_results_around_a_folder_are_named(overload, tmp_path):
    """docs/api.md, `load`: the message names those below a folder that holds none."""
    tidegate.compare(
        overload, gates="none", seeds=1, settings=QUICK, out=tmp_path / "c", plots=False
    )
    said = r"runs/none/seed-1\. It is a part of .*c\."
    for folder in ("c/runs", "c/runs/none"):
        with pytest.raises(tidegate.TidegateError, match=said):
            tidegate.load(tmp_path / folder)
