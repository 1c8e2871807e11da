"""The page of verdicts before and after: what it reads of a report, and that it says why."""

import pytest
from tools.pages import verdicts

REPORT = """
| claim | paper |
|---|---|
| `not.in.the.list` | 3 |

| ID | kind | where | paper | measured | unit | verdict | why |
|---|---|---|---|---|---|---|---|
| `table1.a` | exact-number | Table I | 3 | 4 ± 0.1 | s | not met† | +33 %. |
| `fig2.b` | ordering | Fig 2 | a > b \\| c | 0.1 [0, 0.2] | difference | met |  |

## Cost
"""


def test_rows_are_read_from_the_list_of_every_claim() -> None:
    assert verdicts.now(REPORT) == {
        "table1.a": verdicts.Row("exact-number", "4 ± 0.1", "not met", chosen=True),
        "fig2.b": verdicts.Row("ordering", "0.1 [0, 0.2]", "met"),
    }


def test_a_row_is_changed_by_its_verdict_alone_and_when_it_is_gone() -> None:
    met, other = verdicts.Row("ratio", "1", "met"), verdicts.Row("ratio", "2", "met")
    failed = verdicts.Row("ratio", "1", "not met")
    before = {"same": met, "worse": met, "gone": met}
    assert verdicts.changed(before, {"same": other, "worse": failed}) == ["worse", "gone"]


@pytest.mark.parametrize("key", verdicts.NAMES)
def test_every_verdict_that_changed_has_a_reason_and_every_row_was_judged_before(key: str) -> None:
    before = verdicts.first()[key]
    report = verdicts.ROOT / "docs" / "papers" / key / "REPORT.md"
    after = verdicts.now(report.read_text(encoding="utf-8"))
    assert set(after) <= set(before)
    for name in verdicts.changed(before, after):
        assert before[name].by in verdicts.REASONS, f"{key}.{name} changed: say why in first.csv"
        assert before[name].why
