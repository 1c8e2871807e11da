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
    _let_beside(path)
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


def _let_beside(path: Path) -> None:
    """Let a file import what lies beside it, as in `python FILE.py`; behind all else.

    Raises UsageError where a module of that name from another folder would be taken.
    """
    folder = path.resolve().parent
    for file in (*folder.glob("*.py"), *folder.glob("*/__init__.py")):
        name = file.stem if file.parent == folder else file.parent.name
        there = getattr(sys.modules.get(name), "__file__", None)
        if there is not None and Path(there).resolve() != file and file in sources(path):
            raise UsageError(
                f"{path} imports {name}, and so did another law, from {there}.",
                "Give one of the two modules another name, or try the laws one after the other.",
            )
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def sources(file: Path) -> list[Path]:
    """Return the files of a law: its own, and of the modules that it imports, and these in turn.

    Modules of Python and of tidegate are left out. Of an installed package the files that are
    imported count, and not what those import. Nothing is executed.
    """
    found = [file.resolve()]
    for path in found:  # it grows
        if path.suffix == ".py" and "site-packages" not in path.parts:
            found += sorted(_imported(path, found[0].parent) - set(found))
    return sorted(found)


def _imported(path: Path, beside: Path) -> set[Path]:
    """Return the files of the modules that a file imports, wherever it does.

    `beside` is the folder of the law.
    """
    found: set[Path] = set()
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return found  # said where it is imported, if it ever is
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                found |= _files_of(each.name, beside)
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{each.name}".strip(".") for each in node.names]
            for name in names:
                if node.level:
                    found |= _below(path.parents[node.level - 1 : node.level], name.split("."))
                else:
                    found |= _files_of(name, beside)
    return found


def _files_of(module: str, beside: Path) -> set[Path]:
    """Return the files of a module and of the packages that it lies in."""
    first, *rest = module.split(".")
    if first in sys.stdlib_module_names or first == "tidegate":
        return set()
    if own := _below([beside], [first]):
        return own | _below([beside], [first, *rest])
    try:
        spec = importlib.util.find_spec(first)  # of the first part: no package is executed
    except ValueError:  # a module that was made, not loaded
        spec = None
    if spec is None:
        return set()
    origin = {Path(spec.origin).resolve()} if spec.has_location and spec.origin else set()
    return origin | _below([Path(each) for each in spec.submodule_search_locations or ()], rest)


def _below(folders: Sequence[Path], parts: Sequence[str]) -> set[Path]:
    """Return the files of a dotted name below one of these folders, those of its packages too.

    The last part may be a name within a module.
    """
    found: set[Path] = set()
    for folder in folders:
        place = folder
        for part in parts:
            files = [
                place / f"{part}.py",
                place / part / "__init__.py",
                *place.glob(f"{part}.*.so"),
            ]
            found |= {each.resolve() for each in files if each.is_file()}
            place /= part
    return found


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
