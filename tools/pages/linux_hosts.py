"""The page that says where a simulated host does what Linux does, from the drills."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tools.pages import MARK

FOLDER = Path("crates/sim/tests/drills")

FILES = {
    "slow-start": "Slow start, and the use of the window",
    "cubic": "CUBIC",
    "recovery": "Losses without a timeout",
    "timers": "Timeouts and probes",
    "handshake": "Opening",
    "receiving": "Acknowledgements",
    "marks": "Marks",
    "closing": "Closing",
    "bbr": "BBR",
}
"""The files of situations and their titles, in the order of the page."""

KEYS = "from|about|chooses|host|stacks|transfer|path|verdict|why"
SAME, DIFFERS, TODAY = "same", "differs", "differs today"


@dataclass
class Situation:
    """One situation, or one notion that the simulator does not have."""

    name: str
    said: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """Whether a simulated host does what Linux does."""
        return self.said["verdict"]

    @property
    def sources(self) -> list[str]:
        """Where its numbers are from."""
        return [source.strip() for source in self.said["from"].split(";")]

    @property
    def profiles(self) -> list[str]:
        """The profiles that it is played with, and settings in which hosts differ from them."""
        _, profiles, *settings = map(str.strip, self.said["host"].split(","))
        return [*profiles.split(" and "), *settings]


def read(text: str) -> Iterator[Situation]:
    """Yield the situations of a file."""
    for part in text.split("\n== ")[1:]:
        name, *lines = part.strip().splitlines()
        situation = Situation(name)
        for line in map(str.strip, lines):
            said = re.match(rf"({KEYS}): (.*)", line)
            if said:
                situation.said[said[1]] = said[2]
            elif line:
                situation.lines.append(line)
        yield situation


def situations() -> dict[str, list[Situation]]:
    """Return the situations of each file."""
    return {name: list(read(_text(name))) for name in FILES}


def scripts() -> list[str]:
    """Return the names of the scripts that were gone through."""
    owners = ("linux/", "google/")
    return [line for line in _text("sources").splitlines() if line.startswith(owners)]


def covered(by: Sequence[Situation]) -> set[str]:
    """Return the scripts that these are from."""
    patterns = [source for each in by for source in each.sources if "/" in source]
    return {name for name in scripts() if any(fnmatchcase(name, one) for one in patterns)}


def page() -> str:
    """Return the page, as Markdown."""
    files, missing = situations(), list(read(_text("not-simulated")))
    every = [situation for file in files.values() for situation in file]
    tables: list[str] = []
    for name, title in FILES.items():
        tables += [f"### {title}", "", *_table([each for each in files[name] if _same(each)]), ""]
    text = (FOLDER / "page.md").read_text(encoding="utf-8")
    for mark, lines in {
        "verdicts": _verdicts(every),
        "scripts": _scripts(every, missing),
        "differs": _table([each for each in every if not _same(each)]),
        "missing": _missing(missing),
        "same": tables[:-1],
    }.items():
        text = text.replace(f"<!-- {mark} -->", "\n".join(lines))
    return f"# Simulated hosts beside Linux\n\n{MARK}\n{text}"


def _text(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def _same(situation: Situation) -> bool:
    return situation.verdict == SAME


def _verdicts(every: Sequence[Situation]) -> Iterator[str]:
    verdicts = [situation.verdict for situation in every]
    yield (
        f"**{len(every)} situations: {verdicts.count(SAME)} the same, {verdicts.count(DIFFERS)} "
        f"different on purpose, {verdicts.count(TODAY)} not yet the same.**"
    )


def _scripts(every: Sequence[Situation], missing: Sequence[Situation]) -> Iterator[str]:
    yield "| scripts of | gone through | situations here | no notion of it |"
    yield "|---|---|---|---|"
    situated, without = covered(every), covered(missing)
    for owner in ("linux", "google"):
        own = {name for name in scripts() if name.startswith(owner)}
        here, none = own & situated, (own & without) - situated
        yield f"| {owner.capitalize()} | {len(own)} | {len(here)} | {len(none)} |"


def _table(rows: Sequence[Situation]) -> Iterator[str]:
    """Yield a table, with a column for what is simulated where that is not the same."""
    differs = not all(map(_same, rows))
    yield f"| situation | what Linux does | from | profiles |{' simulated |' if differs else ''}"
    yield f"|---|---|---|---|{'---|' if differs else ''}"
    for each in rows:
        cells = (
            each.name,
            each.said["about"],
            _from(each),
            ", ".join(f"`{name}`" for name in each.profiles),
        )
        last = f" {_simulated(each)} |" if differs else ""
        yield f"| {' | '.join(cells)} |{last}"


def _from(situation: Situation) -> str:
    return "; ".join(
        f"`{source}`" if "/" in source or "(" in source else source for source in situation.sources
    )


def _simulated(situation: Situation) -> str:
    parts = [f"**{'differs' if situation.verdict == DIFFERS else 'not yet'}**"]
    for line, here in zip(situation.lines, situation.lines[1:], strict=False):
        if here.startswith("here"):
            event, _, right = (part.strip() for part in line.partition("->"))
            instead = here.removeprefix("here").replace("->", "").strip()
            parts.append(f"at `{event}`: `{instead}`, not `{right or 'nothing'}`.")
            break
    if "why" in situation.said:
        parts.append(situation.said["why"])
    return " ".join(parts)


def _missing(missing: Sequence[Situation]) -> Iterator[str]:
    yield "| what | why |"
    yield "|---|---|"
    for each in missing:
        yield f"| {each.name} | {each.said['why']} |"
