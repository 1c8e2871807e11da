"""Shells complete commands and options, once `tidegate --install-completion` was run in them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).with_name("tidegate")
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="tidegate is not installed as a script")
ASK = {
    "bash": """
        source .bash_completions/tidegate.sh
        COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _tidegate_completion tidegate
        printf '%%s\\n' "${COMPREPLY[@]}"
    """,
    "fish": 'complete -C "%s"',
    # what zsh's function evaluates; its line editor cannot be asked from outside
    "zsh": 'env _TYPER_COMPLETE_ARGS="%s" _TIDEGATE_COMPLETE=complete_zsh tidegate',
}


@pytest.mark.parametrize("shell", ASK)
def test_a_shell_completes_commands_and_options(tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here: as root, apt-get install -y {shell}")
    env = {**os.environ, "HOME": str(tmp_path), "PATH": f"{SCRIPT.parent}:{os.environ['PATH']}"}
    env.pop("XDG_CONFIG_HOME", None)

    def told(script: str) -> str:
        done = subprocess.run(
            [shell, "-c", script],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    installed = told("tidegate --install-completion; true")
    assert f"{shell} completion installed" in installed
    commands = told(ASK[shell] % "tidegate com")
    assert "compare" in commands
    assert "sweep" not in commands
    options = told(ASK[shell] % "tidegate compare --ga")
    assert "--gate" in options
    assert "--seeds" not in options
