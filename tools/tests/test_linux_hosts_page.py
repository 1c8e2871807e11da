"""The page of situations beside Linux: nothing is left out or differs without a reason."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from tools.pages import MARK, linux_hosts
from tools.pages.linux_hosts import DIFFERS, SAME, TODAY, Situation

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def _every() -> list[Situation]:
    return [situation for file in linux_hosts.situations().values() for situation in file]


def _missing() -> list[Situation]:
    return list(linux_hosts.read(linux_hosts._text("not-simulated")))


def test_every_script_is_a_situation_or_a_notion_that_is_missing() -> None:
    # 158 in the folder of Linux, 177 in that of Google: sources.txt has the names
    scripts = linux_hosts.scripts()
    owners = [name.partition("/")[0] for name in scripts]
    assert (owners.count("linux"), owners.count("google")) == (158, 177)
    without = set(scripts) - linux_hosts.covered(_every()) - linux_hosts.covered(_missing())
    assert not without


def test_every_source_is_a_script_a_function_or_a_section() -> None:
    for situation in [*_every(), *_missing()]:
        for source in situation.sources:
            if source.startswith(("linux/", "google/")):
                known = any(fnmatchcase(name, source) for name in linux_hosts.scripts())
            else:
                known = bool(re.search(r"^(RFC \d+|[a-z_]+\(\))", source))
            assert known, f"{situation.name}: {source}"


def test_what_differs_says_why_and_what_it_does_instead() -> None:
    for situation in _every():
        assert situation.verdict in {SAME, DIFFERS, TODAY}, situation.name
        here = any(line.startswith("here") for line in situation.lines)
        assert here == (situation.verdict == DIFFERS), situation.name
        assert ("not yet" in situation.lines) == (situation.verdict == TODAY), situation.name
        assert ("why" in situation.said) == (situation.verdict != SAME), situation.name


def test_the_files_of_the_page_are_those_that_are_played() -> None:
    source = (ROOT / "crates/sim/src/transport/drill.rs").read_text(encoding="utf-8")
    played = re.findall(r"tests/drills/([\w-]+)\.txt", source)
    assert played == list(linux_hosts.FILES)
    files = {path.stem for path in linux_hosts.FOLDER.glob("*.txt")}
    assert files == {*played, "not-simulated", "sources"}


def test_a_row_says_what_is_done_instead() -> None:
    text = """About.

== One
from: tcp_ack(); RFC 1, 2
about: It does.
host: sender, linux and rfc, mss = "1kB"
verdict: differs
why: So.
    0 syn -> syn+ack
    5 ack 1 -> 1..3
        here -> nothing
"""
    [situation] = linux_hosts.read(text)
    *_, row = linux_hosts._table([situation])
    assert row == (
        '| One | It does. | `tcp_ack()`; RFC 1, 2 | `linux`, `rfc`, `mss = "1kB"` | '
        "**differs** at `5 ack 1`: `nothing`, not `1..3`. So. |"
    )


def test_a_situation_is_in_one_table_of_the_page() -> None:
    page = linux_hosts.page()
    differs, same = page.split("## What is the same")
    for situation in _every():
        row = f"| {situation.name} |"
        place, other = (same, differs) if situation.verdict == SAME else (differs, same)
        assert (place.count(row), other.count(row)) == (1, 0), situation.name
    for notion in _missing():
        assert f"| {notion.name} |" in differs
    assert "<!-- " not in page.replace(MARK, "")
