"""What `tidegate attack` writes, and how a search ends that can run nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tidegate.attack.perform import LONGEST, Request, save, trials_of
from tidegate.attack.trials import worlds
from tidegate.cli import app
from tidegate.papers.folder import CaseFolder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--gate", "nosuch"], "unknown name `nosuch`"),
        (["--gate", "tide:nosuch=3"], "nosuch"),
        (['{ tcp = { profile = "linux", nosuch = 1 } }'], "unknown key `nosuch`"),
        (["cubic", "--against", '{ tcp = { profile = "nosuch" } }'], "`nosuch`"),
        (["gcc"], "a control of media goes with senders of media"),
    ],
)
def test_a_search_that_can_run_nothing_ends_and_says_why(
    tmp_path: Path, words: list[str], what: str
) -> None:
    given = ["attack", *words, "--runs", "20", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 2
    assert "can be run in 0 of 160 worlds only" in done.stderr
    assert what in done.stderr


def test_a_search_without_time_leaves_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with CaseFolder(tmp_path / "out", worlds(Request.of("bbr", None).control)) as kept:
        kept.write("bbr-goodput.toml", b"found")
    given = ["attack", "bbr", "--minutes", "0", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "bbr-goodput.toml").read_bytes() == b"found"


def test_each_search_has_a_name_of_its_own() -> None:
    """What differs is what the command says, but for how long it searches."""
    names = {
        Request.of("bbr", None).name: "bbr-goodput",
        Request.of("bbr", None, seed=3).name: "bbr-goodput-seed-3",
        Request.of("bbr", None, parts=["loss"], held=["delay=10"]).name: (
            "bbr-goodput-part-loss-hold-delay-10"
        ),
        Request.of("bbr", None, against=["cubic"]).name: "bbr-goodput-against-cubic",
        Request.of(None, "tide", of="users").name: "tide-loaded-worlds-users",
    }
    assert list(names) == list(names.values())
    long = Request.of(
        "bbr", None, against=['{ tcp = { profile = "linux", hystart = "none" } }'] * 3
    )
    # a hyphen and eight digits of a hash; also where letters are lost
    tables = ["{ tcp = { a_b = 1 } }", "{ tcp = { a-b = 1 } }"]
    some = [Request.of("bbr", None, against=[each]).name for each in tables]
    assert len({*some}) == 2
    assert len(long.name) == LONGEST + 9


def test_the_same_search_takes_the_place_of_its_own_finds_alone(tmp_path: Path) -> None:
    asked = Request.of("bbr", None)
    with CaseFolder(tmp_path / "out", worlds(asked.control)) as kept:
        for name in ("goodput-1", "goodput-2", "notes", "goodput-mine"):
            kept.write(f"bbr-goodput/{name}.toml", b"")
        save(asked, trials_of(asked, kept), [])
        left = sorted(path.name for path in (kept.target / "bbr-goodput").iterdir())
    assert left == ["goodput-mine.toml", "notes.toml"]
