"""Controls, queues and variants: what the columns of a comparison change in a document.

`--gate`, `--queue` and `[variant.NAME]` follow one rule. If they name the law that
the document has, its settings are kept, and theirs are added or replace them. With
another law they go. The packet that opens a session at a gate, and how one is
refused, are settings of the port: they stay.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.errors import UsageError
from tidegate.scenario import toml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tidegate.scenario.document import Document, Setting

STAGES = ("gate", "queue")
"""Stages of a port whose laws are compared."""
_OF_THE_PORT = {"gate": ("admit", "opener", "refuse", "charge"), "queue": ()}
_WHO = ("clients", "connections", "visits")
_EXAMPLES = {
    "gate": "LAW, fixed-rate:RATE, or LAW:FIELD=VALUE, as in close-probe:alpha_min=5",
    "queue": "LAW or LAW:FIELD=VALUE, as in red:min_th=5:max_th=15",
}


@dataclass(frozen=True)
class Variant:
    """A variant of a document: its name, its value on each axis, and the settings it changes."""

    label: str
    says: dict[str, str]
    settings: tuple[Setting, ...]
    asked: tuple[Setting, ...]
    """Of these what was asked for, without what stays of the document's law."""


def law_cells(
    stage: str,
    laws: Sequence[str | dict[str, Any]],
    ports: Sequence[str],
    document: Document,
    own: Collection[str] = (),
) -> list[Variant]:
    """Return one cell per law of a stage (`gate` or `queue`) of some ports, the same at each.

    `own` has the names of the caller's laws, each of which may stand for `python:NAME`.
    """
    cells: list[Variant] = []
    for law in laws:
        if not isinstance(law, str | dict):
            raise UsageError(
                f"A law of the {stage} is a name or a dict, and not {law!r}.",
                'One of your own is {"law": "python", "name": "mine"}, with laws={"mine": ...}.',
            )
        asked = shorthand(stage, law, own) if isinstance(law, str) else law
        label = law if isinstance(law, str) else _label(law)
        if not isinstance(law, str) and any(label == cell.label for cell in cells):
            label = _label(law, full=True)
        settings = tuple(
            (
                toml.key("port", port, stage),
                toml.inline(_upon(stage, asked, written(document, port, stage))),
            )
            for port in ports
        )
        alone = tuple((toml.key("port", port, stage), toml.inline(asked)) for port in ports)
        cells.append(Variant(label, {stage: label}, settings, alone))
    return cells


def written(document: Document, port: str, stage: str) -> dict[str, Any]:
    """Return what the document and its overrides say of a stage of a port."""
    found: dict[str, Any] = document.tables().get("port", {}).get(port, {}).get(stage, {})
    found = dict(found)
    for name, value in document.settings:
        path = parts(name)
        if path == ["port", port, stage]:
            whole = _plain(value)
            found = dict(whole) if isinstance(whole, dict) else {}
        elif path[:3] == ["port", port, stage] and len(path) == 4:
            found[path[3]] = _plain(value)
    return found


def clash(one: str, other: str) -> bool:
    """Tell whether two dotted keys are the same, or one contains the other."""
    mine, theirs = parts(one), parts(other)
    length = min(len(mine), len(theirs))
    return mine[:length] == theirs[:length]


def refuse_lost(mine: Iterable[Setting], later: Iterable[Setting]) -> None:
    """Refuse what somebody sets, and a control, an axis or a variant sets after it."""
    keys = [key for key, _ in later]
    for own, _ in mine:
        for key in keys:
            if clash(own, key):
                raise UsageError(
                    f"What was set for {own} has no effect: a control, axis or variant sets {key}.",
                    f"Leave out {own}, or what sets {key}.",
                )


def leaves(settings: Iterable[Setting]) -> dict[tuple[str, ...], object]:
    """Return what is set by keys, each as its parts: those within a table one by one."""
    return {
        path: leaf
        for key, value in settings
        for path, leaf in _leaves(tuple(parts(key)), _plain(value))
    }


def _leaves(path: tuple[str, ...], value: object) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _leaves((*path, name), each)
    else:
        yield path, value


def parts(name: str) -> list[str]:
    """Return the parts of a dotted key; a key that is none is left to the native module."""
    try:
        table = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        return [name]
    found: list[str] = []
    while isinstance(table, dict):
        ((part, table),) = table.items()
        found.append(part)
    return found


def _upon(stage: str, asked: Mapping[str, Any], stands: Mapping[str, Any]) -> dict[str, Any]:
    """Return the law asked for, with those settings of the stage that stay."""
    same = asked.get("law") == stands.get("law")
    settings = dict(stands) if same else {}
    # `admit` gives either the opener, which belongs to the port and stays, or what the law admits
    # (connections, clients or visits), which belongs to the law and goes with it
    if not same and stands.get("admit") in _WHO:
        stands = {name: value for name, value in stands.items() if name != "admit"}
    elif asked.get("admit") in _WHO and stands.get("admit", "clients") not in _WHO:
        settings.pop("admit", None)
        stands = {("opener" if name == "admit" else name): value for name, value in stands.items()}
    if asked.get("law") != "none":
        settings |= {name: stands[name] for name in _OF_THE_PORT[stage] if name in stands}
    return settings | dict(asked)


def _label(law: Mapping[str, Any], *, full: bool = False) -> str:
    """Return a name for the column: of a law of the caller's own, the one it was given."""
    name, shown = str(law.get("law", "?")), {"law"}
    if name == "python" and "name" in law and not full:
        name, shown = str(law["name"]), {"law", "name", "limiter"}
    return ":".join([name, *(f"{key}={value}" for key, value in law.items() if key not in shown)])


_POSITIONAL = {"fixed-rate": "rate", "python": "name"}


@cache
def _built_in(stage: str) -> frozenset[str]:
    """Return the names of the laws of a stage that come with tidegate."""
    kinds = json.loads(_native.schema())["$defs"][stage.capitalize()]["oneOf"]
    laws = [kind["properties"]["law"] for kind in kinds]
    return frozenset(name for law in laws for name in law.get("enum", [law.get("const")]))


def shorthand(stage: str, text: str, own: Collection[str] = ()) -> dict[str, Any]:
    """Read `law`, `law:ARG` (fixed-rate:100) or `law:FIELD=VALUE:...`."""
    law, *arguments = split(text, ":")
    asked: dict[str, Any] = {"law": law}
    if law in own:
        if law in _built_in(stage):
            raise UsageError(
                f"Both tidegate and you have a law {law} for the {stage}.",
                f"Write python:{law} for yours, or give yours another name.",
            )
        asked = {"law": "python", "name": law}
    for argument in arguments:
        field, named, value = argument.partition("=")
        if not named:
            field, value = _POSITIONAL.get(law, ""), argument
        if not field or not value:
            raise UsageError(
                f"Could not understand the {stage} {text}.", f"Write {_EXAMPLES[stage]}."
            )
        if field in asked:
            raise UsageError(f"The {stage} {text} has {field} twice.", "Give it once.")
        asked[field] = _plain(value)
    if law == "fixed-rate" and isinstance(asked.get("rate"), int | float):
        asked["rate"] = f"{asked['rate']}/s"
    return asked


def _plain(value: str) -> object:
    """Return a number, a truth value or a table where the text is one, else the text."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def split(text: str, at: str = ",") -> list[str]:
    """Split at commas (or another letter) outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
        if letter == at and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def variant_cells(document: Document) -> list[Variant]:
    """Return one cell per [variant.NAME] table of the document."""
    variants = _native.variants(document.text, document.origin, list(document.settings))
    if any(not name.strip() for name, _ in variants):
        raise UsageError(
            f"A variant of {document.origin} needs a name.", "Write it as [variant.NAME]."
        )
    return [
        Variant(
            name,
            {"variant": name},
            tuple(_with_laws(document, change) for change in changes),
            tuple(changes),
        )
        for name, changes in variants
    ]


def chosen_variants(document: Document, names: Sequence[str]) -> list[Variant]:
    """Return those of the document's variants that are named; `all` names every one."""
    there = {cell.label: cell for cell in variant_cells(document)}
    for name in names:
        if name not in there and name != "all":
            raise UsageError(
                f"There is no variant {name} in {document.origin}.",
                f"It has {', '.join(there)}."
                if there
                else "Write one as [variant.NAME], with what it changes.",
            )
    if "all" in names and "all" not in there:
        return list(there.values())
    return [there[name] for name in names]


def _with_laws(document: Document, change: Setting) -> Setting:
    """Return a change of a variant; a whole law comes on top of the one that stands there."""
    path, asked = parts(change[0]), _plain(change[1])
    if len(path) != 3 or path[0] != "port" or path[2] not in STAGES:
        return change
    if not isinstance(asked, dict):
        return change
    stands = written(document, path[1], path[2])
    return change[0], toml.inline(_upon(path[2], asked, stands))


def default_port(scenario: _native.Scenario) -> str:
    """Return the port that controls are compared at: the bottleneck, or the only candidate."""
    names = [name for name, access in scenario.ports if not access]
    forward = [name for name in names if not name.endswith(".reverse")]
    if "bottleneck" in names:
        return "bottleneck"
    if len(forward) == 1:
        return forward[0]
    raise UsageError(
        f"Which port is to be controlled? {scenario.name} has {', '.join(forward) or 'none'}.",
        "Name one with --port (port= in Python).",
    )


def asked_ports(asked: str | Sequence[str] | None, scenario: _native.Scenario) -> list[str]:
    """Return the ports that `--port` names; `both` is the default one in both directions."""
    if asked is None:
        return []
    if asked == "both":
        return _both(scenario)
    if not hasattr(asked, "__iter__"):
        raise UsageError(f"{asked!r} is no port.", "Name one, several in a list, or both.")
    found = split(asked) if isinstance(asked, str) else list(asked)
    for port in found:
        require_port(port, scenario)
    return found


def _both(scenario: _native.Scenario) -> list[str]:
    """Return the bottleneck in both directions; raise where no port is known for it."""
    names = [name for name, access in scenario.ports if not access]
    pairs = [[name, f"{name}.reverse"] for name in names if f"{name}.reverse" in names]
    try:
        port = default_port(scenario)
    except UsageError:
        port = ""
    if [port, f"{port}.reverse"] in pairs:
        return [port, f"{port}.reverse"]
    example = f", as in {','.join(pairs[0])}" if pairs else ""
    raise UsageError(
        f"The ports `both` are a bottleneck in both directions, and {scenario.name} has none that"
        f" is known as one: it has {', '.join(names) or 'no port'}.",
        f"Name the ports{example}.",
    )


def require_port(port: str, scenario: _native.Scenario) -> None:
    """Raise unless the scenario has the port."""
    names = [name for name, access in scenario.ports if not access]
    if port not in {name for name, _ in scenario.ports}:
        raise UsageError(f"There is no port {port}.", f"The ports are {', '.join(names)}.")
