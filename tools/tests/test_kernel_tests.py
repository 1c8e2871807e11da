"""The table of faults by kernel, from what pytest writes."""

from pathlib import Path

from tools import kernel_tests

ROOT = Path(__file__).parents[2]

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase name="test_a_larger_mtu_loses_nothing_at_the_shaper" />
<testcase name="test_in_a_time_namespace_it_refuses_and_fails_open[3600]" />
<testcase name="test_in_a_time_namespace_it_refuses_and_fails_open[-20]">
  <failure message="x">y</failure></testcase>
<testcase name="test_what_the_dual_queue_refuses_is_counted_and_no_flood">
  <skipped type="pytest.skip" message="too old" /></testcase>
</testsuite></testsuites>
"""


def test_a_fault_has_what_its_tests_said(tmp_path: Path) -> None:
    file = tmp_path / "tests.xml"
    file.write_text(JUNIT)
    lines = kernel_tests.table({"6.1": kernel_tests.read(file), "newest": []}).splitlines()
    assert lines[0] == "| | 6.1 | newest |"
    rows = {line.split(" | ")[0][2:]: line.split(" | ")[1:] for line in lines[2:]}
    assert rows["the MTU grows"] == ["1 passed", "not run |"]
    assert rows["a time namespace"][0] == "1 passed, 1 failed"
    assert rows["the dual queue counts and can read"][0] == "1 skipped: too old"
    assert rows["all live tests"][0] == "2 passed, 1 failed, 1 skipped: too old"


def test_every_test_that_it_names_is_there() -> None:
    text = "".join(path.read_text() for path in (ROOT / "tests/live").glob("test_gate*.py"))
    named = {test for tests in kernel_tests.FAULTS.values() for test in tests}
    assert [test for test in sorted(named) if f"def {test}(" not in text] == []
