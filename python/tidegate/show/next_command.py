"""A command to type next: it has what the last one was given, so that it is about the same."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.scenario import toml
from tidegate.scenario.document import setting
from tidegate.scenario.overrides import clash, parts, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.scenario.document import Document


def program() -> str:
    """Return the program as it was called, so that a command that is shown can be typed."""
    called = sys.argv[0]
    if Path(called).name != "tidegate" or shutil.which("tidegate") == called:
        return "tidegate"
    return shlex.quote(called)


@dataclass(frozen=True)
class Typed:
    """What was typed after a command: its file, and the values of --set, --port and --law."""

    file: str
    settings: tuple[str, ...] = ()
    port: str | None = None
    laws: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        file: Path,
        settings: Sequence[str] | None,
        laws: Sequence[str] | None,
        port: str | None = None,
    ) -> Typed:
        """Return it from the options of a command."""
        return cls(str(file), tuple(settings or ()), port, tuple(laws or ()))

    def compare(
        self,
        *options: tuple[str, str],
        sets: Sequence[str] = (),
        own: Sequence[str] = (),
    ) -> str:
        """Return a comparison of the same.

        `options` are pairs as `("--gate", "none,tide")`, and `own` the keys that these set: what
        was set below them is left out, as the comparison would refuse it. `sets` is set beside
        what was given, or in its place.
        """
        keys = [setting(each)[0] for each in sets]
        kept = [
            each
            for each in self.settings
            if not any(clash(setting(each)[0], key) for key in own)
            and not any(_below(setting(each)[0], key) for key in keys)
        ]
        words = [("--set", each) for each in (*kept, *sets)]
        words += [("--law", each) for each in self.laws]
        if self.port is not None and "--port" not in [name for name, _ in options]:
            words.append(("--port", self.port))
        said = [f" {name} {shlex.quote(value)}" for name, value in (*options, *words)]
        return f"{program()} compare {shlex.quote(self.file)}{''.join(said)}"


def _below(mine: str, key: str) -> bool:
    path = parts(key)
    return parts(mine)[: len(path)] == path


def law_set(document: Document, port: str, stage: str) -> str | None:
    """Return the law of a stage as --gate and --queue name it, if it was set, with its settings.

    None: nothing was set there, and the file has all of it.
    """
    key = toml.key("port", port, stage)
    if not any(clash(name, key) for name, _ in document.settings):
        return None
    law = written(document, port, stage)
    name = law.pop("law", None)
    if name in (None, "none", "python"):
        return None
    return ":".join([str(name), *(f"{each}={_said(value)}" for each, value in law.items())])


def _said(value: object) -> str:
    if isinstance(value, str) and not set(value) & set(",:\"'[]{}"):
        return value
    return toml.inline(value)
