"""Folders of results: written beside their place, and moved there when whole."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _native
from tidegate.errors import TidegateError, from_os

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    import polars as pl

    from tidegate.results import Result

MANIFEST = "manifest.json"


class Store:
    """A folder under construction.

    Files go to a hidden temporary folder beside `target`; `commit` moves it
    into place, replacing what an earlier run wrote there. Without `commit`
    nothing is left behind. A folder that holds anything else is never touched,
    nor the many runs of a sweep, unless `over_sweep` is set.
    """

    def __init__(self, target: str | Path, *, over_sweep: bool = False) -> None:
        self.target = Path(target).absolute()
        self.over_sweep = over_sweep
        _refuse_strangers(self.target, over_sweep=over_sweep)
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            beside = f".{self.target.name}."
            made = tempfile.mkdtemp(prefix=beside, suffix=".partial", dir=self.target.parent)
        except OSError as error:
            raise from_os("make a folder for results in", self.target.parent, error) from error
        self.temporary = Path(made)
        self.former = self.temporary.with_suffix(".former")
        self.files: list[str] = []

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def write(self, name: str, content: bytes) -> None:
        """Write one file; `name` may contain folders."""
        path = self.temporary / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise from_os("write", self.target / name, error) from error
        self.files.append(name)

    def append(self, name: str, content: bytes) -> None:
        """Write the next part of a file that grows while a run goes on."""
        try:
            with (self.temporary / name).open("ab") as file:
                file.write(content)
        except OSError as error:
            raise from_os("write", self.target / name, error) from error
        if name not in self.files:
            self.files.append(name)

    def write_json(self, name: str, value: object) -> None:
        """Write one JSON file, readable by people too."""
        self.write(name, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())

    def write_frame(self, name: str, table: pl.DataFrame) -> None:
        """Write one frame as Parquet; through memory, so that a full disk is an OSError."""
        buffer = io.BytesIO()
        table.write_parquet(buffer, compression="zstd", statistics=True)
        self.write(name, buffer.getvalue())

    def commit(self) -> Path:
        """Move the folder into its place; return that place, relative if it is below here."""
        _refuse_strangers(self.target, over_sweep=self.over_sweep)
        try:
            self.temporary.chmod(0o777 & ~umask())
            if self.target.exists():
                self.target.rename(self.former)
            self.temporary.rename(self.target)
        except OSError as error:
            raise from_os("move the results to", self.target, error) from error
        return display(self.target)

    def discard(self) -> None:
        """Remove what was written and not committed; undo a move that was broken off."""
        if self.former.exists() and not self.target.exists():
            self.former.rename(self.target)
        shutil.rmtree(self.former, ignore_errors=True)
        shutil.rmtree(self.temporary, ignore_errors=True)


@cache
def umask() -> int:
    """Return the process's umask, which can only be read by setting it: not by two threads."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def display(path: Path) -> Path:
    """Return the path relative to the present folder where it lies below it."""
    with suppress(ValueError):
        return path.relative_to(Path.cwd())
    return path


def _refuse_strangers(target: Path, *, over_sweep: bool) -> None:
    """Raise unless the folder is absent, empty, or holds nothing but tidegate's results."""
    try:
        if not target.exists():
            return
        present = {path.name for path in target.iterdir()}
    except OSError as error:
        raise from_os("use the folder", display(target), error) from error
    if not present:
        return
    strangers = sorted(present - _written(target / MANIFEST))
    if strangers:
        raise TidegateError(
            f"Will not replace {display(target)}: it holds what tidegate did not write"
            f" ({', '.join(strangers[:3])}{', ...' if len(strangers) > 3 else ''}).",
            "Choose another folder with --out, or move those files away.",
        )
    if not over_sweep and _read(target / MANIFEST).get("command") == "sweep":
        raise TidegateError(
            f"Will not replace {display(target)}: it holds the runs of a sweep.",
            "Choose another folder with --out, or remove that one first.",
        )


def _written(manifest: Path) -> set[str]:
    """Return the names, at the top of a folder, that its manifest says tidegate wrote."""
    content = _read(manifest)
    try:
        return {MANIFEST, *(name.split("/")[0] for name in content["files"])}
    except (KeyError, TypeError, AttributeError):
        return set()


def _read(manifest: Path) -> dict[str, Any]:
    """Return a manifest of tidegate's, or nothing."""
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and "tidegate" in content else {}


@cache
def commit_id() -> str | None:
    """Return the commit that this package is run from, or None outside of its own checkout."""
    here = Path(__file__).resolve()
    top = here.parents[2]
    if not (top / ".git").exists() or not (top / "crates" / "py").is_dir():
        return None
    with suppress(OSError, subprocess.SubprocessError):
        command = ["git", "-C", str(top), "rev-parse", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
        return done.stdout.strip() or None
    return None


@cache
def code_hash() -> str:
    """Return a digest of what makes the numbers: the native module and its use in Python.

    A commit does not tell what was built and not committed, and changes with every page.
    """
    here = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=20)
    for path in (Path(_native.__file__), here / "runner.py", here / "results.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def circumstances(command: str, effective: str) -> dict[str, Any]:
    """Return what every manifest opens with."""
    return {
        "tidegate": _native.__version__,
        "commit": commit_id(),
        "code_hash": code_hash(),
        "command": command,
        "effective_scenario": effective,
        "scenario_hash": hashlib.blake2b(effective.encode(), digest_size=20).hexdigest(),
    }


def write_run(
    store: Store,
    result: Result,
    folder: str = "",
    *,
    frames: bool = True,
    more: Mapping[str, object] | None = None,
) -> None:
    """Write the files of one run, into a folder below the store's if one is named.

    Without `frames` only summary and manifest; the manifest holds `more` too.
    """
    outcome = result.outcome
    effective = outcome.scenario.show()
    manifest = circumstances(result.command, effective) | {
        "seed": outcome.seed,
        "wall_s": outcome.wall_s,
        "cpu_s": outcome.cpu_s,
        "packet_hops": outcome.packet_hops,
    }
    if frames:
        tables = {"flows": result.flows, "ports": result.ports, "events": result.events}
        for name, table in tables.items():
            store.write_frame(f"{folder}{name}.parquet", table)
        store.write(f"{folder}scenario.toml", effective.encode())
    store.write_json(f"{folder}summary.json", result.summary)
    names = [name.removeprefix(folder) for name in store.files if name.startswith(folder)]
    manifest |= {**(more or {}), "files": names}
    store.write_json(f"{folder}{MANIFEST}", manifest)
