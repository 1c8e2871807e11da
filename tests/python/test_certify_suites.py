"""Suites of the user's own: what is wrong in one is said with its place, before anything runs."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tidegate.certify import conditions
from tidegate.cli import app
from tidegate.errors import UsageError
from tidegate.scenario.own import sources

if TYPE_CHECKING:
    from typer.testing import Result

LIMIT = (
    '[limit.rate]\nsays = "throughput"\nunit = "bit/s"\nmeasure = "throughput_bps"\n'
    "ratio = 1.2\nfloor = 1.0\n"
)
CONDITION = '[[condition]]\nid = "a"\nsection = ""\ntitle = "A"\nmeasures = [["rate", "subject"]]\n'
HEAD = 'title = "Mine"\nstandard = ["reno"]\n'
SUITE = HEAD + LIMIT + CONDITION
SCENARIO = """
name     = "a"
duration = "5s"
[topology.dumbbell]
pairs      = 1
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "2Mbit", delay = "10ms", buffer = "20packets" }
[traffic.subject]
arrivals = { uniform = 1, within = "1s" }
size     = "unlimited"
"""


def judged(folder: Path, suite: str, *words: str, scenario: str = SCENARIO) -> Result:
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine" / "a.toml").write_text(scenario, "utf-8")
    (folder / "mine.toml").write_text(suite, "utf-8")
    given = [*(words or ["cubic"]), "--suite", str(folder / "mine.toml"), "--seeds", "2"]
    return CliRunner().invoke(app, ["certify", *given, "--out", str(folder / "out")])


def test_a_suite_needs_no_more_than_this(tmp_path: Path) -> None:
    """A class may leave out `transport`, as docs/scenario.md says: the control is set there."""
    done = judged(tmp_path, SUITE)
    assert done.exit_code == 0, done.output
    assert "like" in done.stdout


@pytest.mark.parametrize(
    ("suite", "place", "what"),
    [
        ("", "mine.toml", "the key `limit` is missing"),
        (LIMIT, "mine.toml", "the key `title` is missing"),
        (HEAD + LIMIT, "mine.toml", "the key `condition` is missing"),
        (SUITE.replace("[[condition]]", "[condition]"), "mine.toml", "write a list"),
        (SUITE.replace('["reno"]', "[]"), "mine.toml", "`standard` is []"),
        (SUITE + "extra = 1\n", "condition `a`", "there is no key `extra`"),
        (SUITE + "stages = 'yes'\n", "condition `a`", "`stages` is 'yes': write true or false"),
        (SUITE + CONDITION, "mine.toml", "two conditions have the id `a`"),
        (SUITE.replace("ratio = 1.2", "colour = 1"), "limit `rate`", "one of `ratio` and `points`"),
        (SUITE.replace("ratio = 1.2", "ratio = 1.2\npoints = 1"), "limit `rate`", "write one of"),
        (SUITE.replace("ratio = 1.2", "ratio = 'big'"), "limit `rate`", "write a number"),
        # the worst reference times 1 is no limit, and below 1 better would count as worse
        (SUITE.replace("ratio = 1.2", "ratio = 1"), "limit `rate`", "write a number above 1"),
        (SUITE.replace("ratio = 1.2", "ratio = nan"), "limit `rate`", "write a number above 1"),
        (SUITE.replace("ratio = 1.2", "points = 0.0"), "limit `rate`", "write a number above 0"),
        # the logarithm of 0 settles nothing
        (SUITE.replace("floor = 1.0", ""), "limit `rate`", "a `ratio` needs a `floor`"),
        (SUITE.replace("floor = 1.0", "floor = nan"), "limit `rate`", "write a number above 0"),
        (HEAD + "limit.a = 1\n" + CONDITION, "mine.toml", "`limit.a` is no table"),
        (SUITE.replace('"throughput_bps"', '"1e-6 *"'), "limit `rate`", "is no expression"),
        (SUITE.replace('"throughput_bps"', '"a.b"'), "limit `rate`", "a.b is no measure"),
        (SUITE.replace('[["rate", "subject"]]', '"rate"'), "condition `a`", "write a list"),
        (SUITE.replace('[["rate", "subject"]]', "[]"), "condition `a`", "nothing would be judged"),
        (SUITE.replace('["rate", "subject"]', '["rate"]'), "condition `a`", "`measures` has"),
        (SUITE.replace('["rate", "s', '["late", "s'), "condition `a`", "no limit `late`"),
    ],
)
def test_what_is_wrong_in_a_suite_is_said_with_its_place(
    tmp_path: Path, suite: str, place: str, what: str
) -> None:
    done = judged(tmp_path, suite)
    assert (done.exit_code, done.stdout) == (2, "")
    assert place in done.stderr
    assert what in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_quotient_that_may_be_undefined_is_a_measure(tmp_path: Path) -> None:
    """By the values that a check takes for all of them it is 1 / 0."""
    quotient = SUITE.replace('"throughput_bps"', '"throughput_bps / (rtt_p95_s - rtt_min_s)"')
    assert judged(tmp_path, quotient).exit_code == 0


@pytest.mark.parametrize("traffic", ["traffic = 3", "[traffic]\nsubject = 3"])
def test_a_scenario_that_cannot_be_run_says_its_own_place(tmp_path: Path, traffic: str) -> None:
    head = SCENARIO.partition("[traffic.subject]")[0]
    wrong = f"{traffic}\n{head}" if traffic.startswith("traffic") else f"{head}{traffic}\n"
    done = judged(tmp_path, SUITE, scenario=wrong)
    assert done.exit_code == 2
    assert "a.toml" in done.stderr


def test_only_a_dumbbell_has_a_bottleneck_without_saying_so(tmp_path: Path) -> None:
    links = """
name     = "a"
duration = "5s"
[topology.links.mid]
from  = "left"
to    = "right"
rate  = "2Mbit"
delay = "10ms"
buffer = "20packets"
[traffic.subject]
from = "left"
to   = "right"
arrivals = { uniform = 1, within = "1s" }
size     = "unlimited"
"""
    done = judged(
        tmp_path, SUITE.replace('"rate", "subject"', '"rate", "bottleneck"'), scenario=links
    )
    assert done.exit_code == 2
    assert "no class or port `bottleneck`" in done.stderr


def test_a_suite_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(UsageError, match="no text in UTF-8"):
        conditions.suite(str(tmp_path / "mine.toml"))


def test_a_misspelled_class_measures_nothing(tmp_path: Path) -> None:
    done = judged(tmp_path, SUITE.replace('"rate", "subject"', '"rate", "subjct"'))
    assert done.exit_code == 2
    assert "no class or port `subjct`" in done.stderr
    assert "It has subject, bottleneck" in done.stderr


def test_a_control_that_no_class_gets_has_no_verdict(tmp_path: Path) -> None:
    """Else the reference would be compared with itself."""
    done = judged(tmp_path, SUITE + 'own = ["subjct"]\n')
    assert done.exit_code == 2
    assert "no class gets reno: none begins with subjct" in done.stderr
    assert "in `own`: subject." in done.stderr


def test_a_misspelled_measure_is_no_verdict(tmp_path: Path) -> None:
    done = judged(tmp_path, SUITE.replace('"throughput_bps"', '"throughput_bp"'))
    assert done.exit_code == 2
    assert "There is no measure `throughput_bp` of subject." in done.stderr
    assert "throughput_bps" in done.stderr


def test_a_condition_without_its_scenario(tmp_path: Path) -> None:
    done = judged(tmp_path, SUITE.replace('id = "a"', 'id = "b"'))
    assert done.exit_code != 0
    assert "read the scenario" in done.stderr
    assert "b.toml" in done.stderr
    wrong = judged(tmp_path, SUITE, scenario="name = ")
    assert wrong.exit_code == 2
    assert "a.toml" in wrong.stderr


def test_nothing_that_was_judged_is_no_success(tmp_path: Path) -> None:
    """A control of media cannot be tried where senders have no media: a CI would stay green."""
    done = judged(tmp_path, SUITE, "gcc")
    assert done.exit_code == 4, done.output
    assert "no condition has a verdict for gcc" in done.stderr


OWN = """
from helper import FACTOR

class Mine:
    def __init__(self, tcp):
        self.cwnd = 2.0
    def on_ack(self, sample):
        self.cwnd = FACTOR
    def on_congestion(self, signal, at):
        pass
    def on_timeout(self, at, again):
        pass
"""


def test_a_control_is_tried_anew_when_a_file_that_it_imports_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`helper` lies beside it, as for `python FILE.py`. A window of 1 gets less than one of 20."""
    import sys

    file = tmp_path / "own_with_helper.py"
    file.write_text(OWN, "utf-8")
    rates = []
    for window in (1.0, 20.0):
        (tmp_path / "helper.py").write_text(f"FACTOR = {window}\n", "utf-8")
        for name in ("helper", "tidegate_law_own_with_helper"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        done = judged(tmp_path, SUITE, f"{file}:Mine")
        rates.append(done.stdout)
    monkeypatch.delitem(sys.modules, "helper")
    assert rates[0] != rates[1]


def test_what_a_law_imports_counts_wherever_it_stands(tmp_path: Path) -> None:
    """By hand: a package with a relative import, and one within a function, that would not load."""
    files = {
        "law.py": "from lib import Base\n\ndef plot():\n    import bad.sub\n",
        "lib/__init__.py": "from .core import Base\n",
        "lib/core.py": "from ..lib import more\nBase = object\n",
        "lib/more.py": "",
        "lib/unused.py": "",
        "bad/__init__.py": "raise RuntimeError\n",
        "bad/sub.py": "import os; from .... import beyond; from . import worse\n",
        "bad/worse.py": "def (\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    found = {str(each.relative_to(tmp_path.resolve())) for each in sources(tmp_path / "law.py")}
    assert found == set(files) - {"lib/unused.py"}


def test_two_laws_do_not_share_a_module_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new version beside the old one: the new one would be tried twice."""
    import sys

    given = []
    for folder, window in (("new", 20.0), ("old", 1.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helper.py").write_text(f"FACTOR = {window}\n", "utf-8")
        file = tmp_path / folder / f"{folder}_control.py"
        file.write_text(OWN, "utf-8")
        given.append(f"{file}:Mine")
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    done = judged(tmp_path, SUITE, given[0], "--against", given[1])
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    assert done.exit_code == 2
    assert "imports helper, and so did another law" in done.stderr


def test_beside_no_gate_a_scenario_has_none(tmp_path: Path) -> None:
    """`static` is the gate of the scenario, here one that lets nobody in; `none` takes it away."""
    shut = SCENARIO + '[port.bottleneck]\ngate = { law = "fixed-rate", rate = "0.001/s" }\n'
    suite = SUITE + "stages = true\n"
    rates = {}
    for against in ("static", "none"):
        done = judged(
            tmp_path, suite, "--gate", "tide", "--against", against, "--json", scenario=shut
        )
        [condition] = json.loads(done.stdout)["conditions"]
        [measure] = condition["measures"]
        rates |= measure["references"]
    assert max(rates["static"]) < 1e3
    assert min(rates["none"]) > 1e6


def test_two_controls_of_one_name_have_a_folder_each(tmp_path: Path) -> None:
    """Names that differ in punctuation alone have one key."""
    one = '{ tcp = { profile = "linux", control = "reno" } }'
    other = one.replace('"', "'")
    done = judged(tmp_path, SUITE, one, other)
    assert done.exit_code == 0, done.output
    made = sorted(path.name for path in (tmp_path / "out" / "mine").iterdir())
    assert len(made) == 2
    assert made[1] == f"{made[0]}-2"


def test_a_method_that_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "own_without.py"
    file.write_text(OWN.replace("from helper import FACTOR", "").replace("on_timeout", "on_time"))
    done = judged(tmp_path, SUITE, f"{file}:Mine")
    assert done.exit_code == 2
    assert "is no control: it lacks `on_timeout`" in done.stderr


def test_what_a_control_raises_is_said_with_its_condition_and_seed(tmp_path: Path) -> None:
    file = tmp_path / "own_raises.py"
    text = OWN.replace("from helper import FACTOR", "").replace("self.cwnd = FACTOR", "1 / 0")
    file.write_text(text, "utf-8")
    done = judged(tmp_path, SUITE, f"{file}:Mine")
    assert done.exit_code == 1
    assert "ZeroDivisionError" in done.stderr
    assert f"in the run a/{file}:Mine, seed " in done.stderr


def test_the_suite_of_the_page_is_tried_as_it_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "certify.md").read_text("utf-8")
    section = page.partition("## A suite of your own")[2].partition("\n## ")[0]
    suite, scenario = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    (tmp_path / "own-suite").mkdir()
    (tmp_path / "own-suite.toml").write_text(suite, "utf-8")
    (tmp_path / "own-suite" / "slow.toml").write_text(scenario, "utf-8")
    given = ["bbr", "--suite", str(tmp_path / "own-suite.toml"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["certify", *given])
    assert done.exit_code in (0, 3), done.output
    assert "bbr beside reno and cubic" in done.stdout


def test_the_page_has_each_key_of_a_suite() -> None:
    """What is read is in the table, and what is in the table is read."""
    page = (Path(__file__).parents[2] / "docs" / "certify.md").read_text("utf-8")
    section = page.partition("## A suite of your own")[2].partition("\n## ")[0]
    table = "".join(line for line in section.splitlines() if line.startswith("| "))
    of_limit = {"says", "unit", "measure", "more_is_better", "ratio", "points", "floor"}
    assert of_limit == {each.name for each in fields(conditions.Limit)} - {"name"}
    of_condition = {each.name for each in fields(conditions.Condition)}
    others = {"title", "standard", "keep", "[limit.NAME]", "[[condition]]", "[[not_covered]]"}
    for key in of_limit | of_condition | others:
        assert f"`{key}`" in table or f"`{key} = " in table, key
