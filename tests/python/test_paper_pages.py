"""The pages of the papers in docs: reasons agree with tables, every claim has its row."""

from __future__ import annotations

import csv
import re
import shlex
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

from tidegate.papers import claims as listed
from tidegate.papers import (
    claims_page,
    load,
    overview,
    parameter_search,
    published,
    there,
)
from tidegate.papers.claims import SETUP_KINDS, matches
from tidegate.papers.verdicts import CHOSEN_ON, DERIVED, SET_UP, group

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "papers"
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
WORDS = 3000
"""A report is read in a few minutes."""


def page(key, name):
    return (PAGES / key / name).read_text(encoding="utf-8")


def verdicts(key):
    with (PAGES / key / "verdicts.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def every_claim(key):
    """Return the page of claims, which the site alone has."""
    return claims_page.page(load(key), published.of_text(page(key, "verdicts.csv")))


def numbers(text):
    """Return the numbers of a text, without names of claims, links, and names of tables.


    Years, sections, figures and claims are names: `fig6c.D_ratio`, Table II, III-A.
    """
    text = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", " ", text)
    text = re.sub(
        r"(Figures?|Tables?|Section|RFC|RFCs|Algorithm|LOAD|experiments?) \d\S*", " ", text
    )
    return [each.replace(",", "") for each in NUMBER.findall(text)]


def near(one, other):
    """Tell whether a number of a reason is one of a table, as precisely as the reason has it."""
    digits = len(one.partition(".")[2])
    return abs(float(one) - other) <= 0.5001 * 10**-digits


def rows(key, patterns):
    """Return what the pages have of the rows that patterns name: that of claims, verdicts.csv."""
    names = {
        claim.short: f"{claim.value} {claim.note} {claim.scenario}"
        for claim in load(key).claims()
        if any(matches(pattern, claim.id) for pattern in patterns)
    }
    found = [*names.values()]
    found += [
        line
        for line in every_claim(key).splitlines()
        if line.startswith("| `") and line.split("`")[1] in names
    ]
    found += [
        f"{each['measured']} {each['low']} {each['high']}"
        for each in verdicts(key)
        if each["id"] in names
    ]
    return "\n".join(found)


def outside_of_reasons(key):
    """Return the report without its part on what does not hold."""
    text = page(key, "REPORT.md")
    return text.partition("## What does not hold")[0]


def said_elsewhere(key, reason):
    """Return where the numbers of a reason have to stand, and nowhere else.

    In the rows that it is about or names, in the pages that it names, and in what its
    command makes.
    """
    asked = [*reason.claims, *re.findall(r"`([^`]+)`", reason.text)]
    named = re.findall(r"\((\w+\.md)\)", reason.text)
    words = shlex.split(reason.command)[3:]
    if words[:1] == ["--only"]:
        asked += words[1:]
    named += {"--sensitivity": ["sensitivity.md"], "--search": ["search.md"]}.get(
        " ".join(words), []
    )
    named += ["search.csv"] if "search.md" in named else []
    parts = [rows(key, asked)]
    parts += [page(key, name) for name in named]
    if "table" in reason.text or "picture" in reason.text or (reason.command and not words):
        parts.append(outside_of_reasons(key))
    return {float(each.replace(",", "")) for part in parts for each in NUMBER.findall(part)}


def unsupported(key, reason):
    """Return the numbers of a reason that do not stand where it says."""
    known = said_elsewhere(key, reason)
    # a share may be said in per cent
    known |= {100 * each for each in known if abs(each) <= 1}
    return [
        number for number in numbers(reason.text) if not any(near(number, each) for each in known)
    ]


REASONS = [(key, each) for key in there() for each in load(key).deviations().explanations]


@pytest.mark.parametrize(("key", "reason"), REASONS)
def test_the_numbers_in_reasons_stand_in_the_rows_and_pages_that_they_are_about(key, reason):
    assert unsupported(key, reason) == [], reason.text


def test_a_wrong_number_in_a_reason_is_noticed():
    """Every number of three digits and more, 7 % larger: at least three of four are found."""
    found = [
        bool(unsupported(key, replace(reason, text=reason.text.replace(number, wrong))))
        for key, reason in REASONS
        for number in numbers(reason.text)
        if len(number.replace(".", "").strip("0")) >= 3
        for wrong in [f"{1.07 * float(number):.{len(number.partition('.')[2])}f}"]
        if number in reason.text
    ]
    assert len(found) > 10
    assert sum(found) >= 0.75 * len(found)


@pytest.mark.parametrize(("key", "reason"), REASONS)
def test_a_reason_is_a_measurement_that_a_command_repeats_or_not_known(key, reason):
    assert bool(reason.command) != ("Not known" in reason.text), reason.text
    if not reason.command:
        return
    words = shlex.split(reason.command)
    assert words[:3] == ["tidegate", "paper", key]
    if words[3:4] == ["--only"]:
        # UsageError for a name that is no claim
        assert listed.chosen(load(key).claims(), words[4:])
    else:
        assert words[3:] in ([], ["--sensitivity"], ["--search"])


@pytest.mark.parametrize("key", there())
def test_every_row_that_does_not_hold_has_a_reason(key):
    """The reason may be that it is not known; that has to be said by somebody who looked."""
    deviations = load(key).deviations()
    missing = [
        each["id"]
        for each in verdicts(key)
        if each["as_taken"] in ("not met", "unresolved")
        and not deviations.context(f"{key}.{each['id']}").explanation
    ]
    assert missing == []


@pytest.mark.parametrize("key", there())
def test_every_claim_has_its_row_and_no_other_is_there(key):
    claims = [claim.short for claim in load(key).claims()]
    assert [each["id"] for each in verdicts(key)] == claims
    rows = re.findall(r"^\| `([^`]+)` \|", every_claim(key), re.MULTILINE)
    assert rows == claims


@pytest.mark.parametrize("key", [key for key in there() if (PAGES / key / "search.md").exists()])
def test_every_combination_of_a_search_is_in_its_table_and_the_nearest_on_its_page(key):
    with (PAGES / key / "search.csv").open(encoding="utf-8") as file:
        tried = list(csv.DictReader(file))
    said = page(key, "search.md")
    study = load(key)
    assert [choice.title for choice in study.choices] == list(
        dict.fromkeys(each["search"] for each in tried)
    )
    for choice in study.choices:
        own = [each for each in tried if each["search"] == choice.title]
        assert len(own) == prod(len(axis.options) for axis in choice.together)
        distances = [float(each["distance"]) for each in own]
        assert distances == sorted(distances)
        text = said.partition(f"## {choice.title}\n")[2].partition("\n## ")[0]
        rows = text.partition("| paper |")[2].partition("\n\n")[0].splitlines()[1:]
        assert len(rows) == min(len(own), parameter_search.NEAREST)
        for row, each in zip(rows, own, strict=False):
            cells = [part.partition(": ")[2] for part in each["setting"].split("; ")]
            assert row.replace("&lt;", "<").startswith(
                f"| {' | '.join(cells)} | {each['distance']}"
            )


@pytest.mark.parametrize("key", there())
def test_a_report_is_short(key):
    assert len(page(key, "REPORT.md").split()) < WORDS


@pytest.mark.parametrize("key", there())
def test_rows_that_a_guess_turns_are_named_by_it(key):
    """Both ways: sensitivity.md lists what turns, deviations.toml what each guess affects."""
    study = load(key)
    kinds = {claim.short: claim.kind for claim in study.claims()}
    for line in page(key, "sensitivity.md").partition("## Rows that turn")[2].splitlines():
        found = re.match(r"- `([^`]+)`, [^:]*: \*([^*]+)\*: (.*)", line)
        if not found or kinds[found[1]] in SETUP_KINDS:
            continue
        equal = [each for each in found[3].split("; ") if "no equal guess" not in each]
        context = study.deviations().context(f"{key}.{found[1]}")
        if equal and not context.chosen_on:
            assert found[2] in context.depends_on, line


ALTERNATIVE = re.compile(r"^- \*\*(\d+)\*\* (.*?): (.*)$", re.MULTILINE)


def turned(key):
    """Yield the claims and guesses where an equal guess turns the verdict of all seeds.

    The table of a guess has fewer seeds: what its own intervals leave open may be settled
    in the report, and turn.
    """
    text = page(key, "sensitivity.md")
    guesses = {int(number): (what, label) for number, what, label in ALTERNATIVE.findall(text)}
    reported = {each["id"]: each for each in verdicts(key)}
    for line in text.splitlines():
        name = line.split("`")[1] if line.startswith("| `") else ""
        taken = reported.get(name, {"as_taken": "", "kind": ""})
        if taken["as_taken"] not in ("met", "not met") or taken["kind"] in SETUP_KINDS:
            continue
        for number, cell in enumerate(line.split(" | ")[3:], 1):
            found = {"✓": "met", "✗": "not met"}.get(cell.removesuffix(" |")[-1:])
            what, label = guesses[number]
            if found and found != taken["as_taken"] and "no equal guess" not in label:
                yield name, what


@pytest.mark.parametrize("key", there())
def test_rows_that_a_guess_turns_against_all_seeds_are_named_by_it(key):
    deviations = load(key).deviations()
    missing = [
        (name, what)
        for name, what in turned(key)
        for context in [deviations.context(f"{key}.{name}")]
        if not context.chosen_on and what not in context.depends_on
    ]
    assert missing == []


@pytest.mark.parametrize("key", there())
def test_reasons_stand_in_the_report_or_beyond_it_and_name_few_rows(key):
    pages = {False: page(key, "REPORT.md"), True: page(key, "beyond.md")}
    for reason in load(key).deviations().explanations:
        here, elsewhere = pages[reason.aside], pages[not reason.aside]
        assert f"- {reason.whole} *Rows:" not in elsewhere
        applies = any(
            each["as_taken"] in ("not met", "unresolved")
            and load(key).deviations().context(f"{key}.{each['id']}").explanation == reason.whole
            for each in verdicts(key)
        )
        assert (f"- {reason.whole} *Rows:" in here) == applies, reason.text
    for line in "\n".join(pages.values()).splitlines():
        assert len(re.findall(r"`[\w.]+`", line.partition("*Rows:")[2])) <= 5, line


MOVED = ROOT / "docs" / "verdicts.md"


def said_now(row):
    """Return the verdict of a row in the words of the page on verdicts that moved."""
    name = group(row["kind"], bool(row["chosen_on"]))
    apart = {DERIVED: ", derived", CHOSEN_ON: " †", SET_UP: ", set-up"}.get(name, "")
    return f"{row['verdict']}{apart}"


def test_the_page_on_verdicts_that_moved_says_what_they_are_now():
    text = MOVED.read_text(encoding="utf-8").partition("## Row by row")[2].partition("\n## ")[0]
    lines = text.splitlines()
    now = {f"{key}.{each['id']}": said_now(each) for key in there() for each in verdicts(key)}
    seen = []
    for line in lines:
        cells = line.split(" | ")
        names = re.findall(r"`([^`]+)`", cells[0]) if line.startswith("| `") else []
        assert [(name, now.get(name)) for name in names if now.get(name) != cells[2]] == []
        seen += names
    assert len(seen) == len(set(seen)) > 50


@pytest.mark.parametrize("key", there())
def test_the_page_on_verdicts_that_moved_adds_up(key):
    text = MOVED.read_text(encoding="utf-8")
    row = re.search(rf"^\| \[{key}\]\S* \|(.*)\|$", text, re.MULTILINE)
    counted = published.read(PAGES, [key])[0]
    before, *moved, now = (int(each) for each in row[1].split("|") if each.strip())
    assert before + sum(moved) == now == counted.count("met")


def test_the_page_over_all_papers_is_made_from_their_verdicts():
    said = (PAGES / overview.PAGE).read_text(encoding="utf-8")
    assert said == overview.page(overview.read(PAGES, there()))
