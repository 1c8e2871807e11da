"""What is kept of a run, and how it is found again whole.

flows, ports, events (.parquet)   its tables, or what a study asks for
summary.json                      the summary of `tidegate run --json`
manifest.json                     code, scenario, seed, cost, and a checksum of every file
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.results.circumstances import circumstances
from tidegate.results.columns import frame, written
from tidegate.results.store import MANIFEST, checksum

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from tidegate.results.simulate import Outcome
    from tidegate.results.store import Store

SUMMARY = "summary.json"


def whole(outcome: Outcome) -> dict[str, pl.DataFrame]:
    """Return all tables of a run."""
    return {name: frame(outcome.tables[name]) for name in written(outcome.tables)}


def write_run(
    store: Store,
    outcome: Outcome,
    summary: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    *,
    command: str = "run",
    more: Mapping[str, object] | None = None,
) -> None:
    """Write the files of one run; its manifest holds `more` too."""
    effective = outcome.scenario.show()
    for name, table in tables.items():
        store.write_frame(f"{name}.parquet", table)
    if tables:
        store.write("scenario.toml", effective.encode())
    store.write_json(SUMMARY, summary)
    manifest = circumstances(command, effective) | {
        "seed": outcome.seed,
        "wall_s": outcome.wall_s,
        "cpu_s": outcome.cpu_s,
        "packet_hops": outcome.packet_hops,
        **(more or {}),
        "files": list(store.files),
        "checksums": dict(store.sums),
    }
    store.write_json(MANIFEST, manifest)


@dataclass(frozen=True)
class Kept:
    """One run as it was found: its summary, and what it was made by and of."""

    folder: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]


class Damaged(Exception):
    """A kept run is not whole; `file` is what is wrong with it."""

    def __init__(self, file: Path) -> None:
        super().__init__(str(file))
        self.file = file


def read_run(folder: Path, seed: int) -> Kept | None:
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
    return Kept(folder, _json(folder / SUMMARY), manifest)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Damaged(path) from None
    if not isinstance(found, dict):
        raise Damaged(path)
    return found
