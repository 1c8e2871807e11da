"""The conditions: what is run, what is measured, and by how much it may differ."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.certify import suite_file
from tidegate.certify.suite_file import Table, checked
from tidegate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Limit:
    """A measure, and how much worse or better than the reference it has to be to count as such.

    Exactly one of `ratio` and `points` is set.
    """

    name: str
    says: str
    unit: str
    measure: str = ""
    """An expression of measures, with what the summary has of a class or of a port."""
    more_is_better: bool = False
    ratio: float | None = None
    points: float | None = None
    floor: float = 0.0

    @property
    def edge(self) -> float:
        """The limit as a difference, of logarithms where it is a ratio."""
        return log(self.ratio or 1.0) if self.points is None else self.points

    @property
    def text(self) -> str:
        """The limit in words."""
        if self.points is not None:
            return f"{self.points:g} {self.unit}".strip()
        return f"{self.ratio:g} times"


FILE = "1GB"
"""More than a link of any condition carries within the run."""


@dataclass(frozen=True)
class Condition:
    """A scenario, the classes that get the control, and what is measured of which of its parts."""

    id: str
    section: str
    title: str
    measures: tuple[tuple[str, str], ...]
    own: tuple[str, ...] = ("subject",)
    """Beginnings of the names of these classes."""
    stages: bool = True
    """Whether the bottleneck gets the stages that the control needs."""
    queue: bool = False
    """Whether the scenario has a queue law of its own."""
    saved: str = ""
    """What a control that resumes knows of an earlier connection, as TOML; empty: nothing."""
    file: str = FILE
    """What flows without end send where a control needs files."""


@dataclass(frozen=True)
class NotCovered:
    """A condition of the RFC that is not run, and why."""

    section: str
    title: str
    reason: str


@dataclass(frozen=True)
class Suite:
    """Conditions in their order, the limits by name, and what is left out."""

    name: str
    title: str
    standard: tuple[str, ...]
    """The names of what it compares with."""
    conditions: tuple[Condition, ...]
    limits: dict[str, Limit]
    not_covered: tuple[NotCovered, ...]
    folder: Path
    """The folder that has the folder of its scenarios."""
    keep: tuple[str, ...] = ()
    """Columns of flows that its measures read."""

    def scenario(self, condition: Condition) -> str:
        """Return the document of a condition, relative to its folder."""
        return f"{self.name}/{condition.id}.toml"


RFC, BBR, START = "rfc9743", "bbr", "slow-start"
RESPONSIVENESS, MEDIA, ACCESS = "responsiveness", "media", "access-link"
SUITES = (RFC, BBR, START, RESPONSIVENESS, MEDIA, ACCESS)
FOLDER = Path(str(files(__package__))) / "scenarios"


def suite(name: str) -> Suite:
    """Read a suite by its name, or from a file; raises UsageError where there is none."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if path.parent == FOLDER and name not in SUITES:
        raise UsageError(
            f"There is no suite {name}.",
            f"Suites: {', '.join(SUITES)}; or a file, FILE.toml.",
        )
    return _suite(path, suite_file.read(path))


def _suite(path: Path, table: Table) -> Suite:
    limits = {name: _limit(name, each) for name, each in table.named("limit")}
    found = Suite(
        path.stem,
        table.read("title", str),
        table.texts("standard"),
        tuple(_condition(each, limits) for each in table.tables("condition")),
        limits,
        tuple(
            map(_not_covered, table.tables("not_covered") if "not_covered" in table.rest else ())
        ),
        path.parent,
        table.texts("keep") if "keep" in table.rest else (),
    )
    table.end()
    names = [each.id for each in found.conditions]
    for name in names:
        if names.count(name) > 1:
            raise table.wrong(f"two conditions have the id `{name}`")
    if not names:
        raise table.wrong("there is no condition")
    return found


def _limit(name: str, table: Table) -> Limit:
    ratio, points = table.number("ratio", 1.0), table.number("points", 0.0)
    if (ratio is None) == (points is None):
        raise table.wrong("write one of `ratio` and `points`")
    limit = Limit(
        name,
        table.read("says", str),
        table.read("unit", str),
        checked(table, table.read("measure", str)),
        more_is_better=table.read("more_is_better", bool, default=False),
        ratio=ratio,
        points=points,
        floor=_floor(table, ratio),
    )
    table.end()
    return limit


def _floor(table: Table, ratio: float | None) -> float:
    """Return the least value that counts. By a ratio nothing is compared with 0."""
    floor = table.number("floor", 0.0)
    if ratio is not None and floor is None:
        raise table.wrong("a `ratio` needs a `floor`: the value as which anything less counts")
    return floor or 0.0


def _condition(table: Table, limits: Mapping[str, Limit]) -> Condition:
    name = table.read("id", str)
    table.place = f"{table.place.rpartition(': ')[0]}: condition `{name}`"
    measures = table.read("measures", list)
    for each in measures:
        pair = isinstance(each, list) and len(each) == 2 and all(isinstance(e, str) for e in each)
        if not pair:
            raise table.wrong(f'`measures` has {each!r}: write [["LIMIT", "CLASS or port"]]')
        if each[0] not in limits:
            raise table.wrong(f"there is no limit `{each[0]}`")
    if not measures:
        raise table.wrong("`measures` is empty, so nothing would be judged")
    found = Condition(
        name,
        table.read("section", str),
        table.read("title", str),
        tuple((limit, of) for limit, of in measures),
        table.texts("own", ["subject"]),
        stages=table.read("stages", bool, default=True),
        queue=table.read("queue", bool, default=False),
        saved=table.read("saved", str, ""),
        file=table.read("file", str, FILE),
    )
    table.end()
    return found


def _not_covered(table: Table) -> NotCovered:
    found = NotCovered(*(table.read(key, str) for key in ("section", "title", "reason")))
    table.end()
    return found
