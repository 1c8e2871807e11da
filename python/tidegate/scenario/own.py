"""Laws of the user's own, out of files that the command line names."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import TidegateError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

PREFIX = "tidegate_law_"
"""What the names of their modules begin with."""


def laws(asked: Sequence[str] | None) -> dict[str, Any] | None:
    """Return an object for each FILE.py:NAME, under its name.

    NAME is a class, or a function that returns the object; it is called
    without arguments. What the file raises is raised, with its traceback.
    """
    return dict(map(_law, asked)) if asked else None


def _law(asked: str) -> tuple[str, Any]:
    file, _, name = asked.rpartition(":")
    if not file or not name.isidentifier():
        raise UsageError(
            f"Could not understand --law {asked}.",
            "Write FILE.py:NAME with the name of its class, as in --law mine.py:Mine.",
        )
    module = _module(Path(file))
    made = getattr(module, name, None)
    if not callable(made):
        there = [each for each, what in vars(module).items() if _is_law(what)]
        raise UsageError(
            f"There is no class {name} in {file}.",
            f"It has {', '.join(there)}." if there else "A law has `start` and `update`.",
        )
    try:
        law = made()
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # raised by the law itself
        raise UsageError(
            f"{name} in {file} cannot be created: {error}.",
            "A law is created without arguments: give its parameters defaults.",
        ) from None
    if not _is_law(law):
        raise UsageError(
            f"{name} in {file} is no law: it lacks `start` or `update`.",
            "A law has both; see docs/own-law.md.",
        )
    return name, law


def _is_law(what: object) -> bool:
    return all(callable(getattr(what, method, None)) for method in ("start", "update"))


def _module(path: Path) -> ModuleType:
    """Import a file; one that is named twice is imported once."""
    name = f"{PREFIX}{path.stem}"
    place = path.resolve()
    there = sys.modules.get(name)
    if there is not None and there.__file__ == str(place):
        return there
    spec = importlib.util.spec_from_file_location(name, place)
    if not path.is_file() or spec is None or spec.loader is None:
        raise TidegateError(
            f"Could not read the law {path}: there is no such Python file.",
            "Give the path from the folder you are in, and a name that ends in .py.",
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise TidegateError(
            f"{error.filename or path}, line {error.lineno}: {error.msg}.",
            "Correct it, and test it alone: python3 FILE.py.",
        ) from error
    except SystemExit as error:
        raise TidegateError(
            f"{path} wants to end the program.",
            "The file is imported: put its main program below `if __name__ == '__main__':`.",
        ) from error
    return module


def told(error: BaseException) -> str | None:
    """Return the traceback of what a law of the user's own raised, from its file on.

    None where no such law is in it. What lies between the command line and the
    law is not the user's, and would bury what is.
    """
    place = error.__traceback__
    while place is not None:
        if str(place.tb_frame.f_globals.get("__name__", "")).startswith(PREFIX):
            return "".join(traceback.format_exception(type(error), error, place)).rstrip()
        place = place.tb_next
    # what it answered, found wanting outside of it
    return str(error) if str(error).startswith("a law must return") else None
