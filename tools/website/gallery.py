"""The gallery: every ready scenario with its own text, its command, table and picture.

The command is the one that the scenario itself names, or what its ports
suggest. Its results stay in a folder of their own; as long as the scenario and
the code are what they were, nothing is run again.
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

SEEDS = 2
"""Seeds of a comparison here: enough for an interval, and soon there."""
PICTURES = ("controls-side-by-side", "rates-over-time", "fct-distribution")
"""The pictures of a comparison that are shown, the first of them on the card."""
TITLES = {
    "controls-side-by-side": "Controls side by side",
    "rates-over-time": "Rates over time",
    "fct-distribution": "How long sessions take",
}
OTHERS = ("testbed",)
"""Folders of scenarios for `tidegated testbed`, which runs in real time."""

_COMMAND = re.compile(
    r"tidegate (compare|run|sweep) scenarios/\S+\.toml((?: +--?\S+(?: [^-\s]\S*)?)*)"
)
_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
"""Where a sentence ends and the next begins."""


@dataclass(frozen=True)
class Card:
    """One ready scenario: where it lies, what it says of itself, and how it is run."""

    path: Path
    name: str
    title: str
    text: str
    commands: tuple[str, ...]

    @property
    def page(self) -> str:
        """Where it stands on the site."""
        return f"gallery/{self.name.removesuffix('.toml').replace('/', '-')}.md"

    @property
    def sentence(self) -> str:
        """The first sentence of what it says of itself."""
        return _END.split(" ".join(self.text.split("\n\n")[0].split()))[0]

    @property
    def real(self) -> bool:
        """Whether it is for processes in real time."""
        return self.name.split("/")[0] in OTHERS


@dataclass(frozen=True)
class Shown:
    """What a command left to show: its table, and the files of its pictures."""

    command: str
    table: str
    pictures: tuple[Path, ...]


def cards(root: Path) -> list[Card]:
    """Return every ready scenario."""
    place = root / "scenarios"
    files = sorted(place.rglob("*.toml"), key=lambda path: (len(path.parts), path))
    return [_card(place, path) for path in files]


def _card(place: Path, path: Path) -> Card:
    written = path.read_text(encoding="utf-8")
    name = path.relative_to(place).as_posix()
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
    """Return the commands of a scenario: those that it names, or what it suggests."""
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
    """Return a command as it is run here: with few seeds."""
    return f"{re.sub(r' --seeds [0-9]+', '', command)} --seeds {SEEDS}"


def folded(command: str) -> str:
    """Return a command on lines of its own for its options, if it is long."""
    return command if len(command) < 90 else command.replace(" --", " \\\n    --")


def results(card: Card, root: Path, place: Path) -> list[Shown]:
    """Run the commands of a scenario where that has not been done, and return what to show."""
    shown = []
    for number, command in enumerate(card.commands, 1):
        folder = place / f"{card.name.removesuffix('.toml').replace('/', '-')}-{number}"
        kept = place / f"{folder.name}.json"
        key = _key(card, command)
        if not kept.exists() or json.loads(kept.read_text(encoding="utf-8"))["key"] != key:
            print(f"gallery: {shortened(command)}", flush=True)
            table = _run(shortened(command), root, folder)
            told = json.dumps({"key": key, "command": shortened(command), "table": table})
            kept.write_text(told, encoding="utf-8")
        told = json.loads(kept.read_text(encoding="utf-8"))
        drawn = (folder / f"{name}.svg" for name in PICTURES)
        there = tuple(path for path in drawn if path.exists())
        shown.append(Shown(told["command"], told["table"], there))
    return shown


def _key(card: Card, command: str) -> str:
    """Return a digest of all that a result hangs on."""
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

    Runs that are there are gone on with; if they are of other code, all is done anew.
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


def page(card: Card, shown: Sequence[Shown]) -> str:
    """Return the page of one scenario."""
    own = card.path.read_text(encoding="utf-8").rstrip()
    lines = [f"# {card.title}", "", card.text, ""]
    if card.real:
        lines += [
            "Real processes on this machine, in real time; a site is built without them. The"
            " program is made by `make build`; [Active nodes](../docs/active-nodes.md) says more.",
            "",
            *("```sh", *card.commands, "```", ""),
        ]
    elif not shown:
        lines += ["This site was built without running it.", ""]
        lines += ["```sh", *card.commands, "```", ""]
    for each in shown:
        lines += ["## What came of it", "", "```sh", folded(each.command), "```", ""]
        lines += [
            f"Shortened: {SEEDS} seeds for each setting, where a comparison takes five if it is not"
            " told otherwise. The interval after ± is wide with so few.",
            "",
            *("```text", each.table, "```", ""),
        ]
        for picture in each.pictures:
            lines += [f"![{TITLES[picture.stem]}]({_place(picture)})", ""]
    lines += ["## The scenario", "", f"[{card.name}](../scenarios/{card.name})", ""]
    lines += ["```toml", own, "```", ""]
    return "\n".join(lines)


def _place(picture: Path) -> str:
    return f"pictures/{picture.parent.name}-{picture.name}"


def laid_out(every: Sequence[tuple[Card, Sequence[Shown]]]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the gallery for the source tree of the site."""
    lines = [
        "# Ready scenarios",
        "",
        "Each is one file, with what it shows and the command to run. `tidegate examples FOLDER`"
        " copies them; [the scenario document](../docs/scenario.md) explains what stands in them."
        " Tables and pictures here are made by running these commands while the site is built.",
        "",
    ]
    for card, shown in every:
        name = card.page.removeprefix("gallery/")
        lines += [f"## [{card.title}]({name})", "", card.sentence, ""]
        pictures = [picture for each in shown for picture in each.pictures]
        if pictures:
            lines += [f"[![{TITLES[pictures[0].stem]}]({_place(pictures[0])})]({name})", ""]
        for picture in pictures:
            yield f"gallery/{_place(picture)}", picture.read_bytes()
        yield card.page, page(card, shown).encode()
        yield f"scenarios/{card.name}", card.path.read_bytes()
    lines += ["```{toctree}", ":hidden:", ""]
    lines += [f"{Path(card.page).stem}" for card, _ in every]
    yield "gallery/index.md", ("\n".join([*lines, "```"]) + "\n").encode()
