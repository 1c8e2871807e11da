"""Which crate may use which: `model -> core`, `sim -> model`, and nothing upward."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ALLOWED: Mapping[str, frozenset[str]] = {
    "capture": frozenset(),
    "core": frozenset(),
    "model": frozenset({"core"}),
    "sim": frozenset({"model", "core"}),
    "live": frozenset({"model", "core"}),
    "py": frozenset({"sim", "model", "core", "capture"}),
}
"""Folder of a crate under `crates/`, and the folders of the crates it may use."""


def problems(root: Path) -> Iterator[str]:
    """Yield forbidden dependencies between the crates of the checkout, of every kind and target."""
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version=1", "--offline"],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout
    yield from forbidden(json.loads(metadata))


def forbidden(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield forbidden dependencies in what `cargo metadata` says."""
    for package in metadata["packages"]:
        manifest = Path(package["manifest_path"])
        crate = manifest.parent.name
        where = f"crates/{crate}/Cargo.toml:1"
        if crate not in ALLOWED:
            yield f"{where}: crate `{crate}` has no row in ALLOWED (tools/lint/edges.py)"
            continue
        for dependency in package["dependencies"]:
            used = Path(dependency["path"]).name if dependency.get("path") else None
            if used is not None and used not in ALLOWED[crate]:
                may = ", ".join(sorted(ALLOWED[crate])) or "no crate of the project"
                yield f"{where}: `{crate}` must not use `{used}`; it may use {may}"
