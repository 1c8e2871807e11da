"""The reference of the scenario document: its JSON schema, and the same as a page."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.pages import MARK

if TYPE_CHECKING:
    from tidegate.scenario.keys import KeyTable

PROFILES = Path("crates/model/src/profiles.toml")
"""The settings of each TCP profile, those left out as in the profile that it is `like`."""


def schema() -> str:
    """Return the JSON schema, as editors want it."""
    from tidegate import _native

    return json.dumps(json.loads(_native.schema()), indent=2) + "\n"


def page() -> str:
    """Return every key of the document, as Markdown."""
    from tidegate.scenario import keys

    document, *others = keys.parts(json.loads(schema()), _reference)
    lines = ["# Keys of a scenario", "", MARK]
    lines += ["[scenario.md](scenario.md) explains the document as a whole.", ""]
    lines += _keys(document)
    for part in others:
        lines += ["", f"## {part.title}", "", part.text, "", *_keys(part)]
        lines += [f"- {each}" for each in part.choices]
        for each in part.longer:
            lines += ["", f"### {each.title}", "", each.text, "", *_keys(each)]
    lines += ["", "## Settings of the TCP profiles", ""]
    lines += ["What a class has that sets only `profile`.", ""]
    lines += _profiles(tomllib.loads(PROFILES.read_text(encoding="utf-8")))
    return "\n".join(lines).rstrip() + "\n"


def _profiles(profiles: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of every setting, with the profiles in the order of their eras."""

    def settings(name: str) -> dict[str, Any]:
        own = dict(profiles[name])
        like = own.pop("like", None)
        return {**(settings(like) if like else {}), **own}

    columns = {name: settings(name) for name in sorted(profiles, key=_era)}
    yield f"| setting | {' | '.join(f'`{name}`' for name in columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for key in next(iter(columns.values())):
        values = (_value(column[key]) for column in columns.values())
        yield f"| `{key}` | {' | '.join(values)} |"


def _era(profile: str) -> tuple[bool, bool, str]:
    return not profile.startswith("ns2"), profile != "rfc", profile


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"`{key}` {_value(each)}" for key, each in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _keys(part: "KeyTable") -> Iterator[str]:
    """Yield a table of the keys of a part."""
    if part.keys:
        yield "| key | value | |"
        yield "|---|---|---|"
    for key in part.keys:
        yield f"| `{key.name}` | {key.value} | {_cell(key.text)} |"


def _reference(name: str) -> str:
    from tidegate.scenario.keys import QUANTITIES, title

    if name in QUANTITIES:
        return f"[{name.lower()}](scenario.md#units)"
    return f"[{title(name)}](#{title(name).lower()})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
