"""The page of the gate's keys, and the commands of docs/gate.md that take minutes."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import kernels, own_clock
from tools.live import figures, matrix
from tools.pages import gate

ROOT = Path(__file__).parents[2]


def test_every_key_of_the_file_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    # a line of a declaration with a default and a sentence is a key; none may be passed over
    monkeypatch.chdir(ROOT)
    defined: list[str] = []
    for name, table in (("config.rs", "File"), ("flood.rs", "Limits")):
        source = (ROOT / "crates/gate/src" / name).read_text(encoding="utf-8")
        _, _, block = source.partition(f"struct {table}:\n")
        lines = block.partition("\n}")[0].splitlines()
        defined += [line.partition(":")[0].strip() for line in lines if line.endswith('";')]
    rows = [line.split("`")[1] for line in gate.page().splitlines() if line.startswith("| `")]
    assert rows == defined
    assert {"interface", "law", "tokens_keep", "epochs"} <= set(rows)


def test_a_row_has_default_and_range() -> None:
    table = '    lease: Time = "2s" ["200ms" to "60s"] "How long they hold" + "Then all passes.";\n'
    [*_, row] = gate._rows(table, {"Time": "time"})
    said = "How long they hold; default 2s, 200ms to 60s. Then all passes."
    assert row == f"| `lease` | time | {said} |"


@pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason="promtool is not installed: apt-get install -y prometheus",
)
def test_prometheus_takes_the_alert_rules() -> None:
    rules = ROOT / "crates/gate/etc/alerts.yml"
    command = ["promtool", "check", "rules", str(rules)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 rules found" in done.stdout


# They run for minutes and need root: their options and names have to be there.
def test_the_commands_of_the_matrix_are_read() -> None:
    names = ("gate", "matrix", "matrix-figures")
    text = "".join((ROOT / f"docs/{page}.md").read_text() for page in names)
    tools = {
        "kernels": kernels.options(),
        "own_clock": own_clock.options(),
        "live.matrix": matrix.options(),
    }
    name = "|".join(tools).replace(".", r"\.")
    typed = re.findall(rf"(?:\.venv/bin/)?python -m tools\.({name})( [^`\n]*|)[`\n]", text)
    assert set(tools) == {tool for tool, _ in typed}
    for tool, words in typed:
        own, _, inner = words.partition(" -- ")
        # the first of these takes a command only
        tools[tool].parse_args([*shlex.split(own), *(["true"] if tool == "own_clock" else [])])
        if inner:
            python, module, name, *rest = shlex.split(inner)
            assert (python, module) == (".venv/bin/python", "-m")
            if name == "pytest":
                files = [word for word in rest if word.startswith("tests/")]
                assert files
                assert all((ROOT / file).exists() for file in files)
            else:
                inside = {"tools.live.matrix": matrix, "tools.live.figures": figures}
                inside[name].options().parse_args(rest)
