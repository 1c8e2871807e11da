"""The axes of a grid: keys with their values, and the grid of settings that they span."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, combinations, product
from math import prod
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.errors import UsageError
from tidegate.scenario import toml
from tidegate.scenario.overrides import (
    Variant,
    chosen_variants,
    law_cells,
    leaves,
    parts,
    split,
    variant_cells,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tidegate.scenario.document import Document, Setting

MOST_VALUES = 10_000
MOST_SETTINGS = 100_000
SPEAKING = ("gate", "queue", "variant", "folder")
"""Axes whose values need no name in front."""
NAMES = {"gate": "none,close-probe", "queue": "drop-tail,cake", "variant": "all"}
"""Axes whose values are names, and an example of each."""

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([A-Za-zµ/%][A-Za-zµ/%0-9]*)?\s*")
_PREFIXES = {
    "p": 1e-12,
    "n": 1e-9,
    "u": 1e-6,
    "µ": 1e-6,
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
}


@dataclass(frozen=True)
class Axis:
    """One key with the names of its values, and what each of them sets."""

    key: str
    values: tuple[str, ...]
    settings: tuple[tuple[Setting, ...], ...]
    asked: tuple[tuple[Setting, ...], ...]
    """Of these what was asked for, without what stays of the document's laws."""

    def clash(self, later: Axis) -> tuple[str, ...] | None:
        """Return the key that this axis sets and a later one too, if there is one.

        A later key within a table is no clash, unless the table has it: `--gate tide` leaves open
        what `--vary port.bottleneck.gate.g` sets.
        """
        mine, others = ({*leaves(chain.from_iterable(each.asked))} for each in (self, later))
        # a table that comes later is in place of all that is in it
        others |= {tuple(parts(key)) for key, _ in chain.from_iterable(later.settings)}
        for key in sorted(mine):
            for other in others:
                if key[: len(other)] == other or other[: len(key)] == key:
                    return key
        return None


def given(text: str) -> Axis:
    """Read `KEY=a,b,c` or `KEY=lo:hi:step`."""
    name, found, values = text.partition("=")
    name = name.strip()
    if not found or not name:
        raise UsageError(
            f"Could not understand --vary {text}.",
            "Write KEY=a,b,c or KEY=lo:hi:step, as in --vary port.bottleneck.gate.beta=0.1:0.5:0.1",
        )
    texts = [each for part in split(values) for each in _steps(name, part)]
    return _axis(name, texts, texts)


def asked(axes: Mapping[str, Sequence[object]] | str) -> list[Axis]:
    """Return axes as Python hands them in: keys with lists of values, or one as `given` reads."""
    if isinstance(axes, str):
        return [given(axes)]
    if not hasattr(axes, "items"):
        raise UsageError(
            f"An axis is a key with its values, and not {axes!r}.",
            'Write {"KEY": ["a", "b"]}, or the text "KEY=a,b".',
        )
    found = []
    for key, values in axes.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            listed = [*given(f"{key}={values}").values] if isinstance(values, str) else [values]
            raise UsageError(
                f"The axis {key} is not a list of values: {values!r}.",
                f"Write a list, as in {{{key!r}: {listed!r}}}.",
            )
        texts = [toml.given(key, value) for value in values]
        found.append(_axis(key, texts, texts))
    return found


def written(document: Document, *, colour: bool = False) -> tuple[list[Axis], int | None]:
    """Return the axes of the document's table [sweep], and its number of seeds."""
    settings = list(document.settings)
    found, seeds = _native.axes(document.text, document.origin, settings, colour)
    return [_axis(key, [_named(value) for value in values], values) for key, values in found], seeds


def _named(value: str) -> str:
    """Return what a value in TOML is called: strings without their quotes."""
    parsed = tomllib.loads(f"value = {value}")["value"]
    return parsed if isinstance(parsed, str) else value


def laws(
    stage: str,
    asked_for: Sequence[str | dict[str, Any]],
    ports: Sequence[str],
    document: Document,
    own: Collection[str] = (),
) -> Axis:
    """Return the axis of laws at a stage of some ports; see `overrides.law_cells`."""
    return _of(stage, law_cells(stage, asked_for, ports, document, own))


def variants(document: Document, names: Sequence[str] | None = None) -> list[Axis]:
    """Return the axis of the document's [variant.NAME] tables, if it has any, or of those named."""
    found = variant_cells(document) if names is None else chosen_variants(document, names)
    return [_of("variant", found)] if found or names is not None else []


def _of(key: str, found: Sequence[Variant]) -> Axis:
    return _checked(
        Axis(
            key,
            tuple(cell.label for cell in found),
            tuple(cell.settings for cell in found),
            tuple(cell.asked for cell in found),
        )
    )


def _axis(key: str, names: Sequence[str], values: Sequence[str]) -> Axis:
    settings = tuple(((key, value),) for value in values)
    return _checked(Axis(key, tuple(names), settings, settings))


def _checked(axis: Axis) -> Axis:
    if not axis.values:
        if axis.key in NAMES:
            raise UsageError(
                f"No {axis.key} is named.", f"Name one or more, as in {NAMES[axis.key]}."
            )
        raise UsageError(
            f"The axis {axis.key} has no values.", "Give it one or more, as in KEY=a,b,c."
        )
    if len(axis.values) > MOST_VALUES:
        raise UsageError(
            f"The axis {axis.key} has {len(axis.values)} values, more than {MOST_VALUES}.",
            "Take a larger step.",
        )
    twice = sorted({value for value in axis.values if axis.values.count(value) > 1})
    if twice:
        raise UsageError(
            f"The axis {axis.key} has {', '.join(twice)} more than once.", "Name each value once."
        )
    return axis


def _steps(key: str, text: str) -> list[str]:
    """Return the values of `lo:hi:step`, both ends included, or the one value that it is."""
    if ":" not in text or text[0] in "\"'[{":
        return [text]
    found = [_QUANTITY.fullmatch(part) for part in text.split(":")]
    units = {each[2] for each in found if each is not None and each[2]}
    if len(found) != 3 or None in found or len(units) > 1:
        raise UsageError(
            f"Could not understand {text} on the axis {key}.",
            "Write lo:hi:step with one unit, as in 20ms:100ms:20ms; put quotes around text.",
        )
    low, high, step = (Decimal(each[1]) for each in found if each is not None)
    count = int((high - low) / step) + 1 if step else 0
    if count < 1:
        raise UsageError(
            f"{text} on the axis {key} has no values.",
            "Write lo:hi:step with a step that leads from lo to hi.",
        )
    if count > MOST_VALUES:
        raise UsageError(
            f"{text} on the axis {key} makes {count} values, more than {MOST_VALUES}.",
            "Take a larger step.",
        )
    unit = units.pop() if units else ""
    last = low + (count - 1) * step
    if last != high:
        ranges = [f"{text.rsplit(':', 2)[0]}:{_plain(end)}{unit}:" for end in (last, last + step)]
        raise UsageError(
            f"{text} on the axis {key} does not come to its end: it has {_plain(last)}{unit}, and"
            f" then {_plain(last + step)}{unit}.",
            f"Write {' or '.join(each + text.rsplit(':', 1)[1] for each in ranges)}.",
        )
    return [f"{_plain(low + number * step)}{unit}" for number in range(count)]


def _plain(number: Decimal) -> str:
    """Return a number without exponent and without zeros that say nothing."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def cells(axes: Sequence[Axis]) -> list[Variant]:
    """Return one cell per point of the grid, the last axis running fastest."""
    keys = [axis.key for axis in axes]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise UsageError(f"There are two axes {', '.join(twice)}.", "Name each key once.")
    if not axes:
        raise UsageError(
            "No axis to sweep was given.",
            "Give --vary KEY=a,b,c, --gate LIST, --queue LIST, or a table [sweep] in the file.",
        )
    for one, later in combinations(axes, 2):
        if (key := one.clash(later)) is not None:
            raise UsageError(
                f"The axes {one.key} and {later.key} both set {toml.key(*key)}: one of them would"
                " have no effect.",
                "Leave one of them out.",
            )
    points = prod(len(axis.values) for axis in axes)
    if points > MOST_SETTINGS:
        raise UsageError(
            f"The axes make {points} settings, more than {MOST_SETTINGS}.",
            "Take fewer values, or sweep one part after the other.",
        )
    spans = [list(zip(axis.values, axis.settings, strict=True)) for axis in axes]
    return [_cell(keys, chosen) for chosen in product(*spans)]


def _cell(keys: Sequence[str], chosen: Iterable[tuple[str, tuple[Setting, ...]]]) -> Variant:
    says: dict[str, str] = {}
    settings: list[Setting] = []
    for key, (value, changes) in zip(keys, chosen, strict=True):
        says[key] = value
        settings += changes
    return Variant(named(says), says, tuple(settings), tuple(settings))


def named(says: Mapping[str, str]) -> str:
    """Return the name of a point: its values, with the last word of their keys.

    Beside a queue no gate is not said: "none fq-codel" reads as no control at all.
    """
    short = shortened(list(says))
    said = {k: v for k, v in says.items() if "queue" not in says or (k, v) != ("gate", "none")}
    return " ".join(
        value if key in SPEAKING else f"{short[key]}={value}" for key, value in said.items()
    )


def shortened(keys: Sequence[str]) -> dict[str, str]:
    """Return the shortest distinct ends of dotted keys."""
    words = {key: key.split(".") for key in keys}
    short = {}
    for key in keys:
        for length in range(1, len(words[key]) + 1):
            end = words[key][-length:]
            if sum(other[-length:] == end for other in words.values()) == 1:
                short[key] = ".".join(end)
                break
        else:
            short[key] = key
    return short


def warnings_by_setting(warnings: Mapping[str, Iterable[str]]) -> list[str]:
    """Return each warning once, with the names of its settings unless it is about all."""
    about: dict[str, list[str]] = {}
    for label, mine in warnings.items():
        for warning in mine:
            about.setdefault(warning, []).append(label)
    return [
        warning if len(labels) == len(warnings) else f"{', '.join(labels)}: {warning}"
        for warning, labels in about.items()
    ]


def titled(key: str, unit: str) -> str:
    """Return the name of an axis of numbers with its unit."""
    shown = f"1{unit}" if unit.startswith("/") else unit
    return f"{key} [{shown}]" if unit else f"{key} [1]"


def numbers(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Return the values as numbers and their unit, or None if they are not numbers of one.

    Prefixes are taken into account, and the first unit stands: 500ms and 1s
    are 500 and 1000, in ms.
    """
    found = [_QUANTITY.fullmatch(value) for value in values]
    if not found or None in found:
        return None
    pairs = [(float(each[1]), each[2] or "") for each in found if each is not None]
    units, first = {unit for _, unit in pairs}, pairs[0][1]
    bases = {first.removeprefix(prefix) for prefix in _PREFIXES}
    for base in sorted(bases, key=len):
        known = {f"{prefix}{base}": factor for prefix, factor in _PREFIXES.items()}
        if units <= known.keys() and (base or len(units) == 1):
            return [number * (known[unit] / known[first]) for number, unit in pairs], first
    return None
