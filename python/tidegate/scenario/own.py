"""Laws of the user's own, out of files that the command line names."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tidegate.errors import TidegateError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

PREFIX = "tidegate_law_"
"""What the names of their modules begin with."""
CONTROL = ("on_ack", "on_congestion", "on_timeout")
"""What a control of senders has."""
KINDS = (
    "A session or rate law has `start` and `update`, a queue law `arrive` or `next`,"
    " a filter `arrive`, a control `on_ack`, `on_congestion` and `on_timeout`"
)
NOTES = ("of simulated time", "before the run")
"""How the notes end that say which law an error came from, and when."""


def laws(asked: Sequence[str] | None) -> dict[str, Any] | None:
    """Return a law for each FILE.py:NAME, under its name.

    NAME is a class, or a function that returns the object; it is called
    without arguments. A control of senders is called for each flow by the run,
    with the settings of TCP: it is returned as it stands. What the file raises
    is raised, with its traceback.
    """
    return dict(map(_law, asked)) if asked else None


def _law(asked: str) -> tuple[str, Any]:
    file, _, name = asked.rpartition(":")
    if not file or not name.isidentifier():
        raise UsageError(
            f"Could not understand the law {asked}.",
            "Write FILE.py:NAME with the name of its class, as in mine.py:Mine.",
        )
    module = _module(Path(file))
    made = getattr(module, name, None)
    if not callable(made):
        there = [each for each, what in vars(module).items() if _is_law(what)]
        raise UsageError(
            f"There is no class {name} in {file}.",
            f"It has {', '.join(there)}." if there else f"{KINDS}.",
        )
    if _is_control(made):
        return name, made
    _has_all(name, file, made)
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
            f"{KINDS}; see docs/own-law.md.",
        )
    return name, law


def _has_all(name: str, file: str, made: Callable[..., object]) -> None:
    """Raise UsageError where a class has some of the methods of a control, and not all."""
    lacks = [method for method in CONTROL if not _has(made, (method,))]
    if isinstance(made, type) and 0 < len(lacks) < len(CONTROL):
        missing = " and ".join(f"`{each}`" for each in lacks)
        raise UsageError(
            f"{name} in {file} is no control: it lacks {missing}.",
            f"{KINDS}; see docs/own-law.md.",
        )


def _is_law(what: object) -> bool:
    return any(
        _has(what, methods) for methods in (("start", "update"), ("arrive",), ("next",), CONTROL)
    )


def _is_control(made: Callable[..., object]) -> bool:
    """Tell whether it makes controls: a class with their methods, a function with an argument."""
    if isinstance(made, type):
        return _has(made, CONTROL)
    needed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(made).parameters.values()
    return any(each.kind in needed and each.default is each.empty for each in parameters)


def _has(what: object, methods: Sequence[str]) -> bool:
    return all(callable(getattr(what, method, None)) for method in methods)


def maker(law: object) -> Callable[..., object]:
    """Return what has the source of a law: its class, or the class or function that it is."""
    if isinstance(law, type | FunctionType):
        return law
    return type(law)


def _module(path: Path) -> ModuleType:
    """Import a file; one that is named twice is imported once."""
    name = f"{PREFIX}{path.stem}"
    resolved = path.resolve()
    there = sys.modules.get(name)
    if there is not None and there.__file__ == str(resolved):
        return there
    spec = importlib.util.spec_from_file_location(name, resolved)
    if not path.is_file() or spec is None or spec.loader is None:
        raise TidegateError(
            f"Could not read the law {path}: there is no such Python file.",
            "Give the path from the folder you are in, and a name that ends in .py.",
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(resolved.parent) not in sys.path:  # as Python itself has it for FILE.py; behind all else
        sys.path.append(str(resolved.parent))
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


def sources(file: Path) -> list[Path]:
    """Return the files of a law: its own, and of the modules that it imports, and these in turn.

    Modules of Python and of tidegate are left out. Of an installed package the file that is
    imported counts, and not what that imports.
    """
    found = [file.resolve()]
    for path in found:  # it grows
        if path.suffix == ".py" and "site-packages" not in path.parts:
            found += [each for each in _imported(path) if each not in found]
    return sorted(found)


def _imported(path: Path) -> set[Path]:
    """Return the files of the modules that a file imports, wherever it does."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    left_out = {*sys.stdlib_module_names, "tidegate"}
    own = [each for each in names if each.partition(".")[0] not in left_out]
    return {found for name in own if (found := _file_of(name)) is not None}


def _file_of(module: str) -> Path | None:
    """Return the file of a module, None where there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin).resolve() if spec and spec.has_location and spec.origin else None


def told(error: BaseException) -> str | None:
    """Return the traceback of what a law of the user's own raised, from its file on.

    None if the error does not come from such a law. Frames between the command
    line and the law are left out, as they are not the user's code.
    """
    frame = error.__traceback__
    while frame is not None:
        if str(frame.tb_frame.f_globals.get("__name__", "")).startswith(PREFIX):
            return "".join(traceback.format_exception(type(error), error, frame)).rstrip()
        frame = frame.tb_next
    # what it answered, or what it is, found wanting outside of it
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    own = any(note.endswith(NOTES) for note in notes) or _panicked(error)
    return "\n".join([str(error), *notes]) if own else None


def _panicked(error: BaseException) -> bool:
    """Tell whether a native module panicked, where there is a law that may have one.

    Such an error has no frame of the law.
    """
    panic = type(error).__name__ == "PanicException"
    return panic and any(name.startswith(PREFIX) for name in sys.modules)
