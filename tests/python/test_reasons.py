"""Where a run is not the one that the reasons were written of, whoever reads them is told."""

import csv
import json

import pytest
from typer.testing import CliRunner

from tidegate.cli import app

SAID = "Reasons are of the full run: 10 seeds, settings as taken."
THERE = "Known from the full run, not from this one."
NOT_MET, TURNS = "exp2.fwd.s5", "exp3.triggers"
"""Of LGC: a row that is not met by every run, with a reason, and one that a guess turns."""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return what runs `tidegate` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


ROWS = ("paper", "lgc", "--only", NOT_MET, "--only", TURNS, "--out", "runs")


@pytest.mark.parametrize(("seeds", "full"), [("2", False), ("10", True)])
def test_reasons_of_another_run_are_called_so_once_where_they_are(asked, tmp_path, seeds, full):
    asked(*ROWS, "--seeds", seeds)
    times = 0 if full else 1
    report = (tmp_path / "runs/REPORT.md").read_text("utf-8")
    assert report.count(SAID) == times
    assert full or report.index("## What does not hold") < report.index(SAID)
    verdicts = csv.DictReader((tmp_path / "runs/verdicts.csv").read_text("utf-8").splitlines())
    reasons = {each["id"]: each["reason"] for each in verdicts}
    assert reasons[TURNS].count(THERE) == times
    assert THERE not in reasons[NOT_MET]  # it is of this run's numbers
    asked("report", "runs")
    assert (tmp_path / "runs/report.html").read_text("utf-8").count(SAID) == times
    explained = asked("paper", "lgc", "--explain", NOT_MET, "--seeds", seeds, "--out", "runs")
    assert " ".join(explained.split()).count(SAID) == times


def test_reasons_are_of_no_setting_of_the_users_own(asked):
    own = ("--set", "port.last.lifetime=500s", "--json")
    assert SAID in json.loads(asked(*ROWS, *own))["settings"]["reasons_of"]
    assert json.loads(asked(*ROWS, "--json"))["settings"]["reasons_of"] == ""
