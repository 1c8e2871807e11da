"""What the tests left out, and how to run it: the end of `make test`.

    python -m tools.left_out build/left-out

The list has a line for each test that was skipped: its name, a tab, the reason. conftest.py writes
it for Python, crates/gate/tests/kernel/left_out.rs for Rust. A reason ends in what would run the
test, behind a colon: `no fish here: apt-get install -y fish`.

With `TIDEGATE_RUN_ALL`, as in `.ci/run`, only what `.ci/left-out.toml` allows may be left out. It
is `1` where this machine lets tests load programs into its kernel, else `without-rights`.
"""

import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = ROOT / ".ci" / "left-out.toml"
APT = "apt-get install -y --no-install-recommends"


@dataclass(frozen=True, order=True)
class LeftOut:
    """A test that was left out, and why."""

    test: str
    reason: str

    @property
    def remedy(self) -> str:
        """What would run it, as far as the reason says."""
        return self.reason.rpartition(": ")[2] if ": " in self.reason else ""


@dataclass(frozen=True)
class Allowed:
    """Tests that may be left out for one reason."""

    tests: str
    """Pattern of their names."""
    reason: str
    """What the reason has to contain."""
    why: str
    without_rights: bool = False
    """Whether it holds only where programs may not be loaded into the kernel."""

    def has(self, one: LeftOut) -> bool:
        """Whether it is about this."""
        return fnmatch(one.test, self.tests) and self.reason in one.reason


def read(path: Path) -> list[LeftOut]:
    """Read a list, each test once."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = (line.partition("\t")[::2] for line in lines)
    return sorted({LeftOut(test, reason) for test, reason in pairs})


def allowed(path: Path = ALLOWED) -> list[Allowed]:
    """Read what may be left out."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["allowed"]
    return [Allowed(**row) for row in rows]


def remedies(tests: Iterable[LeftOut]) -> Iterator[str]:
    """Yield the commands that would run these tests, all packages in one."""
    packages, others = set[str](), set[str]()
    for one in tests:
        if found := re.fullmatch(r"apt-get install -y ([\w+. -]+)", one.remedy):
            packages |= set(found[1].split())
        elif one.remedy:
            others.add(one.remedy)
    if packages:
        yield f"sudo {APT} {' '.join(sorted(packages))}"
    yield from sorted(others)


def line(tests: list[LeftOut], place: Path) -> str:
    """Return the one line for who ran the tests."""
    if not tests:
        return "No test was left out."
    count = f"{len(tests)} test{'s were' if len(tests) > 1 else ' was'} left out ({place} has them)"
    ways = "; ".join(remedies(tests))
    return f"{count}. To run them: {ways}" if ways else f"{count}."


def main(arguments: list[str]) -> int:
    """Print the line; 1 if all tests had to run and one that is not allowed was left out."""
    place = Path(arguments[0])
    tests = read(place)
    print(line(tests, place))
    all_of = os.environ.get("TIDEGATE_RUN_ALL")
    if not all_of:
        return 0
    rows = [row for row in allowed() if not row.without_rights or all_of == "without-rights"]
    wrong = [one for one in tests if not any(row.has(one) for row in rows)]
    for one in wrong:
        print(f"not in .ci/left-out.toml: {one.test}: {one.reason}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
