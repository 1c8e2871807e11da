"""What the documentation shows works as it is shown."""

import re
import runpy
from pathlib import Path

import pytest

import tidegate
from tidegate.scenario import document as scenario

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EXAMPLES.remove(ROOT / "examples" / "own_law.py")  # test_own_law_page.py runs it, with one seed
PAGES = [ROOT / "docs" / "getting-started.md", ROOT / "docs" / "scenario.md"]


def whole_documents(page: Path) -> list[str]:
    """The TOML blocks of a page that are documents, not parts of one."""
    blocks = re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    return [block for block in blocks if "[topology" in block]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_runs(path: Path) -> None:
    # A second holds flows of every one of them, from all their classes but the rarest.
    result = tidegate.run(path, settings={"duration": "1s", "warmup": "0s", "change": []})
    assert result.flows.height > 0


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_says_what_it_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    comment = text[: text.index("name ")]
    assert all(line.startswith("#") or not line for line in comment.splitlines())
    assert len(comment.split()) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scenarios_in_the_documentation_load(page: Path) -> None:
    documents = whole_documents(page)
    assert documents
    for text in documents:
        assert scenario.read(text).load().duration_s > 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(path), run_name="__main__")
    assert "utilisation" in capsys.readouterr().out
