"""The page of the gate's keys."""

from pathlib import Path

import pytest
from tools.pages import gate


def test_every_key_of_the_file_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    # each line of `keys!` with two texts at its end defines a key; none may be passed over
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    source = (root / gate.SOURCE).read_text(encoding="utf-8")
    lines = [line.strip() for line in source.splitlines()]
    defined = [line.partition(":")[0] for line in lines if line.endswith('";') and '; "' in line]
    rows = [line.split("`")[1] for line in gate.page().splitlines() if line.startswith("| `")]
    assert rows == defined
    assert {"interface", "law", "tokens_keep", "epochs"} <= set(rows)


def test_a_row_has_default_and_range() -> None:
    table = '    lease: Time = "2s" ["200ms" to "60s"]; "time", "How long decisions hold.";\n'
    [*_, row] = gate._rows(table)
    assert row == "| `lease` | time | How long decisions hold; default 2s; 200ms to 60s. |"
