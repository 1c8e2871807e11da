"""What `claims.csv` measures and compares: expressions over the runs of cases.

An expression has numbers, `+ - * /`, the functions below, and measures: a name of
the summary, a measure of all papers (`results/measures.py`) or of this one
(`measures.py`). `[a,b]` in a key of cases, or `[name]` of a set of the paper, stands
for all of these cases at once: a row for each, which a function as `mean` puts
together, those of the last brackets first. `{a,b}` and `{name}` stand for one after the
other.
"""

from __future__ import annotations

import ast
import operator
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tidegate.errors import UsageError
from tidegate.results import measures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Sets: TypeAlias = "Mapping[str, Sequence[object]]"
"""Values of a part of the keys of cases, by the name that rows have for them."""
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _correlation(one: Floats, other: Floats) -> Floats:
    pairs = zip(one.T, other.T, strict=True)
    return np.array([np.corrcoef(mine, theirs)[0, 1] for mine, theirs in pairs])


def _at_most(by: Floats, values: Floats) -> Floats:
    """Return the values, for each seed, of the case that has the most of `by`."""
    place = by.argmax(axis=-2)[..., np.newaxis, :]
    return np.asarray(np.take_along_axis(values, place, axis=-2)[..., 0, :])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "mean": lambda values: np.mean(values, axis=-2),
    "max": lambda values: np.max(values, axis=-2),
    "min": lambda values: np.min(values, axis=-2),
    "all": lambda *values: np.array(values),
    "at_most": _at_most,
    "correlation": _correlation,
    "abs": abs,
    "at_least": np.maximum,
    "log": np.log,
    "log10": np.log10,
    "round": round,
    "ceil": ceil,
    "sum": sum,
    "count": len,
    "kind": lambda table: next(iter(table)),
}
"""`mean`, `max`, `min`: over several cases; `all(a, b)` are several; `correlation` over them."""


def parsed(text: str) -> ast.expr:
    """Read an expression; ValueError names one that is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"{text} is no expression") from None


def evaluated(
    node: ast.expr,
    leaf: Callable[[ast.expr], Any],
    functions: Mapping[str, Callable[..., Any]] = FUNCTIONS,
) -> Any:  # noqa: ANN401  (a number, an array, or what a scenario has)
    """Return the value of an expression; `leaf` has those of its measures."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = (evaluated(side, leaf, functions) for side in (node.left, node.right))
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluated(node.operand, leaf, functions)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
        return functions[node.func.id](*(evaluated(each, leaf, functions) for each in node.args))
    return leaf(node)


@cache
def modules_of(package: str) -> tuple[object, ...]:
    """Return where measures are looked up: those of a paper, then those of all."""
    own = f"{package}.measures"
    return (*((import_module(own),) if find_spec(own) else ()), measures)


def measure_of(node: ast.expr, package: str) -> Any:  # noqa: ANN401  (a measure)
    """Return the measure that a part of an expression names: a function of a run, or a name."""
    name = node.func if isinstance(node, ast.Call) else node
    if not isinstance(name, ast.Name):
        raise ValueError(f"{ast.unparse(node)} is no measure")
    known = (getattr(each, name.id) for each in modules_of(package) if hasattr(each, name.id))
    found: Any = next(known, name.id)
    if isinstance(node, ast.Call):
        if not callable(found):
            raise UsageError(
                f"There is no measure {name.id}().",
                "It is a function of the paper's measures.py, or of results/measures.py.",
            )
        return found(*map(ast.literal_eval, node.args))
    return found


_BRACES, _BRACKETS = re.compile(r"\{([^{}]*)\}"), re.compile(r"\[([^\[\]]*)\]")


def _choices(inside: str, sets: Sets) -> tuple[str, list[object]]:
    """Return name and values of a set: `load`, `load1,load2`, or `load=load1,load2`."""
    name, _, listed = inside.rpartition("=")
    if "," in listed:
        return name or listed, list(listed.split(","))
    name = listed.partition(".")[0]
    return name, list(sets[name]) if name in sets else []


def _chosen(inside: str, value: object) -> str:
    """Return the text of a value; of one that has several parts, `NAME.0` is the first."""
    place = inside.rpartition(".")[2]
    return str(value[int(place)] if isinstance(value, tuple) else value)


def one_by_one(texts: Sequence[str], sets: Sets) -> list[list[str]]:
    """Return texts with every choice of what stands in braces; a name is the same everywhere."""
    values: dict[str, list[object]] = {}
    for inside in (each for text in texts for each in _BRACES.findall(text)):
        name, found = _choices(inside, sets)
        values[name] = values.get(name) or found
    unknown = [name for name, found in values.items() if not found]
    if unknown:
        raise ValueError(f"there is no set {unknown[0]}")

    def filled(text: str, chosen: Mapping[str, object]) -> str:
        return _BRACES.sub(lambda each: _chosen(each[1], chosen[_choices(each[1], sets)[0]]), text)

    every = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    return [[filled(text, chosen) for text in texts] for chosen in every]


def at_once(pattern: str, sets: Sets) -> Any:  # noqa: ANN401  (lists in lists of keys)
    """Return the key of a case; with brackets, a list of keys, in lists for further brackets."""
    found = _BRACKETS.search(pattern)
    if found is None:
        return pattern
    _, values = _choices(found[1], sets)
    if not values:
        raise ValueError(f"there is no set {found[1]}")
    before, behind = pattern[: found.start()], pattern[found.end() :]
    return [at_once(f"{before}{_chosen(found[1], each)}{behind}", sets) for each in values]


def each_key(cases: Any) -> list[str]:  # noqa: ANN401  (a key, or keys in lists)
    """Return the keys of cases in lists of lists."""
    return [key for each in cases for key in each_key(each)] if isinstance(cases, list) else [cases]


def all_cases(text: str, sets: Sets) -> tuple[str, ...]:
    """Return the cases that a text names; several keys stand apart by blanks."""
    patterns = [key for part in text.split() for (key,) in one_by_one([part], sets)]
    return tuple(dict.fromkeys(key for each in patterns for key in each_key(at_once(each, sets))))


def called(text: str) -> tuple[str, list[object]]:
    """Return the function and the values of a call that is written out."""
    node = parsed(text)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError(f"{text} calls nothing: write NAME()")
    return node.func.id, list(map(ast.literal_eval, node.args))
