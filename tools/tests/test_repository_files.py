"""The files that a forge reads: the workflow, the forms, the citation."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools import openwrt

ROOT = Path(__file__).parents[2]
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def read(name: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return found


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_workflow_runs_what_a_change_has_to_pass_and_nothing_else() -> None:
    found = read(".github/workflows/ci.yml")
    assert list(found["jobs"]) == ["run", "openwrt", "semver"]
    assert [each.split()[-1] for each in commands(found["jobs"]["run"])] == [".ci/run"]
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    # nothing in it may write to the repository
    assert found["permissions"] == {"contents": "read"}


# A processor that the workflow leaves out breaks unseen: nobody compiles for it day by day.
def test_the_workflow_makes_the_package_of_every_router() -> None:
    *_, made = commands(read(".github/workflows/ci.yml")["jobs"]["openwrt"])
    asked = re.fullmatch(r'make openwrt PROCESSOR="(.*)"', made)
    assert asked is not None
    assert asked[1].split() == list(openwrt.PROCESSORS)


@pytest.mark.parametrize("released", [False, True])
def test_the_crates_are_compared_with_the_last_release_once_there_is_one(
    released: bool, tmp_path: Path
) -> None:
    """In a repository of one commit, with a `make` that only says what it was asked for."""
    [command] = commands(read(".github/workflows/ci.yml")["jobs"]["semver"])
    tag = "git tag v0.1.0;" if released else ""
    identity = "-c user.name=a -c user.email=a@example.org"
    script = f"git init -q . && git {identity} commit -q --allow-empty -m one && {tag}"
    shell = f"make() {{ echo asked for $*; }}; {script}\n{command}"
    done = subprocess.run(
        ["bash", "-e", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ("asked for semver" in done.stdout) == released
    assert ("there is no release yet" in done.stdout) == (not released)


def test_the_citation_has_the_version_licences_and_words_of_the_package() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = read("CITATION.cff")
    assert found["version"] == cargo["workspace"]["package"]["version"]
    assert " OR ".join(found["license"]) == project["license"]
    assert found["keywords"] == project["keywords"]
    assert [each["name"] for each in found["authors"]] == [
        each["name"] for each in project["authors"]
    ]


@pytest.mark.parametrize("path", [each for each in FORMS if each.stem != "config"], ids=str)
def test_a_form_has_what_a_forge_asks_of_it(path: Path) -> None:
    found = read(path)
    assert found["name"]
    assert found["description"]
    ids = [each["id"] for each in found["body"]]
    assert len(ids) == len(set(ids))
    for each in found["body"]:
        assert each["type"] in ("textarea", "input")
        assert re.fullmatch(r"[a-z]+", each["id"])
        assert each["attributes"]["label"]


def test_the_checklist_of_a_release_names_targets_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [checklist] = re.findall(r"^## Making a release\n(.*?)^## ", text, re.S | re.M)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"`make ([a-z-]+)`", checklist)
    assert len(targets) > 4
    assert [each for each in targets if not re.search(rf"^{each}:", makefile, re.M)] == []
    for path in re.findall(r"`((?:[\w.]+/)*\w[\w.]*\.(?:toml|cff|md))`", checklist):
        assert (ROOT / path).exists(), path
