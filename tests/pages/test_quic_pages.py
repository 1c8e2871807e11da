"""What docs/quic.md and docs/own-host.md show lies in the repository, and works as they say."""

import re
import shlex
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidegate.cli import app

ROOT = Path(__file__).parents[2]
PAGES = ["quic", "own-host"]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)


def test_the_host_on_the_page_is_that_of_the_example() -> None:
    """The example is compiled and run by crates/sim/tests/hosts.rs."""
    example = (ROOT / "examples" / "own_host.rs").read_text(encoding="utf-8")
    assert blocks("own-host", "rust")[0] == example


def test_the_drill_on_the_page_is_that_of_the_example() -> None:
    """It is played by the lines of crates/sim/tests/hosts.rs that the page shows."""
    example = (ROOT / "examples" / "own_host_drill.txt").read_text(encoding="utf-8")
    assert blocks("own-host", "text") == [example]
    test = (ROOT / "crates" / "sim" / "tests" / "hosts.rs").read_text(encoding="utf-8")
    assert blocks("own-host", "rust")[-1] in test


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_exists(page: str) -> None:
    """Those that need a stack are parsed, not run: `make build` leaves the stacks out."""
    lines = "".join(blocks(page, "sh")).splitlines()
    assert lines
    for line in lines:
        program, *arguments = shlex.split(line)
        if program == "make":
            subprocess.run(["make", "-n", *arguments], cwd=ROOT, check=True, capture_output=True)
        elif program == "cargo":
            crate = ROOT / "crates" / arguments[arguments.index("-p") + 1].removeprefix("tidegate-")
            named = arguments[-1] if "--example" in arguments else "all"
            assert any(crate.glob(f"*/{named}.rs")), line
        elif arguments[0] == "-m":
            assert find_spec(arguments[1]), line
        else:
            assert program == ".venv/bin/tidegate"
            [scenario] = [each for each in arguments if each.endswith(".toml")]
            shown = CliRunner().invoke(app, ["show", str(ROOT / scenario)])
            assert shown.exit_code == 0, shown.output
