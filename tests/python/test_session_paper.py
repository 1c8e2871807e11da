"""The study of the session control paper: that it is whole, and what its measures work out."""

import json
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from tidegate.cli import app
from tidegate.papers import load
from tidegate.papers.request import Request, needed
from tidegate.papers.session import measures
from tidegate.results.measures import completions, fct
from tidegate.results.run_files import SavedRun

STUDY = load("session")
ROOT = Path(__file__).resolve().parents[2]


def saved(folder):
    """Return the run in a folder, after writing the manifest that lists its files."""
    files = sorted(path.name for path in folder.iterdir())
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    return SavedRun(folder, 1)


def test_one_set_of_settings_serves_the_whole_paper():
    """Rates, delays, buffer, sizes, transport and laws are the same in all dumbbells."""
    names = ("static", "arrivals", "size", "capacity", "downloads", "udp")
    texts = [(STUDY.folder / "scenarios" / f"{name}.toml").read_text() for name in names]
    first, *others = (tomllib.loads(text) for text in texts)
    for other in others:
        assert other["topology"] == first["topology"]
        for key in ("size", "transport"):
            assert other["traffic"]["web"][key] == first["traffic"]["web"][key]
        for control in ("none", "gss-ga", "cp"):
            gates = [
                each["variant"][control]["port"]["bottleneck"]["gate"] for each in (other, first)
            ]
            gates[0].pop("admit", None)  # downloads are gated by their SYN+ACKs
            assert gates[0] == gates[1]


@pytest.fixture
def record(tmp_path):
    """A run of 100 s: four sessions; one probe and two closings."""
    flows = {
        "start_s": [40.0, 50.0, 60.0, 70.0],
        "admitted_s": [40.0, 56.0, 78.0, 71.0],  # waits of 0, 6, 18 and 1 s
        "closed_s": [44.0, 60.0, 80.0, 90.0],  # 4, 10, 20 and 20 s in all
    }
    seconds = np.arange(1.0, 101.0)
    rates = {"time_s": seconds, "admitted": np.full(100, 12.0), "completed": np.full(100, 10.0)}
    events = {
        "time_s": [55.0, 56.0, 57.0],
        "port": ["bottleneck"] * 3,
        "law": ["close-probe"] * 3,
        "phase": ["close", "probe", "close"],
        "set": [100.0, 110.0, 106.0],
        "admitted": [1, 7, 9],
        "departed": [9, 9, 9],
    }
    for name, table in (("flows", flows), ("rates", rates), ("events", events)):
        pl.DataFrame(table).write_parquet(tmp_path / f"{name}.parquet")
    return saved(tmp_path)


def test_measures_of_flows(record):
    # one of four took under 5 s
    assert measures.short_share(record) == 0.25
    assert fct(50.0, 85.0)(record) == pytest.approx(15.0)  # 10 and 20 s
    assert measures.on_schedule(record) == pytest.approx(0.75)  # all but the wait of 1 s


def test_measures_of_rates(record):
    assert completions(0.0, 50.0)(record) == pytest.approx(10.0)
    assert measures.gap(20.0, 80.0)(record) == pytest.approx(0.2)  # 12 to 10
    # 27 ends counted from 54 to 57 s, in which 30 sessions ended
    assert measures.unseen_ends(54.0, 57.0)(record) == pytest.approx(0.1)


def test_measures_of_decisions(record):
    assert measures.changes(55.5, 57.0)(record) == pytest.approx(7.0)  # 10 and 4
    assert measures.changes(0.0, 100.0, ("probe",))(record) == pytest.approx(10.0)
    assert measures.least_admitted(record) == 7.0  # the first epoch is left out
    # 100, 110, 106: deviation 4.11 around 105.3
    assert measures.swing(0.0, 100.0)(record) == pytest.approx(4.110 / 105.33, rel=1e-3)
    assert np.isnan(measures.epochs_to_ascent(record))


def test_a_spike_stands_out_of_the_epochs_around_it():
    """By hand: 5 % above the median of eleven epochs, itself among them."""
    steady = np.full(30, 100.0)
    assert not measures.spiked(steady).any()
    probing = steady.copy()
    probing[[5, 12, 20]] = (110.0, 104.0, 106.0)
    assert np.flatnonzero(measures.spiked(probing)).tolist() == [5, 20]


def test_an_allowance_is_settled_when_it_stays_near_where_it_ends(tmp_path):
    """By hand: 400 until 20 s after the change, then 100; five epochs of 1 s are smoothed."""
    seconds = np.arange(1.0, 251.0)
    allowed = np.where(seconds <= 170.0, 400.0, 100.0)
    names = {"port": ["bottleneck"] * 250, "law": ["gss-ga"] * 250, "phase": ["ascent"] * 250}
    counts = {"admitted": [1] * 250, "departed": [1] * 250}
    table = {"time_s": seconds, **names, "set": allowed, **counts}
    pl.DataFrame(table).write_parquet(tmp_path / "events.parquet")
    # at 172 s the mean of five holds one 400: 160, at 173 s none
    assert measures.settled(150.0)(saved(tmp_path)) == pytest.approx(22.0)


def test_quick_is_tables_and_figures_of_the_paper():
    claims = Request(quick=True).claims(STUDY)
    tables = [claim for claim in STUDY.claims() if claim.short.startswith("table")]
    assert {claim.id for claim in tables} <= {claim.id for claim in claims}
    cases = needed(STUDY, claims)
    assert not any(case in STUDY.searches or case.startswith("ablation") for case in cases)


@pytest.mark.slow
def test_the_command_judges_one_row_and_does_not_run_it_again(tmp_path):
    asked = ["paper", "session", "--only", "table1.admit65", "--only", "setup", "--seeds", "2"]
    asked += ["--out", str(tmp_path / "out")]
    first = CliRunner().invoke(app, [*asked, "--json"])
    assert first.exit_code == 0, first.output
    document = json.loads(first.stdout)
    assert document["paper"] == "session"
    assert document["settings"]["taken"]["initial-rto"].startswith("6 s")
    lines = {line["id"]: line for line in document["claims"]}
    assert len(lines) == 24 + 3
    rate = lines["session.table1.admit65.completion_rate"]
    # the gate admits 65/s and all of them complete
    assert rate["measured"] == pytest.approx(65.0, rel=0.01)
    assert (rate["paper"], rate["verdict"]) == (64.716, "met")
    # below what fits all that is admitted completes: an identity, counted with the set-up
    assert document["counts"]["set-up met"] == 24 + 1
    again = CliRunner().invoke(app, asked)
    assert again.exit_code == 0
    assert "none of them new" in again.output
    assert (tmp_path / "out" / "REPORT.md").exists()
    explain = ["--explain", "table1.admit65.fct", "--seeds", "2", "--out", str(tmp_path / "out")]
    said = CliRunner().invoke(app, ["paper", "session", *explain])
    assert said.exit_code == 0, said.output
    line = lines["session.table1.admit65.fct"]
    for words in (
        "session.table1.admit65.fct (exact-number), Table I",
        "papers/session/claims.csv:",
        "Check fct_mean_s of admit/65.",
        "scenarios/static.toml of tidegate.papers.session, port.bottleneck.gate",
        "2 runs, seeds 1 to 2, in",
        "paper     3.02 [s]",
        f"measured  {line['measured']:.3g} ±",
        f"verdict   {line['verdict']}.",
    ):
        assert words in said.output, said.output
    rule = "interval of the mean over the seeds lies within 20 % of the paper's"
    assert rule in " ".join(said.output.split())
    made = sorted((tmp_path / "out" / "runs").glob("*/seed-*"))
    assert len(made) == 2


def test_papers_are_listed_and_an_unknown_one_is_refused():
    assert "session: " in CliRunner().invoke(app, ["paper"]).stdout
    refused = CliRunner().invoke(app, ["paper", "sesion"])
    assert refused.exit_code == 2
    assert "Did you mean session?" in refused.output
