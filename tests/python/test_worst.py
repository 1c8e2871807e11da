"""The worst worlds that were found (docs/attack.md): each is still one, as certify judges it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tidegate.certify.conditions import suite
from tidegate.cli import app

ROOT = Path(__file__).parents[2]
WORST = ROOT / "python" / "tidegate" / "attack" / "worst"
SUITES = sorted(WORST.glob("*.toml"))


def test_each_law_that_the_page_names_has_a_suite() -> None:
    page = (ROOT / "docs" / "attack.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\(\.\./python/tidegate/attack/worst/([\w-]+\.toml)\)", page))
    assert named == {path.name for path in SUITES}
    assert {"tide-served.toml", "close-probe-served.toml", "gss-ga-served.toml"} <= named
    real = {"close-probe-real-served.toml", "gss-ga-real-served.toml"}
    assert {*real, "tide-connections-served.toml"} <= named


@pytest.mark.slow
@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_a_control_is_worse_in_each_world_by_what_its_file_says(path: Path, tmp_path: Path) -> None:
    asked = suite(str(path))
    title = re.fullmatch(r"Worst worlds for (.+): \w+", asked.title)
    assert title is not None
    control = title[1]
    words = ["--gate", control] if asked.standard in (("static",), ("none",)) else [control]
    command = ["certify", *words, "--suite", str(path), "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 3, done.output
    found = {each["id"]: each for each in json.loads(done.stdout)["conditions"]}
    assert [each["verdict"] for each in found.values()] == ["worse"] * len(asked.conditions)
    for name, each in found.items():
        text = (path.parent / path.stem / f"{name}.toml").read_text(encoding="utf-8")
        [measured] = each["measures"]
        said = re.search(rf"^# .*[ ,]{re.escape(control)} ([0-9][0-9.e+-]*)", text, re.M)
        assert said is not None, name
        # the numbers of the head have three digits
        assert np.mean(measured["values"]) == pytest.approx(float(said[1]), rel=6e-3, abs=1e-3)
