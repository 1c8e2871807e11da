"""The repository of examples/own-repository: what its CI runs works, as it stands there."""

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
OWN = ROOT / "examples/own-repository"
BIN = Path(sys.executable).parent


def commands() -> list[list[str]]:
    found = yaml.safe_load((OWN / ".github/workflows/certify.yml").read_text(encoding="utf-8"))
    [job] = found["jobs"].values()
    return [shlex.split(step["run"]) for step in job["steps"] if "run" in step]


def typed(*command: str | Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Type a command in the repository, with what was installed in `path`."""
    settings = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(path or "")}
    return subprocess.run(
        [str(each) for each in command],
        cwd=OWN,
        env=os.environ | settings,
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.mark.slow
def test_the_ci_of_the_repository_judges_its_control(tmp_path: Path) -> None:
    test, install, certify = commands()
    # `make test` runs its test with those of all crates
    assert test == ["cargo", "test"]
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    assert OWN.relative_to(ROOT).as_posix() in members["members"]

    # tidegate is that of the checkout, and nothing is fetched
    assert install == ["pip", "install", "tidegate", "."]
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--target", tmp_path / "site")
    done = typed(sys.executable, "-m", *install[:2], *offline, *install[3:])
    assert done.returncode == 0, done.stdout + done.stderr

    # one condition of the 34; its control is Reno, and 0 says that it is not worse than Reno
    assert certify[0] == "tidegate"
    report = certify.index("--report") + 1
    certify[report] = str(tmp_path / certify[report])
    few = ("--only", "shallow-buffer", "--out", tmp_path / "out")
    done = typed(*certify, *few, path=tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "worse in 0 conditions, like them in 1, better in 0" in done.stdout
    assert list((tmp_path / "certificate").rglob("*.md"))
