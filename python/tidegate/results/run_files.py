"""What is kept of a run, and how it is found again whole.

flows, ports, events (.parquet)   its tables, or what a study asks for
summary.json                      the summary of `tidegate run --json`
manifest.json                     code, scenario, seed, cost, and a checksum of every file
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.results.provenance import provenance
from tidegate.results.store import MANIFEST, checksum

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidegate.results.objects import Objects
    from tidegate.results.run_output import RunOutput
    from tidegate.results.store import Store

SUMMARY = "summary.json"


def write_run(
    store: Store | Objects,
    output: RunOutput,
    effective: str,
    *,
    command: str = "run",
    more: Mapping[str, object] | None = None,
) -> None:
    """Write the files of one run of an effective scenario; its manifest holds `more` too."""
    for name, content in output.tables.items():
        store.write(f"{name}.parquet", content)
    if output.tables:
        store.write("scenario.toml", effective.encode())
    store.write_json(SUMMARY, output.summary)
    manifest = provenance(command, effective) | {
        "seed": output.seed,
        "wall_s": output.wall_s,
        "cpu_s": output.cpu_s,
        "packet_hops": output.packet_hops,
        **(more or {}),
        "files": list(store.files),
        "checksums": dict(store.sums),
    }
    store.write_json(MANIFEST, manifest)


@dataclass(frozen=True)
class SavedRun:
    """One run as it was found: its summary, and what it was made by and of."""

    folder: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]


class Damaged(Exception):
    """A kept run is not whole; `file` is what is wrong with it."""

    def __init__(self, file: Path) -> None:
        super().__init__(str(file))
        self.file = file


def read_run(folder: Path, seed: int) -> SavedRun | None:
    """Return the run in a folder, or None if none is there; Damaged if it is not whole."""
    if not folder.exists():
        return None
    manifest = _json(folder / MANIFEST)
    files, sums = manifest.get("files"), manifest.get("checksums", {})
    if manifest.get("seed") != seed or not isinstance(files, list) or not isinstance(sums, dict):
        raise Damaged(folder / MANIFEST)
    for name in files:
        try:
            content = (folder / str(name)).read_bytes()
        except OSError:
            raise Damaged(folder / str(name)) from None
        if not content or (name in sums and sums[name] != checksum(content)):
            raise Damaged(folder / name)
    return SavedRun(folder, _json(folder / SUMMARY), manifest)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Damaged(path) from None
    if not isinstance(found, dict):
        raise Damaged(path)
    return found
