"""Checks under the ids of their claims.

A check is listed in the table `CHECKS` of its module, where the builders make it;
else it is a function that is registered by `claim`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tidegate.papers.check import Check
from tidegate.papers.check_results import CheckResult, Ordering, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

F = TypeVar("F", bound="Callable[..., Any]")
_MARK = "tidegate_claims"


@dataclass(frozen=True)
class Registered:
    """A function that checks a claim, called with `values`.

    Without `of` it returns a Check. With `of`, the names of cases, it is called
    with their runs and returns a result, or the differences of an ordering by
    the name of each part (above zero as claimed).
    """

    function: Callable[..., Any]
    values: Mapping[str, object]
    of: tuple[str, ...] | None

    def check(self) -> Check:
        """Return the check."""
        if self.of is None:
            built: Check = self.function(**self.values)
            return built
        return Check(self.of, partial(_found, self.function, dict(self.values)))

    @property
    def place(self) -> tuple[Path, int]:
        """The file of the function and the line where it begins."""
        return Path(inspect.getsourcefile(self.function) or ""), inspect.getsourcelines(
            self.function
        )[1]

    @property
    def called(self) -> str:
        """The function and the values that it is called with."""
        given = ", ".join(f"{key}={value!r}" for key, value in self.values.items())
        return f"{self.function.__name__}({given})" if given else self.function.__name__

    @property
    def description(self) -> str:
        """The docstring of the function, as one line."""
        text = inspect.getdoc(self.function) or ""
        return " ".join(text.split())


@dataclass(frozen=True)
class Listed:
    """A check in the table `CHECKS` of a module, under the id of its claim without the key."""

    module: ModuleType
    id: str
    called: str = "CHECKS"

    def check(self) -> Check:
        """Return the check."""
        found: Check = self.module.CHECKS[self.id]
        return found

    @property
    def place(self) -> tuple[Path, int]:
        """The file of the table and the line where the check begins."""
        path = Path(self.module.__file__ or "")
        lines = path.read_text(encoding="utf-8").splitlines()
        return path, next(n for n, line in enumerate(lines, 1) if f'"{self.id}":' in line)

    @property
    def description(self) -> str:
        """What the check says of itself."""
        return self.check().what


Source: TypeAlias = Registered | Listed
"""Where a check comes from."""


def _found(function: Callable[..., Any], values: dict[str, object], runs: object) -> CheckResult:
    found = function(runs, **values)
    if isinstance(found, dict):
        return Ordering(tuple(Part(what, tuple(map(float, each))) for what, each in found.items()))
    finding: CheckResult = found
    return finding


def claim(
    template: str, of: Sequence[str] | None = None, **values: Sequence[object]
) -> Callable[[F], F]:
    """Register a function under the id of a claim, without the key of the paper.

    `claim("table1.admit{rate}.fct", rate=(65, 100))` registers it under two ids
    and calls it with the rate. `of`: see Registered.
    """

    def register(function: F) -> F:
        marks = [
            *getattr(function, _MARK, ()),
            (template, None if of is None else tuple(of), values),
        ]
        setattr(function, _MARK, marks)
        return function

    return register


def collect(key: str, package: str) -> dict[str, Source]:
    """Return the checks in the modules of a package, by full ids."""
    found: dict[str, Source] = {}
    home = import_module(package)
    for each in sorted(iter_modules(home.__path__), key=lambda module: module.name):
        for short, source in _of(import_module(f"{package}.{each.name}")):
            if f"{key}.{short}" in found:
                raise ValueError(f"{key}.{short} is registered twice")
            found[f"{key}.{short}"] = source
    return found


def _of(module: ModuleType) -> Iterator[tuple[str, Source]]:
    """Yield the checks of a module by their ids."""
    for function in list(vars(module).values()):
        if getattr(function, "__module__", None) != module.__name__:
            continue
        for template, of, values in getattr(function, _MARK, ()):
            for chosen in product(*values.values()):
                given = dict(zip(values, chosen, strict=True))
                yield template.format(**given), Registered(function, given, of)
    for short in getattr(module, "CHECKS", ()):
        yield short, Listed(module, short)
