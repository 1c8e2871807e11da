"""Arguments of the functions that users call: what has the wrong type is refused, with a remedy."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from tidegate.errors import ScenarioError, TidegateError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

SEEDS = 1 << 64
"""Seeds are smaller than this."""


def whole(given: object, name: str, least: int, most: int | None = None) -> int:
    """Return a whole number as Python's own; a truth value is none."""
    number = None if isinstance(given, bool) or not hasattr(given, "__index__") else given
    if number is not None:
        found = operator.index(cast("Any", number))
        if least <= found and (most is None or found <= most):
            return found
    upper = "on" if most is None else f"to {most}"
    raise UsageError(f"{name} cannot be {given!r}.", f"Give a whole number from {least} {upper}.")


def seed(given: object) -> int:
    """Return a seed."""
    try:
        return whole(given, "A seed", 0, SEEDS - 1)
    except UsageError:
        raise UsageError(
            f"{given!r} is no seed.", "Give a whole number from 0 to 2^64 - 1."
        ) from None


def text(given: object, name: str, example: str) -> str:
    """Return a text."""
    if isinstance(given, str):
        return given
    raise UsageError(f"{name} cannot be {given!r}.", f"Give a text, as in {example!r}.")


def several(given: object, name: str, example: str) -> list[Any]:
    """Return what a list or anything of its kind holds; a text or a mapping is none."""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes) and not _maps(given):
        return [*given]
    raise UsageError(f"{name} cannot be {given!r}.", f"Give a list, as in [{example!r}].")


def names(given: object, name: str, example: str) -> list[str]:
    """Return the texts of a list."""
    return [text(each, f"A part of {name}", example) for each in several(given, name, example)]


def _maps(given: object) -> bool:
    return hasattr(given, "keys")


OPTIONS = {
    **{name: name for name in ("dask", "metrics", "mix", "out", "partial", "port", "seeds")},
    **{name: name for name in ("shard", "size", "style", "vary", "workers")},
    **{name: f"{name}s" for name in ("format", "gate", "law", "picture", "queue", "variant")},
    "set": "settings",
}
"""What arguments are called whose values options of the command line have."""
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?![\w-])")


def worded(**own: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator: errors of a function name its arguments, and not options of commands.

    `own`: what an option is called here, where that differs from `OPTIONS`.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TidegateError as error:
                _reword(error, OPTIONS | own)
                raise

        return call

    return decorated


def _reword(error: TidegateError, called: dict[str, str]) -> None:
    if isinstance(error, ScenarioError):
        # it shows lines of the document, which are not to be touched
        error.what = error.what.replace("--> --set", "--> settings")
    else:
        error.what, error.remedy = (_in_python(each, called) for each in (error.what, error.remedy))
    error.args = (f"{error.what}\n{error.remedy}" if error.remedy else error.what,)


def _in_python(said: str, called: dict[str, str]) -> str:
    def name(found: re.Match[str]) -> str:
        return f"`{called[found[1]]}`" if found[1] in called else found[0]

    return said if "in Python" in said else _OPTION.sub(name, said)
