"""The profile that the wheel is compiled by: what happens where it cannot be taken."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "pgo.sh"
RUSTC = """#!/bin/sh
case "$1" in
    -vV) echo 'host: some-host'; echo 'LLVM version: 99.1.2' ;;
    --print) echo '{sysroot}' ;;
esac
"""


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def compiler(tmp_path: Path) -> Path:
    """Make a compiler that says that it is of LLVM 99, which does not exist yet."""
    _program(tmp_path / "bin" / "rustc", RUSTC.format(sysroot=tmp_path / "sysroot"))
    return tmp_path


def _run(compiler: Path) -> subprocess.CompletedProcess[str]:
    path = f"{compiler / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", str(SCRIPT), str(compiler / "nowhere")]
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_without_the_tool_the_wheel_is_built_all_the_same(compiler: Path) -> None:
    """No llvm-profdata of the compiler's LLVM: no path is printed, the reason is, and it is
    no failure."""
    outcome = _run(compiler)
    assert (outcome.returncode, outcome.stdout) == (0, "")
    assert "no llvm-profdata of LLVM 99 or later" in outcome.stderr


def test_an_older_tool_is_not_taken(compiler: Path) -> None:
    """A tool of an older LLVM does not read the compiler's profiles."""
    _program(compiler / "bin" / "llvm-profdata", "#!/bin/sh\necho 'LLVM version 98.0.0'\n")
    assert "no llvm-profdata of LLVM 99 or later" in _run(compiler).stderr


def test_the_tool_of_the_toolchain_is_taken(compiler: Path) -> None:
    """The tool that comes with the compiler is taken where it is there: then the build begins,
    which fails here, as there is no maturin, and the failure is not hidden."""
    tool = "sysroot/lib/rustlib/some-host/bin/llvm-profdata"
    _program(compiler / tool, "#!/bin/sh\necho 'LLVM version 99.1.2'\n")
    outcome = _run(compiler)
    assert outcome.returncode != 0
    assert "no llvm-profdata" not in outcome.stderr
