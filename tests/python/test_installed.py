"""What works with the wheel alone, in a folder that is no checkout."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import tidegate
from tidegate.cli.paper import page


def ask(folder: Path, package: Path, *arguments: str) -> str:
    """Run a copy of the package and return what it says on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


@pytest.mark.slow
def test_a_paper_needs_no_checkout_and_writes_below_the_folder_one_is_in(tmp_path):
    # what the build tool packs: the package's folder, without what symbolic links point to
    source = Path(tidegate.__file__).parent
    links = [path for path in source.rglob("*") if path.is_symlink()]
    assert links == []
    site = tmp_path / "site"
    package = copytree(source, site / "tidegate", ignore=ignore_patterns("__pycache__"))
    before = sorted(package.rglob("*"))
    here = tmp_path / "here"
    here.mkdir()
    said = ask(here, package, "paper", "dqm", "--only", "table1.pc_down", "--seeds", "1")
    assert "Report: out/paper-dqm/REPORT.md." in said
    assert [path.name for path in here.iterdir()] == ["out"]
    assert sorted(package.rglob("*")) == before
    [manifest, *_] = here.glob("out/paper-dqm/runs/*/seed-1/manifest.json")
    assert '"commit": null' in manifest.read_text(encoding="utf-8")


def test_a_report_goes_to_the_papers_of_a_checkout_and_to_no_other_folder(tmp_path, monkeypatch):
    (tmp_path / "docs" / "papers" / "dqm").mkdir(parents=True)  # somebody's own, of that name
    monkeypatch.chdir(tmp_path)
    assert page("dqm") is None
    monkeypatch.chdir(Path(__file__).parents[2])
    assert page("dqm") == Path("docs/papers/dqm")
