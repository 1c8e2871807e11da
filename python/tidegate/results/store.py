"""Folders of results: written under a temporary name, and renamed when complete."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.errors import TidegateError, UsageError, from_os
from tidegate.results.location import is_remote, removed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import polars as pl

MANIFEST = "manifest.json"
MANY = {"compare": "a comparison", "sweep": "a sweep", "paper": "a paper"}
"""Commands whose folders hold many runs, and what they are runs of."""
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._=+-]{0,79}")
_DIGEST = re.compile(r"(?:^|-)[0-9a-f]{8}$")


def folder_name(text: str, also: str = "") -> str:
    """Return a name for a folder that no other text gets, readable as far as can be.

    What is plain stays as it is. Anything else (blanks, capitals, other
    alphabets, `..`) ends with a digest of the text, and of `also`, which no
    plain name does: `a b` and `a-b` differ, wherever folders are kept.
    """
    if _PLAIN.fullmatch(text) and not _DIGEST.search(text) and not also:
        return text
    slug = re.sub(r"[^\w.=+-]+", "-", text).strip("-.")[:60]
    found = hashlib.blake2b(f"{text}\0{also}".encode(), digest_size=4).hexdigest()
    return f"{slug}-{found}" if slug else found


class _Files:
    """Files that are written into `temporary` and will be found in `target`."""

    def __init__(self, target: Path, temporary: Path) -> None:
        self.target, self.temporary = target, temporary
        self.files: list[str] = []
        self.sums: dict[str, str] = {}

    def write(self, name: str, content: bytes) -> None:
        """Write one file; `name` may contain folders."""
        path = self.temporary / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise from_os("write", self.target / name, error) from error
        self.files.append(name)
        self.sums[name] = checksum(content)

    def write_json(self, name: str, value: object) -> None:
        """Write one JSON file, readable by people too."""
        self.write(name, as_json(value))


class Objects(_Files):
    """One run under construction in an object store, where nothing can be renamed.

    An object is whole or absent, and the manifest is written last: a run
    without it counts as missing.
    """

    def __init__(self, target: Path) -> None:
        super().__init__(target, target)
        self._whole = False

    def __enter__(self) -> Objects:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._whole:
            removed(self.target)

    def commit(self) -> Path:
        """Leave the objects where they are; return that place."""
        self._whole = True
        return self.target


class Store(_Files):
    """A folder under construction on this machine.

    Files go to a hidden temporary folder next to `target`; `commit` moves it
    into place. Without `commit` nothing is left behind, and the temporary
    folder of a killed process is removed by the next one. A single run that is
    already there is replaced if `replaces` returns true for its manifest;
    otherwise the folder is refused, or, with `numbered`, the next free of
    NAME-2, NAME-3 ... is taken. A folder that holds anything else is never
    touched, nor are the many runs of a comparison, a sweep or a paper, unless
    `over` is set.
    """

    def __init__(
        self,
        target: str | Path,
        *,
        replaces: Callable[[dict[str, Any]], bool] | None = None,
        numbered: bool = False,
        over: bool = False,
    ) -> None:
        # the folder that a symbolic link points to, not the link, is what gets the results
        self.wanted = Path(os.path.realpath(target))
        self.replaces, self.numbered, self.over = replaces, numbered, over
        folder = self._free_folder()
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            _remove_leftovers(folder)
            temporary = tempfile.mkdtemp(
                prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent
            )
        except OSError as error:
            raise from_os("make a folder for results in", folder.parent, error) from error
        super().__init__(folder, Path(temporary))
        self._lock = _held(self.temporary)
        self.former = self.temporary.with_suffix(".former")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def append(self, name: str, content: bytes) -> None:
        """Write the next part of a file that grows while a run goes on."""
        try:
            with (self.temporary / name).open("ab") as file:
                file.write(content)
        except OSError as error:
            raise from_os("write", self.target / name, error) from error
        if name not in self.files:
            self.files.append(name)

    def commit(self) -> Path:
        """Rename the temporary folder to `target`; return it, relative to here if below."""
        self.target = self._free_folder()  # another process may have been quicker
        try:
            self.temporary.chmod(0o777 & ~umask())
            if self.target.exists():
                self.target.rename(self.former)
            self.temporary.rename(self.target)
        except OSError as error:
            raise from_os("move the results to", self.target, error) from error
        return display(self.target)

    def discard(self) -> None:
        """Remove what was written and not committed; undo an interrupted move."""
        if self.former.exists() and not self.target.exists():
            self.former.rename(self.target)
        shutil.rmtree(self.former, ignore_errors=True)
        shutil.rmtree(self.temporary, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _free_folder(self) -> Path:
        """Return the folder to write: the one asked for, or the next free number."""
        if not self.numbered:
            self._refuse(self.wanted)
            return self.wanted
        for folder in numbered(self.wanted):
            try:
                self._refuse(folder)
            except Occupied:
                continue
            return folder
        raise AssertionError("numbers do not end")

    def _refuse(self, target: Path) -> None:
        """Raise unless the folder is absent, empty, or holds a run that may be replaced."""
        present = contents(target)
        if not present:
            return
        manifest = read_manifest(target)
        if not manifest:
            some = ", ".join(sorted(present)[:3])
            raise Occupied(
                f"Will not replace {display(target)}: it holds files ({some}{_more(present)}), and"
                f" no readable {MANIFEST} that says that tidegate wrote them.",
                "Choose another folder with --out, or remove that one first.",
            )
        strangers = sorted(present - _written(manifest))
        if strangers:
            raise Occupied(
                f"Will not replace {display(target)}: it holds what tidegate did not write"
                f" ({', '.join(strangers[:3])}{_more(strangers)}).",
                "Choose another folder with --out, or move those files away.",
            )
        many = MANY.get(str(manifest.get("command")))
        if many is not None and not self.over:
            raise Occupied(
                f"Will not replace {display(target)}: it holds the runs of {many}.",
                "Choose another folder with --out, or remove that one first.",
            )
        if self.replaces is not None and not self.replaces(manifest):
            raise Occupied(
                f"Will not replace {display(target)}: it holds"
                f" {f'the runs of {many}' if many else 'another run'}.",
                "Choose another folder with --out, or remove that one first.",
            )


def opened(
    folder: Path,
    *,
    replaces: Callable[[dict[str, Any]], bool] | None = None,
    numbered: bool = False,
    over: bool = False,
) -> Store | Objects:
    """Open a folder of this machine or of an object store; the options are those of `Store`.

    In an object store nothing can be moved away: what may be replaced is removed at once.
    """
    if not is_remote(folder):
        return Store(folder, replaces=replaces, numbered=numbered, over=over)
    if contents(folder):
        manifest = read_manifest(folder)
        many = None if over else MANY.get(str(manifest.get("command")))
        if not manifest or many or (replaces is not None and not replaces(manifest)):
            what = f"the runs of {many}" if many else "another run" if manifest else "other files"
            raise Occupied(
                f"Will not replace {folder}: it holds {what}.",
                "Choose another folder with --out.",
            )
        removed(folder)
    return Objects(folder)


class Occupied(TidegateError):
    """A folder for results holds something that must not be replaced."""


def numbered(wanted: Path) -> list[Path]:
    """Return NAME, NAME-2, NAME-3 ... up to the first that does not exist."""
    folders = [wanted]
    while folders[-1].exists():
        folders.append(wanted.with_name(f"{wanted.name}-{len(folders) + 1}"))
    return folders


def contents(target: Path) -> set[str]:
    """Return the names in a folder without leftovers; none if it is absent."""
    try:
        if not target.exists():
            return set()
        return {path.name for path in target.iterdir() if not _LEFT.fullmatch(path.name)}
    except OSError as error:
        raise from_os("use the folder", display(target), error) from error


_LEFT = re.compile(r"\..*\.(partial|former)")


def _held(folder: Path) -> int | None:
    """Lock a folder for as long as this process lives, where the file system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _remove_leftovers(target: Path) -> None:
    """Remove what killed processes left next to a folder; bring back what one had moved away."""
    for path in target.parent.glob(f".{escape(target.name)}.*.partial"):
        handle = _held(path)
        if handle is not None:  # no process holds it any more
            shutil.rmtree(path, ignore_errors=True)
            os.close(handle)
    for path in target.parent.glob(f".{escape(target.name)}.*.former"):
        if not path.with_suffix(".partial").exists():
            with suppress(OSError):
                if target.exists():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.rename(target)


@cache
def umask() -> int:
    """Return the process's umask, which can only be read by setting it: not by two threads."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def display(path: Path) -> Path:
    """Return the path relative to the current folder if it is inside it."""
    if is_remote(path):
        return path
    with suppress(ValueError):
        return path.relative_to(Path.cwd())
    return path


def checksum(content: bytes) -> str:
    """Return a digest of a file's content."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def as_json(value: object) -> bytes:
    """Return JSON that is readable by people too: an object's keys a line each, then its items.

    What lies deeper stands in one line. The encoder indents in Python alone, which takes ten
    times as long for the 80,000 ports of 20,000 pairs.
    """
    if not isinstance(value, dict):
        return (json.dumps(value, allow_nan=False) + "\n").encode()
    lines = [f"  {json.dumps(key)}: {_items(each)}" for key, each in value.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _items(value: object) -> str:
    """Return a value of an object; of a list or an object with structure a line per item."""
    nested = (dict, list, tuple)
    if isinstance(value, list | tuple) and any(isinstance(each, nested) for each in value):
        items = [json.dumps(each, allow_nan=False) for each in value]
        return "[\n    " + ",\n    ".join(items) + "\n  ]"
    if isinstance(value, dict) and value:
        items = [
            f"{json.dumps(key)}: {json.dumps(each, allow_nan=False)}" for key, each in value.items()
        ]
        return "{\n    " + ",\n    ".join(items) + "\n  }"
    return json.dumps(value, allow_nan=False)


def parquet(table: pl.DataFrame) -> bytes:
    """Return a frame as Parquet."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=True)
    return buffer.getvalue()


def _more(names: Collection[str]) -> str:
    return ", ..." if len(names) > 3 else ""


def _written(manifest: dict[str, Any]) -> set[str]:
    """Return the names, at the top of a folder, that its manifest says tidegate wrote."""
    try:
        return {MANIFEST, *(name.split("/")[0] for name in manifest["files"])}
    except (KeyError, TypeError, AttributeError):
        return set()


def write_over(path: Path, content: bytes, kind: str, begins: bytes) -> None:
    """Write a file whole, over one of its kind or none.

    `begins`: a regular expression that the first bytes of such a file match. UsageError where
    another file is there, such as the scenario or the results that it was made from.
    """
    try:
        first = b""
        if path.is_file():
            with path.open("rb") as there:
                first = there.read(4096)
    except OSError as error:
        raise from_os("write over", display(path), error) from error
    if first and not re.match(begins, first):
        raise UsageError(f"{display(path)} is there, and is no {kind}.", "Name another file.")
    write_whole(path, content)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, over what is there.

    What is no plain file, such as /dev/stdout, is written into.
    """
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:  # a file is where the folder should be
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error
        if is_remote(path):  # an object is whole or absent by itself
            path.write_bytes(content)
            return
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        temporary = target.with_name(f".{target.name}.partial")
        try:
            temporary.write_bytes(content)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise from_os("write", display(path), error) from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of tidegate's in a folder, or nothing."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and "tidegate" in content else {}
