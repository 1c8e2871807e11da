"""`tidegate schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.console import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.scenario.keys import KeyTable

Keys = Annotated[
    str | None,
    text(
        "NAME",
        "Print the keys of this law or part instead, in words: tide, red, link, pages;"
        " scenario for those of the whole document.",
    ),
]


def schema(keys: Keys = None) -> None:
    """Print the JSON schema of scenarios, for editors, or what the keys of a part mean."""
    from tidegate._native import schema as whole
    from tidegate.scenario.keys import named

    if keys is None:
        typer.echo(whole())
    else:
        typer.echo("\n\n".join("\n".join(_lines(part)) for part in named(keys)))


def _lines(part: KeyTable) -> Iterator[str]:
    """Yield a part as text: each key with its meaning below, then its choices."""
    yield f"{part.title}: {part.text}".removesuffix(": ")
    for key in part.keys:
        yield from ("", f"{key.name} = {_plain(key.value)}", f"    {_plain(key.text)}".rstrip())
    if part.choices:
        yield from ("", *(f"- {_plain(each)}" for each in part.choices))
    for each in part.longer:
        yield from ("", *_lines(each))


def _plain(markdown: str) -> str:
    return " ".join(markdown.replace("`", "").replace("**", "").split())
