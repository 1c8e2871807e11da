"""The page that says where real stacks do what their RFCs ask for, from their drills."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.pages import MARK
from tools.pages.linux_hosts import Situation, read

FOLDER = Path("crates/stacks/tests/drills")

FILES = {
    "quic-opening": "QUIC: opening",
    "quic-acks": "QUIC: acknowledgements and marks",
    "quic-losses": "QUIC: losses and probes",
    "quic-window": "QUIC: the window and pacing",
    "quic-closing": "QUIC: closing, silence",
    "tcp": "TCP",
}
"""The files of situations and their titles, in the order of the page."""

STACKS = ("quinn", "noq", "smoltcp")


def situations() -> dict[str, list[Situation]]:
    """Return the situations of each file."""
    return {
        name: list(read((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))) for name in FILES
    }


def stacks(situation: Situation) -> list[str]:
    """Return the stacks that it is played with."""
    return situation.said["stacks"].split(" and ")


def differing(situation: Situation) -> list[str]:
    """Return those that do not do what is asked for."""
    verdict = situation.verdict
    if verdict in {"same", "differs"}:
        return [] if verdict == "same" else stacks(situation)
    return re.sub(" differs?$", "", verdict).split(" and ")


def page() -> str:
    """Return the page, as Markdown."""
    files = situations()
    every = [situation for file in files.values() for situation in file]
    tables: list[str] = []
    for name, title in FILES.items():
        tables += [f"### {title}", "", *_table(files[name]), ""]
    text = (FOLDER / "page.md").read_text(encoding="utf-8")
    for mark, lines in {
        "verdicts": _verdicts(every),
        "versions": _versions(Path("Cargo.lock").read_text(encoding="utf-8")),
        "differs": _differs([each for each in every if differing(each)]),
        "all": tables[:-1],
    }.items():
        text = text.replace(f"<!-- {mark} -->", "\n".join(lines))
    return f"# Real stacks beside their RFCs\n\n{MARK}\n{text}"


def _verdicts(every: Sequence[Situation]) -> Iterator[str]:
    yield "| stack | situations | as the RFC asks | otherwise |"
    yield "|---|---|---|---|"
    for stack in STACKS:
        own = [each for each in every if stack in stacks(each)]
        other = sum(stack in differing(each) for each in own)
        yield f"| {stack} | {len(own)} | {len(own) - other} | {other} |"


def _versions(lock: str) -> Iterator[str]:
    """Yield the versions that are built, which Cargo.lock names."""
    names = ("quinn-proto", "noq-proto", "smoltcp")
    found = (re.search(rf'name = "{name}"\nversion = "(.*?)"', lock) for name in names)
    pairs = [f"{name} {one[1]}" for name, one in zip(names, found, strict=True) if one]
    yield f"The stacks are {', '.join(pairs[:-1])} and {pairs[-1]}."


def _differs(rows: Sequence[Situation]) -> Iterator[str]:
    yield "| situation | what the RFC asks for | from | stack | what it does |"
    yield "|---|---|---|---|---|"
    for each in rows:
        does = f"{_instead(each)} {each.said['why']}".strip()
        names = ", ".join(differing(each))
        yield f"| {each.name} | {each.said['about']} | {each.said['from']} | {names} | {does} |"


def _instead(situation: Situation) -> str:
    """Return the first claim that does not hold, and what each stack does in its place."""
    claim, lines = _first_otherwise(situation)
    head, _, right = (part.strip() for part in claim.partition("->"))
    time, _, end = head.partition(" ")
    times: list[str] = []
    others: dict[str, list[str]] = {}
    for line in lines:
        words, _, does = (part.strip() for part in line.removeprefix("here").partition("->"))
        names = [word for word in words.split() if word in stacks(situation)]
        at = " ".join(word for word in words.split() if word not in names)
        by = f" by {' and '.join(names)}" if len(lines) > 1 and names else ""
        if does == right:
            times.append(f"at {at} ms{by}")
        else:
            others.setdefault(at or time, []).append(f"`{does}`{by}")
    said = [f"The {end}'s `{right}` {', '.join(times)}, not at {time}."] if times else []
    said += [f"The {end} at {at} ms: {', '.join(do)}, not `{right}`." for at, do in others.items()]
    return " ".join(said)


def _first_otherwise(situation: Situation) -> tuple[str, list[str]]:
    """Return the first claim with lines `here` below it, and these."""
    claim, here = "", list[str]()
    for line in situation.lines:
        if line.startswith("here"):
            here.append(line)
        elif here:
            break
        else:
            claim = line
    return claim, here


def _table(rows: Sequence[Situation]) -> Iterator[str]:
    names = [name for name in STACKS if any(name in stacks(each) for each in rows)]
    yield f"| situation | what the RFC asks for | from | {' | '.join(names)} |"
    yield f"|---|---|---|{'---|' * len(names)}"
    for each in rows:
        cells = (_cell(each, name) for name in names)
        said = each.said
        yield f"| {each.name} | {said['about']} | {said['from']} | {' | '.join(cells)} |"


def _cell(situation: Situation, name: str) -> str:
    if name not in stacks(situation):
        return ""
    if name in differing(situation):
        return "**differs**"
    return f"same: {situation.said['chooses']}" if "chooses" in situation.said else "same"
