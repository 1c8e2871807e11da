"""What is wrong with a crate for others is found: in the manifests, and in the packages."""

import json
import re
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools import crates

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def workspace() -> str:
    return crates.cargo("metadata", "--locked", "--no-deps", "--format-version=1")


def changed(workspace: str, name: str, change: Callable[[dict[str, Any]], None]) -> list[str]:
    """The problems after one change to the manifest of one crate."""
    told = json.loads(workspace)
    [package] = [each for each in told["packages"] if each["name"] == name]
    change(package)
    return list(crates.manifest_problems(told))


def needs(package: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [each for each in package["dependencies"] if each["name"] == name]
    return dict(found)


def test_the_manifests_are_right(workspace: str) -> None:
    assert list(crates.manifest_problems(json.loads(workspace))) == []


def test_what_a_registry_would_refuse_is_found(workspace: str) -> None:
    # cargo publishes only what has a description and a licence, and needs a version beside a path
    [problem] = changed(workspace, "tidegate-core", lambda each: each.update(description=None))
    assert problem == "tidegate-core: its manifest has no description"

    def forget(package: dict[str, Any]) -> None:
        package["dependencies"] = [needs(package, "tidegate-core") | {"req": "*"}]

    [problem] = changed(workspace, "tidegate-model", forget)
    assert problem.startswith("tidegate-model: it takes tidegate-core *, not ")


def test_a_crate_of_the_checkout_alone_is_neither_published_nor_needed(workspace: str) -> None:
    [problem] = changed(workspace, "tidegate-gate", lambda each: each.update(publish=None))
    assert problem.startswith("tidegate-gate: publish = false is missing")

    def lean(package: dict[str, Any]) -> None:
        own = needs(package, "tidegate-model") | {"name": "tidegate-capture"}
        package["dependencies"].append(own)

    [problem] = changed(workspace, "tidegate-sim", lean)
    assert "tidegate-sim: it depends on tidegate-capture" in problem


def test_a_package_that_lacks_a_file_is_told(tmp_path: Path) -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = cargo["workspace"]["package"]["version"]
    for name in crates.PUBLISHED:
        with tarfile.open(tmp_path / f"{name}-{version}.crate", "w:gz") as package:
            for file in crates.FILES:
                if (name, file) != ("tidegate-model", "LICENSE-MIT"):
                    package.add(ROOT / "README.md", f"{name}-{version}/{file}")
    problems = list(crates.lay_out(tmp_path, tmp_path / "laid"))
    assert problems == ["tidegate-model: its package has no LICENSE-MIT"]


@pytest.mark.parametrize("name", crates.PUBLISHED)
def test_a_readme_has_an_example_that_is_run_and_no_link_out_of_the_package(name: str) -> None:
    folder = ROOT / "crates" / name.removeprefix("tidegate-")
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^```rust$", text, re.M)
    assert "](" not in text
    first = (folder / "src/lib.rs").read_text(encoding="utf-8").splitlines()[0]
    assert first == '#![doc = include_str!("../README.md")]'


def test_without_a_network_the_registry_is_left_out_and_a_refusal_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    assert not crates.dry_run("--no-verify", "--locked", "--allow-dirty")
    with pytest.raises(crates.CargoError, match="unexpected argument"):
        crates.dry_run("--no-such-option")
