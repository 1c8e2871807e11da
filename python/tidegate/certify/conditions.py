"""The conditions: what is run, what is measured, and by how much it may differ."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log
from pathlib import Path

from tidegate.errors import UsageError, from_os


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


RFC, BBR, START, MEDIA, ACCESS = "rfc9743", "bbr", "slow-start", "media", "access-link"
SUITES = (RFC, BBR, START, MEDIA, ACCESS)
FOLDER = Path(str(files(__package__))) / "scenarios"


@cache
def suite(name: str) -> Suite:
    """Read a suite by its name, or from a file; raises UsageError where there is none."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if path.parent == FOLDER and name not in SUITES:
        raise UsageError(
            f"There is no suite {name}.",
            f"Suites: {', '.join(SUITES)}; or a file, FILE.toml.",
        )
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise from_os("read the suite", path, error) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"Could not read the suite {path}: {error}.", "A suite is TOML.") from None
    return Suite(
        path.stem,
        document["title"],
        tuple(document["standard"]),
        tuple(_condition(each) for each in document["condition"]),
        {key: Limit(key, **values) for key, values in document["limit"].items()},
        tuple(NotCovered(**each) for each in document.get("not_covered", ())),
        path.parent,
        tuple(document.get("keep", ())),
    )


def _condition(values: dict[str, object]) -> Condition:
    measures = values.pop("measures")
    own = values.pop("own", ["subject"])
    assert isinstance(measures, list)
    assert isinstance(own, list)
    pairs = tuple((str(name), str(of)) for name, of in measures)
    return Condition(measures=pairs, own=tuple(own), **values)  # type: ignore[arg-type]
