"""The page of real stacks beside their RFCs: what differs has a reason."""

import re
from pathlib import Path

import pytest
from tools.pages import MARK, foreign_hosts
from tools.pages.linux_hosts import Situation, read

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def _every() -> list[Situation]:
    return [situation for file in foreign_hosts.situations().values() for situation in file]


def test_every_situation_names_a_section_and_its_stacks() -> None:
    for situation in _every():
        for source in situation.said["from"].split("; "):
            assert re.match(r"RFC \d+, [\dA-Z]", source), f"{situation.name}: {source}"
        assert set(foreign_hosts.stacks(situation)) <= set(foreign_hosts.STACKS), situation.name
        assert set(foreign_hosts.differing(situation)) <= set(foreign_hosts.stacks(situation))


def test_what_differs_says_why_and_what_it_does_instead() -> None:
    for situation in _every():
        differs = bool(foreign_hosts.differing(situation))
        here = any(line.startswith("here") for line in situation.lines)
        assert (here, "why" in situation.said) == (differs, differs), situation.name


def test_the_files_of_the_page_are_those_that_are_played() -> None:
    source = (ROOT / "crates/stacks/tests/drills.rs").read_text(encoding="utf-8")
    played = re.findall(r'include_str!\("drills/([\w-]+)\.txt"\)', source)
    assert played == list(foreign_hosts.FILES)
    assert {path.stem for path in foreign_hosts.FOLDER.glob("*.txt")} == set(played)


def test_a_row_says_who_differs_and_what_is_done_instead() -> None:
    text = """About.

== One
from: RFC 1, 2
about: It goes.
stacks: quinn and noq
transfer: upload 1
path: 50
verdict: noq differs
why: So.
    0 client -> initial
    5 client -> ack
        here noq 7 -> nothing
"""
    [situation] = read(text)
    [*_, row] = foreign_hosts._differs([situation])
    assert row == (
        "| One | It goes. | RFC 1, 2 | noq | The client at 7 ms: `nothing`, not `ack`. So. |"
    )
    [*_, row] = foreign_hosts._table([situation])
    assert row == "| One | It goes. | RFC 1, 2 | same | **differs** |"


@pytest.mark.parametrize(
    ("here", "said"),
    [
        (
            ["here quinn -> data*17", "here noq -> data*13"],
            "The client at 5 ms: `data*17` by quinn, `data*13` by noq, not `ack`.",
        ),
        (
            ["here quinn 7 -> ack", "here noq 9 -> ack"],
            "The client's `ack` at 7 ms by quinn, at 9 ms by noq, not at 5.",
        ),
        (
            ["here quinn 7 -> ack", "here noq 9 -> nothing", "6 client -> data", "here -> ack"],
            "The client's `ack` at 7 ms by quinn, not at 5."
            " The client at 9 ms: `nothing` by noq, not `ack`.",
        ),
    ],
)
def test_a_row_says_what_each_stack_does_instead(here: list[str], said: str) -> None:
    """Of the first claim that does not hold; by the lines of the script."""
    situation = Situation("One", {"stacks": "quinn and noq"}, ["5 client -> ack", *here])
    assert foreign_hosts._instead(situation) == said


def test_what_a_stack_chooses_stands_beside_what_is_asked_for() -> None:
    said = {"about": "Ten at most.", "chooses": "nine.", "from": "RFC 1, 2", "verdict": "same"}
    situation = Situation("One", {**said, "stacks": "quinn"})
    [*_, row] = foreign_hosts._table([situation])
    assert row == "| One | Ten at most. | RFC 1, 2 | same: nine. |"


def test_a_situation_is_in_its_table_and_in_that_of_differences() -> None:
    differs, every = foreign_hosts.page().split("## All situations")
    for situation in _every():
        row = f"| {situation.name} |"
        assert every.count(row) == 1, situation.name
        assert differs.count(row) == bool(foreign_hosts.differing(situation)), situation.name
    assert "<!-- " not in (differs + every).replace(MARK, "")
