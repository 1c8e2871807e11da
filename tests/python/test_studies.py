"""`tidegate study`: the cells load, halves are fixed, and what is scored is scored right."""

from __future__ import annotations

import csv
import math
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from typer.testing import CliRunner

from tidegate.cli import app
from tidegate.errors import UsageError
from tidegate.studies import STUDIES, load
from tidegate.studies.tide.cells import MatrixCell, cells
from tidegate.studies.tide.page import CELLS, every_cell
from tidegate.studies.tide.score import AIMS, CellResult, Scored, starved, values, verdict
from tidegate.studies.tide.settling import settled_after
from tidegate.studies.today.cases import FITTED, LINKS
from tidegate.studies.today.page import in_brackets, served
from tidegate.studies.users.cases import PageLink
from tidegate.studies.users.page import Got, got, seconds
from tidegate.studies.users.stay import ADMITS

if TYPE_CHECKING:
    from tidegate.results.run_files import SavedRun


@pytest.mark.parametrize("key", STUDIES)
def test_every_kind_of_case_is_a_sound_scenario(key: str) -> None:
    study = load(key)
    # every 17th: both hosts, all gates and all shapes come up (17 divides none of the axes)
    for name in list(study.cases)[::17]:
        study.document(study.cases[name]).load()


def test_the_halves_are_fixed_and_near_even() -> None:
    every = cells()
    assert len({cell.key for cell in every}) == len(every)
    chosen = sum(cell.half == "chosen" for cell in every)
    # a fair coin: 472 cells, five standard deviations are 54
    assert abs(chosen - len(every) / 2) < 54
    # crc32 of RFC 1952, as `printf NAME | gzip -c | tail -c8` shows it: even is chosen
    assert MatrixCell("ns2", 50).half == "chosen"
    assert MatrixCell("linux", 200).half == "held out"


def test_kinds_follow_from_the_load() -> None:
    # by hand: 90/s of 10 kB are 7.2 of 10 Mbit/s, 120/s 9.6; 50/s of 30 kB 12
    assert MatrixCell(offered=90).kind == "underload"
    assert MatrixCell(offered=120).kind == "overload"
    assert MatrixCell(offered=50, mean_kb=30).kind == "overload"
    assert MatrixCell(offered=18, mbit=2).kind == "underload"
    assert MatrixCell(greedy=5, offered=1000).kind == "greedy flows"
    assert MatrixCell(unseen=5).kind == "unseen FINs"
    assert MatrixCell(offered=90, unseen=0).kind == "underload"


class _Rates:
    def __init__(self, started: list[float], admitted: list[float]) -> None:
        self._rates = {"started": np.array(started), "admitted": np.array(admitted)}

    def rates(self) -> dict[str, Any]:
        return self._rates


def test_starvation_is_the_longest_wait_while_somebody_asks() -> None:
    # nobody waits in seconds 3 and 4; then one does, for three seconds
    record = _Rates([1, 1, 0, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 1])
    assert starved(cast("SavedRun", record)) == 3


def _found(completed: float, fct: float = 1.0, again: float = 0.0) -> CellResult:
    return CellResult(completed, 80e3 * completed, fct, fct / 2, again, 0.0)


def test_what_is_to_be_reached_is_compared_with_the_right_gate() -> None:
    over = {"none": _found(10, 9), "cp": _found(100, 4), "tide": _found(96, 1, 0.06)}
    got = {aim.name: value for aim, value in values(MatrixCell(offered=200), over, None).items()}
    # 96/100, 0.5/2, 1/4 against close-probe
    assert got == {
        "completions": 0.96,
        "fct admitted": 0.25,
        "fct": 0.25,
        "again": 0.06,
        "starved": 0.0,
    }
    under = values(MatrixCell(offered=90), {**over, "none": _found(96, 2)}, None)
    assert sorted(under.values()) == [0.0, 0.5, 1.0]
    unseen = values(MatrixCell(unseen=5), over, _found(97))
    assert 96 / 97 in unseen.values()


def test_a_verdict_counts_cells_of_one_half_and_names_the_worst() -> None:
    aim = next(aim for aim in AIMS if aim.kind == "overload" and aim.name == "completions")
    mine = [cell for cell in cells() if cell.kind == "overload" and cell.half == "chosen"][:3]
    other = next(cell for cell in cells() if cell.kind == "overload" and cell.half == "held out")
    rows = [
        Scored(cell, {}, {aim: value})
        for cell, value in zip((*mine, other), (0.98, 0.9, 1.1, 0.1), strict=True)
    ]
    found = verdict(rows, aim, "chosen")
    assert found is not None
    assert (found.reached, found.of, found.worst) == (2, 3, 0.9)
    assert found.worst_cell == mine[1].key


# The means of the report are made of what the file has, which is rounded.
def test_the_file_of_cells_has_every_cell_and_the_means_of_the_report() -> None:
    folder = Path(__file__).parents[2] / "docs" / "studies" / "tide"
    with (folder / CELLS).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["cell"], row["half"]) for row in rows] == [(c.key, c.half) for c in cells()]
    assert list(rows[0]) == every_cell([]).strip().split(",")
    report = (folder / "REPORT.md").read_text("utf-8")
    overload = {cell.key for cell in cells() if cell.kind == "overload"}
    for half in ("chosen", "held out"):
        mine = [row for row in rows if row["half"] == half and row["cell"] in overload]
        said = re.search(rf"tide, {half} \((\d+) cells\) \| ([\d.]+) \| [\d.]+ \| ([\d.]+)", report)
        assert said is not None
        assert int(said[1]) == len(mine)
        for shown, name in ((said[2], "completed_per_s"), (said[3], "fct_s")):
            ratios = [float(row[f"tide_{name}"]) / float(row[f"cp_{name}"]) for row in mine]
            mean = math.exp(float(np.mean(np.log(ratios))))
            assert mean == pytest.approx(float(shown), abs=0.006)


def test_in_time_is_of_those_that_came_in_the_same_span() -> None:
    # the venue is measured from 20 s; who came after 110 s could not be waited for:
    # one session a second comes, 90 in that span, and each tenth takes 11 s, the others 1 s
    starts = np.arange(0.5, 120.0)
    took = np.where(np.arange(120) % 10 == 0, 11.0, 1.0)
    there = _Served(
        {"start_s": starts, "closed_s": starts + took},
        {"time_s": np.arange(1.0, 121.0), "started": np.ones(120)},
    )
    venue = next(link for link in LINKS if link.name == "venue")
    got = served(cast("SavedRun", there), venue)
    assert got.in_time == pytest.approx(0.9)
    # 9000 packets in 100 s, of which one waits at any time: 100/9000 s
    assert got.delay_ms == pytest.approx(1e3 / 90)


def test_the_fitted_queue_laws_are_those_that_a_satellite_link_asks_for() -> None:
    study = load("today")

    def unsuited(control: str) -> bool:
        case = study.cases[f"satellite/greedy/cubic:{control}"]
        return any("expects round trips" in each for each in study.document(case).load().warnings)

    # RFC 8289, 4.3: an interval of 100 ms serves up to 300 ms, and the round trip is 600 ms
    assert all(map(unsuited, FITTED))
    assert not any(map(unsuited, FITTED.values()))


def test_a_page_is_in_time_if_it_was_loaded_before_the_user_gave_up() -> None:
    record = _Served({}, {})
    record.web |= {"pages": 9, "pages_loaded_share": 0.4, "page_load_p50_s": 3.0}
    got = served(cast("SavedRun", record), LINKS[0])
    assert (got.in_time, got.median_s) == (0.4, 3.0)
    other = replace(got, in_time=0.3)
    # the mean of three runs, the lowest and the highest
    assert in_brackets([got, other, other]) == "33 (30 to 40)"


def test_users_get_pages_or_else_files() -> None:
    record = _Served({}, {})
    record.web |= {"pages": 9, "pages_loaded_share": 0.4, "page_load_mean_s": 3.0}
    record.web |= {"completed_share": 0.7, "fct_mean_s": 2.0, "wait_p99_s": 5.0}
    assert got(cast("SavedRun", record)) == Got(done=0.4, mean_s=3.0, wait_s=5.0)
    record.web["pages"] = None
    found = got(cast("SavedRun", record))
    assert (found.done, found.mean_s) == (0.7, 2.0)
    # nobody was served in the second run: the mean is of those that are known
    assert seconds([3.0, math.nan]) == "3.0 s"
    assert seconds([math.nan]) == "-"


def test_users_of_another_link_load_it_as_the_case_says() -> None:
    # by hand: 50 Mbit/s carry 50e6 / (8e3 * 1.09 * 2000) = 2.867 pages of 2 MB a second
    settings = dict(PageLink(50, 2000).settings("one", 2.1))
    assert settings["traffic.web.arrivals.poisson"] == "6.0206/s"
    assert settings["traffic.web.size"] == "176471B"
    assert "connections = 1 " in settings["traffic.web.pages"]


# Nobody, and the law by each of the three, over the same users.
def test_users_who_stay_meet_the_law_by_each_admission() -> None:
    study = load("users")
    keys = [key for key in study.cases if key.startswith("stay/")]
    assert len(keys) == 15 * 4
    for row in {key.split(":")[0] for key in keys}:
        mine = [study.document(study.cases[f"{row}:{who}"]) for who in ("none", *ADMITS)]
        loads = [each.load() for each in mine]
        assert [each.duration_s for each in loads] == [150] * 4
        assert all(each.offered == loads[0].offered for each in loads)
        gates = [tomllib.loads(each.load().show())["port"]["bottleneck"] for each in mine]
        admits = [gate.get("gate", {}).get("admit") for gate in gates]
        assert admits[1:] == list(ADMITS)


# What is taken away is all that differs from visits as a real gate has them.
def test_visits_are_tried_without_one_part_at_a_time() -> None:
    study = load("users")
    shown = {
        key: tomllib.loads(study.document(case).load().show())
        for key, case in study.cases.items()
        if key.startswith("visits/")
    }
    less = shown["visits/once-six:less"]["port"]["bottleneck"]["gate"]["clients"]
    usual = {**less, "least": 16}  # of the page: at least 16 connections in a round
    found: dict[str, set[str]] = {}
    for key, each in shown.items():
        row, part = key.split(":")
        whole = shown[f"{row}:whole"]
        gates = [dict(one["port"]["bottleneck"]["gate"]) for one in (whole, each)]
        assert [gate["admit"] for gate in gates] == ["visits"] * 2
        clients = [gate.pop("clients", usual) for gate in gates]
        pages = [one["traffic"]["web"].get("pages", {}) for one in (whole, each)]
        differs = {
            name
            for old, new in (gates, clients, pages)
            for name in old | new
            if old.get(name) != new.get(name)
        }
        found.setdefault(part, set()).update(differs)
        assert each["traffic"].keys() == whole["traffic"].keys()
    assert found == {
        "whole": set(),
        "no-visit": {"follow", "visit"},
        "longer": {"follow", "visit"},
        "no-reserve": {"wait"},
        "no-share": {"least"},
        "less": {"least"},
        "nothing": {"follow", "visit", "wait", "least"},
        "no-onset": {"onset"},
        "cancels": {"cancels"},
        "longer-cancels": {"follow", "visit", "cancels"},
    }


class _Served:
    def __init__(self, flows: dict[str, Any], rates: dict[str, Any]) -> None:
        self._flows, self._rates = flows, rates
        self.summary = {"warmup_s": 20.0, "duration_s": 120.0}
        self.all = {"delivered_bytes": 1, "retransmitted_share": None}
        times = ("fct_p50_s", "fct_p95_s", "page_load_p50_s", "page_load_p95_s")
        self.web: dict[str, Any] = dict.fromkeys(times)

    def flows(self) -> dict[str, Any]:
        return self._flows

    def rates(self) -> dict[str, Any]:
        return self._rates

    def traffic(self, _: str) -> dict[str, Any]:
        return self.web

    def port(self, _: str) -> dict[str, Any]:
        return {"queue_mean_packets": 1.0, "departed": 9000}


def test_settling_is_from_the_step_to_the_last_time_out_of_the_band() -> None:
    # 100/s until ten seconds after the step at 100 s, then 50/s: the mean of 20 s with
    # k seconds of the first is 50 + 2.5 k, which is at most 55 from k = 2 on, at 108 s
    series = np.array([100.0] * 110 + [50.0] * 90)
    assert settled_after(series) == 8
    assert settled_after(np.array([50.0] * 200)) == 0


@pytest.mark.slow
def test_the_command_runs_what_was_chosen_and_writes_the_report(tmp_path: Path) -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["study"])
    assert "tide:" in listed.output
    assert "today:" in listed.output
    assert "users:" in listed.output
    pattern = "satellite/greedy/cubic:drop-tail"
    command = ["study", "today", "--seeds", "1", "--only", pattern, "--out", str(tmp_path / "out")]
    for new in ("1 new runs", "0 new runs"):
        done = runner.invoke(app, command)
        assert done.exit_code == 0, done.output
        assert new in done.output + done.stderr
    report = (tmp_path / "out" / "REPORT.md").read_text("utf-8")
    assert "| cubic | drop-tail |" in report
    assert (tmp_path / "out" / "pictures" / "in-time.png").stat().st_size > 10_000


def test_an_unknown_study_or_case_is_refused() -> None:
    with pytest.raises(UsageError, match="no study nosuch"):
        load("nosuch")
    with pytest.raises(UsageError, match="fits nosuch"):
        load("tide").chosen(["nosuch"])


@pytest.mark.parametrize("option", [("--only", "x"), ("--seeds", "3"), ("--mix",), ("--out", "o")])
def test_an_option_without_a_study_is_refused(option, tmp_path, monkeypatch):
    """The rule: an option that would have no effect is an error, which names what it needs."""
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["study", *option])
    assert found.exit_code != 0
    said = f"{found.output} {found.exception}"
    assert f"{option[0]} needs a study" in said
    assert "`tidegate study tide`" in said
    assert not list(tmp_path.iterdir())
