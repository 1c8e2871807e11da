"""The location of results: a folder of this machine, or one in an object store (fsspec)."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any, cast

from tidegate.errors import UsageError, path_of
from tidegate.results.provenance import digest

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


def plain_name(name: str, otherwise: str) -> str:
    """Return the part of a file's name that a port or a class gives; no two give the same.

    `otherwise`: what stands for a name that has no letter of a file's name.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
    return plain if plain == name else f"{plain or otherwise}-{digest(name.encode())[:6]}"


def location(target: str | Path, what: str = "results") -> Path:
    """Return the folder that a path or a URL names.

    A folder in an object store is a UPath, used like a Path. `file://` is a
    folder of this machine. Raises UsageError if the library for the URL is
    not installed.
    """
    if not isinstance(target, str) or not (found := _URL.match(target)):
        return path_of(target, what)
    if found[1].lower() in ("file", "local"):
        return Path(target[found.end() :])
    try:
        from upath import UPath
    except ImportError:
        raise UsageError(
            f"Could not use {target}: the library for object stores is not installed.",
            "Install it: pip install universal-pathlib.",
        ) from None
    try:
        found_there = UPath(target)
        _ = found_there.fs  # the driver of the store is loaded here
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"Could not use {target}: {str(error).rstrip('.')}.",
            "Install what fsspec needs for it (s3fs for s3://, gcsfs for gs://).",
        ) from error
    return cast("Path", found_there)


def is_remote(folder: object) -> bool:
    """Return whether a folder is in an object store."""
    return not isinstance(folder, str | os.PathLike) or hasattr(folder, "fs")


def readable(path: Path) -> Path | io.BytesIO:
    """Return what Polars reads: the path of a local file, the content of a remote one."""
    return io.BytesIO(path.read_bytes()) if is_remote(path) else path


def removed(folder: Path) -> None:
    """Remove a folder, or a file, of an object store."""
    store = cast("Any", folder).fs
    name = cast("Any", folder).path
    if store.exists(name):
        store.rm(name, recursive=True)
