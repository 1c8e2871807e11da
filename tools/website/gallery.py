"""The gallery: every ready scenario with its own text, its command, table and picture.

The command is the one that the comment of the scenario names; without one it
is a comparison of no control with close-probe. Results are kept in a folder,
and run again when the scenario or the code has changed.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

TEMPLATE = Path(__file__).parent / "gallery.md.jinja"
SEEDS = 2
"""Seeds of a comparison here: the fewest that give an interval."""
TITLES = {
    "controls-side-by-side": "Controls side by side",
    "rates-over-time": "Rates over time",
    "fct-distribution": "How long sessions take",
}
"""The pictures of a comparison that are shown, the first of them on the card."""
OTHERS = ("testbed",)
"""Folders of scenarios for `tidegated testbed`, which runs in real time."""

_COMMAND = re.compile(
    r"tidegate (compare|run|sweep) scenarios/\S+\.toml((?: +--?\S+(?: [^-\s]\S*)?)*)"
)
_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
"""Where a sentence ends and the next begins."""


@dataclass(frozen=True)
class Card:
    """One ready scenario: its file, name, title, opening comment and commands."""

    path: Path
    name: str
    title: str
    text: str
    commands: tuple[str, ...]

    @property
    def slug(self) -> str:
        """The name of its page."""
        return self.name.removesuffix(".toml").replace("/", "-")

    @property
    def document(self) -> str:
        """The text of its file."""
        return self.path.read_text(encoding="utf-8").rstrip()

    @property
    def sentence(self) -> str:
        """The first sentence of its opening comment."""
        return _END.split(" ".join(self.text.split("\n\n")[0].split()))[0]

    @property
    def real(self) -> bool:
        """Whether `tidegated` runs it, in real time."""
        return self.name.split("/")[0] in OTHERS


@dataclass(frozen=True)
class Result:
    """The table that a command printed, and the files of its pictures."""

    command: str
    table: str
    pictures: tuple[Path, ...]


def cards(root: Path) -> list[Card]:
    """Return every ready scenario, those of folders last."""
    folder = root / "scenarios"
    files = sorted(folder.rglob("*.toml"), key=lambda path: (len(path.parts), path))
    return [_card(folder, path) for path in files]


def _card(folder: Path, path: Path) -> Card:
    written = path.read_text(encoding="utf-8")
    name = path.relative_to(folder).as_posix()
    lines = []
    for line in written.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" "))
    document = tomllib.loads(written)
    commands = _commands("\n".join(lines), name, document)
    title = str(document["name"])
    return Card(path, name, title[:1].upper() + title[1:], "\n".join(_prose(lines)), commands)


def _prose(lines: Sequence[str]) -> Iterator[str]:
    """Yield the text of a scenario as Markdown: what is indented is a command."""
    indented = False
    for line in lines:
        deep = line.startswith("    ")
        if deep != indented:
            yield from ("```sh",) if deep else ("```", "")
            indented = deep
        yield line.removeprefix("    ") if deep else line
    if indented:
        yield "```"


def _commands(text: str, name: str, document: dict[str, object]) -> tuple[str, ...]:
    """Return the commands that a scenario names, or one that suits its document."""
    if name.split("/", maxsplit=1)[0] in OTHERS:
        return (f"tidegated testbed scenarios/{name}",)
    joined = re.sub(r"\s*\\\n\s*", " ", text)
    joined = re.sub(r"`(tidegate [^`]+)`", lambda found: " ".join(found[0].split()), joined)
    own = f"scenarios/{name}"
    named = [
        f"tidegate {found[1]} {own}{found[2].rstrip('`.')}"
        for found in _COMMAND.finditer(joined)
        if own in found[0]
    ]
    if named:
        return tuple(dict.fromkeys(named))
    gates = "" if "variant" in document else " --gate none,close-probe"
    return (f"tidegate compare {own}{gates}",)


def shortened(command: str) -> str:
    """Return a command with few seeds."""
    return f"{re.sub(r' --seeds [0-9]+', '', command)} --seeds {SEEDS}"


def folded(command: str) -> str:
    """Return a command; if it is long, each option on a line of its own."""
    return command if len(command) < 90 else command.replace(" --", " \\\n    --")


def results(card: Card, root: Path, out: Path) -> list[Result]:
    """Return the results of the commands of a scenario; run those whose results are not kept."""
    found = []
    for number, command in enumerate(card.commands, 1):
        folder = out / f"{card.slug}-{number}"
        saved = out / f"{folder.name}.json"
        key = _key(card, command)
        if not saved.exists() or json.loads(saved.read_text(encoding="utf-8"))["key"] != key:
            print(f"gallery: {shortened(command)}", flush=True)
            table = _run(shortened(command), root, folder)
            record = json.dumps({"key": key, "command": shortened(command), "table": table})
            saved.write_text(record, encoding="utf-8")
        record = json.loads(saved.read_text(encoding="utf-8"))
        drawn = (folder / f"{name}.svg" for name in TITLES)
        pictures = tuple(path for path in drawn if path.exists())
        found.append(Result(record["command"], record["table"], pictures))
    return found


def _key(card: Card, command: str) -> str:
    """Return a digest of all that determines a result: command, scenario, data and code."""
    import tidegate
    from tidegate import _native

    found = hashlib.blake2b(shortened(command).encode(), digest_size=20)
    package = sorted(Path(str(tidegate.__file__)).parent.rglob("*.py"))
    data = (
        path for path in sorted(card.path.parent.rglob("*")) if path.suffix in {".csv", ".pcap"}
    )
    for path in (Path(_native.__file__), *package, card.path, *data):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def _run(command: str, root: Path, folder: Path) -> str:
    """Run a command into a folder, and return what it printed.

    Runs in the folder are resumed; if they are of other code, all are done again.
    """
    words = [sys.executable, "-m", *shlex.split(command), "--out", str(folder)]
    wide = {**os.environ, "COLUMNS": "118", "NO_COLOR": "1"}
    for _ in range(2):
        done = subprocess.run(
            words, cwd=root, env=wide, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return "\n".join(line.rstrip() for line in done.stdout.splitlines())
        shutil.rmtree(folder, ignore_errors=True)
    raise SystemExit(f"{command} failed:\n{done.stderr}")


def write(folder: Path, cards: Sequence[tuple[Card, Sequence[Result]]]) -> None:
    """Write the pages of the gallery and their pictures into an empty folder."""
    pages = jinja2.Environment(trim_blocks=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    words = {"TITLES": TITLES, "SEEDS": SEEDS, "stored": _stored, "folded": folded}
    module: Any = pages.make_module(words)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pictures").mkdir(parents=True)
    (folder / "index.md").write_text(module.index(cards), encoding="utf-8")
    for card, results in cards:
        (folder / f"{card.slug}.md").write_text(module.page(card, results), encoding="utf-8")
        for picture in (each for result in results for each in result.pictures):
            shutil.copy(picture, folder / _stored(picture))


def _stored(picture: Path) -> str:
    return f"pictures/{picture.parent.name}-{picture.name}"
