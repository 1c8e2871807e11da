"""`tidegate attack --draw`: worlds that are drawn, and in how many a control is worse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tidegate.attack.draw import Drawn, draw, told
from tidegate.attack.perform import Request, limits_worse
from tidegate.attack.trials import worlds
from tidegate.errors import UsageError
from tidegate.papers.folder import CaseFolder

if TYPE_CHECKING:
    from pathlib import Path


def drawn(folder: Path, seed: int = 1) -> list[Drawn]:
    asked = Request.of("cubic", None, against=["reno"], held=["rate=0.5", "flows=1"], seed=seed)
    with CaseFolder(folder, worlds(asked.control)) as kept:
        return draw(asked, kept, 3)


def test_the_same_seed_draws_the_same_worlds_and_the_worst_comes_first(tmp_path: Path) -> None:
    found = drawn(tmp_path / "one")
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    for each in found:
        # by hand: the goodput of CUBIC and Reno, in limits of 1.25
        ratio = each.measured["reno"] / each.measured["cubic"]
        assert each.score == pytest.approx(np.log(ratio) / np.log(1.25))
    assert drawn(tmp_path / "two") == found
    assert drawn(tmp_path / "other", seed=2) != found
    name = "cubic-goodput-hold-rate-0-5-hold-flows-1-against-reno-drawn.csv"
    tables = [tmp_path / each / name for each in ("one", "two")]
    assert tables[0].read_bytes() == tables[1].read_bytes()


@pytest.mark.parametrize(("score", "number"), [(-0.04, "0.0"), (0.0, "0.0"), (-0.06, "-0.1")])
def test_a_score_that_rounds_to_nothing_has_no_sign(score: float, number: str) -> None:
    assert limits_worse(score) == f"{number} limits worse"


def test_worlds_are_counted_by_limits_and_those_that_are_worse_are_told() -> None:
    asked = Request.of(None, "tide", "loaded", ["none"], of="users")
    world = asked.worlds.drawn(np.random.default_rng(1), asked.objective)
    found = [
        Drawn(world, score, {"tide": 10.0 + score, "none": 12.0})
        for score in (3.0, 1.0, 0.9, 0.0, -0.9, -1.0)
    ]
    lines = told(asked, found).splitlines()
    assert lines[0] == "pages that were loaded: tide beside none, in 6 worlds"
    assert [line.strip() for line in lines[1:4]] == [
        "better by 1.1 times and more: 1",
        "worse by 1.1 times and more: 2",
        "neither: 3",
    ]
    assert [line for line in lines if line.startswith("tide ")] == [
        "tide 13, none 12 pages",
        "tide 11, none 12 pages",
    ]


def test_a_control_that_can_be_run_in_no_world_that_is_drawn_is_said(tmp_path: Path) -> None:
    asked = Request.of("blitz", None, parts=["codel"])
    with (
        CaseFolder(tmp_path / "out", worlds(asked.control)) as kept,
        pytest.raises(UsageError, match="blitz can be run in 0 of 20 worlds only"),
    ):
        draw(asked, kept, 2)


def test_a_world_to_which_nobody_comes_is_neither_better_nor_worse(tmp_path: Path) -> None:
    """By hand: 18.75 kB a second are a user with two pages of 1 MB every 107 s; a run has 90 s."""
    held = ["rate=0.5", "load=0.3", "page=1000"]
    asked = Request.of(None, "tide", "loaded", ["none"], held=held, parts=["again"], of="users")
    with CaseFolder(tmp_path, worlds(asked.control)) as kept:
        found = draw(asked, kept, 12)
    nobody = [each for each in found if np.isnan(each.measured["none"])]
    assert nobody
    assert all(np.isnan(each.measured["tide"]) and each.score == 0.0 for each in nobody)
