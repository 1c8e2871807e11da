"""Whoever adds a paper is told what is missing or wrong in it, and never by a traceback."""

import io
import re
import sys

import pytest
from rich.console import Console

from tidegate import papers
from tidegate.errors import UsageError
from tidegate.grid.executor import Executor
from tidegate.papers import assembled, perform
from tidegate.papers.explain import explained
from tidegate.papers.folder import CaseFolder
from tidegate.papers.request import Request
from tidegate.papers.tables import of_outcomes

HEAD = "id,where,scenario,metric,unit,value,kind,note,number,of,measure,check,margin"
ROW = "toy.a,Table 1,one,completed,flows,10,exact-number,,,one,completed,,"
FILES = {
    "__init__.py": 'TITLE = "A toy"',
    "cases.py": """
from tidegate.papers.case import Case, Scale, keyed
CASES, SCALE, SETS = keyed([Case("one", "small.toml")]), Scale(seeds=1), {}
""",
    "figures.py": "",
    "report_text.py": 'TEMPLATE_NAMES, TEXT_CASES = {}, ""',
    "claims.csv": f"{HEAD}\n{ROW}\n",
    "deviations.toml": "",
    "pictures.csv": "name,title,cases,draw\n",
    "report.md.j2": "",
    "scenarios/small.toml": """
name = "small"
duration = "3s"
topology.dumbbell = { pairs = 1, access = { rate = "1Gbit", delay = "1ms" }, bottleneck = \
{ rate = "1Mbit", delay = "9ms", buffer = "1bdp" } }
traffic.web = { arrivals = { poisson = "9/s" }, size = "1kB" }
""",
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return what makes a paper of these files, some of them otherwise (None: not there)."""

    def write(changed):
        for name, text in (FILES | changed).items():
            if text is not None:
                file = tmp_path / "half_made" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        for name in [name for name in sys.modules if name.partition(".")[0] == "half_made"]:
            monkeypatch.delitem(sys.modules, name)
        return assembled("toy", "half_made")

    monkeypatch.syspath_prepend(str(tmp_path))
    return write


def judged(study, place):
    with CaseFolder(place, study, executor=Executor(1)) as folder:
        return perform.regenerate(study, folder, Request())


def test_the_parts_on_the_page_are_all_that_a_paper_needs(made, tmp_path):
    done = judged(made({}), tmp_path / "out")
    assert [each.claim.id for each in done.outcomes] == ["toy.a"]
    report = (tmp_path / "out" / "REPORT.md").read_text()
    # it has no checks.py, so that nothing may lead there
    assert "claims.csv" in report
    assert "checks.py" not in report


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"cases.py": None}, "cases.py"),
        ({"figures.py": None}, "figures.py"),
        ({"report_text.py": None}, "report_text.py"),
        ({"pictures.csv": None}, "pictures.csv"),
        ({"__init__.py": ""}, "TITLE in its __init__.py"),
        ({"cases.py": "CASES = {}"}, "SCALE in its cases.py, and no SETS in its cases.py"),
        ({"report_text.py": ""}, "TEMPLATE_NAMES in its report_text.py"),
    ],
)
def test_a_part_that_is_not_there_is_named(made, changed, says):
    with pytest.raises(UsageError, match=f"The paper toy has no .*{re.escape(says)}"):
        made(changed)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("exact-number", "number", "toy.a: there is no kind of claim number"),
        (",one,completed", ",{two},completed", "toy.a: there is no set two"),
        ("toy.a", "other.a", "ids begin with toy., .* not as other.a|ids begin with toy"),
        (",completed,,", ",completed,by mine(),", "toy.a: No module named .*checks"),
        (",completed,,", ",completed,,much", "toy.a: .*much"),
        (",completed,,", ",completed,say,", "toy.a: 'say' compares nothing: .* beside a verdict"),
        (",completed,,", ",completed,say one,", "toy.a: 'say one' compares nothing"),
        (",completed,,", ",0,,", "toy.a: there is no measure of a run"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(made, old, new, says):
    with pytest.raises(UsageError, match=f"Could not read the paper toy: .*({says})"):
        made({"claims.csv": f"{HEAD}\n{ROW.replace(old, new)}\n"})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (",one,completed", ",onne,completed", "has no case onne.\nThere are one."),
        (",one,completed", ",one,complete", "has no measure complete.\nDid you mean completed"),
        (",one,completed", ",one,much(3)", "no measure much()"),
        ("flows,10,", "flows,ten,", "toy.a: 'ten' is not a number"),
    ],
)
def test_what_a_row_asks_for_and_is_not_there_is_named(made, tmp_path, old, new, says):
    study = made({"claims.csv": f"{HEAD}\n{ROW.replace(old, new)}\n"})
    with pytest.raises(UsageError, match=re.escape(says)):
        judged(study, tmp_path / "out")


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("one,completed / 0,", "Nothing was measured: `completed / 0` is infinite in every run."),
        ("one,0 * completed / 0,", "`0 * completed / 0` is undefined in every run."),
        ("one,,completed > completed / 0", "Nothing was measured, in every run one side is "),
    ],
)
def test_what_has_no_value_is_said_with_the_verdict(made, tmp_path, new, reason):
    study = made({"claims.csv": f"{HEAD}\n{ROW.replace('one,completed,', new)}\n"})
    done = judged(study, tmp_path / "out")
    [outcome] = done.outcomes
    assert outcome.verdict in ("not met", "unresolved")
    assert reason in outcome.reason
    assert reason in (tmp_path / "out" / "verdicts.csv").read_text()
    assert "exactly equal" not in explained(study, done.runs, outcome)
    console = Console(file=io.StringIO(), width=80)
    console.print(of_outcomes(done))
    [line] = [line for line in console.file.getvalue().splitlines() if line.startswith("a ")]
    assert line.split()[-2:] in (["not", "met"], ["nothing", "unresolved"])
    assert "nothing" in line


def test_the_list_of_papers_shows_one_without_a_title(made, monkeypatch):
    made({})
    half = sys.modules["half_made"]
    del half.TITLE
    monkeypatch.setattr(papers, "import_module", lambda _: half)
    assert "no TITLE in its __init__.py" in papers.title("toy")
