"""Every relative link of a report leads to a file that exists from where the report stands."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidegate import papers, studies
from tidegate.cli import app
from tidegate.papers import links
from tidegate.papers.folder import CaseFolder
from tidegate.papers.runs import Runs

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)")


def led(page: Path) -> dict[str, Path]:
    """Return where the relative links of a page lead, by the file's name."""
    targets = [each for each in LINK.findall(page.read_text("utf-8")) if "://" not in each]
    return {Path(each).name: page.parent / each for each in targets}


def dead(folder: Path) -> list[str]:
    return [
        str(file)
        for page in folder.rglob("*.md")
        for file in led(page).values()
        if not file.exists()
    ]


@pytest.fixture
def reports(tmp_path, monkeypatch):
    """Write the report of the set-up of a paper; return its folder, and that of the copy."""
    monkeypatch.chdir(tmp_path)
    # a file of the user's own is not the one that the report means
    (tmp_path / "README.md").write_text("mine")
    words = ["paper", "dqm", "--only", "setup", "--out", "runs", "--report", "deep er/copy"]

    def write():
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        return tmp_path / "runs", tmp_path / "deep er" / "copy"

    return write


def test_the_report_of_a_paper_leads_to_what_exists_wherever_it_is_written(reports):
    for folder in reports():
        assert dead(folder) == []
        there = led(folder / "REPORT.md")
        assert there["verdicts.csv"].resolve() == (folder / "verdicts.csv").resolve()
        assert there["README.md"].resolve() == ROOT / "docs/papers/README.md"
        assert there["search.md"].resolve() == ROOT / "docs/papers/dqm/search.md"
        assert there["claims.csv"].resolve() == ROOT / "python/tidegate/papers/dqm/claims.csv"
        assert "README.md#rules-of-the-verdicts)" in (folder / "REPORT.md").read_text("utf-8")


def test_a_report_without_a_run_stays_where_it_is_said_to_be(tmp_path, monkeypatch):
    """The set-up is judged by the scenarios alone."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["paper", "dqm", "--only", "setup"])
    assert "Report: out/paper-dqm/REPORT.md" in done.stderr
    assert Path("out/paper-dqm/REPORT.md").is_file()


def test_without_a_checkout_it_leads_into_the_package_and_names_the_rest(reports, monkeypatch):
    monkeypatch.setattr(links, "checkouts", list)
    for folder in reports():
        assert dead(folder) == []
        there = led(folder / "REPORT.md")
        assert there["claims.csv"].resolve() == Path(papers.__file__).parent / "dqm/claims.csv"
        text = (folder / "REPORT.md").read_text("utf-8")
        assert "chosen: search.md." in text
        assert "the rules (`docs/papers/README.md` of tidegate)" in text


def test_in_docs_a_page_is_as_it_was_made(tmp_path):
    """So that it is the same wherever it was made."""
    text = "[a](../README.md) [b](search.md) [c](../../../python/tidegate/papers/dqm/nowhere.csv)"
    study = papers.load("dqm")
    for each in ("python/tidegate/papers", "docs/papers"):
        (tmp_path / each).mkdir(parents=True)
    with CaseFolder(tmp_path / "out", study) as folder:
        folder.publish({"REPORT.md": text.encode()})
        folder.copy(["REPORT.md"], tmp_path / "docs/papers/dqm")
        assert (tmp_path / "out/REPORT.md").read_text() != text
    assert (tmp_path / "docs/papers/dqm/REPORT.md").read_text() == text


@pytest.mark.parametrize("key", studies.STUDIES)
def test_the_report_of_a_study_leads_to_what_exists(key, tmp_path):
    study = studies.load(key)
    with CaseFolder(tmp_path / "out", study) as folder:
        folder.publish(study.pages(Runs(study, folder, 1)))
        folder.copy(folder.files, tmp_path / "copy")
        for place in (tmp_path / "out", tmp_path / "copy"):
            assert led(place / "REPORT.md")
            assert dead(place) == []
