"""The list of what tests leave out: how it comes about, its one line, and what `.ci/run` allows."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools import left_out
from tools.left_out import Allowed, LeftOut

ROOT = Path(__file__).parents[2]
FISH = LeftOut("a.py::test_fish", "no fish here: apt-get install -y fish")
NS = LeftOut("b.py::test_ns", "ns-2 is not installed: apt-get install -y ns2")
STACKS = LeftOut("c.py::test_quic", "the simulator is built without stacks: make stacks")
OLD = LeftOut("d.py::test_old", "this kernel lets programs read queues")


def test_packages_are_in_one_command_and_the_rest_behind_it() -> None:
    tests = [OLD, NS, STACKS, FISH]
    expected = (
        "4 tests were left out (build/left-out has them). To run them: "
        "sudo apt-get install -y --no-install-recommends fish ns2; make stacks"
    )
    assert left_out.line(tests, Path("build/left-out")) == expected
    assert left_out.line([OLD], Path("x")) == "1 test was left out (x has them)."
    assert left_out.line([], Path("x")) == "No test was left out."


def test_a_list_names_each_test_once(tmp_path: Path) -> None:
    place = tmp_path / "list"
    assert left_out.read(place) == []
    place.write_text("".join(f"{one.test}\t{one.reason}\n" for one in (NS, FISH, NS)))
    assert left_out.read(place) == [FISH, NS]


# Pytest counts each of these as skipped: by a call, a mark, a fixture, and a whole file.
SKIPS = """
import pytest
@pytest.fixture
def tool(): pytest.skip("no tool: make tools")
def test_call(): pytest.skip("no\\nfish here: apt-get install -y fish")
@pytest.mark.skipif(True, reason="marked")
def test_mark(): pass
def test_fixture(tool): pass
def test_passes(): pass
"""
FILE = (
    'import pytest\npytest.importorskip("no_such_module", reason="not there")\ndef test(): pass\n'
)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_pytest_skips_is_in_the_list(tmp_path: Path, workers: str) -> None:
    """Also where its workers are processes of their own, each of which meets the whole file."""
    (tmp_path / "test_some.py").write_text(SKIPS)
    (tmp_path / "test_none.py").write_text(FILE)
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"))
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider"]
    environment = {"TIDEGATE_LEFT_OUT": "list", "PATH": "/usr/bin:/bin"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert left_out.read(tmp_path / "list") == [
        LeftOut("test_none.py", "not there"),
        LeftOut("test_some.py::test_call", "no fish here: apt-get install -y fish"),
        LeftOut("test_some.py::test_fixture", "no tool: make tools"),
        LeftOut("test_some.py::test_mark", "marked"),
    ]


ROWS = """
[[allowed]]
tests = "d.py*"
reason = "read queues"
why = "another kernel"
[[allowed]]
tests = "a.py*"
reason = "fish"
why = "a shell"
without_rights = true
"""


@pytest.mark.parametrize(
    ("asked", "tests", "code"),
    [
        ("", [OLD, FISH, NS], 0),
        ("1", [], 0),
        ("1", [OLD], 0),
        ("1", [OLD, FISH], 1),
        ("without-rights", [OLD, FISH], 0),
        ("without-rights", [OLD, FISH, NS], 1),
        # the same test for another reason, and another test for the same one
        ("1", [LeftOut(OLD.test, "other")], 1),
        ("1", [LeftOut("e.py::test_old", OLD.reason)], 1),
    ],
)
def test_where_all_have_to_run_only_what_is_allowed_may_be_left_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    asked: str,
    tests: list[LeftOut],
    code: int,
) -> None:
    place, rows = tmp_path / "list", tmp_path / "rows.toml"
    place.write_text("".join(f"{one.test}\t{one.reason}\n" for one in tests))
    rows.write_text(ROWS)
    found = left_out.allowed(rows)
    monkeypatch.setattr(left_out, "allowed", lambda: found)
    monkeypatch.setenv("TIDEGATE_RUN_ALL", asked)
    assert left_out.main([str(place)]) == code
    assert bool(capsys.readouterr().err) == bool(code)


def test_each_row_of_the_checkout_says_why_and_is_about_tests_that_exist() -> None:
    """A test that was renamed would be allowed in vain, and its new name fail `.ci/run`."""
    for row in left_out.allowed():
        assert isinstance(row, Allowed)
        assert row.why
        file, _, name = row.tests.partition("*")[0].strip().partition("::")
        assert (ROOT / file).exists(), row
        assert name in (ROOT / file).read_text("utf-8") if name else True, row
