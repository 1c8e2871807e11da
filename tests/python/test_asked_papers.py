"""Parts of a paper: --quick, --only and fewer seeds need no run that they do not make."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from tidegate.cli import app
from tidegate.papers import load, there
from tidegate.papers.check_results import Exact, Numbers, Ordering, OrderingPart
from tidegate.papers.lgc import report_text as lgc
from tidegate.papers.report_text import Text
from tidegate.papers.request import Request, needed
from tidegate.papers.runs import Runs
from tidegate.papers.session import report_text as session
from tidegate.papers.verdicts import judge

STUDIES = {key: load(key) for key in there()}


class Anything(dict):
    """The numbers of a run that has all there are: 1 each."""

    def __missing__(self, _):
        return 1.0


class Table(dict):
    """A table that has every column: five flows, or five samples, of different size."""

    def __missing__(self, _):
        return np.array([960.0, 1920.0, 96e3, 192e3, 960e3])


FULL = SimpleNamespace(all=Anything(), flows=Table)


def runs_of(study, names):
    """Return the runs of these cases, each of which has everything."""
    place = SimpleNamespace(jobs=lambda _, seeds, first: range(seeds), record=lambda _: FULL)
    runs = Runs(study, place, 2)
    runs.declared |= set(names)
    return runs


def outcomes(study, claims):
    """Return outcomes as a check might find them, of each kind its own."""
    found = []
    for claim in claims:
        if claim.kind in ("setup", "arithmetic"):
            finding = Exact(claim.value, equal=True)
        elif claim.kind == "ordering" or claim.expected is None:
            finding = Ordering((OrderingPart("a > b", (1.0, 2.0)),))
        else:
            finding = Numbers((1.0, 2.0))
        found.append(judge(claim, finding, study.deviations().context(claim.id)))
    return found


def parts(study):
    """Yield what may be asked of a paper: a minute's worth, and each group of claims alone."""
    yield Request(quick=True)
    yield Request(quick=True, seeds=1)
    for group in dict.fromkeys(claim.short.partition(".")[0] for claim in study.claims()):
        yield Request((group,))
    for claim in study.claims():
        yield Request((claim.short,))
    for picture in study.pictures:
        yield Request((picture.name,))


@pytest.mark.slow
@pytest.mark.parametrize("key", STUDIES)
def test_the_opening_of_a_part_reads_no_run_that_the_part_does_not_make(key, monkeypatch):
    """Runs gives LookupError for a case that is none of those of the claims and pictures."""
    study = STUDIES[key]
    monkeypatch.setattr(Runs, "values", lambda self, case, _: np.ones(len(self.records(case))))
    for asked in parts(study):
        claims, pictures = asked.claims(study), asked.pictures(study)
        runs = runs_of(study, needed(study, claims, pictures))
        Text(study, outcomes(study, claims), runs).block("summary")


class Samples(Table):
    """The samples of a port, one a second."""

    def items(self):
        seconds = np.arange(1.0, 61.0)
        names = ("utilisation", "drops_queue_full", "drops_early", "queue_mean_packets")
        return [("time_s", seconds), *((name, seconds) for name in names)]

    def __missing__(self, _):
        return np.arange(1.0, 61.0)


CLASSES = {"classes": [Anything(), Anything()]}
WHOLE = SimpleNamespace(
    summary=CLASSES, traffic=lambda _: Anything(), ports=lambda _: Samples(), **vars(FULL)
)


@pytest.mark.parametrize("key", STUDIES)
def test_the_text_of_a_whole_report_reads_declared_cases_only(key, monkeypatch):
    """Runs gives LookupError for a case of no claim and no picture that TEXT_CASES leaves out."""
    study = STUDIES[key]
    monkeypatch.setattr(Runs, "values", lambda self, case, _: np.ones(len(self.records(case))))
    # they read packets
    for module, name, value in (
        (lgc, "holds", True),
        (lgc, "hops", [1]),
        (lgc, "side_by_side", ""),
        (session, "once_small", (np.ones(1), np.ones(1))),
    ):
        monkeypatch.setattr(module, name, lambda *_, value=value, **__: value)
    runs = runs_of(study, needed(study, study.claims(), study.pictures, study.text_cases))
    runs.folder.record = lambda _: WHOLE
    text = Text(study, (), runs, lambda _, text: text() if text else "")
    assert all(text.block(name) for name in ("sections", "beyond"))


def test_a_run_that_nobody_asked_for_is_an_error_also_where_it_lies_there():
    study = STUDIES["qfcp"]
    runs = runs_of(study, ["fct/qfcp"])
    assert runs.mean("fct/qfcp", "fct_mean_s") == 1.0
    with pytest.raises(LookupError, match="reads the undeclared case fct/rcp; add it to its cases"):
        runs.mean("fct/rcp", "fct_mean_s")
    assert runs.has("fct/qfcp")
    assert not runs.has("fct/qfcp", "fct/rcp")


@pytest.mark.slow
def test_a_quick_paper_writes_its_report(tmp_path, monkeypatch):
    """From the command line, on the paper that is soonest done; all its runs are new."""
    monkeypatch.chdir(tmp_path)
    quick = ["paper", "lgc", "--quick", "--out", "out", "--report", "report"]
    done = CliRunner().invoke(app, quick)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "report" / "REPORT.md").read_text()
    assert "Not the whole paper" in text
    asked = {claim.short for claim in Request(quick=True).claims(STUDIES["lgc"])}
    claims = json.loads((tmp_path / "out" / "claims.json").read_text())["claims"]
    assert {each["id"].partition(".")[2] for each in claims} == asked
    shown = {path.name for path in (tmp_path / "report" / "pictures").iterdir()}
    assert all(f"pictures/{name}" in text for name in shown)


def test_a_claim_is_judged_beside_a_setting_of_the_users_own(tmp_path, monkeypatch):
    """No packet is 10 s old, and 36 that wait at 40/s are older than half a second."""
    monkeypatch.chdir(tmp_path)
    words = ["paper", "lgc", "--only", "text.ttl", "--seeds", "1", "--out", "out"]
    own = ["--set", "port.last.lifetime=500ms"]
    done = CliRunner().invoke(app, [*words, *own])
    assert done.exit_code == 0, done.output
    [row] = [line.split() for line in done.stdout.splitlines() if line.startswith("text.ttl")]
    assert row[2:4] == ["0", "met"]
    assert row[-2:] == ["not", "met"]
    assert "1 of 1 turned" in done.stdout
    assert not (tmp_path / "out" / "REPORT.md").exists()
    changed = json.loads(CliRunner().invoke(app, [*words, *own, "--json"]).stdout)
    assert changed["settings"]["set"] == {"port.last.lifetime": "500ms"}
    assert [each["verdict"] for each in changed["claims"]] == ["not met"]


@pytest.mark.parametrize(
    "option",
    [
        ("--quick",),
        ("--only", "table1"),
        ("--explain", "table1"),
        ("--sensitivity",),
        ("--search",),
        ("--again",),
        ("--set", "duration=9s"),
        ("--seeds", "3"),
        ("--report", "here"),
        ("--out", "there"),
        ("--json",),
        ("--mix",),
    ],
)
def test_an_option_without_a_paper_is_refused(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["paper", *option])
    assert found.exit_code != 0
    said = f"{found.output} {found.exception}"
    assert f"{option[0]} needs a paper" in said
    assert "`tidegate paper blitz`; there are blitz, dqm, lgc, qfcp, session" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--sensitivity", "--quick"), "--quick has no effect with --sensitivity"),
        (("--search", "--only", "table1"), "--only has no effect with --search"),
        (("--explain", "table1", "--search"), "--explain and --search cannot be combined"),
        (("--again", "--quick"), "--quick has no effect with --again"),
        (("--set", "duration=9s", "--report", "r"), "--report has no effect with --set"),
        (("--explain", "table1", "--report", "r"), "--report has no effect with --explain"),
        (("--again", "--set", "duration=9s"), "--again and --set cannot be combined"),
        (("--set", "duration"), "Could not understand --set duration"),
        (("--only", ""), "No claim is called ''."),
        (("--explain", ""), "No claim is called ''."),  # and not every claim
    ],
)
def test_options_that_would_not_be_heard_are_refused(options, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["paper", "session", *options])
    assert found.exit_code != 0
    assert says in f"{found.output} {found.exception}"
    assert not list(tmp_path.iterdir())
