"""Long files and long functions: a second idea has moved in."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.lint.files import text_of, tracked

FILE_LINES = 600
FUNCTION_LINES = 60

_NOT_CODE = re.compile(
    r"""
      //[^\n]*                                  # line comment
    | /\*.*?\*/                                 # block comment
    | b?r(?P<hashes>\#*)".*?"(?P=hashes)        # raw string
    | b?"(?:\\.|[^"\\])*"                       # string
    | b?'(?:\\(?:u\{[0-9a-fA-F]+\}|x..|.)|[^'\\\n])'  # character, but no lifetime
    """,
    re.VERBOSE | re.DOTALL,
)
_RUST_FUNCTION = re.compile(r"\bfn\s+(\w+)")


def problems(root: Path) -> Iterator[str]:
    """Yield files over 600 lines, and functions over 60."""
    for path in tracked(root, ".rs", ".py", ".sh", ".c", ".h"):
        text = text_of(path)
        if text is None:
            continue
        name = path.relative_to(root)
        lines = text.count("\n")
        if lines > FILE_LINES:
            yield f"{name}:1: {lines} lines, more than {FILE_LINES}"
        functions = {".rs": rust_functions, ".py": python_functions}.get(path.suffix)
        for line, function, length in functions(text) if functions else ():
            if length > FUNCTION_LINES:
                yield f"{name}:{line}: `{function}` has {length} lines, more than {FUNCTION_LINES}"


def python_functions(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield first line, name and number of lines of every function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (
                node.lineno,
                node.name,
                (node.end_lineno or node.lineno) - node.lineno + 1,
            )


def rust_functions(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield first line, name and number of lines of every function with a body.

    Read from the braces alone, comments and literals taken out: what a macro
    makes of them is not seen.
    """
    code = _NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in _RUST_FUNCTION.finditer(code):
        end = _body_end(code, found.end())
        if end is not None:
            first = code.count("\n", 0, found.start()) + 1
            yield first, found[1], code.count("\n", found.start(), end) + 1


def _body_end(code: str, start: int) -> int | None:
    """Where the body ends that follows a function's name; None if there is no body."""
    depth = 0
    in_body = False
    for place in range(start, len(code)):
        char = code[place]
        if char in "([{":
            in_body |= char == "{" and depth == 0
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0 and in_body:
                return place
        elif char == ";" and depth == 0:
            return None
    return None
