"""Laws in Python without a run: the parts that they are handed, and the one of docs/own-law.md."""

import csv
import json
import math
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import tidegate

EXAMPLES = Path(__file__).parents[2] / "examples"
EPOCH_S = 1.0


@pytest.fixture
def law():
    return runpy.run_path(str(EXAMPLES / "own_law.py"))["Aimd"]()


def test_the_worked_examples(law):
    # The same table as for the law in Rust (crates/core/tests/own_law.rs).
    knobs = tidegate.Knobs()
    now_s = law.start(0.0, knobs)
    assert (now_s, knobs.allowance) == (EPOCH_S, 10)
    lines = (EXAMPLES / "own_law.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == 10
    for row in rows:
        view = tidegate.View(
            rate_bps=10_000_000, queue_offered=int(row["offered"]), queue_drops=int(row["lost"])
        )
        counts = tidegate.Counts(arrived=int(row["arrived"]), admitted=int(row["admitted"]))
        next_s, decision = law.update(now_s, view, counts, knobs)
        assert next_s == now_s + EPOCH_S
        assert decision.set == law.alpha
        assert law.alpha == pytest.approx(float(row["alpha"]), rel=1e-9), row
        assert knobs.allowance == int(float(row["alpha"])), row


def test_the_worked_examples_of_the_rate_law():
    # The same table as for the law in Rust (crates/core/tests/rates/own.rs).
    law = runpy.run_path(str(EXAMPLES / "own_rate_law.py"))["LoadFactor"](target=0.95)
    knobs = SimpleNamespace(rate_bps=0.0)
    now_s = law.start(0.0, knobs)
    assert (now_s, knobs.rate_bps) == (0.1, 1e6)
    lines = (EXAMPLES / "own_rate_law.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == 14
    for row in rows:
        view = tidegate.View(rate_bps=10_000_000, queue_bytes=int(row["queue_bytes"]))
        rtt_s = float(row["rtt_ms"]) / 1e3 or None
        counts = SimpleNamespace(bytes=int(row["bytes"]), mean_rtt_s=rtt_s)
        before_s, now_s = now_s, law.update(now_s, view, counts, knobs)
        assert knobs.rate_bps == pytest.approx(float(row["rate_bps"]), rel=1e-9), row
        assert now_s - before_s == pytest.approx(float(row["next_ms"]) / 1e3), row


def test_it_settles_around_what_a_link_bears(law):
    # 100 ask and the link bears 60: up by 5, then between 0.8 x 61 and 60 + 5.
    knobs, seen = tidegate.Knobs(), []
    now_s = law.start(0.0, knobs)
    for _ in range(100):
        admitted = min(100, knobs.allowance)
        seen.append(admitted)
        view = tidegate.View(
            rate_bps=10_000_000, queue_offered=admitted, queue_drops=max(admitted - 60, 0)
        )
        counts = tidegate.Counts(arrived=100, admitted=admitted, departed=min(admitted, 60))
        now_s, _ = law.update(now_s, view, counts, knobs)
    assert seen[:12] == list(range(10, 70, 5))
    assert all(48 <= admitted <= 65 for admitted in seen[11:])
    assert min(seen[11:]) < 52
    assert max(seen[11:]) > 62


def test_allow_sets_what_either_limiter_obeys():
    # 40 in an epoch of 2 s: the first 40, or one each 50 ms, and no more than one saved up.
    knobs = tidegate.Knobs(pass_all=True)
    knobs.allow(40, 2.0)
    assert (knobs.allowance, knobs.pass_all) == (40, False)
    assert (knobs.token_interval_ns, knobs.token_depth_ns) == (50_000_000, 50_000_000)
    knobs.open()
    assert knobs.pass_all
    knobs.allow(0, 1.0)
    assert not knobs.pass_all
    assert knobs.token_interval_ns > 10**18, "no token in thirty years"
    for epoch_s in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="longer than 0 s"):
            knobs.allow(1, epoch_s)
    with pytest.raises(TypeError):
        knobs.allow(2.5, 1.0)


def test_an_epoch_in_which_everything_passes_shows_as_infinite(overload):
    class Open:
        def start(self, now_s, knobs):
            knobs.open()
            return now_s + EPOCH_S

        def update(self, now_s, view, counts, knobs):
            knobs.allow(7, EPOCH_S) if now_s >= 5.0 else knobs.open()
            return now_s + EPOCH_S

    gate = {"port.bottleneck.gate": '{ law = "python", name = "mine" }'}
    run = tidegate.run(overload, settings=gate, laws={"mine": Open()})
    assert run.events["set"].to_list()[:6] == [math.inf] * 4 + [7.0] * 2


def test_a_law_of_ones_own_names_its_column(overload, law):
    own = {"law": "python", "name": "aimd"}
    gates = [own, own | {"limiter": "token-bucket"}, "none"]
    asked = {"seeds": 1, "laws": {"aimd": law}, "settings": {"duration": "8s"}}
    comparison = tidegate.compare(overload, gates=gates, **asked)
    labels = [row["settings"]["gate"] for row in comparison.rows]
    assert labels == [
        "aimd",
        "python:name=aimd:limiter=token-bucket",
        "none",
    ]
    first, other, _ = (row["result_hash"] for row in comparison.rows)
    assert first != other
    # the same law in other words
    with pytest.raises(tidegate.TidegateError, match="which make the same scenario"):
        tidegate.compare(overload, gates=[own, "python:aimd:limiter=counter"], **asked)


OWN = """\
class Mine:
    def start(self, now_s, knobs):
        knobs.allow(5, 1.0)
        return now_s + 1.0

    def update(self, now_s, view, counts, knobs):
        knobs.allow(5, 1.0)
        return now_s + 1.0


class Other:
    pass
"""


def test_a_law_of_a_file_is_run_by_its_name(overload_file, request):
    """Five a second by one's own law are five a second: at most 5 and a burst at each end."""
    run = request.getfixturevalue("tidegate")
    (overload_file.parent / "mine.py").write_text(OWN, encoding="utf-8")
    gate = 'port.bottleneck.gate={ law = "python", name = "Mine" }'
    one = run("run", overload_file, "--set", gate, "--law", "mine.py:Mine", "--json")
    assert one.returncode == 0, one.stderr
    assert 4.5 <= json.loads(one.stdout)["all"]["admitted_per_s"] <= 5.5
    many = run(
        *("compare", overload_file, "--gate", "none,python:Mine,fixed-rate:5", "--seeds", 2),
        *("--law", "mine.py:Mine", "--json"),
    )
    assert many.returncode == 0, many.stderr
    rows = {row["settings"]["gate"]: row for row in json.loads(many.stdout)["table"]}
    assert rows["python:Mine"]["admitted_per_s"]["mean"] == pytest.approx(5.0, abs=0.5)
    assert rows["none"]["admitted_per_s"]["mean"] > 10


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("mine.py", "FILE.py:NAME"),
        ("nowhere.py:Mine", "no such Python file"),
        ("mine.py:Yours", "It has Mine."),
        ("mine.py:Other", "lacks `start` or `update`"),
    ],
)
def test_a_law_that_cannot_be_used_is_said(overload_file, request, asked, says):
    (overload_file.parent / "mine.py").write_text(OWN, encoding="utf-8")
    done = request.getfixturevalue("tidegate")("run", overload_file, "--law", asked)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


RAISES = """\
class Mine:
    def start(self, now_s, knobs):
        return 1 / 0

    def update(self, now_s, view, counts, knobs):
        return now_s + 1.0
"""
FORGETS = RAISES.replace("return 1 / 0", "knobs.allow(5, 1.0)")
WANTS = RAISES.replace("class Mine:", "class Mine:\n    def __init__(self, rate):\n        pass\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("class Mine(:\n", "mine.py, line 1: invalid syntax"),
        ("raise SystemExit(3)\n", "mine.py wants to end the program"),
        (WANTS, "Mine in mine.py cannot be created"),
        (FORGETS, "a law must return the time (s) of its next update, a number; it returned None"),
    ],
)
def test_a_mistake_in_a_law_of_a_file_is_said_in_a_line(overload_file, request, text, says):
    (overload_file.parent / "mine.py").write_text(text, encoding="utf-8")
    gate = 'port.bottleneck.gate={ law = "python", name = "Mine" }'
    run = request.getfixturevalue("tidegate")
    done = run("run", overload_file, "--set", gate, "--law", "mine.py:Mine")
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (overload_file.parent / "out").exists() or not any(
        (overload_file.parent / "out").iterdir()
    )


def test_what_a_law_of_a_file_raises_is_shown_from_its_file_on(overload_file, request):
    """The frames of the command line and its libraries would bury the one that counts."""
    (overload_file.parent / "mine.py").write_text(RAISES, encoding="utf-8")
    run = request.getfixturevalue("tidegate")
    gate = 'port.bottleneck.gate={ law = "python", name = "Mine" }'
    alone = run("run", overload_file, "--set", gate, "--law", "mine.py:Mine")
    beside = run(
        *("compare", overload_file, "--gate", "none,python:Mine", "--seeds", 1),
        *("--set", "duration=6s", "--law", "mine.py:Mine"),
    )
    for done in (alone, beside):
        assert done.returncode == 1
        files = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
        assert len(files) == 1
        assert "mine.py" in files[0]
        assert "line 3, in start" in files[0]
        assert "ZeroDivisionError" in done.stderr


def test_a_law_that_the_scenario_wants_and_nobody_gave_is_named_with_both_ways(
    overload_file, request
):
    gate = 'port.bottleneck.gate={ law = "python", name = "Mine" }'
    done = request.getfixturevalue("tidegate")("run", overload_file, "--set", gate)
    assert done.returncode == 2
    assert "--law FILE.py:Mine" in done.stderr
