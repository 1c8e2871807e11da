"""The machinery that judges a paper: the rules of its verdicts, and a study from end to end."""

import json
import sys
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace

import pytest

from tidegate import papers
from tidegate.errors import UsageError
from tidegate.grid.executor import Executor
from tidegate.grid.meter import Meter
from tidegate.papers import again, perform, verdicts
from tidegate.papers import claims as listed
from tidegate.papers.case import Case, OptimumSearch, Scale
from tidegate.papers.check_results import Exact, Numbers, Ordering, OrderingPart, Unchecked
from tidegate.papers.deviations import ClaimContext
from tidegate.papers.deviations import read as read_deviations
from tidegate.papers.folder import CaseFolder
from tidegate.papers.report_text import Text, measured
from tidegate.papers.request import PaperResult, Request, _line, needed
from tidegate.papers.row_check import checks_of
from tidegate.papers.runs import Runs
from tidegate.papers.study import PaperStudy
from tidegate.papers.verdicts import MET, NOT_MET, judge

STUDIES = {key: papers.load(key) for key in papers.there()}


def claim(kind, value="100", name="toy.table1.a", held_to=""):
    return listed.Claim(name, "Table 1", "small", "rate", "1/s", value, kind, "", held_to)


@pytest.mark.parametrize(
    ("kind", "values", "verdict"),
    [
        # Student's t for three seeds: the interval is the mean +- 4.303 / sqrt(3) deviations
        ("exact-number", (114, 115, 116), "met"),  # 112.5 to 117.5, inside of 80 to 120
        ("exact-number", (124.9, 125, 125.1), "not met"),  # 124.8 to 125.2
        ("exact-number", (119, 120, 121), "unresolved"),  # 117.5 to 122.5, on the edge
        # noise decides nothing, on whichever side the mean is
        ("exact-number", (110, 125, 140), "unresolved"),  # 25 % off; 87.7 to 162.3
        ("exact-number", (60, 110, 160), "unresolved"),  # 10 % off; -14.2 to 234.2
        ("exact-number", (135, 145, 155), "not met"),  # 45 % off; 120.2 to 169.8
        ("exact-number", (110,), "met"),  # one run has no interval
        ("exact-number", (121,), "not met"),
        # rounding in the paper is no licence
        ("approx-number", (119, 119), "met"),
        ("approx-number", (125, 125), "not met"),
        ("ratio", (125, 125), "met"),
        ("ratio", (74, 74), "not met"),
        ("derived", (125, 125), "met"),
        ("identity", (119, 119), "met"),
        ("identity", (121, 121), "not met"),
    ],
)
def test_numbers_are_met_within_their_tolerance(kind, values, verdict):
    assert judge(claim(kind), Numbers(values)).verdict == verdict


@pytest.mark.parametrize(
    ("kind", "held_to", "value", "says"),
    [
        # (125 - 100) / 100 and (74 - 100) / 100; the tolerances are those of the rules
        ("exact-number", "", 125, "+25 %, more than 20 %."),
        ("exact-number", "", 75, "-25 %, more than 20 %."),
        ("approx-number", "", 131, "+31 %, more than 20 %."),
        ("ratio", "", 74, "-26 %, more than 25 %."),
        # a range is held to its nearer end: (4.55 - 3.5) / 3.5 and (1.5 - 2.5) / 2.5
        ("ratio", "2.5..3.5", 4.55, "+30 %, more than 25 %."),
        ("ratio", "2.5..3.5", 1.5, "-40 %, more than 25 %."),
        ("ratio", "10..", 9, "-10 % of the least value of the paper."),
        ("approx-number", "..10", 11, "+10 % of the greatest value it gives."),
    ],
)
def test_how_far_a_number_is_off_is_said_in_percent_of_the_papers(kind, held_to, value, says):
    found = judge(claim(kind, held_to=held_to), Numbers((value, value)))
    assert found.verdict == "not met"
    assert found.reason == says


def test_a_number_may_be_a_range_and_is_held_to_its_nearer_end():
    # 3.5 + 25 % = 4.375
    row = claim("ratio", "x2.5 to x3.5", held_to="2.5..3.5")
    assert judge(row, Numbers((4.3, 4.3))).verdict == "met"
    assert judge(row, Numbers((4.4, 4.4))).verdict == "not met"


def test_a_number_in_a_text_and_a_range_without_an_end_are_in_a_column_of_their_own():
    text = CLAIMS.replace("kind,note", "kind,note,number").replace(
        ",10,exact-number,", ",a tenth,exact-number,,0.1"
    )
    assert listed.read(text)[0].expected == 0.1
    row = claim("ratio", "more than an order of magnitude", held_to="10..")
    # "more than" has no tolerance below, nor "under" above
    under = claim("approx-number", "< 10", held_to="..10")
    assert [judge(under, Numbers((each,))).verdict for each in (-5, 10, 10.1)] == [
        "met",
        "met",
        "not met",
    ]
    # two seeds: the mean +- 12.71 / sqrt(2) deviations, 8.0 to 12.0 and 8.6 to 9.4
    assert [judge(under, Numbers(each)).verdict for each in ((9.84, 10.16), (8.97, 9.03))] == [
        "unresolved",
        "met",
    ]
    assert [judge(row, Numbers((each, each))).verdict for each in (9.9, 10.0, 1e6)] == [
        "not met",
        "met",
        "met",
    ]
    assert claim("ratio", "17").expected == 17
    assert claim("ordering", "a > b").expected is None


def test_a_number_reports_mean_interval_and_spread():
    found = judge(claim("exact-number"), Numbers((90, 100, 110)))
    # Student's t with 2 degrees of freedom at 97.5 %: 4.3027; 10/sqrt(3) = 5.7735
    assert found.measured == 100
    assert found.low == pytest.approx(100 - 24.84, abs=0.01)
    assert found.spread == pytest.approx(10)


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ((1.0, 1.2, 0.9, 1.1, 1.0), "met"),
        ((-1.0, -1.2, -0.9, -1.1, -1.0), "not met"),
        # mean 0.4, deviation 1.14: the interval is 0.4 +- 2.776 * 0.51
        ((1.0, -1.0, 2.0, -0.5, 0.5), "unresolved"),
        ((5.0,), "unresolved"),  # one seed gives no interval
        ((0.0, 0.0, 0.0), "not met"),  # equal is not more
        ((2.0, 2.0, 2.0), "met"),
    ],
)
def test_orderings_go_by_the_interval_of_the_paired_difference(differences, verdict):
    found = judge(claim("ordering", "a > b"), Ordering((OrderingPart("a > b", differences),)))
    assert found.verdict == verdict


def test_every_part_of_an_ordering_has_to_hold_and_the_worst_decides():
    good, bad = OrderingPart("a > b", (1.0, 1.1, 0.9)), OrderingPart("b > c", (-1.0, -1.1, -0.9))
    unclear = OrderingPart("c > d", (1.0, -1.0, 0.5))
    assert judge(claim("ordering", "x"), Ordering((good, unclear))).verdict == "unresolved"
    found = judge(claim("ordering", "x"), Ordering((good, unclear, bad)))
    assert found.verdict == "not met"
    assert found.measured == pytest.approx(-1.0)
    assert "b > c" in found.reason
    assert "a > b" not in found.reason


def test_a_guess_counts_both_ways_and_contradictions_come_from_the_papers_own_numbers():
    near, far = Numbers((100, 100)), Numbers((200, 200))
    depends = ClaimContext(depends_on=("the load",), explanation="Because.")
    for finding, taken in ((near, "met"), (far, "not met")):
        found = judge(claim("exact-number"), finding, depends)
        assert (found.verdict, found.as_taken) == ("depends on a guess", taken)
        assert found.holds == (taken == "met")
        assert f"As taken: {taken}." in found.reason
        assert "the load" in found.reason
    against = ClaimContext(contradicted_by="Table IV says otherwise.")
    found = judge(claim("exact-number"), far, against)
    assert found.verdict == "contradicted"
    assert "Table IV" in found.reason
    why = ClaimContext(explanation="Because.")
    assert judge(claim("exact-number"), far, why).explanation == "Because."
    assert judge(claim("exact-number"), near, why).explanation == ""


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((5.0,), "5 (one run)"),
        ((5.0, 5.0, 5.0), "5 (every run the same)"),
        # Student's t for three seeds: 4.303 x 1 / sqrt(3) = 2.48
        ((4.0, 5.0, 6.0), "5 [2.52, 7.48]"),
    ],
)
def test_one_run_has_no_interval(values, text):
    found = judge(claim("ordering", "a > b"), Ordering((OrderingPart("a > b", values),)))
    assert measured(found) == text
    study = SimpleNamespace(key="toy")
    line = PaperResult(study, None, [found], None)
    shown = _line(line.study, found)
    assert (shown["low"] is None) == ("run" in text)


def test_numbers_within_a_fifth_are_counted_where_nothing_was_chosen():
    row = claim("ratio")
    near, far = judge(row, Numbers((119, 119))), judge(row, Numbers((124, 124)))
    # 24 % off is met for a ratio, and not within a fifth
    assert [(each.verdict, each.predicts, each.near) for each in (near, far)] == [
        ("met", True, True),
        ("met", True, False),
    ]
    assert not judge(row, Numbers((119, 119)), ClaimContext(chosen_on=True)).predicts
    assert not judge(claim("ratio", "at least 100", held_to="100.."), Numbers((119,))).predicts
    # a quotient of printed numbers is not printed
    assert not judge(claim("derived"), Numbers((119, 119))).predicts


def test_set_up_is_exactly_equal_or_not_and_counted_apart():
    outcomes = [
        judge(claim("setup"), Exact("100")),
        judge(claim("setup"), Exact("101")),
        judge(claim("exact-number"), Numbers((100, 101))),
        judge(claim("exact-number"), Unchecked("no data")),
        judge(claim("identity"), Numbers((100, 100))),
        judge(claim("derived"), Numbers((100, 100))),
    ]
    assert verdicts.counts(outcomes) == {
        "met": 1,
        "cannot be checked": 1,
        "derived met": 1,
        "set-up met": 2,
        "set-up not met": 1,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [("43.944", 43.944), ("~17", 17), ("81 %", 81), ("< 0.5", None), ("CP > none", None)],
)
def test_plain_and_approximate_numbers_of_a_claim_are_read(text, value):
    assert claim("ratio", text).number == value


def test_claims_are_named_by_id_beginning_or_pattern():
    rows = [claim("ratio", name=f"toy.{name}") for name in ("table1.a", "table1.b", "table10.a")]
    names = [each.short for each in listed.chosen(rows, ["table1"])]
    assert names == ["table1.a", "table1.b"]
    assert [each.short for each in listed.chosen(rows, ["*.a"])] == ["table1.a", "table10.a"]
    with pytest.raises(UsageError, match="table1"):
        listed.chosen(rows, ["tabel1"])


SCENARIO = """
name = "small"
duration = "20s"
warmup = "5s"
[topology.dumbbell]
access = { rate = "10Mbit", delay = "1ms" }
bottleneck = { rate = "1Mbit", delay = "20ms", buffer = "20packets" }
[traffic.web]
arrivals = { poisson = "20/s" }
size = { pareto = { mean = "10kB", shape = 1.5 } }
transport = { tcp = { profile = "ns2-2005" } }
[port.bottleneck]
gate = { law = "none" }
[variant.none.port.bottleneck]
gate = { law = "none" }
[variant.cp.port.bottleneck]
gate = { law = "close-probe" }
"""
TEMPLATE = """
{% block summary %}{{ claims() | length }} claims.{% endblock %}
{% block sections %}
{{ section("Table 1", "table1") }}
{# more #}
{% endblock %}
"""
CLAIMS = """id,where,scenario,metric,unit,value,kind,note,of,measure,check
toy.table1.rate,Table 1,small,completed,1/s,10,exact-number,,cp,completed_per_s,
toy.table1.better,Table 1,small,FCT,-,CP < none,ordering,,*,fct_mean_s,none > cp
toy.text.never,text,small,something,-,always,ordering,,,,not checked: a toy
"""
DEVIATIONS = """
[[deviation]]
key = "buffer"
what = "buffer"
taken = "20 packets"
why = "a guess"
affects = ["table1.rate"]
alternatives = [
    { label = "10 packets", settings = { "topology.dumbbell.bottleneck.buffer" = "10packets" } },
]
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Return a study of two small cases and a search."""
    home = tmp_path / "code" / "toy_paper"
    (home / "scenarios").mkdir(parents=True)
    (home / "__init__.py").write_text("")
    (home / "measures.py").write_text("")
    (home / "claims.csv").write_text(CLAIMS)
    (home / "deviations.toml").write_text(DEVIATIONS)
    (home / "report.md.j2").write_text(TEMPLATE)
    (home / "scenarios" / "small.toml").write_text(SCENARIO)
    monkeypatch.syspath_prepend(str(home.parent))
    for name in ("toy_paper", "toy_paper.measures"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    cases = {key: Case(key, "small.toml", (key,)) for key in ("none", "cp")}

    def fixed(rate):
        gate = f'{{ law = "fixed-rate", rate = "{rate:g}/s" }}'
        return Case(f"fixed/{rate:g}", "small.toml", (), (("port.bottleneck.gate", gate),))

    return PaperStudy(
        key="toy",
        package="toy_paper",
        cases=cases,
        searches={"optimum": OptimumSearch("optimum", fixed, (4, 8, 12), 2, around=1)},
        keep=("size_bytes", "start_s", "closed_s"),
        title="A toy",
        checks=checks_of(CLAIMS, "toy_paper", {}),
        pictures=(),
        scale=Scale(seeds=3, sensitive=("table1.rate",)),
    )


class Bar:
    """A progress bar that keeps count; after `most` runs somebody presses Ctrl-C."""

    def __init__(self, most=None):
        self.runs, self.most = 0, most

    def __call__(self, title, runs, total_s):
        self.runs += runs
        return self

    def __enter__(self):
        return Meter(self.runs, self.show)

    def __exit__(self, *_):
        return None

    def show(self, _, finished):
        if self.most is not None and finished >= self.most:
            raise KeyboardInterrupt


def regenerate(study, place, bar=None, **asked):
    bar = bar or Bar()
    with CaseFolder(place, study, bar, Executor(1)) as folder:
        done = perform.regenerate(study, folder, Request(**asked))
    return done, bar


def test_a_study_runs_once_and_changing_a_claim_runs_nothing(toy, tmp_path):
    first, bar = regenerate(toy, tmp_path / "out")
    assert (bar.runs, first.ran) == (6, 6)  # two cases, three seeds
    home = Path(str(toy.folder))
    (home / "claims.csv").write_text(CLAIMS.replace(",10,exact", ",1000,exact"))
    again, bar = regenerate(toy, tmp_path / "out")
    assert bar.runs == 0
    verdict = {each.claim.short: each.as_taken or each.verdict for each in again.outcomes}
    assert verdict["table1.rate"] == "not met"
    assert verdict["text.never"] == "cannot be checked"
    assert [a.values for a in again.outcomes] == [a.values for a in first.outcomes]


def test_a_changed_scenario_runs_again_and_only_that(toy, tmp_path):
    regenerate(toy, tmp_path / "out", only=("table1.rate",))
    path = Path(str(toy.folder)) / "scenarios" / "small.toml"
    path.write_text(path.read_text().replace("20packets", "21packets"))
    _, bar = regenerate(toy, tmp_path / "out", only=("table1.rate",))
    assert bar.runs == 3


def test_an_interrupted_study_keeps_its_runs_and_goes_on(toy, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        regenerate(toy, tmp_path / "out", Bar(most=2))
    resumed, bar = regenerate(toy, tmp_path / "out")
    assert bar.runs == 4
    whole, _ = regenerate(toy, tmp_path / "other")
    assert [a.values for a in resumed.outcomes] == [a.values for a in whole.outcomes]


def test_the_document_of_a_paper_has_what_machines_read(toy, tmp_path):
    done, _ = regenerate(toy, tmp_path / "out")
    document = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert document == json.loads(json.dumps(done.document()))
    assert set(document) == {"paper", "settings", "claims", "counts"}
    line = document["claims"][0]
    keys = {"id", "kind", "where", "paper", "measured", "low", "high", "verdict", "reason"}
    assert keys | {"command"} <= set(line)
    assert line["command"] == "tidegate paper toy --only table1.rate"
    assert line["paper"] == 10
    assert sum(document["counts"].values()) == 3


def test_the_report_names_each_claim_and_each_guess(toy, tmp_path):
    done, _ = regenerate(toy, tmp_path / "out")
    assert "3 claims." in (tmp_path / "out" / "REPORT.md").read_text()
    text = (tmp_path / "out" / "claims.md").read_text()
    for each in done.outcomes:
        assert f"`{each.claim.short}`" in text
    assert "20 packets" in text
    # what is measured has its unit, as the claims have it
    listed = [line.split(" | ") for line in text.partition("| ID |")[2].splitlines()]
    units = {cells[0]: cells[6] for cells in listed if cells[0].startswith("| `")}
    assert units == {
        "| `table1.rate`": "1/s",
        "| `table1.better`": "difference",
        "| `text.never`": "difference",
    }
    lines = (tmp_path / "out" / "verdicts.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines[1:]] == [
        each.claim.short for each in done.outcomes
    ]
    partial, _ = regenerate(toy, tmp_path / "out", only=("table1",))
    assert not partial.request.whole(toy)
    assert "Not the whole paper" in (tmp_path / "out" / "REPORT.md").read_text()


def test_a_text_of_its_own_is_in_the_report_and_its_runs_are_counted(toy, tmp_path):
    # one case, three seeds; the text reads none of them, and they are runs all the same
    study = replace(toy, text_cases=("cp",))
    text = "{% call section('Beyond') %}\nOf no claim, and no picture.\n{% endcall %}"
    (Path(str(toy.folder)) / "report.md.j2").write_text(TEMPLATE.replace("{# more #}", text))
    (Path(str(toy.folder)) / "claims.csv").write_text("\n".join(CLAIMS.splitlines()[::3]) + "\n")
    done, bar = regenerate(study, tmp_path / "out")
    assert (bar.runs, done.ran, done.runs.cost["runs"]) == (3, 3, 3)
    text = (tmp_path / "out" / "REPORT.md").read_text()
    assert "## Beyond\n\nOf no claim, and no picture.\n" in text
    assert " 3 runs, " in text


def test_a_search_goes_from_coarse_to_fine(toy, tmp_path):
    with CaseFolder(tmp_path / "out", toy) as folder:
        runs = Runs(toy, folder, 3)
        # coarse: 4, 8, 12 with one seed; fine: the best of them and 2 either side, three seeds,
        # of which one is there already
        assert runs.fill(["optimum"]) == 3 + 8
        best, case = runs.best("optimum")
        fine = {value: runs.mean(each, "completed") for value, each in runs.fine("optimum").items()}
        assert len(fine) == 3
        assert fine[best] == max(fine.values())
        assert case.settings[0][1].endswith(f'"{best:g}/s" }}')


def test_sensitivity_changes_one_setting_at_a_time(toy, tmp_path):
    with CaseFolder(tmp_path / "out", toy) as folder:
        table = perform.sensitivity(toy, folder, Request(seeds=2))
    assert [row.label for row in table] == ["", "10 packets"]
    taken, other = (row.outcomes[0] for row in table)
    assert taken.values != other.values
    assert "10 packets" in (tmp_path / "out" / "sensitivity.md").read_text()


def test_a_paper_is_judged_again_with_seeds_of_which_none_was_used(toy, tmp_path):
    with CaseFolder(tmp_path / "out", toy) as folder:
        usual = perform.judged(toy, folder, Request(seeds=2))
        other = perform.again(toy, folder, Request(seeds=2))
        # the usual runs are there, and as many are new
        assert other.ran == usual.ran
    seeds = {path.name for path in (tmp_path / "out" / "runs").glob("*/*")}
    assert seeds >= {"seed-1", "seed-2", "seed-1001", "seed-1002"}
    assert usual.outcomes[0].values != other.outcomes[0].values
    assert "with seeds 1001 to 1002" in (tmp_path / "out" / "again.md").read_text()


def test_the_page_of_other_seeds_counts_what_stands_and_shows_what_turns(toy, tmp_path):
    with CaseFolder(tmp_path / "out", toy) as folder:
        done = perform.judged(toy, folder, Request(seeds=2))
    free = [each for each in done.outcomes if not each.is_setup]
    # by hand: all met before; then all but the first
    usual = replace(done, outcomes=[replace(each, verdict=MET) for each in free])
    turned = [replace(usual.outcomes[0], verdict=NOT_MET), *usual.outcomes[1:]]
    other = replace(usual, outcomes=turned, request=replace(done.request, first_seed=1001))
    text = again.page(usual, other)
    assert f"Of {len(free)} rows that are met" in text
    assert f"**{len(free) - 1} are met again** with seeds 1001 to 1002" in text
    [row] = [line for line in text.splitlines() if line.startswith("| `")]
    assert row.startswith(f"| `{free[0].claim.short}`")
    assert "No verdict turns." in again.page(usual, usual)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("summary.json", lambda content: b""),
        ("summary.json", lambda content: b"[]"),
        ("flows.parquet", lambda content: content[:-1] + bytes([content[-1] ^ 1])),
        ("ports.parquet", lambda content: content[: len(content) // 2]),
        ("manifest.json", lambda content: content[:10]),
        ("manifest.json", lambda content: b'{"seed": 1, "files": 5}'),
    ],
)
def test_a_damaged_run_of_a_study_is_named_and_done_again(toy, tmp_path, name, damage):
    first, _ = regenerate(toy, tmp_path / "out")
    path = sorted((tmp_path / "out" / "runs").glob(f"*/seed-1/{name}"))[0]
    path.write_bytes(damage(path.read_bytes()))
    with CaseFolder(tmp_path / "out", toy) as folder:
        again = perform.regenerate(toy, folder, Request())
        assert set(folder.damaged) == {path}
    assert again.ran == 1
    assert [each.values for each in again.outcomes] == [each.values for each in first.outcomes]


def test_a_damaged_manifest_of_a_study_does_not_refuse_its_runs(toy, tmp_path):
    regenerate(toy, tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_bytes(b"{")
    again, _ = regenerate(toy, tmp_path / "out")
    assert again.ran == 0
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["paper"] == "toy"


def outline(study):
    """Return the sections of a report, from its template alone."""
    found = []
    text = Text(study, (), None, lambda section, _: found.append(section) or "")
    for name in ("sections", "beyond"):
        text.block(name)
    return found


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_claim_has_a_check_a_place_in_the_report_and_cases_that_exist(study):
    claims = study.claims()
    assert {claim.id for claim in claims} == set(study.checks)
    assert set(needed(study, claims, study.pictures, study.text_cases)) <= {
        *study.cases,
        *study.searches,
    }
    sections = outline(study)
    places = [pattern for section in sections for pattern in section.claims.split()]
    for claim in claims:
        assert claim.kind == "setup" or any(listed.matches(each, claim.id) for each in places), (
            claim.id
        )
    shown = [name for section in sections for name in section.pictures.split()]
    assert sorted(shown) == sorted(picture.name for picture in study.pictures)


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_guess_and_explanation_names_claims_and_cases_that_exist(study):
    found = study.deviations()
    ids = [claim.id for claim in study.claims()]
    patterns = [pattern for each in found.deviations for pattern in each.affects]
    patterns += [each for names, _ in found.contradictions for each in names]
    patterns += [each for reason in found.explanations for each in reason.claims]
    patterns += [*study.scale.quick, *study.scale.sensitive]
    for pattern in patterns:
        assert any(listed.matches(pattern, name) for name in ids), pattern


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_case_and_every_alternative_loads(study):
    """One case of each kind as it is, and one with each alternative that is meant for it."""
    scenarios = {case.scenario: case for case in study.cases.values()}
    for case in scenarios.values():
        study.document(case).load()
    for deviation in study.deviations().deviations:
        for other in deviation.alternatives:
            meant = [
                case
                for case in study.cases.values()
                if any(fnmatchcase(case.key, pattern) for pattern in other.cases)
            ]
            assert meant, other.label
            study.document(meant[0].having(*other.settings)).load()


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_id_leads_to_a_line_that_says_what_is_checked(study):
    for claim in study.claims():
        check = study.checks[claim.id]
        assert check.what.startswith(("Check", "Count", "Say")), claim.id
        path, line = check.place
        assert path.read_text(encoding="utf-8").splitlines()[line - 1], claim.id


def test_a_folder_with_something_else_is_refused(toy, tmp_path):
    from tidegate.errors import TidegateError

    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(TidegateError, match="holds something other than a paper"):
        CaseFolder(tmp_path / "out", toy)


def test_deviations_are_read_with_their_alternatives():
    found = read_deviations(DEVIATIONS)
    assert found.deviations[0].alternatives[0].label == "10 packets"
    assert found.context("toy.table1.rate").depends_on == ("buffer",)
    assert found.context("toy.table1.better").depends_on == ()


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_printed_table_has_a_head_for_each_column(study):
    """The first columns say what a row is; a table without their heads shifts all others."""
    for section in outline(study):
        for table in section.tables:
            widths = {len(label.split(" | ")) + len(cells) for label, cells in table.rows}
            assert widths == {len(table.columns)}, table.title
