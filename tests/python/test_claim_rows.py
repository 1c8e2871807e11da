"""A row of `claims.csv` as a check: what each form of it compares, worked out by hand."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import tidegate
from tidegate.papers import expression, load, there
from tidegate.papers.check_results import Exact, Numbers, Ordering, Unchecked
from tidegate.papers.row_check import checks_of
from tidegate.papers.study import pictures_of

HEAD = "id,where,scenario,metric,unit,value,kind,note,number,of,measure,check,margin\n"
MEASURES = """
from tidegate.results.measures import of_values

@of_values
def within(record, start, end):
    return 0.0

def rising(curves):
    return curves[-1] - curves[0]

OVER_CASES = {"rising": rising}
"""
CHECKS = """
BLIND = (5, 7)

def half(value):
    return value / 2

def found(runs, more):
    'Check nothing.'
    return {"a > b": [more, 2.0]}
"""
SETS = {"load": ("low", "high"), "pair": (("a", "x"), ("b", "y"))}
# what the runs of two seeds have; `within` is a measure with values
TOLD = {
    "low/none time": [4.0, 6.0],
    "low/cp time": [2.0, 2.0],
    "high/none time": [10.0, 20.0],
    "high/cp time": [5.0, 4.0],
    "low/cp within": [1.0, 3.0],
    "low/cp rate": [3.0, 4.0],
    "best rate": [9.0, 8.0],
    "a/one time": [1.0, 1.0],
    "b/one time": [2.0, 5.0],
    "x/one time": [4.0, 2.0],
    "y/one time": [8.0, 2.0],
}
SCENARIO = {
    "duration": "300s",
    "port": {"out": {"gate": {"epoch": "2s", "law": "cp"}}},
    "change": [{"at": "125s", "to": "5Mbit"}],
    "traffic": {"web": {}, "bulk": {}},
}


class Runs:
    seeds = 2
    effective = SimpleNamespace(of=lambda case: SCENARIO | {"duration": f"{len(case)}s"})

    def values(self, case, measure):
        name = measure if isinstance(measure, str) else "within"
        return np.array(TOLD[f"{case} {name}"])

    def best(self, search):
        assert search == "optimum"
        return 5.0, "best"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return what makes the check of a row."""
    home = tmp_path / "paper_of_rows"
    home.mkdir()
    (home / "__init__.py").write_text("")
    (home / "measures.py").write_text(MEASURES)
    (home / "checks.py").write_text(CHECKS)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("", ".measures", ".checks"):
        monkeypatch.delitem(sys.modules, f"paper_of_rows{name}", raising=False)

    def make(of, measure, check, margin="", kind="ordering", value="-"):
        (home / "claims.csv").write_text("")
        cells = (of, measure, check, margin)
        quoted = ",".join(f'"{each}"' for each in cells)
        row = f"toy.a,,,,,{value},{kind},,,{quoted}\n"
        return checks_of(HEAD + row, "paper_of_rows", SETS, ("optimum",))["toy.a"]

    return make


def differences(check):
    found = check.find(Runs())
    assert isinstance(found, Ordering)
    return [part.differences for part in found.parts]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("low/*", "time", "none > cp"), [(2.0, 4.0)]),
        (("low/*", "time", "cp < none"), [(2.0, 4.0)]),
        # a chain is each step of it, and a number is a bound
        (("low/*", "time", "none > cp > 1.5"), [(2.0, 4.0), (0.5, 0.5)]),
        (("low/cp", "time", "< 3"), [(1.0, 1.0)]),
        (("low/*", "time", "none > 2 * cp"), [(0.0, 2.0)]),
        # one after the other, by the name of a set or as a list
        (("{load}/*", "time", "none > cp"), [(2.0, 4.0), (5.0, 16.0)]),
        (("{low,high}/*", "time", "none > cp"), [(2.0, 4.0), (5.0, 16.0)]),
        # all at once: (4 + 10) / 2 and (6 + 20) / 2, against 3.5 and 3
        (("[load]/*", "time", "mean(none) > mean(cp)"), [(3.5, 10.0)]),
        (("[load]/*", "mean(time)", "none > cp"), [(3.5, 10.0)]),
        # the mean of ratios is no ratio of means: (4/2 + 10/5) / 2 and (6/2 + 20/4) / 2
        (("[load]/*", "time", "mean(none / cp) > 0"), [(2.0, 4.0)]),
        (("[load]/cp", "rising(time)", "> 0"), [(3.0, 2.0)]),
        # not worse: 2 against 0.75 * 4 and 2 against 0.75 * 6
        (("low/*", "time", "cp >= none", "0.25"), [(-1.0, -2.5)]),
        # about equal, either way: 4 and 6 against half of 2, and 2 against half of each
        (("low/*", "time", "none ~ cp", "0.5"), [(3.0, 5.0), (0.0, -1.0)]),
        # measures of the same runs, and of others
        (("low/cp", "", "rate > within(0.0, 5.0)"), [(2.0, 1.0)]),
        (("low/*", "", "rate @ cp + time @ cp > time @ none"), [(1.0, 0.0)]),
        (("*", "rate", "optimum > low/cp"), [(6.0, 4.0)]),
        # pairs go together
        (("*/one", "time", "{pair.1} > {pair.0}"), [(3.0, 1.0), (6.0, -3.0)]),
        (("*/one", "time", "min([pair.1] / [pair.0]) > 0"), [(4.0, 0.4)]),
        # a value in a key is a value of the expression
        (("low/*", "time", "none > cp; cp > 1"), [(2.0, 4.0), (1.0, 1.0)]),
    ],
)
def test_what_is_greater_is_compared_seed_by_seed(made, row, expected):
    assert differences(made(*row)) == expected


@pytest.mark.parametrize(
    ("row", "says"),
    [
        # the means of 4 and 6, and of 2 and 2
        (("low/*", "time", "none > cp"), "time, low/*: none > cp (5 to 2)"),
        (("low/cp", "time", "< 3"), "time, low/cp: < 3 (2)"),
        (("*", "time", "low/none > low/cp"), "time: low/none > low/cp (5 to 2)"),
        (("low/*", "time", "cp >= none", "0.25"), "time, low/*: cp >= none within 25 % (2 to 5)"),
    ],
)
def test_a_part_says_what_is_compared_and_its_means(made, row, says):
    assert [part.what for part in made(*row).find(Runs()).parts] == [says]


def test_what_is_not_compared_is_held_to_the_number_of_the_paper(made):
    assert made("low/cp", "1e3 * time", "").find(Runs()) == Numbers((2000.0, 2000.0))
    assert made("low/*", "time", "none / cp").find(Runs()) == Numbers((2.0, 3.0))
    # ratios of 2 and 3 at low load, 2 and 5 at high: means of 2.5 and 3.5, the paper has 3.2
    furthest = made("[load]/*", "time", "furthest(none / cp); say none", value="3.2", kind="ratio")
    found = furthest.find(Runs())
    assert found.values == (2.0, 3.0)
    assert found.note == "time, [load]/*, none: 5, 15."


def test_every_run_has_exactly_what_is_said(made):
    assert made("low/cp", "time", "= 2").find(Runs()) == Exact("2", True)
    assert made("low/none", "time", "= 4").find(Runs()) == Exact("4 or 6", False)


@pytest.mark.parametrize(
    ("measure", "check", "found"),
    [
        ("duration / 60", "set", Exact("0.1; 0.15")),  # of keys of 6 and of 9 letters
        ("port.out.gate.law", "set to cp", Exact("cp", True)),
        (
            "<change[0].at> s to <change[0].to / 1e6>",
            "set to 125 s to 5",
            Exact("125 s to 5", True),
        ),
        ("count(traffic)", "set to 3", Exact("2", False)),
    ],
)
def test_a_row_of_the_set_up_reads_the_scenarios(made, measure, check, found):
    row = made("{six/ab,nine/abcd}", measure, check)
    assert row.cases == ()
    assert row.find(Runs()) == found


def test_a_calculation_and_a_function_are_those_of_the_paper(made):
    assert made("", "half(sum(BLIND))", "calculated", "0.1").find(None) == Exact("6", within=0.1)
    by = made("low/cp {load}/none", "time", "by found(3)")
    assert by.cases == ("low/cp", "low/none", "high/none")
    assert [part.differences for part in by.find(None).parts] == [(3.0, 2.0)]
    assert by.what == "Check nothing."
    assert made("", "", "not checked: a toy").find(None) == Unchecked("a toy")


def test_a_row_names_the_cases_that_it_reads_and_no_others(made):
    assert made("low/*", "time", "none > cp").cases == ("low/none", "low/cp")
    assert made("[load]/*", "time", "mean(none) > 1").cases == ("low/none", "high/none")
    assert made("low/*", "", "rate @ cp > 1").cases == ("low/cp",)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("{loda}/*", "time", "none > cp"), "there is no set loda"),
        (("[loda]/*", "time", "none > cp"), "there is no set loda"),
        (("low/*", "time", "none > (cp"), "no expression"),
        (("", "", "by nobody()"), "nobody"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(made, row, says):
    with pytest.raises(ValueError, match=rf"toy\.a: .*{says}"):
        made(*row)


SMALL = """
name = "small"
duration = "5s"
[topology.dumbbell]
access = { rate = "10Mbit", delay = "1ms" }
bottleneck = { rate = "1Mbit", delay = "20ms", buffer = "20packets" }
[traffic.web]
arrivals = { poisson = "5/s" }
size = "5kB"
"""


def names(node_text):
    """Return the measures of an expression."""
    found = []
    functions = {**expression.FUNCTIONS, "furthest": None, "detour": None}
    expression.evaluated(
        expression.parsed(node_text),
        lambda node: found.append(node) or 1.0,
        {name: lambda *_: 1.0 for name in functions},
    )
    return found


@pytest.mark.parametrize("key", there())
def test_every_measure_of_a_row_is_a_function_or_a_name_of_the_summary(key):
    """A number has no mutation of its own: a misspelt name would be seen when it is run."""
    summary = tidegate.run(SMALL).summary["all"]
    for claim in load(key).claims():
        apart = ("set", "by ", "calculated", "not checked")
        if not claim.measure or "{" in claim.measure or claim.check.startswith(apart):
            continue
        for node in names(claim.measure):
            measure = expression.measure_of(node, f"tidegate.papers.{key}")
            assert callable(measure) or measure in summary, f"{claim.id}: {claim.measure}"
    package = f"tidegate.papers.{key}"
    functions = {name: expression.measure_of(expression.parsed(name), package) for name in summary}
    assert [name for name, each in functions.items() if callable(each)] == []


def test_a_row_of_a_picture_names_its_cases_and_calls_a_function_with_the_runs():
    figures = SimpleNamespace(curve=lambda runs, *values: (runs, values))
    text = "name,title,cases,draw\nfig1,A curve,{load}/one b/[load],\"curve('a', 2)\"\n"
    (picture,) = pictures_of(text, figures, SETS)
    assert (picture.name, picture.title) == ("fig1", "A curve")
    assert picture.cases == ("low/one", "high/one", "b/low", "b/high")
    assert picture.draw("the runs") == ("the runs", ("a", 2))
    with pytest.raises(ValueError, match=r"curve calls nothing: write NAME\(\)"):
        pictures_of(text.replace("\"curve('a', 2)\"", "curve"), figures, SETS)
