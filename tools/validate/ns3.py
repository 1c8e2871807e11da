"""Run ns-3 on a list of transfers, and read its measures."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tools.peers.install import BUILD, compile_ns3

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

PROGRAM = Path(__file__).with_name("dumbbell.cc")


def build() -> Path:
    """Build the program if it is not built, and return it; raises UnavailableError."""
    return compile_ns3(PROGRAM)


def run(flows: Sequence[tuple[float, int]], settings: Mapping[str, str]) -> dict[str, Any]:
    """Run transfers, given as start in seconds and size in bytes (-1: without end), in this order.

    `settings` are those of dumbbell.cc, which must be built. Transfers use its pairs of hosts in
    turn.
    """
    pairs = int(settings.get("pairs", "1"))
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "flows"
        lines = [
            f"{start:.12f} {size} {number % pairs}\n" for number, (start, size) in enumerate(flows)
        ]
        listed.write_text("".join(lines), encoding="ascii")
        command = [str(BUILD / f"{PROGRAM.stem}-ns3"), "flows", str(listed)]
        for key, value in settings.items():
            command += [key, value]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
