"""The origin of the numbers of a page: the scenario, and the command that repeats them."""

from __future__ import annotations

import copy
import html
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.scenario import toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.grid.load import Loaded
    from tidegate.grid.plan import Subject

MOST = 600
"""The most keys that are compared with their defaults."""


def own(effective: str) -> set[tuple[str, ...]] | None:
    """Return the keys of an effective scenario whose values are not the defaults.

    A key is at its default if the scenario without it is the same. None if the
    scenario has too many keys, or names files that are not available.
    """
    tables = tomllib.loads(effective)
    keys = list(_leaves(tables, ()))
    if len(keys) > MOST or _shown(tables) is None:
        return None
    return {key for key in keys if _shown(_without(tables, key)) != effective}


def _shown(tables: dict[str, Any]) -> str | None:
    try:
        return _native.load(toml.document(tables), "scenario", [], {}).show()
    except _native.ScenarioError:
        return None


def _leaves(node: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, value in node.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name)


def _without(tables: dict[str, Any], key: tuple[str, ...]) -> dict[str, Any]:
    """Return the tables without a key, and without tables that have nothing left."""
    found = copy.deepcopy(tables)
    nodes = [found]
    for name in key[:-1]:
        nodes.append(nodes[-1][name])
    for node, name in reversed(list(zip(nodes, key, strict=True))):
        if not isinstance(node.get(name), dict) or not node[name]:
            del node[name]
    return found


def marked(effective: str) -> str:
    """Return a scenario as HTML, with the lines that are not the defaults marked."""
    mine = own(effective)
    lines: list[str] = []
    header: tuple[str, ...] = ()
    for line in effective.splitlines():
        text = html.escape(line)
        if line.startswith("["):
            header = _path(line.strip("[]"))
        elif mine is not None and " = " in line:
            key = (*header, *_path(line.split(" = ", 1)[0]))
            text = f'<span class="own">{text}</span>' if key in mine else text
        lines.append(text)
    note = (
        "Lines that differ from the defaults are marked; the others may be left out."
        if mine is not None
        else "All settings; recorded flows or sizes that the scenario names are not included."
    )
    return f'<p class="soft">{note}</p><pre>' + "\n".join(lines) + "</pre>"


def _path(written: str) -> tuple[str, ...]:
    """Return the parts of a dotted key."""
    try:
        table = tomllib.loads(f"{written} = 0")
    except tomllib.TOMLDecodeError:
        return (written,)
    parts: list[str] = []
    node: Any = table
    while isinstance(node, dict):
        ((name, node),) = node.items()
        parts.append(name)
    return tuple(parts)


def repeated(loaded: Loaded) -> str:
    """Return the command that repeats the results with the scenario of the page."""
    words = ["tidegate", loaded.command, "scenario.toml"]
    if loaded.command == "run":
        return shlex.join([*words, "--seed", str(loaded.manifest["seed"])])
    return shlex.join([*words, *_asked(loaded.subject)])


def _asked(subject: Subject) -> list[str]:
    words: list[str] = []
    for key, values in subject.axes.items():
        if key in ("gate", "queue"):
            words += [f"--{key}", ",".join(values)]
        elif key != "variant":
            words += ["--vary", f"{key}={','.join(values)}"]
    if subject.port is not None and subject.port != "bottleneck":
        words += ["--port", subject.port]
    if subject.seeds == tuple(range(1, len(subject.seeds) + 1)):
        words += ["--seeds", str(len(subject.seeds))]
    return words


def variants(loaded: Loaded) -> str:
    """Return the changes of each variant: the page alone is enough to repeat them."""
    subject = loaded.subject
    if "variant" not in subject.axes:
        return ""
    base = loaded.manifest["effective_scenario"].splitlines()
    parts: list[tuple[str, str]] = []
    for (number, _), run in loaded.runs.items():
        label = subject.points[number].label
        if any(label == each for each, _ in parts):
            continue
        there = run.manifest["effective_scenario"].splitlines()
        parts.append((label, _changed(base, there)))
    lists = (f"<h3>{html.escape(label)}</h3><pre>{text}</pre>" for label, text in parts)
    return "<p>The changes of each variant:</p>" + "".join(lists)


def _changed(base: list[str], there: list[str]) -> str:
    """Return the lines that are in only one of two effective scenarios."""
    import difflib

    lines = difflib.unified_diff(base, there, lineterm="", n=0)
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return html.escape("\n".join(changed) or "nothing")
