"""What docs/own-law.md shows is what lies in the repository, and works as it says."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tidegate
from tidegate.cli import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "own-law.md"
EXAMPLE = ROOT / "examples" / "own_law.py"
FILES = ["crates/core/src/law/session.rs", "crates/model/src/registry/law.rs"]
FILES += ["crates/core/src/law/rate.rs", "crates/model/src/registry/law/stamp.rs"]
FILES += ["crates/core/src/law/queue.rs", "crates/core/src/law/queue.rs"]
CONTROL = ["crates/sim/src/transport/control.rs", "crates/model/src/profile.rs"]
ROWS = ["completed_per_s", "completed_share", "fct_mean_s", "fct_admitted_mean_s"]
ROWS += ["retransmitted_share"]


def blocks(language: str) -> list[str]:
    """The blocks of code of one language on the page."""
    text = PAGE.read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M)
    return [code for each, code in fenced if each == language]


def test_the_code_on_the_page_is_that_of_the_example() -> None:
    assert blocks("python")[0] == EXAMPLE.read_text(encoding="utf-8")


def test_the_plant_keeps_within_the_bounds_that_the_page_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    exec(compile(blocks("python")[1], "own-law.md", "exec"), {})
    allowed = [int(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert allowed[:3] == [15, 20, 25]
    assert len(allowed) == 60
    assert (min(allowed[10:]), max(allowed[10:])) == (48, 65)


def with_the_lines_of_the_page(text: str, diff: str) -> str:
    """The text with the added lines of a diff where its other lines are."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line.startswith(" "))
    assert all(line[0] in " +" for line in lines)
    assert text.count(old) == 1, old
    return text.replace(old, "".join(line[1:] for line in lines))


def test_the_page_leads_to_every_example_of_a_law() -> None:
    text = PAGE.read_text(encoding="utf-8")
    examples = sorted(EXAMPLE.parent.glob("own_*"))
    examples = [path.name for path in examples if "host" not in path.name]
    assert len(examples) > 8
    assert [name for name in examples if f"](../examples/{name})" not in text] == []


def test_the_commands_with_laws_in_python_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those of the examples themselves are run by test_examples.py."""
    typed = [line for line in "".join(blocks("sh")).splitlines() if "--law " in line]
    assert len(typed) == 2
    for name in ("scenarios", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    for line in typed:
        _, *command = shlex.split(line)
        plain = ["--json", "--no-plots"] if command[0] == "compare" else ["--json"]
        done = CliRunner().invoke(app, [*command, *plain])
        assert done.exit_code == 0, done.output
    assert (tmp_path / "out").exists()


@pytest.mark.slow
def test_in_rust_a_law_and_a_control_take_one_file_and_two_lines() -> None:
    # One each for sessions, rates and queues, and a sender's control, at once. Compiled beside
    # what is compiled already, so that only these crates are checked again.
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    copy = target / "own-law"
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("crates", "benches"):
        shutil.copytree(ROOT / folder, copy / folder)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, copy / name)
    # another version: cargo would take what it has checked here for what is in the checkout
    workspace = (copy / "Cargo.toml").read_text(encoding="utf-8")
    # it stands there for all, and at each of the three crates that are published
    version = 'version = "0.1.0"'
    assert workspace.count(version) == 4
    workspace = workspace.replace(version, 'version = "0.1.0-own-law"')
    assert ', "examples/own-repository"' in workspace
    workspace = workspace.replace(', "examples/own-repository"', "")
    (copy / "Cargo.toml").write_text(workspace, encoding="utf-8")
    copied = [line.split()[1:] for line in "".join(blocks("sh")).splitlines() if line[:3] == "cp "]
    assert [Path(source).suffix for source, _ in copied] == [".rs"] * 4
    for source, place in copied:
        assert not (copy / place).exists()
        shutil.copy(ROOT / source, copy / place)
    added = 0
    for path, diff in zip(FILES + CONTROL, blocks("diff"), strict=True):
        text = with_the_lines_of_the_page((copy / path).read_text(encoding="utf-8"), diff)
        (copy / path).write_text(text, encoding="utf-8")
        added += sum(line.startswith("+") and "///" not in line for line in diff.splitlines())
    assert added == 4 * 2
    check = ["cargo", "check", "--quiet", "--offline", "-p", "tidegate-sim"]
    # what sends real traffic lists the controls too
    check += ["-p", "tidegate-emulate"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(target)}
    done = subprocess.run(
        check, cwd=copy, env=environment, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_figures_are_those_of_the_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Within a tenth, or three times the interval over seeds: see test_readme.py.
    monkeypatch.chdir(ROOT)
    shown: list[Any] = []
    compare = tidegate.compare

    def kept(*arguments: Any, **options: Any) -> Any:
        shown.append(compare(*arguments, **(options | {"seeds": 1})))
        return shown[0]

    monkeypatch.setattr(tidegate, "compare", kept)
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "completed" in capsys.readouterr().out
    averages = shown[0].averages
    assert [average["settings"]["gate"] for average in averages] == ["none", "close-probe", "aimd"]
    (table,) = [block for block in blocks("") if "aimd" in block]
    lines = table.splitlines()[1:]
    for line, metric in zip(lines, ROWS, strict=True):
        scale = 100.0 if "%" in line else 1.0
        figures = re.findall(r"([\d.]+) ± ([\d.]+)", line)
        for (mean, half), average in zip(figures, averages, strict=True):
            measured = average[metric]["mean"] * scale
            allowed = max(float(mean) / 10, 3 * float(half))
            assert abs(measured - float(mean)) <= allowed, (line, measured)
