"""What labs that were killed have left: namespaces, programs of this repository in them, folders.

Each has the number of the process that made it in its name, and belongs to nobody once that process
is gone. A namespace in which another program runs stays, and is named.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

FOLDER = "tidegate-lab-"
"""Begins the name of the folder of a lab; the number of its process and a dash follow."""
OURS = re.compile(r"tg(\d+)-(?:l|m|r|try)")
HELD = re.compile(rf"{FOLDER}(\d+)-.*")
NAMES, PROCESSES = Path("/run/netns"), Path("/proc")
PROGRAM = "tidegated"
PATIENCE_S = 5.0


def _named(folder: Path, pattern: re.Pattern[str], processes: Path) -> dict[int, list[str]]:
    """Return what processes that are gone have left in a folder, by process."""
    found: dict[int, list[str]] = {}
    with suppress(OSError):
        for name in sorted(each.name for each in folder.iterdir()):
            made = pattern.fullmatch(name)
            if made and not (processes / made[1]).exists():
                found.setdefault(int(made[1]), []).append(name)
    return found


def namespaces(names: Path = NAMES, processes: Path = PROCESSES) -> dict[int, list[str]]:
    """Return the namespaces of labs whose process is gone, by its number."""
    return _named(names, OURS, processes)


def folders(where: Path, processes: Path = PROCESSES) -> list[Path]:
    """Return the folders of labs whose process is gone."""
    left = _named(where, HELD, processes).values()
    return [where / name for each in left for name in each]


def links(lab: int, processes: Path = PROCESSES) -> list[int]:
    """Return the emulated links of a lab, which are in none of its namespaces, by their ends."""
    found = []
    for file in processes.glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = file.read_bytes().decode(errors="replace").split("\0")
            if "emulate" in words and f"tg{lab}-m:tg0" in words and _ours(file.parent):
                found.append(int(file.parent.name))
    return found


def _ours(process: Path) -> bool:
    with suppress(OSError):
        return (process / "comm").read_text(encoding="utf-8").strip() == PROGRAM
    return False


def _inside(namespace: str) -> list[int]:
    command = ["ip", "netns", "pids", namespace]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def _end(wanted: list[int]) -> None:
    """End processes: they are asked, and have to when patience is over."""
    for number, seconds in ((signal.SIGINT, PATIENCE_S), (signal.SIGKILL, 1.0)):
        for process in wanted:
            with suppress(ProcessLookupError):
                os.kill(process, number)
        until = time.monotonic() + seconds
        while wanted and time.monotonic() < until:
            time.sleep(0.02)
            wanted = [each for each in wanted if (PROCESSES / str(each)).exists()]


def _remove(lab: int, left: list[str]) -> str:
    inside = {process for name in left for process in _inside(name)}
    ours = [each for each in inside if _ours(PROCESSES / str(each))]
    _end([*ours, *links(lab)])
    names = ", ".join(left)
    if busy := sorted({process for name in left for process in _inside(name)}):
        by = ", ".join(map(str, busy))
        return (
            f"{names}, which a killed lab left, stay as long as others run in them (process {by})"
        )
    for name in left:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    return f"removed {names}, which a killed lab left"


def remove() -> list[str]:
    """Remove what nobody owns any more; return what was done, a line each."""
    told = [_remove(lab, left) for lab, left in namespaces().items()]
    for folder in folders(Path(tempfile.gettempdir())):
        shutil.rmtree(folder, ignore_errors=True)
    return told
