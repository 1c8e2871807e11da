"""Sessions of a scenario between real hosts of this machine, through its link.

    python -m tidegate.hosts.real FOLDER

runs what a folder holds (`Asked`, written by `ask`), and writes there the flows and the report of
the link for each seed. In the kernel with a clock of its own it is run by this name.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.hosts.lab import LATE_MS, Lab, LabError, interrupted, valid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SCENARIO, ASKED = "scenario.toml", "asked.json"


@dataclass(frozen=True)
class Asked:
    """What is run between real hosts."""

    classes: dict[str, bool]
    """The classes of sessions; whether the end that opens them receives the data."""
    seeds: int
    ecn: bool = False
    """Whether the hosts ask for ECN."""
    sysctls: tuple[str, ...] = ()
    """Settings of the hosts' kernel, as in `net.ipv4.tcp_sack=0`."""


def ask(folder: Path, scenario: str, files: Mapping[str, bytes], asked: Asked) -> None:
    """Write what is to be run into a folder, with the files that the scenario refers to."""
    (folder / SCENARIO).write_text(scenario, encoding="utf-8")
    (folder / ASKED).write_text(json.dumps(asdict(asked)), encoding="utf-8")
    for name, content in files.items():
        path = folder / name
        if not Path(name).is_absolute():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def table(folder: Path, seed: int) -> Path:
    """Return where the flows of a run are."""
    return folder / f"flows-{seed}.csv"


def link(folder: Path, seed: int) -> Path:
    """Return where the report of the link of a run is."""
    return folder / f"link-{seed}.json"


def perform(folder: Path, say: Callable[[str], object]) -> None:
    """Run what is asked for; RanOut: this machine has no room for it."""
    asked = Asked(**json.loads((folder / ASKED).read_text(encoding="utf-8")))
    for seed in range(1, asked.seeds + 1):
        report = valid(partial(_run, folder, asked, seed), say)
        link(folder, seed).write_text(json.dumps(report), encoding="utf-8")
        say(f"real hosts, seed {seed} of {asked.seeds}")


def _run(folder: Path, asked: Asked, seed: int) -> list[dict[str, Any]]:
    with Lab(late_ms=LATE_MS) as lab:
        for namespace in (lab.left, lab.right):
            lab.put(namespace, f"net.ipv4.tcp_ecn={int(asked.ecn) or 2}", *asked.sysctls)
        emulated = lab.link(folder / SCENARIO, seed=seed)
        parts = [(name,) for name in asked.classes]
        out = lab.folder / "flows.csv"
        lab.parts(folder / SCENARIO, out, parts, download=[*asked.classes.values()], seed=seed)
        shutil.copy(out, table(folder, seed))
        return emulated.report()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main() -> int:
    """Run the folder of the command line."""
    try:
        perform(Path(sys.argv[1]), _say)
    except LabError as reason:
        _say(str(reason))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
