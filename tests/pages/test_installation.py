"""docs/installation.md: what it names is what pip installs, and its sum is that of its rows."""

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
PAGE = (HERE / "docs" / "installation.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def rows():
    """Return package cell and megabytes of each row of the table."""
    [table] = re.findall(r"^\| package .*?\n\n", PAGE, re.M | re.S)
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(cell[0], float(cell[2])) for cell in cells]


def names(requirements):
    return {re.match(r"[\w-]+", each)[0] for each in requirements}


def test_the_table_names_every_package_that_is_asked_for_and_no_other():
    """pyproject.toml is what pip goes by; `with` and dask name what such a package brings along."""
    plain, extras = set(), {}
    for cell, _ in rows():
        if extra := re.match(r"extra `(\w+)`: (.*)", cell):
            extras[extra[1]] = set(extra[2].split(", "))
        else:
            plain |= set(cell.split(", with ")[0].split(", "))
    assert plain == names(PROJECT["dependencies"])
    for extra, asked in PROJECT["optional-dependencies"].items():
        assert names(asked) == extras.pop(extra) - {"dask"}
    assert not extras


def test_the_commands_for_extras_install_what_the_extras_ask_for():
    """tidegate is in no package index, so that `pip install 'tidegate[...]'` finds nothing."""
    told = [set(each.split()) for each in re.findall(r"pip install ([a-z- ]+)`", PAGE)]
    extras = PROJECT["optional-dependencies"]
    assert told == [
        names(extras[each])
        for each in ("cluster", "attack", "report", "cluster", "attack", "pandas", "graphs")
    ]


def test_the_sum_is_that_of_the_rows_without_the_extras():
    """Rows are rounded to a megabyte, so that a handful of them may be two off."""
    told = int(re.search(r"(\d+) MB without the extras", PAGE)[1])
    plain = [size for cell, size in rows() if not cell.startswith("extra ")]
    assert abs(told - sum(plain)) <= 2
