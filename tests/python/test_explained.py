"""`tidegate paper KEY --explain ID`: of every claim of every paper, all that its verdict is of."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tidegate.papers import load, there
from tidegate.papers.check_results import Numbers, Ordering, OrderingPart, Unchecked
from tidegate.papers.explain import SHOWN, explained
from tidegate.papers.report_text import number
from tidegate.papers.runs import Runs
from tidegate.papers.verdicts import judge

STUDIES = {key: load(key) for key in there()}
CLAIMS = [(key, claim.short) for key, study in STUDIES.items() for claim in study.claims()]


def place(case, seeds, first):
    """Return where the runs of a case would lie; none is there."""
    return [
        SimpleNamespace(folder=Path("runs") / case.key / f"seed-{seed}", seed=seed)
        for seed in range(first, first + (case.seeds or seeds))
    ]


RUNS = {
    key: Runs(study, SimpleNamespace(jobs=place, has=lambda _: False), 2)
    for key, study in STUDIES.items()
}


def finding(study, claim):
    """Return what a check might find in runs; of one that needs none, what it finds."""
    check = study.checks[claim.id]
    if not check.cases:
        return check.find(RUNS[study.key])
    if claim.kind == "ordering" or claim.expected is None:
        return Ordering((OrderingPart("more > less [s] (7 to 5)", (1.5, 2.5)),))
    return Numbers((7.25, 7.75))


def parts(text):
    """Return the parts of an explanation by their names, each on one line."""
    found, name = {}, ""
    for line in text.splitlines():
        name = line[:10].strip() or name
        found[name] = f"{found.get(name, '')} {line[10:]}".strip()
    return found


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize(("key", "short"), CLAIMS)
def test_a_verdict_is_explained_from_the_sentence_to_both_numbers(key, short):
    study = STUDIES[key]
    claim = study.claim(short)
    found = finding(study, claim)
    said = parts(explained(study, RUNS[key], judge(claim, found)))
    # the claim: where it stands, and what it says
    assert said["claim"] == f"{claim.id} ({claim.kind}), {claim.where}"
    assert flat(f"{claim.metric}, {claim.scenario}: {claim.value}") in said["says"]
    # the row of the table of claims, or the function that it names
    path, line = re.match(r"(\S+\.(?:csv|py)):(\d+) ", said["code"]).groups()
    first = Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    if claim.check.startswith("by "):
        assert first.startswith(f"def {claim.check.removeprefix('by ').partition('(')[0]}(")
    else:
        assert first.startswith(f"{claim.id},")
        assert path.endswith(f"{key}/claims.csv")
    # the settings, and the runs
    cases = study.checks[claim.id].cases
    named = re.findall(r"(\S+): scenarios/(\S+\.toml) of", said["settings"])
    plain = [case for case in cases if case in study.cases]
    assert [case for case, _ in named][: len(plain)] == plain[:SHOWN]
    assert all((study.folder / "scenarios" / file).is_file() for _, file in named)
    assert all(case in said["settings"] for case in cases if case in study.searches)
    assert named or cases or said["settings"].startswith(("no scenario: ", "turns with "))
    for case in plain[:1]:
        assert f"runs/{case}" in said["runs"]
    assert cases or said["runs"].startswith("none: ")
    # both numbers, with their unit
    unit = "" if claim.unit in ("", "-") else f"[{claim.unit}]"
    held_to = claim.number_or_range or (claim.number is not None and number(claim.number))
    if held_to:
        assert re.match(rf"{re.escape(held_to)} \[[^]]+\]", said["paper"])
    if claim.number_or_range:
        assert said["paper"].endswith(f" for {flat(claim.value)}, as printed")
    assert unit in said["paper"]
    if isinstance(found, Numbers):
        assert said["measured"].startswith("7.5 ± 0.354 [")
        assert unit in said["measured"]
        assert "by seed: 7.25, 7.75" in said["measured"]
    elif isinstance(found, Ordering):
        # Student's t of 1.5 and 2.5: 2 +- 12.706 * 0.5
        first = found.parts[0]
        assert first.what in said["measured"]
        assert re.search(r"differences by seed: \S", said["measured"])
    elif not isinstance(found, Unchecked):
        assert said["measured"].endswith(unit)
        assert said["measured"] not in ("", "nothing")
    assert said["rule"]
    assert said["verdict"]


def test_an_ordering_says_which_part_decides():
    study = STUDIES["qfcp"]
    claim = study.claim("fig1.qfcp_best")
    both = Ordering(
        (OrderingPart("a > b (3 to 1)", (2.0, 2.1)), OrderingPart("c > d (1 to 4)", (-3.0, -3.1)))
    )
    said = parts(explained(study, RUNS["qfcp"], judge(claim, both)))
    assert said["measured"].startswith("-3.05 [")
    text = flat(said["measured"])
    assert "for the part that decides: c > d (1 to 4) The value is" in text
    assert "below zero is against the claim. differences by seed: -3, -3.1" in text


def test_a_row_of_the_set_up_names_the_scenario_that_it_reads():
    study = STUDIES["qfcp"]
    claim = study.claim("setup.adapt.rtt")
    said = parts(explained(study, RUNS["qfcp"], judge(claim, finding(study, claim))))
    assert said["settings"].startswith("adapt/qfcp: scenarios/adapt.toml of tidegate.papers.qfcp")
    assert said["paper"] == said["measured"] == "40 [ms]"
